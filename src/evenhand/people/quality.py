"""Flags: answers that were faster than a person can read, straight lines, alternating patterns.

A flag is shown to the owner of a study and stands in exports; no answer is dropped because of it.
What counts is what was pressed, by place on the screen: the words of Type 1 come in random order,
so the same places again and again are not an opinion. Each type is looked at by itself, in the
order of the questions. A stretch of equal or alternating answers is flagged where it has at least
LONG answers and would be rare (fewer than RARE of them expected) if the same person had given the
same answers in random order; almost nothing but one answer (SAME) is always flagged.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.people.plan import TYPE1
from evenhand.people.questions import Question

FAST, STRAIGHT, ALTERNATING = "fast", "straight", "alternating"
FLAGS = (FAST, STRAIGHT, ALTERNATING)
# characters a second that nobody reads: 1,200 ideographs, or about 600 English words, a minute
FASTEST = {"zh": 20.0, "ja": 20.0, "ko": 20.0}
FASTEST_ELSEWHERE = 60.0
PERIODS = (2, 3)  # of an alternating pattern: 1 2 1 2, 1 2 3 1 2 3
LONG, RARE, SAME = 12, 0.01, 0.95
Pressed = tuple[str, ...]
PartName = tuple[str, str, int]  # annotator, part, attempt


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """What somebody pressed, and how long the question was on the screen."""

    annotator: str
    part: str
    attempt: int
    question: str
    type: str
    text: str
    seconds: float  # of all times that it was shown
    pressed: Pressed


def pressed_places(question: Question, payload: Mapping[str, Any]) -> Pressed:
    """The places on the screen that an answer chose: two words and whether equal, or a number."""
    if question.type != TYPE1:
        return (str(payload.get("value", "")),)
    places = {option.key: place for place, option in enumerate(question.options, start=1)}
    chosen = (str(places.get(str(payload.get(name, "")), "")) for name in ("first", "second"))
    return (*chosen, "=" if payload.get("equal") else "")


def least_seconds(text: str, language: str) -> float:
    """The time below which nobody can have read a text."""
    return len(text) / FASTEST.get(language, FASTEST_ELSEWHERE)


def flag_answers(replies: Iterable[Reply], language: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """(annotator, question) -> the flags of that answer, in the order of FLAGS; only where any.

    language: of the sentences. The replies of a part come in the order of its questions.
    """
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    sequences: defaultdict[tuple[PartName, str], list[Reply]] = defaultdict(list)
    for reply in replies:
        if reply.seconds < least_seconds(reply.text, language):
            found[reply.annotator, reply.question].add(FAST)
        sequences[(reply.annotator, reply.part, reply.attempt), reply.type].append(reply)
    for sequence in sequences.values():
        for flag, places in _patterns([reply.pressed for reply in sequence]):
            for reply in sequence[places]:
                found[reply.annotator, reply.question].add(flag)
    return {key: tuple(f for f in FLAGS if f in flags) for key, flags in found.items()}


def count_flags(
    replies: Iterable[Reply], flags: Mapping[tuple[str, str], Sequence[str]]
) -> dict[PartName, Counter[str]]:
    """Each part -> how many of its answers have each flag; parts without flags are left out."""
    counts: defaultdict[PartName, Counter[str]] = defaultdict(Counter)
    for reply in replies:
        if own := flags.get((reply.annotator, reply.question)):
            counts[reply.annotator, reply.part, reply.attempt].update(own)
    return dict(counts)


def _patterns(pressed: Sequence[Pressed]) -> Iterator[tuple[str, slice]]:
    """Every straight or alternating stretch that is to be flagged."""
    count = len(pressed)
    shares = {answer: times / count for answer, times in Counter(pressed).items()}
    for places in _stretches(pressed, 1):
        length, share = places.stop - places.start, shares[pressed[places.start]]
        if length >= LONG and (share >= SAME or count * share**length < RARE):
            yield STRAIGHT, places
    again = sum(share**2 for share in shares.values())  # that two answers are the same by chance
    for period in PERIODS:
        for places in _stretches(pressed, period):
            length = places.stop - places.start
            is_constant = len(set(pressed[places.start : places.start + period])) == 1
            if length >= LONG and not is_constant and count * again ** (length - period) < RARE:
                yield ALTERNATING, places


def _stretches(pressed: Sequence[Pressed], period: int) -> Iterator[slice]:
    """The longest stretches in which every answer is that of `period` questions before."""
    start = 0
    for place in range(period, len(pressed) + 1):
        if place == len(pressed) or pressed[place] != pressed[place - period]:
            if place - start > period or period == 1:
                yield slice(start, place)
            start = place - period + 1
