"""A report on ordinary pairs says what is right, and nothing counts against the model."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from pair_answers import judged, noise

from evenhand.core import account
from evenhand.core.document import Table
from evenhand.core.evidence import label_shares
from evenhand.core.run import Run
from evenhand.core.text import percent
from evenhand.engine.suites import load_suite
from evenhand.families.ordinary.account import sections


@pytest.fixture(scope="module")
def run() -> Run:
    suite = load_suite("ordinary-nli", "en")
    return judged(suite, noise(suite.probes), has_check=False)


def test_what_is_said(run: Run) -> None:
    assert (run.family, run.headline.measure) == ("ordinary", "accuracy")
    share = percent(run.headline.value)
    sentence = f"On 156 ordinary pairs the model gives the right label in {share}."
    assert account.verdict(run, run.headline) == sentence
    assert account.understanding(run) == ""
    method = account.method(run)
    assert method[0] == f"{run.suite.card.description.rstrip('.')}."
    assert method[1] == "Accuracy is correct / answered."
    assert method[2].startswith(
        "The 95 % interval is about new items of the same kind: whole pairs"
    )
    assert len(account.limits(run)) == 3
    assert not any("biased" in line for line in account.limits(run))


def test_the_label_shares_have_nothing_that_counts(run: Run) -> None:
    (section,) = sections(run)
    assert section.title == "What the model says"
    table = section.blocks[1]
    assert isinstance(table, Table)
    (row,) = table.rows
    expected = label_shares(run.answers.values[:, 0]).mean(axis=0)
    assert row.cells[:2] == ("ordinary", 156)
    assert row.cells[2:5] == pytest.approx(tuple(expected))
    assert row.cells[5] == "nothing" and row.strong == frozenset()
    assert table.note == ""


def test_every_label_is_asked_about_and_none_prevails() -> None:
    for language in ("en", "ja", "zh"):
        gold = Counter(p.tags["gold"] for p in load_suite("ordinary-nli", language).probes)
        assert len(gold) == 3
        assert max(gold.values()) < 0.5 * sum(gold.values())


def test_probes_without_an_answer_are_counted() -> None:
    suite = load_suite("ordinary-nli", "en")
    table = noise(suite.probes)
    table[:4] = np.nan
    run = judged(suite, table, has_check=False)
    assert "152 of 156 ordinary pairs answered." in account.notes(run)
