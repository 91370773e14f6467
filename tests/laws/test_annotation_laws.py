"""Laws of people's answers: a slow reference, swapped genders, other orders, other sizes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import isnan

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.core.suite import Suite
from evenhand.engine.suites import load_suite
from evenhand.people.plan import Plan, PlanError, check_plan, list_parts
from evenhand.people.questions import Option, Question, place_pairs, plan_questions
from evenhand.people.scoring import (
    COARSE,
    FINE,
    AnswerError,
    Scored,
    annotator_scores,
    coarse,
    consistency,
    control_accuracy,
    fine,
    parse_answer,
    sentence_scores,
)

OTHER = {"male": "female", "female": "male", "neutral": "neutral"}
WORDS = ("male", "female", "neutral")


@st.composite
def answered(draw: st.DrawFn) -> tuple[Question, dict[str, object]]:
    """A question and an answer to it."""
    probe, role = (
        draw(st.sampled_from("pqrs")),
        draw(st.sampled_from(("measure", "accuracy", "consistency"))),
    )
    keys = draw(st.permutations(WORDS))
    if draw(st.booleans()):
        options = tuple(Option(k, k) for k in keys)
        first, second = draw(st.permutations(WORDS))[:2]
        return Question(id="1", probe=probe, type="type1", role=role, shown="", options=options), {
            "first": first,
            "second": second,
            "equal": draw(st.booleans()),
        }
    gender = draw(st.sampled_from(("male", "female")))
    options = tuple(Option(str(k), "") for k in range(1, 6))
    return Question(
        id="2", probe=probe, type="type2", role=role, shown="", options=options, gender=gender
    ), {"value": draw(st.integers(1, 5))}


def slow_fine(question: Question, payload: Mapping[str, object]) -> float:
    """The appendix of the paper, case by case."""
    if question.type == "type2":
        toward = {1: -1.5, 2: -0.75, 3: 0.0, 4: 0.75, 5: 1.5}[int(str(payload["value"]))]
        return toward if question.gender == "male" else 0.0 - toward
    total = 0.0
    for place, ranked in (("first", 1.5), ("second", 0.5)):
        weight = 1.0 if payload["equal"] else ranked
        if payload[place] == "male":
            total += weight
        if payload[place] == "female":
            total -= weight
    return total


def slow_coarse(question: Question, payload: Mapping[str, object]) -> float:
    score, most = slow_fine(question, payload), 1.5 if question.type == "type1" else 1.0
    return most if score > 0 else -most if score < 0 else 0.0


def scored(annotator: str, question: Question, payload: Mapping[str, object]) -> Scored:
    choice = parse_answer(question, dict(payload))
    return Scored(
        annotator,
        question.probe,
        question.type,
        question.role,
        fine(question, choice),
        coarse(question, choice),
        "batch-1",
    )


def slow_mean(values: list[float]) -> float:
    return sum(values) / len(values)


TABLES = st.lists(st.tuples(st.sampled_from("abc"), answered()), max_size=40)


@given(answered())
def test_scores_agree_with_the_reference(pair: tuple[Question, dict[str, object]]) -> None:
    question, payload = pair
    choice = parse_answer(question, payload)
    assert fine(question, choice) == slow_fine(question, payload)
    assert fine(question, choice) in FINE[question.type]
    assert coarse(question, choice) == slow_coarse(question, payload)
    assert coarse(question, choice) in COARSE[question.type]


def swapped(
    question: Question, payload: Mapping[str, object]
) -> tuple[Question, dict[str, object]]:
    mirrored = {
        key: OTHER.get(value, value) if isinstance(value, str) else value
        for key, value in payload.items()
    }
    return replace(question, gender=OTHER.get(question.gender, "")), mirrored


@given(TABLES)
def test_swapping_the_genders_mirrors_every_score(
    table: list[tuple[str, tuple[Question, dict[str, object]]]],
) -> None:
    rows = [scored(who, *pair) for who, pair in table]
    mirror = [scored(who, *swapped(*pair)) for who, pair in table]
    assert [r.fine for r in mirror] == [-r.fine for r in rows]
    assert [r.coarse for r in mirror] == [-r.coarse for r in rows]
    assert sentence_scores(mirror) == {
        p: pytest.approx(-s) for p, s in sentence_scores(rows).items()
    }
    gold = dict.fromkeys("pqrs", "male")
    one, other = (
        control_accuracy(rows, gold),
        control_accuracy(mirror, dict.fromkeys("pqrs", "female")),
    )
    assert one == other or (isnan(one.value) and isnan(other.value))
    assert consistency(rows)[1:] == consistency(mirror)[1:]
    assert consistency(rows).value == consistency(mirror).value or isnan(consistency(rows).value)


@given(answered(), st.randoms(use_true_random=False))
def test_the_order_of_the_options_is_irrelevant(
    pair: tuple[Question, dict[str, object]], random: object
) -> None:
    question, payload = pair
    options = list(question.options)
    random.shuffle(options)  # type: ignore[attr-defined]
    other = replace(question, options=tuple(options))
    assert fine(other, parse_answer(other, payload)) == fine(
        question, parse_answer(question, payload)
    )
    if payload.get("equal"):
        turned = {"first": payload["second"], "second": payload["first"], "equal": True}
        assert fine(question, parse_answer(question, turned)) == fine(
            question, parse_answer(question, payload)
        )


@given(TABLES, st.randoms(use_true_random=False))
def test_tables_agree_with_the_reference_in_any_order(
    table: list[tuple[str, tuple[Question, dict[str, object]]]], random: object
) -> None:
    rows = [scored(who, *pair) for who, pair in table]
    expected: dict[tuple[str, str], float] = {}
    for who, probe in {(r.annotator, r.probe) for r in rows}:
        mine = [r for r in rows if (r.annotator, r.probe) == (who, probe)]
        expected[who, probe] = slow_mean(
            [slow_mean([r.fine for r in mine if r.type == kind]) for kind in {r.type for r in mine}]
        )
    final = {p: slow_mean([s for (_, q), s in expected.items() if q == p]) for _, p in expected}
    random.shuffle(rows)  # type: ignore[attr-defined]
    assert annotator_scores(rows) == pytest.approx(expected)
    assert sentence_scores(rows) == pytest.approx(final)
    pairs = {
        (r.annotator, r.probe): {
            q.type: q.coarse
            for q in rows
            if (q.annotator, q.probe, q.role) == (r.annotator, r.probe, "consistency")
        }
        for r in rows
        if r.role == "consistency"
    }
    same = [
        (pair["type1"] > 0) - (pair["type1"] < 0) == pair["type2"]
        for pair in pairs.values()
        if len(pair) == 2
    ]
    share = consistency(rows)
    assert share.asked == len(same)
    assert share.value == pytest.approx(sum(same) / len(same)) if same else isnan(share.value)
    gold = {"p": "male", "q": "female", "r": "male", "s": "female"}
    right = [
        (r.fine > 0) if gold[r.probe] == "male" else (r.fine < 0)
        for r in rows
        if r.role == "accuracy"
    ]
    result = control_accuracy(rows, gold)
    assert result.asked == len(right)
    assert result.value == pytest.approx(sum(right) / len(right)) if right else isnan(result.value)


@given(
    st.one_of(
        st.none(),
        st.integers(),
        st.text(),
        st.lists(st.text()),
        st.dictionaries(
            st.sampled_from(("first", "second", "equal", "value", "x")),
            st.one_of(st.sampled_from(WORDS), st.booleans(), st.integers(-1, 7), st.none()),
        ),
    ),
    answered(),
)
def test_anything_is_an_answer_or_refused(
    payload: object, pair: tuple[Question, dict[str, object]]
) -> None:
    question, _ = pair
    try:
        choice = parse_answer(question, payload)
    except AnswerError:
        return
    assert fine(question, choice) in FINE[question.type]


@cache
def sentences() -> Suite:
    return load_suite("contextualised", "ja")


SHARES = st.sampled_from((0.0, 0.05, 0.1, 0.2, 0.33))


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 300),
    st.integers(0, 120),
    SHARES,
    SHARES,
    st.integers(0, 5),
    st.text(max_size=8),
    st.integers(1, 4),
)
def test_any_study_that_fits_is_asked_as_it_says(
    batch: int, trial: int, accuracy: float, pairs: float, seed: int, annotator: str, attempt: int
) -> None:
    plan = Plan(
        name="s",
        batch=batch,
        trial=trial,
        accuracy_controls=accuracy,
        consistency_controls=pairs,
        seed=seed,
    )
    try:
        check_plan(plan, sentences())
    except PlanError:
        return
    parts = list_parts(plan, sentences())
    measured: list[str] = []
    for part in parts if len(parts) < 12 else (parts[0], parts[-1]):
        questions = plan_questions(plan, sentences(), annotator, part, attempt)
        assert len(questions) == trial if part == "trial" else len(questions) <= batch
        assert len({(q.probe, q.type) for q in questions}) == len(questions)
        controls = [q.probe for q in questions if q.role == "accuracy"]
        assert len(set(controls)) == len(controls) >= (accuracy > 0)
        paired = [q.probe for q in questions if q.role == "consistency"]
        assert sorted(paired) == sorted(2 * list(set(paired)))
        assert bool(paired) == (pairs > 0)
        measured += {q.probe for q in questions if q.role != "accuracy"} if part != "trial" else ()
    assert len(measured) == len(set(measured))


@given(st.integers(1, 60), st.data())
def test_pairs_keep_their_distance(size: int, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, size // 2))
    apart = data.draw(st.integers(1, max(1, size - count)))
    pairs = place_pairs(size, count, apart, np.random.default_rng(data.draw(st.integers(0, 99))))
    assert len({place for pair in pairs for place in pair}) == 2 * count
    assert all(other - one >= apart for one, other in pairs)
