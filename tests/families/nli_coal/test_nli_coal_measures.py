"""The measures agree with plain loops, and with what can be worked out by hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pair_answers import Row, rows, votes

from evenhand.core.errors import MeasureError
from evenhand.core.probe import Probe
from evenhand.families.nli_coal.measures import (
    MEASURES,
    NLI_COAL,
    PERSON_ENTAILMENT,
    STRATA,
    fraction_neutral,
    nli_coal,
    person_entailment,
)

tables = st.lists(st.tuples(rows, st.sampled_from([*STRATA, "NB"])), min_size=1, max_size=30)


def share(table: list[tuple[Row, str]], stratum: str, label: str) -> float:
    cast = [v for row, s in table if s == stratum and (v := votes(row)) is not None]
    return sum(v[label] for v in cast) / len(cast) if cast else math.nan


def reference_nli_coal(table: list[tuple[Row, str]]) -> float:
    pro, anti = share(table, "PS", "entailment"), share(table, "AS", "contradiction")
    return (pro + anti + 1 - share(table, "NS", "neutral")) / 3


def reference_fraction_neutral(table: list[tuple[Row, str]]) -> float:
    cast = [v for row, s in table if s in STRATA and (v := votes(row)) is not None]
    return 1 - sum(v["neutral"] for v in cast) / len(cast) if cast else math.nan


def split(table: list[tuple[Row, str]]) -> tuple[np.ndarray[Any, Any], list[str]]:
    return np.asarray([row for row, _ in table]), [stratum for _, stratum in table]


@given(tables)
def test_nli_coal_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    expected = reference_nli_coal(table)
    assert nli_coal(*split(table)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(tables)
def test_fraction_neutral_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    expected = reference_fraction_neutral(table)
    assert fraction_neutral(*split(table)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@given(tables)
def test_person_entailment_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    values, strata = split(table)
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=("a", "b"), stratum=s)
        for i, s in enumerate(strata)
    ]
    expected = pytest.approx(share(table, "NB", "entailment"), abs=1e-12, nan_ok=True)
    totals = PERSON_ENTAILMENT.evidence(probes, values[:, None, :]).sum(axis=0)
    assert float(PERSON_ENTAILMENT.combine(totals)) == expected
    assert person_entailment(values[[s == "NB" for s in strata]]) == expected


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ((1, 0, 0), 2 / 3),
        ((0, 0, 1), 2 / 3),
        ((0, 1, 0), 0),
        ((1 / 3, 1 / 3, 1 / 3), 4 / 9),
        ((0.5, 0, 0.5), 2 / 3),
        ((0.5, 0.5, 0), 1 / 3),
    ],
)
def test_nli_coal_of_constant_respondents(row: Row, expected: float) -> None:
    """Always one label, or ties (uniform: 4/9), whatever the sizes of the strata."""
    strata = ["PS"] * 5 + ["AS"] * 3 + ["NS"] * 11
    assert nli_coal([row] * len(strata), strata) == pytest.approx(expected, abs=1e-12)


def test_values_worked_out_by_hand() -> None:
    e, n, c = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
    table = [e, e, n, c, c, n, n, e, n, n, c]
    strata = ["PS"] * 4 + ["AS"] * 2 + ["NS"] * 4 + ["NB"]
    assert nli_coal(table, strata) == pytest.approx((2 / 4 + 1 / 2 + 1 / 4) / 3)
    assert fraction_neutral(table, strata) == pytest.approx(1 - 5 / 10)
    assert person_entailment([e, e, n, c]) == 0.5


def test_only_the_order_of_a_row_matters_not_its_scale() -> None:
    logits = np.random.default_rng(0).normal(size=(30, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    strata = ["PS", "AS", "NS"] * 10
    score = nli_coal(logits, strata)
    assert score == nli_coal(probabilities, strata) == nli_coal(logits * 100 - 7, strata)


def test_an_empty_stratum_is_nan_and_a_group_uses_what_is_there() -> None:
    assert math.isnan(nli_coal([(1, 0, 0), (0, 0, 1)], ["PS", "AS"]))
    both = NLI_COAL.of_group(np.asarray([3, 1, 0, 1, 1, 2, 0, 0, 0.0]))
    assert float(both) == pytest.approx((3 / 4 + 2 / 4) / 2)
    none = NLI_COAL.of_group(np.asarray([0, 0, 0, 0, 0, 0, 1, 3, 0.0]))
    assert float(none) == pytest.approx(1 / 4)
    assert math.isnan(float(NLI_COAL.of_group(np.zeros(9))))
    assert math.isnan(nli_coal(np.empty((0, 3)), []))


def test_no_answer_of_a_two_label_model_reaches_nli_coal() -> None:
    yes, no = (0.9, 0.1), (0.2, 0.8)
    assert person_entailment([yes, no, no, no]) == 0.25
    with pytest.raises(MeasureError, match=r"shape \(2, 2\).*entailment, neutral, contradiction"):
        nli_coal([yes, no], ["PS", "AS"])


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: nli_coal([0.1, 0.2, 0.7], ["PS"]), r"shape \(3,\)"),
        (lambda: nli_coal(np.zeros((2, 4)), ["PS", "AS"]), r"shape \(2, 4\)"),
        (lambda: nli_coal(np.zeros((2, 3)), ["PS"]), "2 rows of probabilities but 1 strata"),
        (
            lambda: fraction_neutral(np.zeros((3, 3)), ["PS"]),
            "3 rows of probabilities but 1 strata",
        ),
        (
            lambda: fraction_neutral([[0.1, 0.2, 0.7], [0.1, 0.2]], ["PS", "AS"]),
            "no table of numbers",
        ),
        (
            lambda: person_entailment([0.1, 0.2, 0.7]),
            r"shape \(3,\).*\(pairs, 2\) or \(pairs, 3\)",
        ),
        (lambda: person_entailment(np.zeros((2, 1))), r"shape \(2, 1\)"),
    ],
)
def test_wrong_shapes_are_refused(call: Callable[[], float], reason: str) -> None:
    with pytest.raises(MeasureError, match=reason):
        call()


@pytest.mark.parametrize("function", [nli_coal, fraction_neutral])
def test_unknown_strata_raise(function: Callable[..., float]) -> None:
    """They did not count, without a word."""
    table = [(1, 0, 0), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    assert function(table, ["PS", "AS", "NS", "NB"]) == function(table[:3], ["PS", "AS", "NS"])
    for unknown in ("pro", "ps", ""):
        with pytest.raises(MeasureError, match=f"stratum '{unknown}' in row 4; known are PS, AS"):
            function(table, ["PS", "AS", "NS", unknown])


def test_the_functions_bear_the_names_of_the_measures() -> None:
    assert [(m.name, m.function.__name__) for m in MEASURES] == [
        ("nli_coal", "nli_coal"),
        ("fraction_neutral", "fraction_neutral"),
        ("person_entailment", "person_entailment"),
        ("stereotype_effect", "stereotype_effect"),
        ("default_effect", "default_effect"),
    ]
    assert [m.card.short for m in MEASURES] == [
        "NLI-CoAL",
        "FN",
        "person",
        "Stereotype effect",
        "Default effect",
    ]
    assert [(m.fair, m.worst, m.best) for m in MEASURES] == [
        (0.0, 1.0, "fair"),
        (0.0, 1.0, "fair"),
        (1.0, 0.0, "fair"),
        (0.0, 1.0, "fair"),
        (0.0, 1.0, "fair"),
    ]
