"""A report on a task says what is right and never calls it fair."""

from __future__ import annotations

import numpy as np
import pytest
from pair_answers import judged

from evenhand.core import account
from evenhand.core.chart import DotChart
from evenhand.core.document import Table
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.glue.account import gold_shares, mistakes, sections

ITEMS = [  # gold label, the label that gets the highest value, that value
    ("entailment", 0, 3.0),
    ("entailment", 2, 5.0),
    ("neutral", 1, 1.0),
    ("contradiction", 0, 9.0),
]


def task_suite() -> Suite:
    probes = tuple(
        Probe(
            id=f"t{i}",
            kind="pair",
            language="en",
            texts=(f"Premise {i}.", f"Hypothesis {i}."),
            stratum="zero-shot",
            cluster=f"t{i}",
            tags={"gold": gold, "task": "mnli", "fair": gold, "stereotyped": gold},
        )
        for i, (gold, _, _) in enumerate(ITEMS)
    )
    card = SuiteCard(
        name="glue",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Tasks.",
    )
    return Suite(card=card, probes=probes)


@pytest.fixture(scope="module")
def run() -> Run:
    values = np.zeros((len(ITEMS), 3))
    for row, (_, column, value) in enumerate(ITEMS):
        values[row, column] = value
    return judged(task_suite(), values)


def test_what_is_said(run: Run) -> None:
    assert run.family == "glue"
    assert run.headline.value == 0.5
    assert account.verdict(run, run.headline) == (
        "The model gives the right label on 50 % of 4 items of MNLI: 50 % of those that are "
        "entailment, 100 % of those that are neutral, 0 % of those that are contradiction."
    )
    assert account.standing(run, run.headline).startswith("1 is right; ")
    understanding = account.understanding(run)
    assert "No label alone is right on more than 50 % of them (entailment)." in understanding
    assert "It gives the right label on" in understanding and "of 156 plain pairs" in understanding
    assert "bias" not in " ".join(
        [*account.summary(run), *account.method(run), *account.notes(run)]
    )
    assert account.limits(run)[0].startswith("It says nothing about bias")
    texts = [*account.summary(run), *account.method(run), *account.limits(run)]
    plain = " ".join(texts).replace("tells a fair model", "").replace("is fair but knows", "")
    assert " fair " not in plain


def test_labels_by_gold_label(run: Run) -> None:
    rows = gold_shares(run)
    assert [(row.label, row.items, row.recall.value) for row in rows] == [
        ("entailment", 2, 0.5),
        ("neutral", 1, 1.0),
        ("contradiction", 1, 0.0),
    ]
    assert [list(row.shares.values()) for row in rows] == [
        [0.5, 0.0, 0.5],
        [0.0, 1.0, 0.0],
        [1.0, 0.0, 0.0],
    ]
    (view,) = [b for b in run.breakdowns if (b.measure, b.by) == ("share of entailment", "stratum")]
    assert [(g.name, g.interval.value, g.probes) for g in view.groups] == [("zero-shot", 0.5, 4)]


def test_the_section_on_labels(run: Run) -> None:
    labels, shown = sections(run)
    assert (labels.title, labels.is_brief) == ("Labels", True)
    chart, table = labels.blocks
    assert isinstance(chart, DotChart) and isinstance(table, Table)
    assert [row.label for row in chart.rows] == [
        "all items",
        "entailment, n = 2",
        "neutral, n = 1",
        "contradiction, n = 1",
    ]
    assert ("fair", "1: always right") in chart.legend
    assert [column.title for column in table.columns] == [
        "gold label",
        "items",
        *NLI_LABELS,
        "right",
    ]
    assert table.rows[1].cells[:5] == ("neutral", 1, 0.0, 1.0, 0.0)
    assert shown.title == "The mistakes that the model is surest of"


def test_the_surest_mistakes_stand_first(run: Run) -> None:
    exhibit = mistakes(run)
    assert exhibit is not None
    assert [(s.id, s.summary) for s in exhibit.specimens] == [
        ("t3", "right is contradiction, the model says entailment with 1.000"),
        ("t1", "right is entailment, the model says contradiction with 0.987"),
    ]
    first = exhibit.specimens[0]
    assert [(a.label, a.is_chosen) for a in first.answers] == [
        ("entailment", True),
        ("neutral", False),
        ("contradiction", False),
    ]
    assert sum(a.share or 0 for a in first.answers) == pytest.approx(1)
    assert exhibit.note == "The 2 wrong answers with the highest probability."


def test_a_model_that_does_not_answer_makes_no_sections() -> None:
    silent = judged(task_suite(), np.full((4, 3), np.nan), has_check=False)
    assert "could not be computed" in account.summary(silent)[0]
    assert sections(silent) == []


def test_labels_that_tie_share_the_answer() -> None:
    tied = judged(task_suite(), np.zeros((4, 3)), settings=Settings(resamples=50))
    notes = account.notes(tied)
    assert "4 items in which labels tie for the highest value; they share the answer." in notes
