"""Finders of personal names: spaCy's entities, a token classifier, lists of names, capitals, tags.

A suite's card, or the account of a swap, says which one was used (`name`), because they do not find
the same names.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple, Protocol

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.en import is_opening
from evenhand.languages.gender_words import gender_words, partners

AUTO, SPACY, LISTS = "auto", "spacy", "lists"
SPACY_MODELS = ("en_core_web_trf", "en_core_web_lg", "en_core_web_md", "en_core_web_sm")
LARGE = 5000  # sentences; in a smaller corpus it means nothing that a word is never in lower case
_NO_FINDER = (
    "no finder of personal names is installed: pip install 'evenhand[names]' "
    "(or install spaCy with an English model)"
)
_LOCALES = "en_US en_GB en_IN en_IE en_NZ es_ES es_MX fr_FR de_DE it_IT pt_BR".split()
_LISTS = ("first_names", "first_names_male", "first_names_female", "first_names_nonbinary")
_TOKEN = re.compile(r"[^\W\d_]+")
_PERSON = frozenset({"PER", "PERSON"})  # the type of entity
# What may follow the first word of a name: a second name, an initial, a surname.
_REST_OF_NAME = re.compile(r"(?: [A-Z]\.)*(?:[ -](?:[A-Z]['’])?[A-Z][a-z]+)*")


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_MONTHS = _words("April May June August")
_BEFORE_MONTH = _words(
    "in of since until by last next this early late mid during through before after every"
)
_BEFORE_PLACE = _words("in from near at to of across outside")
_PLACES = _words(
    "Austin Berlin Birmingham Boston Brooklyn Carolina Chelsea China Clinton Dallas Denver "
    "Florence Georgia Houston India Ireland Israel Jordan Kent Lafayette Lincoln London Madison "
    "Madrid Milan Montana Paris Phoenix Savannah Sydney Troy Verona Vienna Virginia Washington York"
)
_BEFORE_TOWN = _words("new san santa los las fort port mount")  # New York, Santa Cruz
# Capitalised words that the lists have as names, but that texts use for peoples, creeds, brands,
# compass points and titles.
_NOT_PEOPLE = _words(
    "America American Asia Asian Brazil Christian Danish Delta Doctor Easter English Florida "
    "French General German Jewish King Lady Lord Major Man Marine Master Mercedes Miss Nike North "
    "Ocean Pastor Prince Princess Queen Roman Royal Saint Santa Spain Sir South Texas Us West World"
)
# Names that are also English words. Found by comparing the name lists with the lower-case words of
# large NLI corpora, then completed by hand.
WORDS = _words("""
    abbey ace albino ale amber angel ante april arch archer art ash august aura autumn baker
    banks barb baron basil bay bear bell berry bill bird bishop blaze bliss blossom bob bond
    boss brad brandy brook brooks bud buddy buck burns bush butler candy carol carter case cash
    cat chance chanel charity chase cherry chip chuck clay cliff clover colt comfort cook cooper
    coral cord corona courtney crystal daisy dale dawn dean del delta destiny diamond dick dolly
    dom don dot dove drake drew duke dusty early echo eden ember era essence eve even ever faith
    fanny fawn feline felicity fern fisher flint flora ford forest forum foster fox frank gale
    gay gene genesis genie german ginger glen glory golden grace grant gray green grove guy hall
    ham happy hardy harley harm harmony harsh haven hazel heath heather heaven herb hill holly
    honest honey hope hunt hunter indie iris ivory ivy jack jade jasmine jay jean jersey jet
    jewel job journey joy june junior justice kale kick king kit kitty lady lake lance lane lark
    laurel lavender law lemon less liberty lily link little long lore lot love loyal lucky mac
    major male man mar mare marble margarita marina marine mark mars marsh martin mason mat mats
    max maxim may meadow media melody mercedes mercy merit merry meta mike mile miles mini minor
    miracle misty moody moon moss my myrtle nail navy nick noble north nova ocean olive opal
    orange page paisley pansy park parker pastor pat patience patty peace pearl peer penny
    pepper per phoenix pier pierce piper poet pop poppy porter precious price prince princess
    promise prudence puck queen rain ran ranger raven ray reed reef reign rex rice rich ridge
    river rob robin rock rocky rod roman romeo rose rosemary rosy rowan royal ruby rusty rye
    sage sail saint sal sally sand sandy santa scarlet scout senior shade shay shepherd sherry
    sierra silver sky skip slate sol sole sonny spike spring star sterling stone storm sue
    summer sun sunday sunny tad tamari tan tanner tawny te teddy temple terra terry theres tiara
    tiger till tiny true tucker tyler una unique urban us van velvet victor victory vine viola
    violet wade walker ward warren wave wayne web wells west whit will willow wing winter wolf
    wood worth wren young
    """)
_MORE_NAMES = _words(
    "Art Bill Bob May Will Lucifer Jesus Moses Buddha Muhammad Romeo Juliet Hercules Zeus Barack "
    "Vladimir Donald Elvis Shakespeare"
)
_INNER_PLACED = _words(
    "the in from near at across through throughout around inside outside towards toward"
)
_BEFORE_THING = _INNER_PLACED | _words("a an this that these those some every each")  # a Nike bag
_NOBODY = _words(
    "I Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March April May "
    "June July August September October November December Christmas Easter English French German "
    "Spanish Italian American British Chinese Japanese Russian Asian African European Indian "
    "Mexican Canadian Greek Dutch Irish Jewish Christian Muslim Catholic Internet"
)
# Words that jieba's dictionary tags as names of persons and texts hardly ever use so.
_CHINESE_WORDS = _words(
    "沙滩 白衬衫 麦克风 戴眼镜 田野 望远镜 滑雪 秋千 小提琴 马拉松 冰淇淋 阳光 体操 "
    "戴帽子 显微镜 巧克力 滑冰 金发碧眼 安静 明白 白宫 滑雪板 红帽子 小狗 花园里 小溪 "
    "高尔夫球 喝咖啡 青少年 毛巾 雪山 连帽衫 万圣节 常青树 麦当劳 小丑 高高的 萨克斯 "
    "萨克斯管 沃尔玛 法律援助 玉米 苏打水 保守派 白发 托运 荣誉 冷清 时髦 友谊 道德 凤凰 "
    "保持沉默 太久 敬畏 沙龙 藏青色 沙拉 西红柿 车库里 体育锻炼 宝宝 顾问 老虎 桑拿浴 "
    "才华 白雪 波士顿 红白 小睡 阳光明媚 蓝白 宝藏 张开 祖先 马匹 吉普车 黑狗 谢谢 但凡 "
    "温顺 雷同 公正 灵光 今天下午 饶恕 封建思想 子孙后代 马赛克 令人 顾客 牛仔 老家人 "
    "师母 保姆 白白"
)


Span = tuple[int, int]  # where a name starts and ends in a text


class NameFinder(Protocol):
    """Something that can tell whether, and where, a sentence names a person."""

    name: str  # for the suite's card

    def has_name(self, text: str) -> bool:
        """Whether a person is named in it."""
        ...

    def find(self, text: str) -> list[Span]:
        """Where persons are named in it, in the order of the text."""
        ...


class SpacyNames:
    """PERSON entities of a spaCy pipeline."""

    def __init__(self, model: str) -> None:
        spacy = importlib.import_module("spacy")
        try:
            self._pipeline: Callable[[str], Any] = spacy.load(model)
        except Exception as error:
            # OSError for a missing model, ValueError or ImportError for one of another version
            raise LoadError(
                f"spaCy cannot load '{model}': {error}. "
                f"Install it: python -m spacy download {model}"
            ) from error
        self.name = f"spacy:{model}"

    def has_name(self, text: str) -> bool:
        """Whether there is an entity of the type PERSON."""
        return bool(self.find(text))

    def find(self, text: str) -> list[Span]:
        """Where the entities of the type PERSON are."""
        entities = self._pipeline(text).ents
        return [(e.start_char, e.end_char) for e in entities if e.label_ in _PERSON]


Tagger = Callable[[str], Iterable[Mapping[str, Any]]]  # the entities of a text


class TaggedNames:
    """Entities of a transformers token classifier, from a folder or from the hub."""

    def __init__(self, model: str, tag: Tagger | None = None) -> None:
        self._tag = tag or _load_tagger(model)
        self.name = f"transformers:{model}"

    def has_name(self, text: str) -> bool:
        """Whether there is an entity of the type PER or PERSON."""
        return bool(self._people(text))

    def find(self, text: str) -> list[Span]:
        """Where the entities of the type PER or PERSON are."""
        return [(int(e["start"]), int(e["end"])) for e in self._people(text)]

    def _people(self, text: str) -> list[Mapping[str, Any]]:
        return [entity for entity in self._tag(text) if _type_of(entity) in _PERSON]


def _type_of(entity: Mapping[str, Any]) -> str:
    label = str(entity.get("entity_group", entity.get("entity", ""))).upper()
    return label.removeprefix("B-").removeprefix("I-")


class _Lists(NamedTuple):
    """Names as the library faker lists them."""

    first: frozenset[str]
    rare: frozenset[str]  # a noisier list, for capitals inside a sentence
    last: frozenset[str]
    words: frozenset[str]  # English words, in lower case


class ListedNames:
    """First names (and, inside a sentence, surnames) of the lists that the library faker keeps.

    A capital decides inside a sentence. At its start every word has one, so a name that is also a
    word (Will, Mark, Grace) does not count there. Text without case, all lower, all upper or every
    word capitalised, is compared with the names that are not English words.
    """

    def __init__(self) -> None:
        self._lists = _read_lists()
        self.name = f"faker:{importlib.import_module('faker').VERSION}"

    def has_name(self, text: str) -> bool:
        """Whether there is a token that the lists hold as a name, used as one."""
        return next(self._starts(text), None) is not None

    def find(self, text: str) -> list[Span]:
        """Where such tokens are, with the surnames that follow."""
        return _whole_names(text, self._starts(text))

    def _starts(self, text: str) -> Iterator[Span]:
        first, words = self._lists.first, self._lists.words
        tokens = [(m.group(), m.start()) for m in _TOKEN.finditer(text)]
        inner = [t for t, _ in tokens[1:] if t != "I"]
        if text.islower() or text.isupper() or (inner and all(t[0].isupper() for t in inner)):
            for token, start in tokens:
                if token.capitalize() in first and token.lower() not in words:
                    yield start, start + len(token)
            return
        for place, (token, start) in enumerate(tokens):
            if not token[0].isupper() or (token.isupper() and len(token) > 1):
                continue
            before, after = tokens[place - 1][0] if place else "", text[start + len(token) :]
            if not place or re.search(r"[.!?\"“:][\s\"'“”]*$", text[:start]):
                has_surname = re.match(r" [A-Z][a-z]", after)  # Frank Miller, but not Frank talk
                is_name = token in first and (has_surname or token.lower() not in words)
            else:
                is_name = self._is_inner_name(token, before.lower(), after)
            if is_name:
                yield start, start + len(token)

    def _is_inner_name(self, token: str, before: str, after: str) -> bool:
        is_place = token in _PLACES and before in _BEFORE_PLACE
        if token in _NOT_PEOPLE or before in _BEFORE_TOWN or is_place:
            return False
        if token in _MONTHS and (before in _BEFORE_MONTH or re.match(r",? \d", after)):
            return False
        first, rare, last, words = self._lists
        return token in first or token in rare or (token in last and token.lower() not in words)


def _whole_names(text: str, starts: Iterable[Span]) -> list[Span]:
    """Each name with the capitalised words that follow, none inside another one."""
    spans: list[Span] = []
    for start, end in sorted(starts):
        if spans and end <= spans[-1][1]:
            continue
        rest = _REST_OF_NAME.match(text, end)
        spans.append((start, rest.end() if rest else end))
    return spans


class CapitalisedNames:
    """English: what a finder knows, and capitals inside a sentence that are not places or peoples.

    In a large corpus a first word that never occurs in lower case is a name too.
    """

    def __init__(self, finder: NameFinder | None, sentences: Sequence[str]) -> None:
        self._finder = finder
        lower = (
            text[start:end]
            for text in sentences
            for start, end in ENGLISH.words(text)
            if text[start].islower()
        )
        self._seen = frozenset(lower) if len(sentences) >= LARGE else None
        self.name = f"{finder.name} and capital letters" if finder else "capital letters"

    def has_name(self, text: str) -> bool:
        """Whether a person is named in it."""
        if self._finder is not None and self._finder.has_name(text):
            return True
        return next(self._capitals(text), None) is not None

    def find(self, text: str) -> list[Span]:
        """Where persons are named, with the surnames that follow."""
        known = self._finder.find(text) if self._finder else []
        return _whole_names(text, [*known, *self._capitals(text)])

    def _capitals(self, text: str) -> Iterator[Span]:
        before = ""
        for start, end in ENGLISH.words(text):
            word = text[start:end]
            if _is_capitalised(word):
                is_first = is_opening(text[:start])
                is_unseen = self._seen is not None and word.lower() not in self._seen
                if is_unseen if is_first else before not in _INNER_PLACED:
                    yield start, end
            before = word.lower()


class CapitalisedPeople:
    """English, for the swap of a corpus: what the lists know, and capitals that may be a person's.

    Inside a sentence a capitalised word may be a person, unless an article or a preposition of
    place leads it or it is a gender word. At the start of a sentence every word has a capital: in a
    large corpus it counts where the word is more often capitalised inside sentences than in lower
    case. Texts in lower case, upper case or with a capital on every word are left to the lists.
    """

    def __init__(self, finder: NameFinder | None, sentences: Sequence[str]) -> None:
        self._finder = finder
        self._surplus: Counter[str] | None = None  # capitals inside sentences minus lower case
        if len(sentences) >= LARGE:
            self._surplus = Counter()
            for text in sentences:
                for start, end in ENGLISH.words(text):
                    if text[start].islower():
                        self._surplus[text[start:end]] -= 1
                    elif not is_opening(text[:start]):
                        self._surplus[text[start:end].lower()] += 1
        self.name = f"{finder.name} and capital letters" if finder else "capital letters"

    def has_name(self, text: str) -> bool:
        """Whether a person may be named in it."""
        return bool(self.find(text))

    def find(self, text: str) -> list[Span]:
        """Where persons may be named, with the surnames that follow."""
        known = self._finder.find(text) if self._finder else []
        return _whole_names(text, [*known, *self._capitals(text)])

    def _capitals(self, text: str) -> Iterator[Span]:
        words = ENGLISH.words(text)
        inner = [text[start:end] for start, end in words[1:] if text[start:end] != "I"]
        if inner and all(word[0].isupper() for word in inner):
            return
        before = ""
        for start, end in words:
            word, lead = text[start:end], before
            before = word.lower()
            if not _is_capitalised(word) or before in partners("en"):
                continue
            if not is_opening(text[:start]):
                is_name = lead not in _BEFORE_THING
            else:
                is_name = self._surplus is not None and self._surplus[before] >= 0
            if is_name:
                yield start, end


def _is_capitalised(word: str) -> bool:
    """Whether its capital may be that of a name, not of a day, people, abbreviation or I'm."""
    is_abbreviation = word.isupper() and len(word) > 1
    is_other = word in _NOBODY or word.startswith(("I'", "I’"))
    return word[0].isupper() and not is_abbreviation and not is_other


