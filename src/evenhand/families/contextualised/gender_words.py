"""Finding the one gender word of a sentence and blanking it, or saying why that cannot be done."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

from evenhand import lexicons
from evenhand.core.probe import BLANK, GENDERS
from evenhand.core.protocols import Language
from evenhand.families.contextualised.leaks import has_leak
from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.en import article, is_opening
from evenhand.languages.frames import gender_cues

UNSWAPPABLE, NONE, SEVERAL = "unswappable expression", "no gender word", "several gender words"
ROLE, TITLE, ARTICLE = "role unclear", "title with a name", "article"
CUE, CAPITAL, GENITIVE = "gender cue", "capital letters", "genitive"
_ROLES = {"determiner": ("his", "her"), "object": ("him", "her"), "possessive": ("his", "hers")}
_ENGLISH_TITLES = frozenset({"mr", "mrs", "ms", "miss", "lord", "dame"})
_EXCLAIMED = re.compile(  # boy, what a mess
    r"(?i)(?:^|[,.!?] |\b(?:oh|um|uh|hm|yeah|well|but|and|so) )\n"
    r"(?:[,!]| (?:what|that|i|i'm|it|it's|that's|is|did|do|was|oh|am)\b)"
)
_NAME = re.compile(r"\.? (?!I\b)[A-Z]")
_CHINESE_TITLES = frozenset({"先生", "女士", "太太", "小姐", "老先生", "老太太"})
# The words that Zhu et al. 2024 mask: in a longer word whose partner differs in nothing else (他的,
# 小女孩, 女司机) the blank stands for these characters alone. Longer ones come first.
_CHINESE_CORES = (
    ("男孩", "女孩"),
    ("男人", "女人"),
    ("男性", "女性"),
    ("男子", "女子"),
    ("男生", "女生"),
    ("男友", "女友"),
    ("爷爷", "奶奶"),
    ("他", "她"),
    ("男", "女"),
)
_MAN, _WOMAN = _CHINESE_CORES[-1]
# words that begin with 男 or 女 and cannot have the other
_CHINESE_FIXED = re.compile(r"女[婿娲贞红墙萝书真权]|男[爵权科]|女科")
_CHINESE_INNER = re.compile(
    r"(?:(?<=^)|(?<=^一)|(?<=^中国)|(?<=^国家))(?:[男女][孩人性子生友]|[男女])"
)
_NO_SURNAME = re.compile(  # what a title without a name follows
    r"(?:^|[\W\d_]|[位个名这那的了着是和与跟同请向对给叫被把让找见等问为替老各诸啊呢吗吧])$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A sentence with its gender word blanked, the word pair for the blank, and the old gender."""

    text: str
    male: str
    female: str
    gender: str  # of the word that was blanked

    @property
    def pair(self) -> tuple[str, str]:
        """The male and the female word."""
        return self.male, self.female


@dataclass(frozen=True, slots=True, kw_only=True)
class _Hit:
    """A gender word in a sentence."""

    start: int
    end: int
    form: str  # as it stands in the lexicon


@dataclass(frozen=True, slots=True, kw_only=True)
class _Entry:
    """A gender word in the lexicon."""

    gender: str
    male: str
    female: str
    kind: str


def find_swap(language: Language, text: str) -> Swap | str:
    """The sentence with its one gender word blanked, or the reason why it cannot be used."""
    hits = list(_find_hits(language, text))
    if _has_unswappable(language.code, text, hits):
        return UNSWAPPABLE
    if len(hits) != 1:
        return SEVERAL if hits else NONE
    hit = hits[0]
    entry = _entries(language.code)[hit.form]
    if language.code == "zh":
        hit, entry = _core(hit, entry)
    male, female = entry.male, entry.female
    if language.code == "en" and hit.form in {"her", "his"}:
        role = ENGLISH.role(text, (hit.start, hit.end))
        if role is None:
            return ROLE
        male, female = _ROLES[role]
    before, word, after = text[: hit.start], text[hit.start : hit.end], text[hit.end :]
    partner = male if entry.gender == "female" else female
    objection = ""
    if language.code == "zh":
        objection = TITLE if word in _CHINESE_TITLES and not _NO_SURNAME.search(before) else ""
    elif language.code == "en":
        objection = _english_objection((before, word, after), partner, entry.kind)
    if objection:
        return objection
    if _tells_gender(language.code, before, after):
        return CUE
    blanked = f"{before}{BLANK}{language.open_particle(after)}"
    return Swap(text=blanked, male=male, female=female, gender=entry.gender)


