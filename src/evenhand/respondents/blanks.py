"""Which tokens are the word in the blank? Those of the filled-in sentence that touch it, read as the tokeniser itself cuts the whole sentence.

So a leading space, a capital, a quotation mark before the blank or a particle glued behind it need no rule of their own. Where the cut of one candidate reaches
into the neighbouring text (Korean 그는 is one token, 그녀 + 는 two), or the candidates make the rest of the sentence be cut differently, the blank widens for
every candidate until what is left around it is the same: only then are two probabilities about the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evenhand.core.records import BLANK


class Filling(NamedTuple):
    """A sentence with one candidate in it; the word is at ids[start:end]."""

    ids: tuple[int, ...]
    start: int
    end: int


class Unanswerable(NamedTuple):
    """Why no number can be given."""

    reason: str


def filled(texts: Sequence[str]) -> list[str]:
    """The sentence of a mask probe with each candidate in the blank."""
    return [texts[0].replace(BLANK, word) for word in texts[1:]]


def _touched(encoding: Any, start: int, end: int) -> list[int]:
    """The positions of the tokens that share a character with text[start:end]."""
    marks = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [i for i, ((low, high), is_special) in enumerate(marks) if not is_special and low < end and high > start]


def _shared(ids: Sequence[tuple[int, ...]]) -> int:
    """How many tokens do all start with?"""
    return next((k for k, column in enumerate(zip(*ids, strict=False)) if len(set(column)) > 1), min(map(len, ids)))


def find_words(texts: Sequence[str], encodings: Sequence[Any], unknown: int | None) -> list[Filling] | Unanswerable:
    """Where each candidate stands in its filled-in sentence, or why that cannot be told."""
    start = texts[0].index(BLANK)
    ids, touched = [tuple(e.ids) for e in encodings], []
    for word, encoding in zip(texts[1:], encodings, strict=True):
        found = _touched(encoding, start, start + len(word))
        if not found:
            return Unanswerable(f"the candidate '{word}' has no tokens")
        if unknown is not None and unknown in encoding.ids[found[0] : found[-1] + 1]:
            return Unanswerable(f"the candidate '{word}' has characters that the tokeniser does not know")
        touched.append(found)
    left = min(_shared(ids), *(found[0] for found in touched))
    right = min(_shared([i[::-1] for i in ids]), *(len(i) - found[-1] - 1 for i, found in zip(ids, touched, strict=True)))
    return [Filling(i, left, len(i) - right) for i in ids]
