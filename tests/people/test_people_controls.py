"""Control questions find out who does not read.

Every way to answer without reading fails the trial, whoever answers by the sentences passes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import product
from math import comb

import numpy as np
import pytest

from evenhand.core.suite import Suite
from evenhand.engine.suites import load_suite
from evenhand.people.plan import Plan, gold_genders, list_parts
from evenhand.people.questions import Question, plan_questions
from evenhand.people.scoring import (
    Scored,
    coarse,
    consistency,
    control_accuracy,
    fine,
    is_enough,
    parse_answer,
)

# by default: a trial of 200 questions, 20 of them accuracy questions
PLAN = Plan(name="s", batch=270)
OTHER = {"male": "female", "female": "male"}
Answerer = Callable[[Question], dict[str, object]]


@cache
def suite(has_originals: bool) -> Suite:
    """Sentences that name the word they had, as those of the CGB file do, or do not."""
    loaded = load_suite("contextualised", "en")
    if not has_originals:
        return loaded
    probes = [
        replace(p, tags={**p.tags, "original": p.tags.get("gold") or ("male", "female")[i % 2]})
        for i, p in enumerate(loaded.probes)
    ]
    return replace(loaded, probes=tuple(probes))


def take(
    part: str, person: str, answer: Answerer, has_originals: bool = True, plan: Plan = PLAN
) -> tuple[float, float]:
    """Accuracy and consistency of one person in one part."""
    rows = []
    for question in plan_questions(plan, suite(has_originals), person, part):
        choice = parse_answer(question, answer(question))
        rows.append(
            Scored(
                person,
                question.probe,
                question.type,
                question.role,
                fine(question, choice),
                coarse(question, choice),
                part,
            )
        )
    return control_accuracy(rows, gold_genders(suite(has_originals))).value, consistency(rows).value


def shown(places: tuple[int, int], is_equal: bool) -> Answerer:
    """Two of the words by where they stand."""
    return lambda q: {
        "first": q.options[places[0]].key,
        "second": q.options[places[1]].key,
        "equal": is_equal,
    }


def worded(first: str, second: str, is_equal: bool) -> Answerer:
    """Two of the words by what they are."""
    return lambda q: {"first": first, "second": second, "equal": is_equal}


def both(one: Answerer, two: Answerer) -> Answerer:
    return lambda q: one(q) if q.type == "type1" else two(q)


def read(question: Question) -> dict[str, object]:
    """By the sentence: the right word, or how likely it is; neither where nothing is settled."""
    gold = gold_genders(suite(True)).get(question.probe)
    if question.type == "type2":
        return {"value": 3 if gold is None else 5 if question.gender == gold else 1}
    return {"first": gold or "male", "second": "neutral" if gold else "female", "equal": not gold}


UNREAD = [
    shown((0, 1), False),
    shown((0, 1), True),
    shown((2, 1), False),
    worded("male", "neutral", False),
    worded("female", "male", False),
    worded("neutral", "female", False),
    worded("male", "female", True),
    worded("female", "neutral", True),
]
PEOPLE = [f"person-{i}" for i in range(12)]


@pytest.mark.parametrize("has_originals", [True, False])
@pytest.mark.parametrize("value", [1, 2, 3, 4, 5])
def test_nobody_passes_the_trial_by_constant_answers(value: int, has_originals: bool) -> None:
    """Of 20 controls 10 are of Type 2, 5 of them right at either end: 15 in all, 16 are needed."""
    for person, one in product(PEOPLE, UNREAD):
        accuracy, same = take("trial", person, both(one, lambda q: {"value": value}), has_originals)
        assert accuracy <= 0.75
        assert not is_enough(PLAN, "trial", accuracy, same)


@pytest.mark.parametrize("value", [1, 5])
def test_reading_one_type_alone_is_not_enough(value: int) -> None:
    for person in PEOPLE:
        assert take("trial", person, both(read, lambda q: {"value": value}))[0] == 0.75
        assert take("trial", person, both(worded("male", "neutral", False), read))[0] == 0.75
        assert take("trial", person, read) == (1.0, 1.0)


def test_chance_passes_one_trial_in_ten_thousand() -> None:
    """Right by chance: a ranked pair in 1 of 2, an equal one in 1 of 3, a value in 2 of 5."""
    word, value = (1 / 2 + 1 / 3) / 2, 2 / 5
    several = [[comb(10, k) * p**k * (1 - p) ** (10 - k) for k in range(11)] for p in (word, value)]
    passing = sum(
        several[0][a] * several[1][b] for a in range(11) for b in range(11) if a + b >= 16
    )
    assert passing < 0.0005
    rng = np.random.default_rng(0)

    def guess(question: Question) -> dict[str, object]:
        if question.type == "type2":
            return {"value": int(rng.integers(1, 6))}
        first, second = rng.permutation([o.key for o in question.options])[:2].tolist()
        return {"first": first, "second": second, "equal": bool(rng.integers(2))}

    loaded = [take("trial", f"guesser-{i}", guess)[0] for i in range(120)]
    assert max(loaded) < 0.8
    assert np.mean(loaded) == pytest.approx((word + value) / 2, abs=0.03)  # 3 standard errors


@pytest.mark.parametrize("has_originals", [True, False])
def test_type_2_controls_show_the_right_gender_half_of_the_time(has_originals: bool) -> None:
    gold = gold_genders(suite(has_originals))
    seen: Counter[tuple[str, str, bool]] = Counter()
    for person in PEOPLE:
        for part in list_parts(PLAN, suite(has_originals)):
            asked = [
                q
                for q in plan_questions(PLAN, suite(has_originals), person, part)
                if q.role == "accuracy"
            ]
            is_right = Counter(q.gender == gold[q.probe] for q in asked if q.type == "type2")
            assert abs(is_right[True] - is_right[False]) <= 1
            assert (
                abs(sum(1 if gold[q.probe] == "male" else -1 for q in asked if q.type == "type1"))
                <= 1
            )
            seen.update((gold[q.probe], q.gender, q.type == "type2") for q in asked)
    assert len([key for key in seen if key[2]]) == 4
    for question in plan_questions(PLAN, suite(True), "person-0", "batch-1"):
        if (
            question.type == "type2" and question.role != "accuracy"
        ):  # what is measured is asked as in the paper: the other gender than the sentence had
            assert (
                question.gender
                == OTHER[
                    next(p for p in suite(True).probes if p.id == question.probe).tags["original"]
                ]
            )


def test_a_batch_needs_accuracy_and_consistency() -> None:
    assert is_enough(PLAN, "batch-1", 16 / 20, 12 / 20)
    assert not is_enough(PLAN, "batch-1", 15 / 20, 1.0)
    assert not is_enough(PLAN, "batch-1", 1.0, 11 / 20)
    assert is_enough(PLAN, "trial", 16 / 20, 0.0)  # by accuracy alone
    assert is_enough(PLAN, "batch-1", float("nan"), float("nan"))  # a study without controls
