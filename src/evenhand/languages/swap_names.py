"""Which first name stands for which when the genders of a text are swapped? A fixed table of pairs (name_pairs.tsv), an own one and no library's.

A name that is not in the table stays. So do names of both genders and names that are words.
"""

from __future__ import annotations

import re
from functools import cache

from evenhand import lexicons
from evenhand.core.errors import EvenhandError


class NameSwap:
    """The first names of a language in pairs; `NameSwap.of("en")`."""

    def __init__(self, pairs: dict[str, str], *, is_spaced: bool) -> None:
        both = {**pairs, **{male: female for female, male in pairs.items()}}
        if len(both) != 2 * len(pairs):
            raise EvenhandError(
                "a first name stands twice among the pairs; every name needs one partner, so that swapping twice gives the text again"
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
        """The name that stands for this one, None where the table has none."""
        return self._partners.get(name)

    def find(self, text: str) -> list[tuple[int, int, str]]:
        """Where does a name of the table stand, and what comes there?"""
        return [
            (*m.span(), self._partners[m.group()])
            for m in self._pattern.finditer(text)
            if self._is_whole(text, *m.span())
        ]

    @staticmethod
    def _is_whole(text: str, start: int, end: int) -> bool:
        """Katakana on either side: the name is a piece of a longer one (アン in アンテナ)."""
        around = text[max(0, start - 1) : start] + text[end : end + 1]
        return not (re.match(r"[ァ-ヺー]", text[start]) and re.search(r"[ァ-ヺー]", around))
