"""Objective sentences as questions: what a rater sees, and what a verdict is.

A rater says of every candidate, without seeing what others say: only the male word is right, only
the female word, both would do, or it is not a proper sentence.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.probe import BLANK, GENDERS, Probe
from evenhand.core.suite import Suite
from evenhand.people.plan import Plan, draw, select
from evenhand.people.questions import GAP, MEASURE, Option, Question, plan_questions
from evenhand.people.scoring import AnswerError
from evenhand.study.candidates import marks_of

VERDICT = "objective"  # the type of these questions, beside type1 and type2
BOTH, BROKEN = "both", "broken"
VERDICTS = (*GENDERS, BOTH, BROKEN)
# the category of a verdict in the column `coarse` of an answer
CODES: Mapping[str, float] = {"male": 1.0, "female": -1.0, BOTH: 0.0, BROKEN: 2.0}


class GivenVerdict(NamedTuple):
    """A verdict as it is stored: what was pressed and what it means."""

    payload: Mapping[str, Any]
    fine: float
    coarse: float


class Piece(NamedTuple):
    """A piece of a sentence: plain text, the gap, or a cue to be marked."""

    text: str
    is_gap: bool = False
    is_cue: bool = False


def questions_for(
    plan: Plan, suite: Suite, annotator: str, part: str, attempt: int
) -> tuple[Question, ...]:
    """The questions of one part in the order in which this annotator sees them."""
    if plan.types != (VERDICT,):
        return plan_questions(plan, suite, annotator, part, attempt)
    rng = draw(plan.seed, annotator, part, attempt, VERDICT)
    chosen = select(plan, suite, annotator, part, attempt)
    return tuple(_question(plan, p, annotator, part, attempt, rng) for p in chosen.single)


def _question(
    plan: Plan,
    probe: Probe,
    annotator: str,
    part: str,
    attempt: int,
    rng: np.random.Generator,
) -> Question:
    """The two words come in random order, so that the same place again and again is no verdict."""
    names = (str(plan.seed), plan.name, annotator, part, str(attempt), probe.id, VERDICT)
    before, after = probe.around_blank
    words = [Option(GENDERS[i], probe.texts[1 + i]) for i in rng.permutation(len(GENDERS))]
    return Question(
        id=hashlib.sha256("\0".join(names).encode()).hexdigest()[:20],
        probe=probe.id,
        type=VERDICT,
        role=MEASURE,
        shown=before + GAP + after,
        options=(*words, Option(BOTH, ""), Option(BROKEN, "")),
        span=(len(before), len(before) + len(GAP)),
    )


def read_verdict(question: Question, fields: Mapping[str, str]) -> GivenVerdict:
    """The verdict that the fields of a form give; AnswerError where they give none."""
    if others := sorted(set(fields) - {"value"}):
        raise AnswerError(f"'{others[0][:40]}' is no part of a verdict; choose one of the four")
    value = fields.get("value", "")
    places = {str(place): option.key for place, option in enumerate(question.options, start=1)}
    if value not in places:
        raise AnswerError(f"{value[:40]!r} is none of the four places; choose one of them")
    code = CODES[places[value]]
    payload = {"value": int(value), "verdict": places[value]}
    return GivenVerdict(payload, code if places[value] in GENDERS else 0.0, code)


def pieces_of(probe: Probe) -> list[Piece]:
    """A candidate in pieces, for a page that draws the gap and marks the cues."""
    text, start = probe.texts[0], len(probe.around_blank[0])
    gap = (start, start + len(BLANK))
    special = sorted([gap, *(m for m in marks_of(probe) if m[1] <= gap[0] or gap[1] <= m[0])])
    pieces, reached = [], 0
    for low, high in special:
        if low < reached:
            continue
        pieces += [Piece(text[reached:low])] if reached < low else []
        is_gap = (low, high) == gap
        pieces.append(Piece("" if is_gap else text[low:high], is_gap=is_gap, is_cue=not is_gap))
        reached = high
    return [*pieces, Piece(text[reached:])] if reached < len(text) else pieces
