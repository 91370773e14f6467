"""Premises mined from real sentences: one occupation, no gender, equally many per occupation.

After section 3.1 of Sharma, Dey and Sinha 2021: short sentences that name an occupation, without
a gendered word or a personal name; rare occupations get other sentences with their own word put in:
sentences about another occupation, or about one man, woman or person of whom nothing else shows the
gender. Every such sentence is used before one is used again. There is no parser: the words around
"cook" decide whether it is a person, and in case of doubt it is not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from numpy.random import Generator

from evenhand import lexicons
from evenhand.core.corpora import read_sentences
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS
from evenhand.languages.en import LANGUAGE, article
from evenhand.languages.frames import gender_cues
from evenhand.languages.names import NameFinder

SHORTEST = 3  # words
_SOMEBODY = re.compile(r"(?<![\w-])(?:(?:wo)?man|person)(?![\w-])", re.IGNORECASE)
# A word in fewer than 1 of 5000 sentences is a typing error or trade jargon: a sentence with it is
# not given to another occupation. A corpus smaller than LARGE does not show how rare a word is.
RARE = 2e-4
LARGE = 5000

_CLASSES: dict[str, frozenset[str]] = {  # the head of the lexicon explains them
    kind: frozenset(row["word"] for row in lexicons.table("en", "senses") if row["kind"] == kind)
    for kind in dict.fromkeys(row["kind"] for row in lexicons.table("en", "senses"))
}
_DETERMINERS = (
    _CLASSES["one"] | _CLASSES["many"] | _CLASSES["possessive"] | _CLASSES["other determiner"]
)
_FUNCTION = _DETERMINERS | _CLASSES["preposition"] | _CLASSES["auxiliary"] | _CLASSES["link"]
_NOT_OWNED = _FUNCTION | {"market", "markets", "seat", "seats", "license", "licence"}
_TIED = re.compile(  # to the trade, so that no other occupation can be put in
    rf"(?i)\b(?:(?:{'|'.join(_CLASSES['stem'])})\w*|(?:{'|'.join(_CLASSES['word'])})\b"
    r"|hard hats?|work(?:s|ed|ing)? on )"
)
_TOKEN = re.compile(r"[A-Za-z0-9]+(?:['’-][A-Za-z]+)*")
# letters, commas, apostrophes inside words, one stop at the end; no second sentence, no torn end
_PLAIN_TEXT = re.compile(
    r"(?!.*[^A-Za-z]['’])(?!.*[^Ss]['’][ ,.])"
    r"(?!.* (?:The|An?|They|It|We|You|This|These|And|But)\b)"
    r"(?!.* (?:an?|and|but|of|or|the)[.!]?$)[A-Za-z0-9][A-Za-z0-9 ,'’é-]*[.!]?"
)
# "the director is a supervisor" says what a supervisor is; "the people are guards" can be said of
# anybody
_IDENTITY = re.compile(
    r"(?i)\n (?:is|are|was|were) (?:an?|the)\b"
    r"|^(?!(?:the |these )?(?:people|person|they|i|you|we|someone|there|it)\b)"
    r".*\b(?:is|are|was|were) (?:(?:an?|the) )?\n"
)
_MEN = (
    r"\b(?!(?:hu|ger|ro|otto|sha|nor)m[ae]n\b|(?:speci|abdo|regi|o|a)men\b)\w+m[ae]n\b"
    r"|\bblondes?\b|\bfeminis\w+"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Which occupations get premises, how many, and of how many words at most."""

    occupations: tuple[str, ...] | None = None  # None: the 38 of the paper
    per_occupation: int = 50
    longest: int = 10
    has_hypotheses: bool = True  # whether the hypotheses of a corpus are used too


@dataclass(frozen=True, slots=True, kw_only=True)
class Premise:
    """One sentence that names one occupation."""

    text: str
    occupation: str
    is_plural: bool
    origin: Literal["original", "put in"]
    source_occupation: str  # whose sentence it was in the corpus, or man, woman, person
    frame: str  # the sentence of the corpus with […] in place of that word


@dataclass(frozen=True, slots=True, kw_only=True)
class MinedPremises:
    """The premises, why other sentences were removed, and which occupations fell short."""

    premises: tuple[Premise, ...]
    removed: Counter[str]  # filter -> sentences
    own_sentences: Counter[str]  # occupation -> how many of the corpus name it and stay
    short: Mapping[str, int]  # occupation -> how many premises it got, where fewer than asked for

    @property
    def sentences(self) -> int:
        """How many different sentences of the corpus the premises are made of."""
        return len({premise.frame for premise in self.premises})


