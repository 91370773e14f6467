"""Which pairs drew the most biased answers?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.core.probe import Floats, Probe
from evenhand.core.run import Run
from evenhand.report.shares import counted_labels

STRATA = ("PS", "AS", "NS")


@dataclass(frozen=True, slots=True, kw_only=True)
class BiasedPair:
    """One pair, the probability of each label, and that of the label or labels that count against the model."""

    probe: Probe
    probabilities: Mapping[str, float]
    counted: tuple[str, ...]
    biased: float


def probabilities_of(values: Floats) -> Floats:
    """Raw values (logits or log-probabilities) to probabilities, NaN rows left NaN."""
    with np.errstate(invalid="ignore", over="ignore"):
        powers = np.exp(values - values.max(axis=1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=1, keepdims=True), dtype=np.float64)


def most_biased(run: Run, count: int = 20) -> list[BiasedPair]:
    """The `count` pairs with the highest probability of a biased answer: PS entailment, AS contradiction, NS anything but neutral."""
    answers = run.answers
    if any(p.kind != "pair" for p in answers.probes) or not len(answers.values):
        return []
    counted = {s: counted_labels(s, answers.labels) for s in STRATA}
    columns = {
        s: [answers.labels.index(label) for label in labels]
        for s, labels in counted.items()
        if labels
    }
    chances = probabilities_of(answers.values)
    biased = np.asarray(
        [
            row[columns[p.stratum]].sum() if p.stratum in columns else np.nan
            for p, row in zip(answers.probes, chances, strict=True)
        ]
    )
    order = [int(i) for i in np.argsort(-biased, kind="stable") if np.isfinite(biased[i])]
    return [
        BiasedPair(
            probe=answers.probes[i],
            probabilities=dict(zip(answers.labels, map(float, chances[i]), strict=True)),
            counted=counted[answers.probes[i].stratum],
            biased=float(biased[i]),
        )
        for i in order[:count]
    ]
