"""Gender words of the lexicons: their partners, where a word must stay, and edits of a text."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

from evenhand import lexicons
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS

NAMED = "named person"
STOPPING = frozenset(  # reasons that leave a whole pair as it is
    {
        "biology",
        "no partner",
        "name with a title",
        "role unclear",
        "title with a first name",
        NAMED,
    }
)
# kinds of words that may speak of somebody whom the text also names
OF_A_PERSON = frozenset({"pronoun", "kinship", "royalty"})
ARTICLE, NAME = "article", "name"  # the gender of an edit that changes no gender word

_MOST_PIECES = 6  # no gender word falls into more morphemes
_SCOUTS = re.compile(r"(?:boy|girl) scouts?", re.IGNORECASE)  # a name each, but a pair of names
_WORD_CHARACTER = re.compile(r"[\w-]")
_JOINING = re.compile(r"[とや も和与或、，/()（）]")
_ENGLISH_KEPT = frozenset({"ladies and gentlemen", "man and wife", "Dear Sir or Madam"})
_KATAKANA = re.compile(r"[ァ-ヺー]")


class Partner(NamedTuple):
    """The word of the other gender; the gender and the kind of the word that it replaces."""

    word: str
    gender: str
    kind: str


class Limit(NamedTuple):
    """A stretch of text that must stay, and why."""

    start: int
    end: int
    reason: str


class Left(NamedTuple):
    """A word that stays, and why."""

    word: str
    reason: str


class Edit(NamedTuple):
    """A place in a text, and what replaces it."""

    start: int
    end: int
    new: str
    gender: str  # of the replaced word; ARTICLE or NAME where it is not a gender word
    kind: str = ""  # of the replaced word: noun, pronoun, kinship ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What in a text is swapped, what stays, and what keeps the whole text from being swapped."""

    edits: list[Edit]
    left: list[Left]
    stops: list[Left]


@cache
def gender_words(language: str) -> frozenset[str]:
    """Every female and male word of the lexicon."""
    return frozenset(
        row[gender] for row in lexicons.table(language, "gender") for gender in GENDERS
    )


def join_pieces(
    text: str, pieces: Iterable[tuple[int, int]], known: Container[str]
) -> list[tuple[int, int]]:
    """The pieces of a segmenter, where neighbours that form a known word are joined.

    The longest word wins: 女, の, 子 -> 女の子.
    """
    spans = list(pieces)
    joined: list[tuple[int, int]] = []
    place = 0
    while place < len(spans):
        start = spans[place][0]
        sizes = range(min(_MOST_PIECES, len(spans) - place), 1, -1)
        size = next((n for n in sizes if text[start : spans[place + n - 1][1]] in known), 1)
        joined.append((start, spans[place + size - 1][1]))
        place += size
    return joined


@cache
def partners(code: str) -> dict[str, Partner]:
    """Every gender word, in lower case, with the first partner that the lexicons name.

    swaps.tsv goes before gender.tsv.
    """
    by_word: dict[str, Partner] = {}
    for table in ("swaps", "gender"):
        for row in lexicons.table(code, table):
            for gender, other in (GENDERS, GENDERS[::-1]):
                if row.get("way", "both") in {"both", gender}:
                    partner = Partner(row[other], gender, row["kind"])
                    by_word.setdefault(row[gender].lower(), partner)
    return by_word


def is_settled(code: str, word: str) -> bool:
    """Whether the partner's partner is this word again.

    That holds for he and mother; not for dude, which becomes gal, while gal becomes guy.
    """
    known = partners(code)
    partner = known.get(word.lower())
    back = known.get(partner.word.lower()) if partner is not None else None
    return back is not None and back.word.lower() == word.lower()


def find_limits(code: str, text: str) -> list[Limit]:
    """The stretches that must stay by swap_limits.tsv."""
    return [
        Limit(match.start(), match.end(), reason)
        for reason, pattern in _limit_patterns(code)
        for match in pattern.finditer(text)
    ]