@dataclass(frozen=True, slots=True)
class _Mention:
    """Where a sentence names its occupation, and what stands around it."""

    text: str
    start: int
    end: int
    word: str
    is_plural: bool

    @property
    def rest(self) -> str:
        """What stands around it, with a line break in its place."""
        return f"{self.text[: self.start]}\n{self.text[self.end :]}"

    @property
    def frame(self) -> str:
        """The sentence with […] in its place, as a report prints it."""
        return self.rest.replace("\n", "[…]")

    @property
    def left(self) -> list[str]:
        """The words before it in its clause, nearest first."""
        clause = re.split(r"[,.!]", self.text[: self.start])[-1]
        return _tokens(clause)[::-1]

    @property
    def is_owner(self) -> bool:
        """Whether it is in the genitive."""
        return self.text[self.end : self.end + 1] in {"'", "’"}

    @property
    def right(self) -> str:
        """The next word, or nothing at the end of a clause."""
        match = re.match(r"(?:['’]s?)? +(" + _TOKEN.pattern + ")", self.text[self.end :])
        return match.group(1).lower().replace("’", "'") if match else ""


def mine_premises(
    paths: Sequence[Path], names: NameFinder, rng: Generator, quota: Quota | None = None
) -> MinedPremises:
    """The sentences of some corpora that can be premises, equally many for each occupation.

    Raises EvenhandError, with the filters that removed them, where there are none.
    """
    quota = quota or Quota()
    if quota.per_occupation < 1:
        raise EvenhandError(
            f"{quota.per_occupation} premises per occupation were asked for; at least 1 is needed"
        )
    occupations = quota.occupations
    if occupations is None:
        occupations = tuple(row["word"] for row in lexicons.table("en", "workforce"))
    wanted = tuple(dict.fromkeys(occupations))
    sentences = _read(paths, has_hypotheses=quota.has_hypotheses)
    shares = _word_shares(sentences)
    removed: Counter[str] = Counter()
    own: dict[str, list[_Mention]] = {word: [] for word in wanted}
    others: list[_Mention] = []
    taken: set[str] = set()
    for sentence in sentences:
        mention = _judge(sentence, wanted, quota.longest, names, shares)
        if isinstance(mention, str) or _key(sentence) in taken:
            removed[mention if isinstance(mention, str) else "duplicate"] += 1
            continue
        taken.add(_key(sentence))
        own.get(mention.word, others).append(mention)
    if not any(own.values()) and not others:
        why = ", ".join(f"{reason} {count}" for reason, count in removed.most_common())
        raise EvenhandError(
            f"no sentence of {len(sentences)} can be a premise; removed: {why}. "
            "Give a larger corpus or other occupations"
        )
    mentions = [*(m for words in own.values() for m in words), *others]
    donors = [mention for mention in mentions if _is_free(mention, shares)]
    premises = tuple(_equalise(own, donors, quota.per_occupation, rng, taken))
    got = Counter(p.occupation for p in premises)
    return MinedPremises(
        premises=premises,
        removed=removed,
        own_sentences=Counter({word: len(own[word]) for word in wanted}),
        short={word: got[word] for word in wanted if got[word] < quota.per_occupation},
    )


def _read(paths: Iterable[Path], *, has_hypotheses: bool) -> list[str]:
    """Every sentence once, without the space that some corpora have before punctuation."""
    texts = (s for path in paths for s in read_sentences(path, is_hypotheses_too=has_hypotheses))
    return list(dict.fromkeys(re.sub(r" ([.,!?])", r"\1", text) for text in texts))


def _word_shares(sentences: Sequence[str]) -> dict[str, float]:
    """The share of sentences that contain each word; empty for a small corpus.

    The case of the letters is kept, because a name is hardly ever written in lower case.
    """
    if len(sentences) < LARGE:
        return {}
    seen = Counter(word for text in sentences for word in set(_TOKEN.findall(text)))
    return {word: count / len(sentences) for word, count in seen.items()}


def put_in(text: str, start: int, end: int, word: str) -> str:
    """The sentence with another word at this place: article corrected, capital kept."""
    before = text[:start]
    if old := re.search(r"\b(an?) $", before, re.IGNORECASE):
        new = article(word)
        before = f"{before[: old.start()]}{new.capitalize() if old.group(1)[0].isupper() else new} "
    is_start = not before and text[0].isupper()
    return before + (word[0].upper() + word[1:] if is_start else word) + text[end:]


