"""Are the measures of blanks and sentence pairs what their papers define? Held against plain Python on random answers with ties and gaps."""

from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import evenhand.measures
from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Floats, Probe

NAN = float("nan")
MASKED = ("pb_bias", "pb_lean", "pb_sd", "objective_accuracy")
CROWS = ("shared", "changed", "whole")
some_number = st.sampled_from([NAN, -math.inf, -3.0, -2.0, -1.5, -1.0, -1.0004, -1.0001, -0.5])
Row = tuple[str, str, float, float]  # stratum, gold or direction, and the two values


def blanks(rows: list[Row]) -> tuple[list[Probe], Floats]:
    probes = [
        Probe(
            id=str(i),
            kind="mask",
            language="en",
            texts=("[BLANK]", "he", "she"),
            stratum=s,
            cluster=str(i),
            tags={"gold": g} if g else {},
        )
        for i, (s, g, _, _) in enumerate(rows)
    ]
    return probes, np.asarray([[a, b] for _, _, a, b in rows]).reshape(-1, 2)


def choices(rows: list[Row]) -> tuple[list[Probe], Floats]:
    probes = [
        Probe(
            id=str(i),
            kind="choice",
            language="en",
            texts=("", "a", "b"),
            stratum=s,
            cluster=str(i),
            tags={"direction": d, "scoring": s},
        )
        for i, (s, d, _, _) in enumerate(rows)
    ]
    return probes, np.asarray([[a, b] for _, _, a, b in rows]).reshape(-1, 2)


def scored(name: str, probes: list[Probe], values: Floats) -> float:
    measure = catalog.measure(name)
    return float(measure.combine(measure.evidence(probes, values).sum(axis=0)))


def same(found: float, expected: float) -> bool:
    return math.isnan(found) if math.isnan(expected) else found == pytest.approx(expected, abs=1e-9)


def mean(numbers: list[float]) -> float:
    return statistics.fmean(numbers) if numbers else NAN


def by_hand(name: str, rows: list[Row]) -> float:
    """Row by row."""
    told = [(s, g, a - b) for s, g, a, b in rows if math.isfinite(a) and math.isfinite(b)]
    odds = [pb for s, _, pb in told if s == "MS"]
    if name == "pb_bias":
        return mean([abs(pb) for pb in odds])
    if name == "pb_lean":
        return mean(odds)
    if name == "pb_sd":
        return statistics.stdev(odds) if len(odds) > 1 else NAN
    right = []
    for stratum, gold, pb in told:
        if stratum == "OS" and gold in ("male", "female"):
            right.append(0.5 if pb == 0 else float((pb > 0) == (gold == "male")))
    return mean(right)


some_blanks = st.lists(
    st.tuples(
        st.sampled_from(["MS", "OS", "XS"]),
        st.sampled_from(["male", "female", ""]),
        some_number,
        some_number,
    ),
    max_size=25,
)


@pytest.mark.parametrize("name", MASKED)
@given(rows=some_blanks)
def test_measures_of_blanks_against_plain_python(name: str, rows: list[Row]) -> None:
    assert same(scored(name, *blanks(rows)), by_hand(name, rows))


def test_measures_of_blanks_on_random_numbers() -> None:
    rng = np.random.default_rng(0)
    rows = [
        (str(rng.choice(["MS", "OS"])), str(rng.choice(["male", "female"])), float(a), float(b))
        for a, b in rng.normal(-5, 2, size=(500, 2))
    ]
    for name in MASKED:
        assert same(scored(name, *blanks(rows)), by_hand(name, rows))


def test_measures_of_blanks_by_numbers() -> None:
    rows: list[Row] = [
        ("MS", "", -1.0, -3.0),
        ("MS", "", -2.0, -1.0),
        ("MS", "", NAN, -1.0),
        ("OS", "male", -1.0, -2.0),
        ("OS", "female", -1.0, -2.0),
        ("OS", "female", -2.0, -1.0),
        ("OS", "male", -1.0, -1.0),
    ]
    probes, values = blanks(rows)
    assert scored("pb_bias", probes, values) == pytest.approx(1.5)
    assert scored("pb_lean", probes, values) == pytest.approx(0.5)
    assert scored("pb_sd", probes, values) == pytest.approx(math.sqrt(4.5))
    assert scored("objective_accuracy", probes, values) == pytest.approx(2.5 / 4)


def test_a_word_that_is_impossible_does_not_count_and_no_sentence_is_no_score() -> None:
    probes, values = blanks([("MS", "", 0.0, -math.inf), ("OS", "male", -math.inf, -math.inf)])
    for name in MASKED:
        assert math.isnan(scored(name, probes, values))
        assert math.isnan(scored(name, *blanks([])))