class TaggedWords:
    """Chinese or Japanese: words that the segmenter tags as names of persons."""

    def __init__(
        self, name: str, tag: Callable[[str], Iterable[str]], known: frozenset[str]
    ) -> None:
        self.name = name
        self._tag = tag
        self._known = known

    def has_name(self, text: str) -> bool:
        """Whether a person is named in it."""
        return bool(self.find(text))

    def find(self, text: str) -> list[Span]:
        """Where such words are."""
        spans, place = [], 0
        for word in self._tag(text):
            start = text.index(word, place)
            place = start + len(word)
            if len(word) > 1 and word not in self._known:
                spans.append((start, place))
        return spans


def find_names(preferred: str | None = None) -> NameFinder:
    """The finder that was asked for, else the best that is installed.

    preferred: `auto`, `spacy`, `spacy:MODEL`, `lists` (those of the package faker), or a token
    classifier's folder or hub name. Raises EvenhandError where it is not installed, LoadError
    where it does not load.
    """
    preferred = None if preferred == AUTO else preferred
    kind, _, model = (preferred or "").partition(":")
    if kind == SPACY or (preferred is None and _is_installed("spacy")):
        if not _is_installed("spacy"):
            raise EvenhandError(
                "spaCy is not installed: "
                "pip install spacy && python -m spacy download en_core_web_sm"
            )
        chosen = model or next((m for m in SPACY_MODELS if _is_installed(m)), "")
        if chosen:
            return SpacyNames(chosen)
        if preferred:
            raise EvenhandError(
                "spaCy is installed, but none of its English models: "
                "python -m spacy download en_core_web_sm"
            )
    if preferred is None or preferred in {LISTS, "faker"}:
        if not _is_installed("faker"):
            raise EvenhandError(_NO_FINDER)
        return ListedNames()
    return TaggedNames(preferred.removeprefix("transformers:"))