def pluralise(word: str) -> str:
    """The plural of an occupation: as the lexicon has it, else by rule."""
    for row in lexicons.table("en", "workforce"):
        if row["word"].lower() == word.lower():
            return row["plural"]
    if word.endswith("person"):
        return word.removesuffix("person") + "people"
    stem = re.sub(r"(?<=[^aeiou])y$", "ie", word)
    return stem + ("es" if word.endswith(("s", "x", "ch", "sh")) else "s")


def _equalise(
    own: Mapping[str, list[_Mention]],
    donors: Sequence[_Mention],
    each: int,
    rng: Generator,
    taken: set[str],
) -> Iterator[Premise]:
    """`each` premises of every occupation: from its own sentences, then from those of others.

    Donors are used in turn over all occupations, so that none is used again before all were.
    """
    kept = {
        word: [sentences[i] for i in sorted(rng.permutation(len(sentences))[:each])]
        for word, sentences in own.items()
    }
    used = {mention.text for mentions in kept.values() for mention in mentions}
    order = [donors[i] for i in rng.permutation(len(donors))]
    turn = [*(d for d in order if d.text not in used), *(d for d in order if d.text in used)]
    for word, mentions in kept.items():
        yield from (_premise(mention, word, mention.text) for mention in mentions)
        lacking, passed_over = each - len(mentions), []
        given = []
        while turn and lacking > 0:
            donor = turn.pop(0)
            form = pluralise(word) if donor.is_plural else word
            text = put_in(donor.text, donor.start, donor.end, form)
            if donor.word == word or _key(text) in taken:
                passed_over.append(donor)
                continue
            taken.add(_key(text))
            given.append(donor)
            lacking -= 1
            yield _premise(donor, word, text)
        turn = [*passed_over, *turn, *given]


def _premise(mention: _Mention, word: str, text: str) -> Premise:
    return Premise(
        text=text,
        occupation=word,
        is_plural=mention.is_plural,
        origin="original" if mention.word == word else "put in",
        source_occupation=mention.word,
        frame=mention.frame,
    )


def _judge(
    text: str, wanted: tuple[str, ...], longest: int, names: NameFinder, shares: Mapping[str, float]
) -> _Mention | str:
    """The one place where the sentence names somebody, or the filter that removes it."""
    pattern, forms = _forms(wanted)
    mentions = [
        _Mention(text, m.start(), m.end(), *forms[m.group().lower()])
        for m in pattern.finditer(text)
    ] or [_Mention(text, *m.span(), m.group().lower(), False) for m in _SOMEBODY.finditer(text)]
    if not mentions:
        return "no occupation"
    mention, words = mentions[0], _TOKEN.findall(text)
    is_unseen = (
        bool(shares)
        and mention.start > 0
        and words[0].istitle()
        and words[0] != "I"
        and words[0].lower() not in shares
    )
    tests: tuple[tuple[str, Callable[[], bool]], ...] = (  # the first that holds removes it
        ("too long", lambda: len(words) > longest),
        ("too short", lambda: len(words) < SHORTEST),
        ("question", lambda: text.endswith("?") or words[0].lower() in _CLASSES["asking"]),
        ("several occupations", lambda: len(mentions) > 1),
        ("gendered word", lambda: _shows_gender(mention)),
        ("not a plain sentence", lambda: not _PLAIN_TEXT.fullmatch(text)),
        ("personal name", lambda: is_unseen or names.has_name(text)),
        ("not a person", lambda: not _is_person(mention)),
        ("broken article or number", lambda: not _is_sound(mention)),
        ("no verb", lambda: not _has_verb(mention)),
    )
    return next((reason for reason, is_hit in tests if is_hit()), mention)


def _shows_gender(mention: _Mention) -> bool:
    """Whether anything but the word itself tells the gender."""
    return bool(
        _gendered().search(mention.rest) or gender_cues("en", mention.rest.replace("\n", "{x}"))
    )


def _is_person(mention: _Mention) -> bool:
    """Whether the word is a person here, and not a verb, an adjective or part of another noun."""
    near, right = (mention.left or [""])[0], mention.right
    is_title = mention.start > 0 and mention.text[mention.start].isupper() and mention.word != "CEO"
    is_idiom = near in _CLASSES["possessive"] and right in {"up", "down"}  # let our guards down
    is_science = mention.word == "mechanic" and right == "of"
    if is_title or is_idiom or is_science or near in _CLASSES["thing"]:
        return False
    if mention.is_owner:  # "Cook's men" are those of a Mr Cook
        return right not in _NOT_OWNED and (mention.is_plural or near != "")
    if right in _CLASSES["after"]:
        return False
    is_led = (
        near in _DETERMINERS | _CLASSES["plain"] | _CLASSES["person"]
        or near.isdigit()
        or near.endswith(("ed", "'s"))
    )
    is_doubtful = mention.word in _CLASSES["doubtful"]
    if mention.is_plural:
        return (
            not is_doubtful
            or is_led
            or near in _CLASSES["preposition"]
            or (not near and right not in _DETERMINERS | {""})
        )
    is_verb = (
        right.endswith(("ing", "ed", "ly"))
        or bool(re.search(r"[^s]s$", right))
        or right in _CLASSES["past"]
    )
    if right and not is_verb and right not in _FUNCTION:
        return False
    is_caption = not near and (
        right.endswith("ing") or right in _CLASSES["preposition"] | _CLASSES["auxiliary"]
    )
    return is_led or is_caption or (not is_doubtful and near != "")


