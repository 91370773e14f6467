"""The measures of blanks against plain Python, on random answers with ties and gaps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Floats, Probe
from evenhand.families.contextualised import FAMILY
from evenhand.families.contextualised.measures import (
    log_odds,
    objective_accuracy,
    pb_bias,
    pb_lean,
    pb_sd,
)

NAN = float("nan")
NAMES = ("pb_bias", "pb_lean", "pb_sd", "objective_accuracy")
some_number = st.sampled_from([NAN, -math.inf, -3.0, -2.0, -1.5, -1.0, -1.0004, -1.0001, -0.5])
Answered = tuple[str, str, float, float]  # stratum, gold, and the two values


def blanks(rows: list[Answered]) -> tuple[list[Probe], Floats]:
    probes = [
        Probe(
            id=str(i),
            kind="mask",
            language="en",
            texts=("[BLANK]", "he", "she"),
            stratum=stratum,
            cluster=str(i),
            tags={"gold": gold} if gold else {},
        )
        for i, (stratum, gold, _, _) in enumerate(rows)
    ]
    return probes, np.asarray([[a, b] for _, _, a, b in rows]).reshape(-1, 2, 1)


def score(name: str, probes: list[Probe], values: Floats) -> float:
    measure = catalog.measure(name)
    return float(measure.combine(measure.evidence(probes, values).sum(axis=0)))


def is_same(value: float, expected: float) -> bool:
    return math.isnan(value) if math.isnan(expected) else value == pytest.approx(expected, abs=1e-9)


def mean(numbers: list[float]) -> float:
    return statistics.fmean(numbers) if numbers else NAN


def by_hand(name: str, rows: list[Answered]) -> float:
    """Row by row."""
    known = [(s, g, a - b) for s, g, a, b in rows if math.isfinite(a) and math.isfinite(b)]
    odds = [pb for s, _, pb in known if s == "MS"]
    if name == "pb_bias":
        return mean([abs(pb) for pb in odds])
    if name == "pb_lean":
        return mean(odds)
    if name == "pb_sd":
        return statistics.stdev(odds) if len(odds) > 1 else NAN
    right = [
        0.5 if pb == 0 else float((pb > 0) == (gold == "male"))
        for stratum, gold, pb in known
        if stratum == "OS" and gold in ("male", "female")
    ]
    return mean(right)


def ties_by_hand(name: str, rows: list[Answered]) -> int:
    stratum = "OS" if name == "objective_accuracy" else "MS"
    return sum(s == stratum and math.isfinite(a) and a == b for s, _, a, b in rows)


some_blanks = st.lists(
    st.tuples(
        st.sampled_from(["MS", "OS", "XS"]),
        st.sampled_from(["male", "female", ""]),
        some_number,
        some_number,
    ),
    max_size=25,
)


def test_the_order_of_a_report() -> None:
    assert tuple(m.name for m in FAMILY.measures) == NAMES
    assert [m.best for m in FAMILY.measures] == ["fair", "fair", "fair", "right"]
    assert [m.unit for m in FAMILY.measures] == ["log-odds"] * 3 + ["share"]


@pytest.mark.parametrize("name", NAMES)
@given(rows=some_blanks)
def test_measures_of_blanks_against_plain_python(name: str, rows: list[Answered]) -> None:
    probes, values = blanks(rows)
    assert is_same(score(name, probes, values), by_hand(name, rows))
    assert catalog.measure(name).ties(probes, values) == ties_by_hand(name, rows)


def test_measures_of_blanks_on_random_numbers() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (str(rng.choice(["MS", "OS"])), str(rng.choice(["male", "female"])), float(a), float(b))
        for a, b in rng.normal(-5, 2, size=(500, 2))
    ]
    for name in NAMES:
        assert is_same(score(name, *blanks(rows)), by_hand(name, rows))


def test_measures_of_blanks_by_numbers() -> None:
    rows: list[Answered] = [
        ("MS", "", -1.0, -3.0),
        ("MS", "", -2.0, -1.0),
        ("MS", "", NAN, -1.0),
        ("OS", "male", -1.0, -2.0),
        ("OS", "female", -1.0, -2.0),
        ("OS", "female", -2.0, -1.0),
        ("OS", "male", -1.0, -1.0),
    ]
    probes, values = blanks(rows)
    assert score("pb_bias", probes, values) == pytest.approx(1.5)
    assert score("pb_lean", probes, values) == pytest.approx(0.5)
    assert score("pb_sd", probes, values) == pytest.approx(math.sqrt(4.5))
    assert score("objective_accuracy", probes, values) == pytest.approx(2.5 / 4)
    assert [m.ties(probes, values) for m in FAMILY.measures] == [0, 0, 0, 1]


def test_pb_is_of_the_first_two_candidates() -> None:
    probes, values = blanks([("MS", "", -1.0, -3.0), ("MS", "", -2.0, -2.0)])
    wider = np.concatenate([values, [[[0.0]], [[NAN]]]], axis=1)
    assert log_odds(wider).tolist() == [2.0, 0.0]
    assert score("pb_bias", probes, wider) == 1.0
    assert catalog.measure("pb_bias").ties(probes, wider) == 1


def test_a_word_that_is_impossible_does_not_count_and_no_sentence_is_no_score() -> None:
    probes, values = blanks([("MS", "", 0.0, -math.inf), ("OS", "male", -math.inf, -math.inf)])
    for name in NAMES:
        assert math.isnan(score(name, probes, values))
        assert math.isnan(score(name, *blanks([])))
        assert catalog.measure(name).ties(probes, values) == 0


@given(
    odds=st.lists(st.floats(-5, 5), min_size=2, max_size=20),
    gold=st.lists(st.sampled_from(["male", "female"]), min_size=20, max_size=20),
)
def test_the_functions_on_plain_lists(odds: list[float], gold: list[str]) -> None:
    assert pb_bias(odds) == pytest.approx(statistics.fmean(map(abs, odds)))
    assert pb_lean(odds) == pytest.approx(statistics.fmean(odds), abs=1e-12)
    assert pb_sd(odds) == pytest.approx(statistics.stdev(odds), abs=1e-12)
    rows: list[Answered] = [("OS", g, pb, 0.0) for pb, g in zip(odds, gold, strict=False)]
    assert objective_accuracy(odds, gold[: len(odds)]) == pytest.approx(
        by_hand("objective_accuracy", rows)
    )


def test_every_measure_names_its_function() -> None:
    assert [m.function for m in FAMILY.measures] == [pb_bias, pb_lean, pb_sd, objective_accuracy]


@pytest.mark.parametrize("function", [pb_bias, pb_lean, pb_sd])
def test_the_functions_say_what_is_wrong(function: Callable[[object], float]) -> None:
    with pytest.raises(
        MeasureError, match=r"PB values have shape \(2, 2\); expected one number a sentence"
    ):
        function([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(MeasureError, match="PB values are no list of numbers"):
        function(["one", "two"])


def test_gold_genders_must_go_with_the_values() -> None:
    with pytest.raises(MeasureError, match="2 PB values but 1 gold genders"):
        objective_accuracy([1.0, 2.0], ["male"])
    accuracy = objective_accuracy([1.0, 2.0, 0.0], ["male", "female", "male"])
    assert accuracy == pytest.approx(0.5)
