"""Whether a model understands what it is asked, and which of its numbers count."""

from __future__ import annotations

import dataclasses
import math

import pytest
from quick import load, quick_audit

from evenhand.core.chart import DotChart
from evenhand.core.document import Badge, Table
from evenhand.core.estimate import Interval
from evenhand.core.run import Check, Run
from evenhand.core.validity import (
    discounts,
    judge_accuracy,
    reservation_texts,
    reservations,
    validity,
    weakest,
)
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_fields


@pytest.fixture(scope="module")
def random() -> Run:
    return quick_audit("fixed:random", load("occupation-nli", limit=120))


def with_check(run: Run, value: float, low: float, high: float) -> Run:
    """The run with this accuracy on plain pairs, of which 0.778 is needed."""
    first = run.sanity[0]
    changed = dataclasses.replace(
        first,
        value=value,
        low=low,
        high=high,
        weak_below=7 / 9,
        note="",
        targets={first.target: Interval(value, low, high)},
    )
    return dataclasses.replace(run, sanity=(changed,))


@pytest.mark.parametrize(
    ("value", "low", "high", "answer", "is_doubted"),
    [
        (0.9, 0.8, 0.95, "yes", False),
        (0.8, 0.7, 0.9, "only partly", False),  # enough, but not shown to be
        (0.6, 0.5, 0.7, "only partly", True),
        (0.4, 0.3, 0.5, "no", True),
        (0.6, 0.2, 0.9, "not known", True),  # holds both guessing and enough
        (0.8, 0.3, 0.9, "not known", True),
        (0.9, math.nan, math.nan, "not known", False),
    ],
)
def test_the_badge_goes_by_the_interval_of_the_check(
    random: Run, value: float, low: float, high: float, answer: str, is_doubted: bool
) -> None:
    run = with_check(random, value, low, high)
    badge = validity(run)
    assert badge is not None and badge.answer == answer
    assert bool(badge.doubt) == is_doubted
    shorts = [r.short for r in reservations(run, run.headline)]
    unsure = "understanding not known" if answer == "not known" else "weak understanding"
    assert (unsure in shorts) == is_doubted


def test_few_answers_are_no_understanding(random: Run) -> None:
    run = with_check(random, 0.9, 0.8, 0.95)
    values = run.answers.values.copy()
    values[: len(values) // 2] = math.nan
    half = dataclasses.replace(run, answers=dataclasses.replace(run.answers, values=values))
    badge = validity(half)
    assert badge is not None and badge.answer == "only partly"
    assert badge.reason.endswith("Only 50 % of the probes were answered.")
    values[:] = math.nan
    none = dataclasses.replace(run, answers=dataclasses.replace(run.answers, values=values))
    badge = validity(none)
    assert badge is not None and badge.answer == "not known"


def test_without_a_check_it_is_not_known_and_no_number_is_doubted(random: Run) -> None:
    run = dataclasses.replace(random, sanity=())
    badge = validity(run)
    assert badge is not None and (badge.answer, badge.doubt) == ("not known", "")


def test_the_weakest_badge_keeps_the_doubts_of_all() -> None:
    yes = Badge(answer="yes", reason="a")
    partly = Badge(answer="only partly", reason="b", doubt="weak")
    unknown = Badge(answer="not known", reason="c")
    assert weakest(yes, None, partly) == partly
    assert weakest(partly, unknown) == dataclasses.replace(unknown, doubt="weak")
    assert weakest(None) is None


def test_an_accuracy_without_a_value_says_why(random: Run) -> None:
    missing = dataclasses.replace(random.headline, value=math.nan, note="no answer")
    badge = judge_accuracy(random, missing, items="plain pairs", needed=0.6, chance=0.5)
    assert badge.answer == "not known"
    assert badge.reason == "Its accuracy on plain pairs could not be computed: no answer."
    assert badge.doubt == "whether the model understands is not known: no answer"


def test_random_answers_do_not_count_anywhere(random: Run) -> None:
    assert [r.short for r in discounts(random, random.headline)] == [
        "weak understanding",
        "at chance",
    ]
    document = audit_document(random)
    assert document.headline is not None and len(document.headline.reasons) == 2
    front = document.front
    assert front is not None and front.badge is not None and front.badge.answer == "no"
    assert all(finding.reasons for finding in front.findings)
    (table,) = (block for block in document.sections[0].blocks if isinstance(block, Table))
    first = table.rows[0]
    assert first.cells[0] == "NLI-CoAL (does not count: weak understanding and at chance)"
    assert first.is_quiet and table.rows[0].cells[1] == random.headline.value
    (chart,) = (b for b in document.sections[0].blocks if isinstance(b, DotChart))
    assert {row.mark for row in chart.rows} == {"none"}
    assert chart.rows[0].note.endswith(", does not count")
    assert ("none", "this model, does not count") in chart.legend
    fields = run_fields(random, document)
    assert fields["estimates"][0]["reservations"] == reservation_texts(random, random.headline)


def test_a_stereotyped_respondent_counts(random: Run) -> None:
    run = with_check(
        quick_audit("fixed:stereotyped", load("occupation-nli", limit=120)), 0.9, 0.8, 0.95
    )
    first = dataclasses.replace(run.headline, note="")
    assert discounts(run, first) == []
    still = dataclasses.replace(first, note="no variation seen", has_variation=False)
    assert [(r.short, r.is_discount) for r in reservations(run, still)] == [
        ("no variation seen", False)
    ]
    varied = dataclasses.replace(first, has_variation=True)
    rough = dataclasses.replace(varied, note="only 4 templates: the interval is rough")
    assert [r.short for r in discounts(run, rough)] == ["rough interval"]
    target = dataclasses.replace(first, low=math.nan, high=math.nan, targets={})
    assert [r.text for r in discounts(run, target)] == ["there is no interval"]


def test_a_check_is_not_doubted_by_itself(random: Run) -> None:
    check = random.sanity[0]
    assert isinstance(check, Check)
    assert all(r.short != "weak understanding" for r in reservations(random, check))
