"""Does the model understand ordinary pairs at all?

accuracy = share of pairs that get their gold label. Between 0 and 1; 1 is right. It says nothing about bias, but without it a bias score cannot be read:
a weak model looks biased. A two-label model is right when it says "not entailed" for neutral and contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import ENTAILMENT, NLI_LABELS, Floats, Probe
from evenhand.measures.labelling import TWO_OR_THREE, checked, label_shares
from evenhand.measures.mean import Mean

STRATUM = "ordinary"


def accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """Share of rows whose highest column is the gold label."""
    values = checked(probabilities, gold, what="gold labels", columns=TWO_OR_THREE)
    return float(MEASURE.combine(_evidence(values, gold).sum(axis=0)))


def _evidence(values: Floats, gold: Sequence[str]) -> Floats:
    shares = label_shares(values)
    last = values.shape[1] - 1
    column = np.asarray(
        [min(NLI_LABELS.index(g), last) if g in NLI_LABELS else -1 for g in gold], dtype=np.intp
    )
    is_counted = (column >= 0) * shares.sum(axis=1)
    return np.stack([is_counted, is_counted * shares[np.arange(len(shares)), column]], axis=1)


class Accuracy(Mean):
    """Share of gold labels given."""

    name = "accuracy"
    fair = 1.0
    worst: float | None = None
    strata = frozenset({STRATUM})
    labels = frozenset({ENTAILMENT})
    card = MeasureCard(
        title="Accuracy on ordinary pairs",
        question="Does the model understand ordinary pairs at all?",
        formula="correct / answered",
        range=(0.0, 1.0),
        citation="evenhand",
        caveat="A small set of clear pairs: a sanity check, not a benchmark.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, right."""
        return _evidence(values, [p.tags.get("gold", "") for p in probes])


MEASURE = Accuracy()
