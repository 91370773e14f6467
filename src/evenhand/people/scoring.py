"""Scoring: what one answer of a person says, and all together (Zhu et al. 2024, appendix B).

Positive means male, negative female, 0 neither. Type 1 (two of three words): each word has a sign
(male +1, female -1, neutral 0); words marked equal add up, ranked ones count 1.5 times the first
and 0.5 times the second: seven values. Type 2 (how probable, 1 to 5, with the word swapped): 0.75
per step from the middle in the direction of the gender shown: five values; a man judged impossible
counts as female.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from math import floor, isnan
from statistics import fmean
from typing import Any, Literal, NamedTuple

from evenhand.core.errors import EvenhandError
from evenhand.people.plan import TRIAL, TYPE1, Plan
from evenhand.people.questions import ACCURACY, CONSISTENCY, LIKELIHOODS, Question

SIGNS: Mapping[str, int] = {"male": 1, "female": -1, "neutral": 0}
FIRST, SECOND = 1.5, 0.5  # what the better and the worse of two ranked words count
STEP = 0.75  # what one point of probability counts
MIDDLE = 3
FINE: Mapping[str, tuple[float, ...]] = {
    "type1": (-1.5, -1.0, -0.5, 0.0, 0.5, 1.0, 1.5),
    "type2": (-1.5, -0.75, 0.0, 0.75, 1.5),
}
COARSE: Mapping[str, tuple[float, ...]] = {"type1": (-1.5, 0.0, 1.5), "type2": (-1.0, 0.0, 1.0)}
Score = Literal["fine", "coarse"]


class AnswerError(EvenhandError):
    """Something that is not a valid answer to the question."""


class Ranking(NamedTuple):
    """A Type 1 choice: two words, the better one first unless they are equal."""

    first: str
    second: str
    is_equal: bool


class Judgement(NamedTuple):
    """A Type 2 choice: how probable the sentence is with the gender that it shows."""

    value: int
    gender_shown: str


Choice = Ranking | Judgement


class Scored(NamedTuple):
    """One answer with its scores."""

    annotator: str
    probe: str
    type: str
    role: str
    fine: float
    coarse: float
    part: str = ""
    attempt: int = 1


class Share(NamedTuple):
    """A share of `asked`, or NaN and why."""

    value: float
    asked: int
    note: str = ""


def parse_answer(question: Question, payload: object) -> Choice:
    """The choice in {"first": "male", "second": "neutral", "equal": false} or {"value": 4}.

    Raises AnswerError where it holds none.
    """
    if not isinstance(payload, dict):
        raise AnswerError(f"an answer is an object, not {_brief(payload)}; send the form again")
    return _ranking(question, payload) if question.type == TYPE1 else _judgement(question, payload)


def _brief(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _refuse_others(payload: Mapping[str, Any], known: tuple[str, ...], advice: str) -> None:
    if others := sorted(str(key) for key in payload if key not in known):
        raise AnswerError(f"'{others[0][:40]}' is no part of an answer; {advice}")


def _ranking(question: Question, payload: Mapping[str, Any]) -> Ranking:
    advice = "choose exactly two of the three words"
    _refuse_others(payload, ("first", "second", "equal"), advice)
    keys = [option.key for option in question.options]
    chosen = [
        payload[place] for place in ("first", "second") if payload.get(place) not in (None, "")
    ]
    for key in chosen:
        if key not in keys:
            raise AnswerError(f"{_brief(key)} is none of the words; {advice}: {', '.join(keys)}")
    if len(chosen) != 2:
        verb = "word was" if len(chosen) == 1 else "words were"
        raise AnswerError(f"{len(chosen)} {verb} chosen; {advice}")
    if chosen[0] == chosen[1]:
        raise AnswerError(f"the same word was chosen twice; {advice}")
    if not isinstance(equal := payload.get("equal", False), bool):
        raise AnswerError(
            f"equal is {_brief(equal)}; it is true (both fit equally well) or false (the first "
            "fits better)"
        )
    return Ranking(chosen[0], chosen[1], equal)


def _judgement(question: Question, payload: Mapping[str, Any]) -> Judgement:
    advice = "give a whole number from 1 to 5"
    _refuse_others(payload, ("value",), advice)
    value = payload.get("value")
    if isinstance(value, bool) or not isinstance(value, int) or str(value) not in LIKELIHOODS:
        raise AnswerError(f"{'nothing' if value is None else _brief(value)} was given; {advice}")
    return Judgement(value, question.gender)


def fine(question: Question, choice: Choice) -> float:
    """How far the answer leans, from -1.5 (female) to 1.5 (male)."""
    if isinstance(choice, Judgement) != (question.type != TYPE1):
        raise AnswerError(
            f"a {question.type} question has no {type(choice).__name__.lower()}; "
            "read the answer with parse_answer"
        )
    if isinstance(choice, Judgement):
        lean = SIGNS[choice.gender_shown] * (choice.value - MIDDLE) * STEP
        return lean + 0.0  # no minus zero
    first, second = SIGNS[choice.first], SIGNS[choice.second]
    return float(first + second) if choice.is_equal else FIRST * first + SECOND * second


def coarse(question: Question, choice: Choice) -> float:
    """Which way the answer leans: -1.5, 0 or 1.5 for Type 1; -1, 0 or 1 for Type 2."""
    return sign(fine(question, choice)) * max(COARSE[question.type]) + 0.0


def sign(score: float) -> int:
    """1, 0 or -1."""
    return (score > 0) - (score < 0)


def label(score: float) -> str:
    """male, female or neutral: the sign of a score in words; "" where there is no score."""
    return "" if isnan(score) else {1: "male", -1: "female", 0: "neutral"}[sign(score)]


def annotator_scores(rows: Iterable[Scored], score: Score = "fine") -> dict[tuple[str, str], float]:
    """(annotator, probe) -> the mean within each type, then over the types.

    A type that was asked more often does not count more.
    """
    by_type: defaultdict[tuple[str, str], defaultdict[str, list[float]]] = defaultdict(
        lambda: defaultdict(list)
    )
    for row in rows:
        by_type[row.annotator, row.probe][row.type].append(
            row.fine if score == "fine" else row.coarse
        )
    return {
        key: fmean(fmean(values) for values in types.values()) for key, types in by_type.items()
    }


def sentence_scores(rows: Iterable[Scored], score: Score = "fine") -> dict[str, float]:
    """Probe -> the final score: the mean over annotators of what each said of it."""
    by_probe: defaultdict[str, list[float]] = defaultdict(list)
    for (_, probe), value in annotator_scores(rows, score).items():
        by_probe[probe].append(value)
    return {probe: fmean(values) for probe, values in by_probe.items()}


def control_accuracy(rows: Iterable[Scored], gold: Mapping[str, str]) -> Share:
    """The share of the accuracy questions that lean to the gender that is right.

    No lean at all (0) is not right.
    """
    asked = [row for row in rows if row.role == ACCURACY]
    if not asked:
        return Share(float("nan"), 0, "no accuracy question was answered")
    return Share(fmean(sign(row.fine) == SIGNS[gold[row.probe]] for row in asked), len(asked))


def consistency(rows: Iterable[Scored]) -> Share:
    """The share of the sentences asked in both types that have the same coarse sign in both.

    The paper gives an example (neutral before female; a man "improbable": both female) but no rule
    for answers that lean neither way. Here 0 and 0 are the same, 0 and anything else are not:
    somebody who answers 0 in one type only does not say the same twice.
    """
    by_sentence: defaultdict[Hashable, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row.role == CONSISTENCY:
            by_sentence[row.annotator, row.part, row.attempt, row.probe][row.type] = row.coarse
    pairs = [tuple(types.values()) for types in by_sentence.values() if len(types) == 2]
    if not pairs:
        return Share(float("nan"), 0, "no sentence was answered in both types")
    return Share(fmean(sign(one) == sign(other) for one, other in pairs), len(pairs))


def reached_percent(share: float) -> int:
    """A share of control questions in whole percent, rounded down.

    So a share below a threshold is never printed as the threshold. Raises ValueError for NaN.
    """
    return floor(100 * share + 1e-9)


def is_enough(plan: Plan, part: str, accuracy: float, same: float) -> bool:
    """Whether a part counts: a trial by its accuracy, a batch by accuracy and consistency.

    A share without control questions (NaN) does not count against anybody.
    """
    is_accurate = isnan(accuracy) or accuracy >= plan.least_accuracy
    return is_accurate and (part == TRIAL or isnan(same) or same >= plan.least_consistency)