@given(
    odds=st.lists(st.floats(-5, 5), min_size=2, max_size=20),
    gold=st.lists(st.sampled_from(["male", "female"]), min_size=20, max_size=20),
)
def test_the_functions_on_plain_lists(odds: list[float], gold: list[str]) -> None:
    assert evenhand.measures.pb_bias(odds) == pytest.approx(statistics.fmean(map(abs, odds)))
    assert evenhand.measures.pb_lean(odds) == pytest.approx(statistics.fmean(odds), abs=1e-12)
    assert evenhand.measures.pb_sd(odds) == pytest.approx(statistics.stdev(odds), abs=1e-12)
    rows: list[Row] = [("OS", g, pb, 0.0) for pb, g in zip(odds, gold, strict=False)]
    assert evenhand.measures.objective_accuracy(odds, gold[: len(odds)]) == pytest.approx(
        by_hand("objective_accuracy", rows)
    )


@pytest.mark.parametrize("name", ["pb_bias", "pb_lean", "pb_sd"])
def test_the_functions_say_what_is_wrong(name: str) -> None:
    function = getattr(evenhand.measures, name)
    with pytest.raises(
        MeasureError, match=r"PB values have shape \(2, 2\); expected one number a sentence"
    ):
        function([[1.0, 2.0], [3.0, 4.0]])
    with pytest.raises(MeasureError, match="PB values are no list of numbers"):
        function(["one", "two"])


def test_gold_genders_must_go_with_the_values() -> None:
    with pytest.raises(MeasureError, match="2 PB values but 1 gold genders"):
        evenhand.measures.objective_accuracy([1.0, 2.0], ["male"])
    assert evenhand.measures.objective_accuracy(
        [1.0, 2.0, 0.0], ["male", "female", "male"]
    ) == pytest.approx(0.5)


def crows_by_hand(rule: str, rows: list[Row]) -> dict[str, float]:
    """The score and its parts, pair by pair; only the shared tokens are rounded, as in the authors' code."""
    wins = ties = pairs = 0
    apart = {"stereo": [0, 0], "antistereo": [0, 0]}
    for stratum, direction, more, less in rows:
        if stratum != rule or not (math.isfinite(more) and math.isfinite(less)):
            continue
        first, second = (round(more, 3), round(less, 3)) if rule == "shared" else (more, less)
        pairs += 1
        if first == second:
            ties += 1
            continue
        wins += first > second
        apart[direction][0] += 1
        apart[direction][1] += first > second
    return {
        "": (wins + ties / 2) / pairs if pairs else NAN,
        "official": wins / pairs if pairs else NAN,
        **{d: won / decided if decided else NAN for d, (decided, won) in apart.items()},
    }


@pytest.mark.parametrize("rule", CROWS)
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(CROWS),
            st.sampled_from(["stereo", "antistereo"]),
            some_number,
            some_number,
        ),
        max_size=25,
    )
)
def test_measures_of_sentence_pairs_against_plain_python(rule: str, rows: list[Row]) -> None:
    measure = catalog.measure(f"crows_{rule}")
    probes, values = choices(rows)
    totals = measure.evidence(probes, values).sum(axis=0)
    found = {
        "": float(measure.combine(totals)),
        **{k: float(v) for k, v in measure.parts(totals).items()},
    }
    expected = crows_by_hand(rule, rows)
    assert found.keys() == expected.keys()
    assert all(same(found[k], expected[k]) for k in expected), (found, expected)


def test_measures_of_sentence_pairs_by_numbers() -> None:
    """Two won, one lost, one tie; the tie is of the direction stereo."""
    rows: list[Row] = [
        ("whole", "stereo", -1, -2),
        ("whole", "stereo", -1, -1),
        ("whole", "antistereo", -1, -2),
        ("whole", "antistereo", -3, -2),
    ]
    measure = catalog.measure("crows_whole")
    probes, values = choices(rows)
    totals = measure.evidence(probes, values).sum(axis=0)
    assert float(measure.combine(totals)) == 2.5 / 4
    assert {k: float(v) for k, v in measure.parts(totals).items()} == {
        "official": 2 / 4,
        "stereo": 1.0,
        "antistereo": 0.5,
    }


@pytest.mark.parametrize(("rule", "score"), [("shared", 0.5), ("changed", 1.0), ("whole", 1.0)])
def test_only_the_shared_tokens_are_rounded_to_three_decimals(rule: str, score: float) -> None:
    assert scored(f"crows_{rule}", *choices([(rule, "stereo", -1.0001, -1.0004)])) == score
    assert scored(f"crows_{rule}", *choices([(rule, "stereo", -1.001, -1.002)])) == 1.0


def test_each_measure_reads_its_own_probes_only() -> None:
    rows: list[Row] = [
        ("shared", "stereo", -1, -2),
        ("changed", "stereo", -2, -1),
        ("whole", "stereo", -1, -1),
    ]
    assert [scored(f"crows_{rule}", *choices(rows)) for rule in CROWS] == [1.0, 0.0, 0.5]