def _tells_gender(code: str, before: str, after: str) -> bool:
    """Whether what stands around the blank gives the gender away."""
    has_cues = lexicons.has_table(code, "cues")
    return (
        (has_cues and bool(gender_cues(code, f"{before}{{x}}{after}")))
        or has_leak(code, before, after)
        or (code == "zh" and any(sign in before + after for sign in (_MAN, _WOMAN)))
    )


def _core(hit: _Hit, entry: _Entry) -> tuple[_Hit, _Entry]:
    """The part of a Chinese word that the blank stands for, and its pair."""
    for male, female in _CHINESE_CORES:
        place = entry.male.find(male)
        end = place + len(male)
        if place >= 0 and entry.male[:place] + female + entry.male[end:] == entry.female:
            start = hit.start + place
            own = replace(hit, start=start, end=start + len(male))
            return own, replace(entry, male=male, female=female)
    return hit, entry


def _english_objection(parts: tuple[str, str, str], partner: str, kind: str) -> str:
    """Why the word cannot be replaced by its partner; empty where it can."""
    before, word, after = parts
    lead = re.search(r"\b(an?) $", before, re.IGNORECASE)
    is_exclaimed = _EXCLAIMED.search(f"{before}\n{after}") is not None
    is_named = kind not in {"pronoun", "adjective"} and _NAME.match(after) is not None
    is_bare_genitive = re.match(r"['’](?!\w)", after) is not None and word.endswith("s")
    rules = (
        (len(word) > 1 and word.isupper(), CAPITAL),
        (word.lower() in _ENGLISH_TITLES or is_named, TITLE),
        (word[0].isupper() and not is_opening(before), CAPITAL),
        (word.lower() in {"boy", "man"} and is_exclaimed, UNSWAPPABLE),
        (lead is not None and lead.group(1).lower() != article(partner), ARTICLE),
        (is_bare_genitive and not partner.endswith("s"), GENITIVE),
    )
    return next((reason for is_so, reason in rules if is_so), "")


def _find_hits(language: Language, text: str) -> Iterator[_Hit]:
    known = _entries(language.code)
    for start, end in language.words(text):
        word = text[start:end].replace("’", "'")
        is_first = language.code == "en" and is_opening(text[:start])
        forms = (word.lower(), word) if is_first else (word, word.lower())
        if form := next((f for f in forms if f in known), None):
            yield _Hit(start=start, end=end, form=form)
        elif language.code == "zh" and (own := _inner_word(word)):
            yield _Hit(start=start + own.start(), end=start + own.end(), form=own.group())


def _inner_word(word: str) -> re.Match[str] | None:
    """Where a Chinese word that is not in the lexicon begins with a gender word (女嘉宾, 男篮).

    None where it does not, or has both genders.
    """
    own = _CHINESE_INNER.search(word)
    signs = word.count(_MAN) + word.count(_WOMAN)
    return own if signs == 1 and _CHINESE_FIXED.search(word) is None else None


@cache
def _entries(code: str) -> dict[str, _Entry]:
    """Every gender word, with the first pair in the lexicon that contains it."""
    entries: dict[str, _Entry] = {}
    for row in lexicons.table(code, "gender"):
        for gender in GENDERS:
            entry = _Entry(gender=gender, male=row["male"], female=row["female"], kind=row["kind"])
            entries.setdefault(row[gender], entry)
    if code == "zh":
        for gender, word in zip(GENDERS, (_MAN, _WOMAN), strict=True):
            entries.setdefault(
                word, _Entry(gender=gender, male=_MAN, female=_WOMAN, kind="adjective")
            )
    return entries


def _has_unswappable(code: str, text: str, hits: list[_Hit]) -> bool:
    """Whether the text has an expression that cannot be swapped.

    One that is merely another word (其他, 그리고) matters only where what looks like the gender
    word is part of it.
    """
    phrases, others = _unswappable(code)
    if phrases is not None and phrases.search(text):
        return True
    return others is not None and any(
        match.start() < hit.end and hit.start < match.end()
        for match in others.finditer(text)
        for hit in hits
    )


@cache
def _unswappable(code: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    """Patterns of a language: set phrases, and words that only look like gender words."""
    rows = lexicons.table(code, "unswappable") if lexicons.has_table(code, "unswappable") else ()
    others = [row["expression"] for row in rows if row["reason"] == "other word"]
    phrases = [row["expression"] for row in rows if row["reason"] != "other word"]
    return _compile(code, phrases), _compile(code, others)


def _compile(code: str, expressions: list[str]) -> re.Pattern[str] | None:
    if not expressions:
        return None
    longest_first = "|".join(
        re.escape(text).replace("'", "['’]") for text in sorted(expressions, key=len, reverse=True)
    )
    whole = rf"(?<![\w-])(?:{longest_first})(?![\w-])" if code == "en" else longest_first
    return re.compile(whole, re.IGNORECASE)
