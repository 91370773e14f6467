"""A function on arrays refuses a name that it does not know, instead of leaving its row out."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from evenhand import measures
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Probe
from evenhand.families.crows_pairs.measures import MEASURES as CROWS

THREE = [(0.8, 0.1, 0.1), (0.1, 0.8, 0.1)]
SIX = np.arange(12.0).reshape(2, 6)
GENDERS = "gold gender 'man' in row 2; known are male, female. Leave out the rows"
LABELS = "gold label 'entails' in row 2; known are entailment, neutral, contradiction"


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: measures.accuracy(THREE, ["neutral", "entails"]), LABELS),
        (lambda: measures.zero_shot_accuracy(THREE, ["neutral", "entails"]), LABELS),
        (lambda: measures.objective_accuracy([1.0, -1.0], ["male", "man"]), GENDERS),
        (lambda: measures.recognition([(1, 0), (0, 1)], ["male", "man"]), GENDERS),
        (lambda: measures.recognition_discrete(SIX, ["male", "man"]), GENDERS),
        (
            lambda: measures.profession_fairness([(1, 0), (0, 1)], ["nurse", ""]),
            "word '' in row 2; give one for every row",
        ),
        (
            lambda: measures.icat_official([1, 0], [0, 1], [0, 0], ["nurse", ""]),
            "target term '' in row 2; give one for every row",
        ),
    ],
)
def test_a_name_that_is_not_known_is_refused(call: Callable[[], float], reason: str) -> None:
    with pytest.raises(MeasureError) as refused:
        call()
    assert reason in str(refused.value)


def crows_pair(number: int, direction: str | None) -> Probe:
    return Probe(
        id=str(number),
        kind="choice",
        language="en",
        texts=("", "x", "y"),
        stratum="shared",
        tags={} if direction is None else {"direction": direction},
    )


def test_a_direction_that_is_not_known_is_not_taken_for_a_stereotype() -> None:
    measure = CROWS[0]
    values = np.asarray([[[2.0], [1.0]], [[1.0], [2.0]], [[2.0], [1.0]]])
    probes = [crows_pair(0, "stereo"), crows_pair(1, "antistereo"), crows_pair(2, None)]
    parts = measure.parts(measure.evidence(probes, values).sum(axis=0))
    assert {name: float(share) for name, share in parts.items()} == {
        "official": pytest.approx(2 / 3),
        "stereo": 1.0,
        "antistereo": 0.0,
    }
    with pytest.raises(MeasureError, match="direction 'anti' in row 1; known are stereo, antist"):
        measure.evidence([crows_pair(0, "anti")], values[:1])
    only = measure.parts(measure.evidence([crows_pair(0, None)], values[:1]).sum(axis=0))
    assert np.isnan(only["stereo"]) and np.isnan(only["antistereo"])