def find_people(language: str, preferred: str | None, sentences: Sequence[str]) -> NameFinder:
    """The finder of named persons for the swap of a corpus of these sentences.

    preferred: as of `find_names`. By lists means in English the lists of names (where faker is
    installed) and capitals, in Chinese and Japanese the tags of the segmenter. Raises EvenhandError
    where the preferred one cannot be had.
    """
    is_open = preferred in {None, AUTO}
    if language == "en":
        if not is_open and preferred != LISTS:
            return find_names(preferred)
        try:
            finder = find_names(preferred)
        except EvenhandError:
            finder = None
        is_tagger = isinstance(finder, SpacyNames)
        return finder if finder and is_tagger else CapitalisedPeople(finder, sentences)
    if preferred == SPACY:
        raise EvenhandError(
            f"--name-finder {SPACY} knows its English models only; name the one for '{language}', "
            f"such as {SPACY}:{language}_core_{'web' if language == 'zh' else 'news'}_sm"
        )
    tagged = open_finder(language, None, sentences) if is_open or preferred == LISTS else None
    return tagged or find_names(preferred)


def open_finder(
    language: str, preferred: str | None, sentences: Sequence[str]
) -> NameFinder | None:
    """The finder of a language, for a corpus of these sentences; None where there is none.

    Raises EvenhandError where the preferred one of English cannot be had.
    """
    preferred = None if preferred == AUTO else preferred
    if language == "en":
        try:
            return CapitalisedNames(find_names(preferred), sentences)
        except EvenhandError:
            if preferred is not None:
                raise
            return CapitalisedNames(None, sentences)
    if language == "zh":
        return TaggedWords("jieba", _open_chinese(), _CHINESE_WORDS | gender_words("zh"))
    return TaggedWords("UniDic", _tag_japanese, gender_words("ja")) if language == "ja" else None


