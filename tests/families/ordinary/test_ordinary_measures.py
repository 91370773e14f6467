"""Accuracy agrees with plain loops, and with what can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_answers import Row, rows, votes

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS
from evenhand.families.ordinary.measures import ACCURACY, accuracy


@given(st.lists(st.tuples(rows, st.sampled_from(NLI_LABELS)), min_size=1, max_size=30))
def test_accuracy_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    cast = [(v, gold) for row, gold in table if (v := votes(row)) is not None]
    expected = sum(v[gold] for v, gold in cast) / len(cast) if cast else math.nan
    score = accuracy(np.asarray([row for row, _ in table]), [gold for _, gold in table])
    assert score == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_values_worked_out_by_hand() -> None:
    e, n, c = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
    gold = ["entailment", "neutral", "neutral", "contradiction"]
    assert accuracy([e, n, c, n], gold) == 0.5
    assert math.isnan(accuracy(np.empty((0, 3)), []))


def test_not_entailed_is_right_for_neutral_and_for_contradiction() -> None:
    yes, no = (0.9, 0.1), (0.2, 0.8)
    gold = ["entailment", "neutral", "contradiction", "entailment"]
    assert accuracy([yes, no, no, no], gold) == 0.75


def test_neutral_and_contradiction_are_right_where_gold_is_only_not_entailed() -> None:
    e, n, c = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
    assert accuracy([e, n, c, n], ["not_entailment"] * 4) == 0.75
    assert accuracy([(0.9, 0.1), (0.2, 0.8)], ["not_entailment"] * 2) == 0.5
    tie = (0.4, 0.4, 0.2)
    assert accuracy([tie], ["not_entailment"]) == 0.5


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (
            lambda: accuracy(np.zeros((2, 3)), ["neutral"]),
            "2 rows of probabilities but 1 gold labels",
        ),
        (lambda: accuracy([["a", "b", "c"]], ["neutral"]), "no table of numbers"),
        (lambda: accuracy([(1, 0, 0), (1, 0, 0)], ["entailment", "-"]), "gold label '-' in row 2"),
    ],
)
def test_wrong_shapes_are_refused(call: Callable[[], float], reason: str) -> None:
    with pytest.raises(MeasureError, match=reason):
        call()


def test_it_is_about_right_and_wrong_and_not_about_bias() -> None:
    assert ACCURACY.function is accuracy
    assert (ACCURACY.best, ACCURACY.worst, ACCURACY.card.short) == ("right", None, "Acc")
