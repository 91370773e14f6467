"""Which tokens are the word in the blank? Those of the filled-in sentence that touch it, read as the tokeniser itself cuts the whole sentence.

So a leading space, a capital, a quotation mark before the blank or a particle glued behind it need no rule of their own. Where the cut of one candidate reaches
into the neighbouring text (Korean 그는 is one token, 그녀 + 는 two), or the candidates make the rest of the sentence be cut differently, the blank widens for
every candidate until what is left around it is the same: only then are two probabilities about the same question.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evenhand.core.probe import BLANK


class Filling(NamedTuple):
    """A sentence with one candidate in it; the word is at ids[start:end]."""

    ids: tuple[int, ...]
    start: int
    end: int


class Unanswerable(NamedTuple):
    """Why no number can be given."""

    reason: str


def filled(texts: Sequence[str]) -> list[str]:
    """The sentence with each candidate in its blank, or in all its blanks."""
    return [texts[0].replace(BLANK, word) for word in texts[1:]]


def find_touching(encoding: Any, start: int, end: int) -> list[int]:
    """The positions of the tokens that share a character with text[start:end]."""
    marks = zip(encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [
        i
        for i, ((low, high), is_special) in enumerate(marks)
        if not is_special and low < end and high > start
    ]


def count_shared(ids: Sequence[Sequence[int]]) -> int:
    """How many tokens do all start with?"""
    return next(
        (k for k, column in enumerate(zip(*ids, strict=False)) if len(set(column)) > 1),
        min(map(len, ids)),
    )


def find_words(
    texts: Sequence[str], encodings: Sequence[Any], unknown: int | None
) -> list[Filling] | Unanswerable:
    """Where each candidate stands in its filled-in sentence with one blank, or why that cannot be told."""
    found = find_places(texts, encodings, unknown)
    return (
        found
        if isinstance(found, Unanswerable)
        else [Filling(ids, places[0], places[-1] + 1) for ids, places in found]
    )


def find_places(
    texts: Sequence[str], encodings: Sequence[Any], unknown: int | None
) -> list[tuple[tuple[int, ...], list[int]]] | Unanswerable:
    """Each filled-in sentence and the positions of its candidate in all of the blanks, or why they cannot be told."""
    if BLANK not in texts[0]:
        return Unanswerable(f"no {BLANK} in '{texts[0]}'")
    ids, rests = [tuple(e.ids) for e in encodings], []
    for word, encoding in zip(texts[1:], encodings, strict=True):
        edges, at = [0], 0  # where each stretch of text between two blanks starts and ends
        for before in texts[0].split(BLANK)[:-1]:
            at += len(before)
            found = find_touching(encoding, at, at + len(word))
            if not found:
                return Unanswerable(f"the candidate '{word}' has no tokens")
            if unknown is not None and unknown in encoding.ids[found[0] : found[-1] + 1]:
                return Unanswerable(
                    f"the candidate '{word}' has characters that the tokeniser does not know"
                )
            edges += [found[0], found[-1] + 1]
            at += len(word)
        edges.append(len(encoding.ids))
        rests.append(list(zip(edges[::2], edges[1::2], strict=True)))
    kept: list[set[int]] = [set() for _ in ids]
    last = len(rests[0]) - 1
    for k in range(last + 1):
        stretches = [text[rest[k][0] : rest[k][1]] for text, rest in zip(ids, rests, strict=True)]
        head, tail = count_shared(stretches), count_shared([s[::-1] for s in stretches])
        is_head = k == 0 or (
            k < last and head >= tail
        )  # between two blanks the one or the other widens
        for held, rest in zip(kept, rests, strict=True):
            low, high = rest[k]
            held.update(range(low, low + head) if is_head else range(high - tail, high))
    return [
        (text, [i for i in range(len(text)) if i not in held])
        for text, held in zip(ids, kept, strict=True)
    ]