def _open_chinese() -> Callable[[str], Iterable[str]]:
    from evenhand.languages.zh import segmenter

    own = segmenter()
    from jieba import posseg

    tagger: Any = posseg.POSTokenizer(own)
    return lambda text: (pair.word for pair in tagger.cut(text) if pair.flag.startswith("nr"))


def _tag_japanese(text: str) -> Iterable[str]:
    from evenhand.languages.ja import tagger

    return (
        morpheme.surface
        for morpheme in tagger()(text)
        if morpheme.feature.pos3 == "人名" and not re.fullmatch(r"[一-龯]", morpheme.surface)
    )


def _is_installed(package: str) -> bool:
    return importlib.util.find_spec(package) is not None


def _load_tagger(model: str) -> Tagger:
    try:
        from transformers import pipeline
    except ImportError as error:
        raise LoadError(
            f"the name finder '{model}' needs torch and transformers: pip install 'evenhand[hf]'"
        ) from error
    is_offline = os.environ.get("EVENHAND_OFFLINE") == "1"
    try:
        tagger: Tagger = pipeline(
            "token-classification",
            model=model,
            aggregation_strategy="simple",
            trust_remote_code=False,
            model_kwargs={
                "use_safetensors": True,
                **({"local_files_only": True} if is_offline else {}),
            },
        )
    except Exception as error:  # the hub client, tokenisers and torch each have their own
        lines = str(error).strip().splitlines()
        reason = lines[0][:300] if lines else type(error).__name__
        raise LoadError(
            f"cannot load the token classifier '{model}': {reason}. "
            "Check the name, or give the folder of a model"
        ) from error
    return tagger


@cache
def _read_lists() -> _Lists:
    def gather(locale: str, *lists: str) -> set[str]:
        provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
        names = {
            part
            for key in lists
            for name in getattr(provider, key, ())
            for part in re.split(r"[ -]", name)
        }
        return {n for n in names if len(n) > 1 and n[0].isupper() and _TOKEN.fullmatch(n)}

    first = _MORE_NAMES.union(*(gather(locale, *_LISTS) for locale in _LOCALES))
    last = frozenset[str]().union(*(gather(locale, "last_names") for locale in _LOCALES))
    lorem = importlib.import_module("faker.providers.lorem.en_US").Provider.word_list
    words = WORDS.union((w.lower() for w in lorem), (w.lower() for w in _PLACES))
    rare = frozenset(n for n in gather("en", *_LISTS) - first if n.lower() not in words)
    return _Lists(first, rare, last, words)
