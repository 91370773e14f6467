"""An item of a task is right when it is right, with two labels and with three."""

from __future__ import annotations

import numpy as np
import pytest

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.families.glue.measures import (
    TASK_NAMES,
    TWO_WAY_ACCURACY,
    ZERO_SHOT_ACCURACY,
    ZERO_SHOT_AVERAGE,
    two_way_accuracy,
    zero_shot_accuracy,
    zero_shot_average,
)


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


def test_two_ways_leave_neutral_out() -> None:
    gold = ["entailment", "not_entailment", "not_entailment", "entailment"]
    rows = [[1.0, 9, 0], [1.0, 9, 0], [0.0, 0, 1], [2.0, 5, 2]]
    assert two_way_accuracy(rows, gold) == pytest.approx((1 + 0 + 1 + 0.5) / 4)
    assert zero_shot_accuracy(rows, gold) == pytest.approx(2 / 4)
    with pytest.raises(MeasureError, match="gold label 'neutral' in row 1; known are entailment"):
        two_way_accuracy([[1, 0, 0]], ["neutral"])


@pytest.mark.parametrize("seed", range(4))
def test_the_average_is_that_of_the_tasks(seed: int) -> None:
    """Three-way where there are three gold labels, two-way where there are two; ties half."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-1, 2, size=(120, 3)).astype(np.float64)
    values[rng.random(120) < 0.1] = np.nan
    tasks = [str(t) for t in rng.choice([*TASK_NAMES[:4]], 120)]
    probes: list[Probe] = []
    right: dict[str, list[float]] = {task: [] for task in TASK_NAMES[:4]}
    for i, (row, task) in enumerate(zip(values.tolist(), tasks, strict=True)):
        is_three = task.startswith("mnli")
        gold = str(rng.choice(NLI_LABELS if is_three else ["entailment", "not_entailment"]))
        stratum = "zero-shot" if is_three else "two-way"
        tags = {"gold": gold, "task": task}
        probes.append(
            Probe(
                id=str(i), kind="pair", language="en", texts=("a", "b"), stratum=stratum, tags=tags
            )
        )
        if not all(np.isfinite(row)):
            continue
        if is_three:
            right[task].append(slow_accuracy(np.asarray([row]), [gold]))
        else:
            lead = (row[0] - row[2]) * (1 if gold == "entailment" else -1)
            right[task].append(1.0 if lead > 0 else 0.5 if lead == 0 else 0.0)
    shares = {task: float(np.mean(scores)) for task, scores in right.items()}
    totals = ZERO_SHOT_AVERAGE.evidence(probes, values[:, None, :]).sum(axis=0)
    assert float(ZERO_SHOT_AVERAGE.combine(totals)) == pytest.approx(np.mean([*shares.values()]))
    parts = {name: float(value) for name, value in ZERO_SHOT_AVERAGE.parts(totals).items()}
    assert parts == pytest.approx({f"task.{task}": share for task, share in shares.items()})
    assert zero_shot_average([*shares.values(), float("nan")]) == pytest.approx(
        np.mean([*shares.values()])
    )
    two = TWO_WAY_ACCURACY.evidence(probes, values[:, None, :]).sum(axis=0)
    both = right["rte"] + right["qnli"]
    assert float(TWO_WAY_ACCURACY.combine(two)) == pytest.approx(np.mean(both))
    assert TWO_WAY_ACCURACY.ties(probes, values[:, None, :]) == both.count(0.5)
