"""An item of a task is right when it is right, with two labels and with three."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.families.glue.measures import ZERO_SHOT_ACCURACY, zero_shot_accuracy


def slow_accuracy(values: Floats, gold: list[str]) -> float:
    """The share of right answers, counted item by item; labels that tie share the answer."""
    scores = []
    for row, right in zip(values.tolist(), gold, strict=True):
        if not all(np.isfinite(row)) or right not in (*NLI_LABELS, "not_entailment"):
            continue
        names = NLI_LABELS if len(row) == 3 else ("entailment", "not_entailment")
        top = [name for name, value in zip(names, row, strict=True) if value == max(row)]
        is_exact = len(row) == 3 and right != "not_entailment"
        hits = [
            name == right if is_exact else (name == "entailment") == (right == "entailment")
            for name in top
        ]
        scores.append(sum(hits) / len(top))
    return sum(scores) / len(scores) if scores else float("nan")


@pytest.mark.parametrize("labels", [2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_accuracy_is_what_counting_one_by_one_gives(labels: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(-2, 3, size=(200, labels)).astype(np.float64)  # many ties
    values[rng.random(200) < 0.1] = np.nan
    gold = [str(g) for g in rng.choice([*NLI_LABELS, "not_entailment"], 200)]
    assert zero_shot_accuracy(values, gold) == pytest.approx(slow_accuracy(values, gold), abs=1e-12)
    probes = [
        Probe(
            id=str(i),
            kind="pair",
            language="en",
            texts=("a", "b"),
            stratum="zero-shot",
            tags={"gold": g},
        )
        for i, g in enumerate(gold)
    ]
    totals = ZERO_SHOT_ACCURACY.evidence(probes, values[:, None, :]).sum(axis=0)
    parts = ZERO_SHOT_ACCURACY.parts(totals)
    assert set(parts) == {f"recall.{c}" for c in (*NLI_LABELS, "not_entailment")}
    for name, value in parts.items():
        only = [g if g == name.partition(".")[2] else "" for g in gold]
        assert float(value) == pytest.approx(slow_accuracy(values, only), abs=1e-12)


def test_single_items_by_hand() -> None:
    three = zero_shot_accuracy([[0, 1, 0], [0, 0, 1], [1, 0, 0]], ["not_entailment"] * 3)
    assert three == pytest.approx(2 / 3)
    # a tie between two right labels is right
    assert zero_shot_accuracy([[0, 1, 1]], ["not_entailment"]) == 1.0
    assert zero_shot_accuracy([[1, 1, 0]], ["not_entailment"]) == 0.5
    assert zero_shot_accuracy([[1, 1, 1]], ["not_entailment"]) == pytest.approx(2 / 3)
    assert zero_shot_accuracy([[0, 1]], ["neutral"]) == 1.0
    assert np.isnan(zero_shot_accuracy(np.empty((0, 3)), []))
    with pytest.raises(MeasureError, match="gold label 'unknown' in row 1; known are entailment"):
        zero_shot_accuracy([[1, 0, 0]], ["unknown"])
    with pytest.raises(MeasureError, match="1 rows of probabilities but 2 gold labels"):
        zero_shot_accuracy([[1, 0, 0]], ["neutral", "neutral"])
