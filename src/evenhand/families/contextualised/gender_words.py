"""Which one gender word does a sentence have, and could its partner stand there as well? Else the reason why the sentence measures nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from evenhand import lexicons
from evenhand.core.probe import BLANK
from evenhand.core.protocols import Language
from evenhand.languages.en import LANGUAGE as ENGLISH
from evenhand.languages.en import article, is_opening
from evenhand.languages.frames import gender_cues

UNSWAPPABLE, NONE, SEVERAL = "unswappable expression", "no gender word", "several gender words"
ROLE, TITLE, ARTICLE, CUE, CAPITAL = (
    "role unclear",
    "title with a name",
    "article",
    "gender cue",
    "capital letters",
)
_ROLES = {"determiner": ("his", "her"), "object": ("him", "her"), "possessive": ("his", "hers")}
_ENGLISH_TITLES = frozenset({"mr", "mrs", "ms", "miss", "lord", "dame"})
_EXCLAIMED = re.compile(
    r"(?i)(?:^|[,.!?] |\b(?:oh|um|uh|hm|yeah|well|but|and|so) )\n(?:[,!]| (?:what|that|i|i'm|it|it's|that's|is|did|do|was|oh|am)\b)"
)
_NAME = re.compile(r"\.? (?!I\b)[A-Z]")
_CHINESE_TITLES = frozenset({"先生", "女士", "太太", "小姐", "老先生", "老太太"})
_NO_SURNAME = re.compile(
    r"(?:^|[\W\d_]|[位个名这那的了着是和与跟同请向对给叫被把让找见等问为替老各诸啊呢吗吧])$"
)  # what a title without a name follows


@dataclass(frozen=True, slots=True, kw_only=True)
class Swap:
    """A sentence with a blank for its gender word, the pair that fits in and the word that stood there."""

    text: str
    male: str
    female: str
    gender: str

    @property
    def pair(self) -> tuple[str, str]:
        """The male and the female word."""
        return self.male, self.female


@dataclass(frozen=True, slots=True)
class _Hit:
    start: int
    end: int
    form: str  # as it stands in the lexicon


def find_swap(language: Language, text: str) -> Swap | str:
    """The sentence as a question of gender, or why it is none."""
    hits = list(_find_hits(language, text))
    if _has_unswappable(language.code, text, hits):
        return UNSWAPPABLE
    if len(hits) != 1:
        return SEVERAL if hits else NONE
    hit = hits[0]
    gender, male, female, kind = _pairs(language.code)[hit.form]
    if language.code == "en" and hit.form in {"her", "his"}:
        role = ENGLISH.role(text, (hit.start, hit.end))
        if role is None:
            return ROLE
        male, female = _ROLES[role]
    before, after = text[: hit.start], text[hit.end :]
    if reason := _object(
        language.code,
        before,
        text[hit.start : hit.end],
        after,
        male if gender == "female" else female,
        kind,
    ):
        return reason
    if lexicons.has_table(language.code, "cues") and gender_cues(
        language.code, f"{before}{{x}}{after}"
    ):
        return CUE
    return Swap(
        text=f"{before}{BLANK}{language.open_particle(after)}",
        male=male,
        female=female,
        gender=gender,
    )


def _object(code: str, before: str, word: str, after: str, partner: str, kind: str) -> str:
    """What speaks against the partner in this place?"""
    if code == "zh":
        return TITLE if word in _CHINESE_TITLES and not _NO_SURNAME.search(before) else ""
    if code != "en":
        return ""
    led = re.search(r"\b(an?) $", before, re.IGNORECASE)
    is_bare_genitive = re.match(r"['’](?!\w)", after) is not None and word.endswith("s")
    rules = (
        (len(word) > 1 and word.isupper(), CAPITAL),
        (
            word.lower() in _ENGLISH_TITLES
            or (kind not in {"pronoun", "adjective"} and _NAME.match(after) is not None),
            TITLE,
        ),
        (word[0].isupper() and not is_opening(before), CAPITAL),
        (
            word.lower() in {"boy", "man"} and _EXCLAIMED.search(f"{before}\n{after}") is not None,
            UNSWAPPABLE,
        ),  # boy, what a mess
        (led is not None and led.group(1).lower() != article(partner), ARTICLE),
        (is_bare_genitive and not partner.endswith("s"), "genitive"),
    )
    return next((reason for is_so, reason in rules if is_so), "")


def _find_hits(language: Language, text: str) -> Iterator[_Hit]:
    pairs = _pairs(language.code)
    for start, end in language.words(text):
        word = text[start:end].replace("’", "'")
        forms = (
            (word.lower(), word)
            if language.code == "en" and is_opening(text[:start])
            else (word, word.lower())
        )
        if form := next((f for f in forms if f in pairs), None):
            yield _Hit(start, end, form)


@cache
def _pairs(code: str) -> dict[str, tuple[str, str, str, str]]:
    """Every gender word with its gender and the first pair of the lexicon that has it."""
    found: dict[str, tuple[str, str, str, str]] = {}
    for row in lexicons.table(code, "gender"):
        for gender in ("male", "female"):
            found.setdefault(row[gender], (gender, row["male"], row["female"], row["kind"]))
    return found


def _has_unswappable(code: str, text: str, hits: list[_Hit]) -> bool:
    """Is a set phrase in it? One that is merely another word (其他, 그리고) matters only where it holds what looks like the gender word."""
    phrases, others = _unswappable(code)
    if phrases is not None and phrases.search(text):
        return True
    return others is not None and any(
        m.start() < hit.end and hit.start < m.end() for m in others.finditer(text) for hit in hits
    )


@cache
def _unswappable(code: str) -> tuple[re.Pattern[str] | None, re.Pattern[str] | None]:
    rows = lexicons.table(code, "unswappable") if lexicons.has_table(code, "unswappable") else ()
    others = [row["expression"] for row in rows if row["reason"] == "other word"]
    return _compile(
        code, [row["expression"] for row in rows if row["reason"] != "other word"]
    ), _compile(code, others)


def _compile(code: str, expressions: list[str]) -> re.Pattern[str] | None:
    if not expressions:
        return None
    longest_first = "|".join(
        re.escape(e).replace("'", "['’]") for e in sorted(expressions, key=len, reverse=True)
    )
    return re.compile(
        rf"(?<![\w-])(?:{longest_first})(?![\w-])" if code == "en" else longest_first, re.IGNORECASE
    )
