"""Does the model understand a task that it is only told of in words?

zero_shot_accuracy = share of items that get their gold label. Between 0 and 1; 1 is right. Where the gold label is only "entailment or not", neutral and contradiction are both
"not"; a two-label model is right when it says "not" for neutral and contradiction. Labels that tie share the answer. It says nothing about bias, but tells fairness from
ignorance: a model that understands nothing prefers nobody. Luo, Glass 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NLI_LABELS,
    NOT_ENTAILMENT,
    Floats,
    Probe,
)
from evenhand.measures.labelling import TWO_OR_THREE, checked, label_shares, ratio
from evenhand.measures.mean import Mean

STRATUM = "zero-shot"
CLASSES = (*NLI_LABELS, NOT_ENTAILMENT)
_RIGHT = {  # which columns are right for a gold label: of a three-label model, of a two-label one
    ENTAILMENT: ((1, 0, 0), (1, 0)),
    NEUTRAL: ((0, 1, 0), (0, 1)),
    CONTRADICTION: ((0, 0, 1), (0, 1)),
    NOT_ENTAILMENT: ((0, 1, 1), (0, 1)),
}


def zero_shot_accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """Share of rows whose highest column is right for the gold label (entailment, neutral, contradiction, not_entailment)."""
    values = checked(probabilities, gold, what="gold labels", columns=TWO_OR_THREE)
    return float(MEASURE.combine(_evidence(values, gold).sum(axis=0)))


def _evidence(values: Floats, gold: Sequence[str]) -> Floats:
    shares, labels = label_shares(values), values.shape[1]
    right = np.asarray(
        [_RIGHT[g][labels == 2] if g in _RIGHT else (0,) * labels for g in gold], dtype=np.float64
    ).reshape(len(gold), labels)
    is_gold = np.asarray([[g == c for c in CLASSES] for g in gold], dtype=np.float64).reshape(
        len(gold), len(CLASSES)
    )
    counted = is_gold * shares.sum(axis=1, keepdims=True)  # nothing where there is no answer
    hit = counted * (shares * right).sum(axis=1, keepdims=True)
    return np.concatenate(
        [counted.sum(axis=1, keepdims=True), hit.sum(axis=1, keepdims=True), counted, hit], axis=1
    )


class ZeroShotAccuracy(Mean):
    """Share of gold labels given, and the same for each of them."""

    name = "zero_shot_accuracy"
    fair = 1.0
    worst: float | None = None
    strata = frozenset({STRATUM})
    labels = frozenset({ENTAILMENT})
    card = MeasureCard(
        title="Zero-shot accuracy",
        question="Does the model understand a task that it is only told of in words?",
        formula="right / answered",
        range=(0.0, 1.0),
        citation="Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates Stereotypical Sentence Reasoning. EACL.",
        caveat="A model that is fair but knows nothing is seen as such here: near the share of the most frequent label it guesses. "
        "On MNLI a model that was trained on MNLI is not asked zero-shot.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, right; then counted of each gold label; then right of each gold label."""
        return _evidence(
            values, [p.tags.get("gold", "") if p.stratum == STRATUM else "" for p in probes]
        )

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """The share that is right of each gold label that the task has."""
        counted, hit = np.split(totals[..., 2:], 2, axis=-1)
        return {
            f"recall.{c}": ratio(hit[..., i], counted[..., i])
            for i, c in enumerate(CLASSES)
            if counted[..., i].any()
        }


MEASURE = ZeroShotAccuracy()
