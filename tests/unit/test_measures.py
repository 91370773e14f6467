"""Do the measures agree with a second implementation in plain loops, and with what can be worked out by hand?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import measures
from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.measures.labelling import count_ties, label_shares

STRATA = ("PS", "AS", "NS")
Row = tuple[float, float, float]
# Tenths, so that ties are frequent; NaN is no answer.
rows = st.tuples(
    *[st.integers(0, 4).map(lambda n: n / 10) | st.just(math.nan)] * 2,
    st.integers(0, 4).map(lambda n: n / 10),
)
tables = st.lists(st.tuples(rows, st.sampled_from([*STRATA, "NB"])), min_size=1, max_size=30)


def votes(row: Sequence[float]) -> dict[str, float] | None:
    """Which labels does a row vote for, and how much for each? None: it does not answer."""
    if any(math.isnan(v) for v in row):
        return None
    best = max(row)
    winners = [label for label, v in zip(NLI_LABELS, row, strict=True) if v == best]
    return {label: 1 / len(winners) if label in winners else 0.0 for label in NLI_LABELS}


def share(table: list[tuple[Row, str]], stratum: str, label: str) -> float:
    cast = [v for row, s in table if s == stratum and (v := votes(row)) is not None]
    return sum(v[label] for v in cast) / len(cast) if cast else math.nan


def reference_nli_coal(table: list[tuple[Row, str]]) -> float:
    return (
        share(table, "PS", "entailment")
        + share(table, "AS", "contradiction")
        + 1
        - share(table, "NS", "neutral")
    ) / 3


def reference_fraction_neutral(table: list[tuple[Row, str]]) -> float:
    cast = [v for row, s in table if s in STRATA and (v := votes(row)) is not None]
    return 1 - sum(v["neutral"] for v in cast) / len(cast) if cast else math.nan


def split(table: list[tuple[Row, str]]) -> tuple[np.ndarray[Any, Any], list[str]]:
    return np.asarray([row for row, _ in table]), [stratum for _, stratum in table]


@given(tables)
def test_nli_coal_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    assert measures.nli_coal(*split(table)) == pytest.approx(
        reference_nli_coal(table), abs=1e-12, nan_ok=True
    )


@given(tables)
def test_fraction_neutral_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    assert measures.fraction_neutral(*split(table)) == pytest.approx(
        reference_fraction_neutral(table), abs=1e-12, nan_ok=True
    )


@given(tables)
def test_person_entailment_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    values, strata = split(table)
    probes = [
        Probe(id=str(i), kind="pair", language="en", texts=("a", "b"), stratum=s)
        for i, s in enumerate(strata)
    ]
    measure = catalog.measure("person_entailment")
    expected = pytest.approx(share(table, "NB", "entailment"), abs=1e-12, nan_ok=True)
    assert float(measure.combine(measure.evidence(probes, values).sum(axis=0))) == expected
    assert measures.person_entailment(values[[s == "NB" for s in strata]]) == expected


@given(st.lists(st.tuples(rows, st.sampled_from(NLI_LABELS)), min_size=1, max_size=30))
def test_accuracy_agrees_with_plain_loops(table: list[tuple[Row, str]]) -> None:
    cast = [(v, gold) for row, gold in table if (v := votes(row)) is not None]
    expected = sum(v[gold] for v, gold in cast) / len(cast) if cast else math.nan
    assert measures.accuracy(*split(table)) == pytest.approx(expected, abs=1e-12, nan_ok=True)


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
    """Always entailment 2/3, always contradiction 2/3, always neutral 0, uniform (all tie) 4/9: whatever the sizes of the strata."""
    strata = ["PS"] * 5 + ["AS"] * 3 + ["NS"] * 11
    assert measures.nli_coal([row] * len(strata), strata) == pytest.approx(expected, abs=1e-12)


def test_values_worked_out_by_hand() -> None:
    e, n, c = (0.8, 0.1, 0.1), (0.1, 0.8, 0.1), (0.1, 0.1, 0.8)
    table = [e, e, n, c, c, n, n, e, n, n, c]
    strata = ["PS"] * 4 + ["AS"] * 2 + ["NS"] * 4 + ["NB"]
    assert measures.nli_coal(table, strata) == pytest.approx((2 / 4 + 1 / 2 + 1 / 4) / 3)
    assert measures.fraction_neutral(table, strata) == pytest.approx(1 - 5 / 10)
    assert measures.person_entailment([e, e, n, c]) == 0.5
    assert (
        measures.accuracy([e, n, c, n], ["entailment", "neutral", "neutral", "contradiction"])
        == 0.5
    )


def test_only_the_order_of_a_row_matters_not_its_scale() -> None:
    logits = np.random.default_rng(0).normal(size=(30, 3))
    probabilities = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    strata = ["PS", "AS", "NS"] * 10
    assert (
        measures.nli_coal(logits, strata)
        == measures.nli_coal(probabilities, strata)
        == measures.nli_coal(logits * 100 - 7, strata)
    )


def test_an_empty_stratum_is_nan_and_partial_uses_what_is_there() -> None:
    assert math.isnan(measures.nli_coal([(1, 0, 0), (0, 0, 1)], ["PS", "AS"]))
    coal = catalog.measure("nli_coal")
    assert float(coal.partial(np.asarray([3, 1, 0, 1, 1, 2, 0, 0, 0.0]))) == pytest.approx(
        (3 / 4 + 2 / 4) / 2
    )
    assert float(coal.partial(np.asarray([0, 0, 0, 0, 0, 0, 1, 3, 0.0]))) == pytest.approx(1 / 4)
    assert math.isnan(float(coal.partial(np.zeros(9))))
    assert math.isnan(measures.accuracy(np.empty((0, 3)), []))
    assert math.isnan(measures.nli_coal(np.empty((0, 3)), []))


def test_two_label_models() -> None:
    """`not entailed` is right for neutral and for contradiction, and no answer of a two-label model reaches NLI-CoAL."""
    yes, no = (0.9, 0.1), (0.2, 0.8)
    assert (
        measures.accuracy(
            [yes, no, no, no], ["entailment", "neutral", "contradiction", "entailment"]
        )
        == 0.75
    )
    assert measures.person_entailment([yes, no, no, no]) == 0.25
    with pytest.raises(MeasureError, match=r"shape \(2, 2\).*entailment, neutral, contradiction"):
        measures.nli_coal([yes, no], ["PS", "AS"])


def test_a_gold_label_that_is_none_does_not_count() -> None:
    assert measures.accuracy([(1, 0, 0), (1, 0, 0)], ["entailment", "-"]) == 1.0


def test_label_shares_and_ties() -> None:
    values = np.asarray([[1, 1, 0], [0, 2, 1], [1, 1, 1], [math.nan, 1, 1.0]])
    expected = np.asarray([[1 / 2, 1 / 2, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 0]])
    np.testing.assert_allclose(label_shares(values), expected)
    assert count_ties(values) == 2
    assert count_ties(np.empty((0, 3))) == 0


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: measures.nli_coal([0.1, 0.2, 0.7], ["PS"]), r"shape \(3,\)"),
        (lambda: measures.nli_coal(np.zeros((2, 4)), ["PS", "AS"]), r"shape \(2, 4\)"),
        (
            lambda: measures.nli_coal(np.zeros((2, 3)), ["PS"]),
            "2 rows of probabilities but 1 strata",
        ),
        (
            lambda: measures.fraction_neutral(np.zeros((3, 3)), ["PS"]),
            "3 rows of probabilities but 1 strata",
        ),
        (
            lambda: measures.fraction_neutral([[0.1, 0.2, 0.7], [0.1, 0.2]], ["PS", "AS"]),
            "no table of numbers",
        ),
        (
            lambda: measures.person_entailment([0.1, 0.2, 0.7]),
            r"shape \(3,\).*\(pairs, 2\) or \(pairs, 3\)",
        ),
        (lambda: measures.person_entailment(np.zeros((2, 1))), r"shape \(2, 1\)"),
        (
            lambda: measures.accuracy(np.zeros((2, 3)), ["neutral"]),
            "2 rows of probabilities but 1 gold labels",
        ),
        (lambda: measures.accuracy([["a", "b", "c"]], ["neutral"]), "no table of numbers"),
    ],
)
def test_wrong_shapes_are_refused(call: Callable[[], float], reason: str) -> None:
    with pytest.raises(MeasureError, match=reason):
        call()


def test_the_public_functions_are_the_catalog() -> None:
    assert set(catalog.measures()) <= set(dir(measures))
    assert all(callable(getattr(measures, name)) for name in catalog.measures())
    with pytest.raises(AttributeError, match="no measure 'nli_cola'"):
        _ = measures.nli_cola