def _is_sound(mention: _Mention) -> bool:
    """Whether article and number agree with the word."""
    text, is_plural = mention.text, mention.is_plural
    if LANGUAGE.faults(text) or re.search(r"(?i)\b(?:an?|the) (?:an?|the)\b", text):
        return False
    for word in mention.left[:4]:
        if word in _DETERMINERS or word.isdigit():
            if is_plural:
                return word not in _CLASSES["one"] | {"1"}
            return not (word in _CLASSES["many"] or (word.isdigit() and word != "1"))
        if word in _FUNCTION or word.endswith("'s"):
            return is_plural or word.endswith("'s")  # not "looks like teacher"
    return is_plural or len(mention.left) < 4


def _has_verb(mention: _Mention) -> bool:
    others = _tokens(mention.text)
    if mention.left:
        others.remove(mention.left[0])  # "armed" in "an armed guard"
    verbs = _CLASSES["auxiliary"] | _CLASSES["past"]
    endings = [t for t in others if t.endswith(("ing", "ed")) and t not in _CLASSES["verbless"]]
    if endings or any(token in verbs for token in others):
        return True
    is_followed = not mention.is_owner and mention.right not in _FUNCTION | {""}
    return is_followed and (mention.is_plural or mention.right.endswith("s"))


def _is_free(mention: _Mention, shares: Mapping[str, float]) -> bool:
    """Whether another occupation can stand in its place: nothing else belongs to this one."""
    rest = mention.rest
    if mention.is_owner or mention.right in {"of", "who", "and"}:
        return False
    if _TIED.search(rest) or _IDENTITY.search(rest) or any(c.isdigit() for c in rest):
        return False
    tokens = _TOKEN.findall(rest)
    if any(t[0].isupper() for t in tokens[int(mention.start > 0) :]):
        return False
    content = [t.lower() for t in tokens if t.lower() not in _FUNCTION | _CLASSES["plain"]]
    if shares and any(shares.get(token, 0) < RARE for token in content):
        return False
    near = next((word for word in mention.left if word not in _CLASSES["plain"]), "")
    if near in _DETERMINERS - _CLASSES["possessive"]:
        return True
    is_bare = near in {"", *_CLASSES["preposition"], *_CLASSES["auxiliary"]}
    return mention.is_plural and is_bare


def _tokens(text: str) -> list[str]:
    return [token.lower().replace("’", "'") for token in _TOKEN.findall(text)]


def _key(text: str) -> str:
    return " ".join(_TOKEN.findall(text.lower()))


@cache
def _gendered() -> re.Pattern[str]:
    rows = lexicons.table("en", "gender")
    words = sorted({row[gender] for row in rows for gender in GENDERS}, key=len, reverse=True)
    listed = "|".join(map(re.escape, words))
    return re.compile(rf"(?i)(?<![\w-])(?:{listed})(?:e?s)?(?![\w-])|{_MEN}")


@cache
def _forms(wanted: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, tuple[str, bool]]]:
    """Every form of every known occupation, so that a second one in a sentence is seen too."""
    tables = (lexicons.table("en", name) for name in ("workforce", "occupations"))
    endings = tuple(f" {word}" for word in wanted)  # a bus driver is a driver
    others = (r["word"] for table in tables for r in table if not r["word"].endswith(endings))
    forms: dict[str, tuple[str, bool]] = {}
    for word in (*wanted, *others):
        forms.setdefault(word.lower(), (word, False))
        for plural in (pluralise(word), *([f"{word}s"] if word.endswith("person") else [])):
            forms.setdefault(plural.lower(), (word, True))
    longest_first = "|".join(map(re.escape, sorted(forms, key=len, reverse=True)))
    return re.compile(rf"(?<![\w-])(?:{longest_first})(?![\w-])", re.IGNORECASE), forms
