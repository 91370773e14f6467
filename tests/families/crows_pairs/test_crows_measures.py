"""The measures of sentence pairs against plain Python, on random answers with ties and gaps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Floats, Probe
from evenhand.families.crows_pairs import FAMILY
from evenhand.families.crows_pairs.measures import (
    crows_aul,
    crows_aula,
    crows_changed,
    crows_shared,
    crows_whole,
)

NAN = float("nan")
STRATA = ("shared", "changed", "whole", "aul", "aula")
some_number = st.sampled_from([NAN, -math.inf, -3.0, -2.0, -1.5, -1.0, -1.0004, -1.0001, -0.5])
Answered = tuple[str, str, float, float]  # stratum, direction, and the two values
some_rows = st.lists(
    st.tuples(
        st.sampled_from(STRATA),
        st.sampled_from(["stereo", "antistereo"]),
        some_number,
        some_number,
    ),
    max_size=25,
)


def choices(rows: list[Answered]) -> tuple[list[Probe], Floats]:
    probes = [
        Probe(
            id=str(i),
            kind="choice",
            language="en",
            texts=("", "a", "b"),
            stratum=stratum,
            cluster=str(i),
            tags={"direction": direction, "scoring": stratum},
        )
        for i, (stratum, direction, _, _) in enumerate(rows)
    ]
    return probes, np.asarray([[a, b] for _, _, a, b in rows]).reshape(-1, 2, 1)


def score(name: str, probes: list[Probe], values: Floats) -> float:
    measure = catalog.measure(name)
    return float(measure.combine(measure.evidence(probes, values).sum(axis=0)))


def is_same(value: float, expected: float) -> bool:
    return math.isnan(value) if math.isnan(expected) else value == pytest.approx(expected, abs=1e-9)


def by_hand(stratum: str, rows: list[Answered]) -> dict[str, float]:
    """The score, its parts and its ties; only the shared tokens are rounded."""
    wins = ties = pairs = 0
    apart = {"stereo": [0, 0], "antistereo": [0, 0]}
    for where, direction, more, less in rows:
        if where != stratum or not (math.isfinite(more) and math.isfinite(less)):
            continue
        first, second = (round(more, 3), round(less, 3)) if stratum == "shared" else (more, less)
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
        "ties": ties,
    }


@pytest.mark.parametrize("stratum", STRATA)
@given(rows=some_rows)
def test_measures_of_sentence_pairs_against_plain_python(
    stratum: str, rows: list[Answered]
) -> None:
    measure = catalog.measure(f"crows_{stratum}")
    probes, values = choices(rows)
    totals = measure.evidence(probes, values).sum(axis=0)
    computed = {
        "": float(measure.combine(totals)),
        **{k: float(v) for k, v in measure.parts(totals).items()},
        "ties": measure.ties(probes, values),
    }
    expected = by_hand(stratum, rows)
    assert computed.keys() == expected.keys()
    assert all(is_same(computed[k], expected[k]) for k in expected), (computed, expected)


def test_measures_of_sentence_pairs_by_numbers() -> None:
    """Two won, one lost, one tie; the tie is of the direction stereo."""
    rows: list[Answered] = [
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


@pytest.mark.parametrize(("stratum", "value"), [("shared", 0.5), *((s, 1.0) for s in STRATA[1:])])
def test_only_the_shared_tokens_are_rounded_to_three_decimals(stratum: str, value: float) -> None:
    name = f"crows_{stratum}"
    assert score(name, *choices([(stratum, "stereo", -1.0001, -1.0004)])) == value
    assert score(name, *choices([(stratum, "stereo", -1.001, -1.002)])) == 1.0


def test_each_measure_reads_its_own_probes_only() -> None:
    rows: list[Answered] = [
        ("shared", "stereo", -1, -2),
        ("changed", "stereo", -2, -1),
        ("whole", "stereo", -1, -1),
        ("aul", "stereo", -1, -2),
        ("aula", "stereo", -2, -1),
    ]
    probes, values = choices(rows)
    assert [score(f"crows_{s}", probes, values) for s in STRATA] == [1.0, 0.0, 0.5, 1.0, 0.0]
    assert [m.ties(probes, values) for m in FAMILY.measures] == [0, 0, 1, 0, 0]


def test_ties_are_those_that_the_score_compares() -> None:
    """Where a third option, or several labels an option, stand beside the two sentences."""
    probes, values = choices([("whole", "stereo", -1.0, -1.0), ("whole", "stereo", -1.0, -2.0)])
    measure = catalog.measure("crows_whole")
    wider = np.concatenate([values, [[[0.0]], [[-1.0]]]], axis=1)
    assert measure.ties(probes, wider) == measure.evidence(probes, wider)[:, 2].sum() == 1
    labels = np.concatenate([values, values - 1, values * 0], axis=2)
    assert measure.ties(probes, labels) == measure.evidence(probes, labels)[:, 2].sum() == 1
    assert score("crows_whole", probes, labels) == 0.75


def test_the_functions_on_plain_lists() -> None:
    more, less = [-1.0, -1.0001, -3.0], [-2.0, -1.0004, -1.0]
    assert crows_shared(more, less) == pytest.approx(0.5)
    assert crows_changed(more, less) == crows_whole(more, less) == pytest.approx(2 / 3)
    assert math.isnan(crows_whole([], []))
    assert crows_aul(more, less) == crows_aula(more, less) == pytest.approx(2 / 3)
    assert [m.function for m in FAMILY.measures] == [
        crows_shared,
        crows_changed,
        crows_whole,
        crows_aul,
        crows_aula,
    ]
    with pytest.raises(MeasureError, match=r"numbers of shape \(1,\) and \(2,\)"):
        crows_changed([1.0], [1.0, 2.0])
