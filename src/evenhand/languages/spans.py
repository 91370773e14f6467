"""Where do the gender words of a segmented text stand? Pieces that a segmenter has torn apart are joined again; shared by the languages."""

from __future__ import annotations

from collections.abc import Container, Iterable
from functools import cache

from evenhand import lexicons

_PIECES = 6  # no gender word falls into more morphemes


@cache
def gender_words(language: str) -> frozenset[str]:
    """Every female and male word of the lexicon."""
    return frozenset(
        row[gender] for row in lexicons.table(language, "gender") for gender in ("female", "male")
    )


def join(
    text: str, pieces: Iterable[tuple[int, int]], known: Container[str]
) -> list[tuple[int, int]]:
    """The pieces, where several neighbours that together are a known word count as one, the longest first: 女, の, 子 -> 女の子."""
    left = list(pieces)
    found: list[tuple[int, int]] = []
    place = 0
    while place < len(left):
        size = next(
            (
                n
                for n in range(min(_PIECES, len(left) - place), 1, -1)
                if text[left[place][0] : left[place + n - 1][1]] in known
            ),
            1,
        )
        found.append((left[place][0], left[place + size - 1][1]))
        place += size
    return found