@cache
def _limit_patterns(code: str) -> tuple[tuple[str, re.Pattern[str]], ...]:
    by_reason: dict[str, list[str]] = {}
    for row in lexicons.table(code, "swap_limits"):
        by_reason.setdefault(row["reason"], []).append(row["pattern"])
    return tuple(
        (reason, re.compile("|".join(patterns), re.IGNORECASE))
        for reason, patterns in by_reason.items()
    )


def expression_reason(code: str, text: str, start: int, end: int) -> str:
    """Why the gender word at this place must stay; empty where it need not.

    It must stay as part of a set phrase, a name or another word of unswappable.tsv.
    """
    flat = text.replace("’", "'")
    for offset, expression, reason in _expressions(code).get(flat[start:end].lower(), ()):
        first, last = start - offset, start - offset + len(expression)
        passage = flat[first:last] if first >= 0 else ""
        # Little Women is a book, two little women are not
        is_exact = code != "en" or reason == "name"
        if passage != expression and (is_exact or passage.lower() != expression.lower()):
            continue
        is_inside_word = _WORD_CHARACTER.match(flat[first - 1 : first]) or _WORD_CHARACTER.match(
            flat[last : last + 1]
        )
        if code != "en" or not is_inside_word:
            return reason
    return ""


@cache
def _expressions(code: str) -> dict[str, list[tuple[int, str, str]]]:
    """By gender word, the longer expressions that hold it: where in them, expression, reason."""
    by_word: dict[str, list[tuple[int, str, str]]] = {}
    for row in lexicons.table(code, "unswappable"):
        expression, reason = row["expression"], row["reason"]
        if _is_swapped_by_word(code, expression, reason):
            continue
        lower = expression.lower()
        for word in partners(code):
            if word not in lower or word == lower:
                continue
            pattern = rf"\b{re.escape(word)}\b" if code == "en" else re.escape(word)
            for match in re.finditer(pattern, lower):
                by_word.setdefault(word, []).append((match.start(), expression, reason))
    return by_word


def _is_swapped_by_word(code: str, expression: str, reason: str) -> bool:
    """Whether an expression is a couple of two words that are swapped one by one.

    `men and women` is; 夫婦, which is one word, is not.
    """
    if code == "en":
        is_couple = reason == "couple" and expression not in _ENGLISH_KEPT
        return is_couple or _SCOUTS.fullmatch(expression) is not None
    known, bare = partners(code), _JOINING.sub("", expression)
    is_apart = bare != expression or len(bare) > 2  # 男と女 is two words, 男女 is one
    return (
        reason == "couple"
        and is_apart
        and any(bare[:cut] in known and bare[cut:] in known for cut in range(1, len(bare)))
    )


class NameSwap:
    """The first names of a language in fixed pairs (name_pairs.tsv): `NameSwap.of("en")`.

    A name that is not in the table stays. So do names of both genders and names that are words.
    """

    def __init__(self, pairs: dict[str, str], *, is_spaced: bool) -> None:
        both = {**pairs, **{male: female for female, male in pairs.items()}}
        if len(both) != 2 * len(pairs):
            raise EvenhandError(
                "a first name stands twice among the pairs; every name needs one partner, "
                "so that swapping twice gives the text again"
            )
        self._partners = both
        longest_first = "|".join(sorted(map(re.escape, both), key=len, reverse=True))
        self._pattern = re.compile(rf"\b(?:{longest_first})\b" if is_spaced else longest_first)

    @staticmethod
    @cache
    def of(code: str) -> NameSwap:
        """The pairs of the language's lexicon."""
        rows = lexicons.table(code, "name_pairs")
        return NameSwap({row["female"]: row["male"] for row in rows}, is_spaced=code == "en")

    def partner(self, name: str) -> str | None:
        """The name of the other gender; None where the table has none."""
        return self._partners.get(name)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Where names of the table stand, and what replaces them."""
        return [
            (*match.span(), self._partners[match.group()])
            for match in self._pattern.finditer(text)
            if _is_whole_name(text, *match.span())
        ]


def _is_whole_name(text: str, start: int, end: int) -> bool:
    """Whether a name in katakana has none on either side, where it would be part of a longer word.

    アン in アンテナ is not a name.
    """
    around = text[max(0, start - 1) : start] + text[end : end + 1]
    return not (_KATAKANA.match(text[start]) and _KATAKANA.search(around))
