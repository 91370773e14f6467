"""Which word stands for which when the genders of a text are swapped, and what must stay? Read from the lexicons, once per language."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from evenhand import lexicons

STOPPING = frozenset(
    {"biology", "no partner", "name with a title", "role unclear", "title with a first name"}
)  # these leave a whole pair as it is
ARTICLE, NAME = "article", "name"
_SCOUTS = re.compile(r"(?:boy|girl) scouts?", re.IGNORECASE)  # a name each, but a pair of names
_INSIDE = re.compile(r"[\w-]")
_JOINING = re.compile(r"[とや も和与或、，/()（）]")
_ENGLISH_KEPT = frozenset({"ladies and gentlemen", "man and wife", "Dear Sir or Madam"})


class Partner(NamedTuple):
    """What stands for a word, the word's own gender, and what kind of word it is."""

    word: str
    gender: str
    kind: str


class Left(NamedTuple):
    """A word that stays, and why."""

    word: str
    reason: str


class Edit(NamedTuple):
    """A place in a text and what comes there."""

    start: int
    end: int
    new: str
    gender: str  # of the word that goes; ARTICLE or NAME where it is no gender word
    kind: str = ""  # of the word that goes: noun, pronoun, kinship ...


@dataclass(frozen=True, slots=True)
class Findings:
    """What of a text is swapped, what stays, and what keeps the whole text from being swapped."""

    edits: list[Edit]
    left: list[Left]
    stops: list[Left]


class Limit(NamedTuple):
    """A stretch of text that a limit covers."""

    start: int
    end: int
    reason: str


@cache
def partners(code: str) -> dict[str, Partner]:
    """Every gender word, in lower case, with the first partner that the lexicons name: swaps.tsv before gender.tsv."""
    found: dict[str, Partner] = {}
    for table in ("swaps", "gender"):
        for row in lexicons.table(code, table):
            for gender, other in (("male", "female"), ("female", "male")):
                if row.get("way", "both") in {"both", gender}:
                    found.setdefault(row[gender].lower(), Partner(row[other], gender, row["kind"]))
    return found


def is_settled(code: str, word: str) -> bool:
    """Does the partner's partner give this word again? he, mother; not dude, which becomes gal, and gal becomes guy."""
    known = partners(code)
    there = known.get(word.lower())
    return (
        there is not None
        and (back := known.get(there.word.lower())) is not None
        and back.word.lower() == word.lower()
    )


def find_limits(code: str, text: str) -> list[Limit]:
    """Where is something that must stay?"""
    return [
        Limit(m.start(), m.end(), reason)
        for reason, pattern in _limits(code)
        for m in pattern.finditer(text)
    ]


@cache
def _limits(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    by_reason: dict[str, list[str]] = {}
    for row in lexicons.table(code, "swap_limits"):
        by_reason.setdefault(row["reason"], []).append(row["pattern"])
    return tuple(
        (reason, re.compile("|".join(patterns), re.IGNORECASE))
        for reason, patterns in by_reason.items()
    )


def find_expression(code: str, text: str, start: int, end: int) -> str:
    """Why must the gender word at this place stay: is it part of a set phrase, a name or another word of unswappable.tsv? Else an empty text."""
    plain = text.replace("’", "'")
    for shift, expression, reason in _expressions(code).get(plain[start:end].lower(), ()):
        first, last = start - shift, start - shift + len(expression)
        there = plain[first:last] if first >= 0 else ""
        is_exact = (
            code != "en" or reason == "name"
        )  # Little Women is a book, two little women are not
        if there != expression and (is_exact or there.lower() != expression.lower()):
            continue
        if code != "en" or not (
            _INSIDE.match(plain[first - 1 : first]) or _INSIDE.match(plain[last : last + 1])
        ):
            return reason
    return ""


@cache
def _expressions(code: str) -> dict[str, list[tuple[int, str, str]]]:
    """Every gender word with the longer expressions that hold it: where in them it starts, the expression, the reason."""
    found: dict[str, list[tuple[int, str, str]]] = {}
    for row in lexicons.table(code, "unswappable"):
        expression, reason = row["expression"], row["reason"]
        if _is_swapped_whole(code, expression, reason):
            continue
        for word in partners(code):
            if word not in expression.lower() or word == expression.lower():
                continue
            for m in re.finditer(
                rf"\b{re.escape(word)}\b" if code == "en" else re.escape(word), expression.lower()
            ):
                found.setdefault(word, []).append((m.start(), expression, reason))
    return found


def _is_swapped_whole(code: str, expression: str, reason: str) -> bool:
    """Is it a couple of two words that are swapped one by one (men and women), unlike 夫婦, which is one word?"""
    if code == "en":
        return (reason == "couple" and expression not in _ENGLISH_KEPT) or _SCOUTS.fullmatch(
            expression
        ) is not None
    known, bare = partners(code), _JOINING.sub("", expression)
    is_apart = bare != expression or len(bare) > 2  # 男と女 is two words, 男女 is one
    return (
        reason == "couple"
        and is_apart
        and any(bare[:cut] in known and bare[cut:] in known for cut in range(1, len(bare)))
    )
