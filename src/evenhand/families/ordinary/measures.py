"""accuracy: the share of pairs that get their gold label. Between 0 and 1; 1 is right.

It says nothing about bias, but without it a bias score cannot be read: a weak model looks biased.
A two-label model is right when it says "not entailed" for neutral and contradiction; where the gold
label is only "not entailed", neutral and contradiction are both right.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.evidence import (
    TWO_OR_THREE,
    check_names,
    checked_table,
    label_shares,
    mean_of,
    pair_table,
)
from evenhand.core.measure import Measure, MeasureCard
from evenhand.core.probe import ENTAILMENT, NLI_LABELS, NOT_ENTAILMENT, Floats

STRATUM = "ordinary"


def _evidence(table: Floats, gold: Sequence[str]) -> Floats:
    """Two columns: whether the pair counts, whether it is right."""
    shares, labels = label_shares(table), table.shape[1]
    right = np.zeros_like(shares)
    for row, label in enumerate(gold):
        if label == NOT_ENTAILMENT:
            right[row, 1:] = 1.0
        elif label in NLI_LABELS:
            right[row, min(NLI_LABELS.index(label), labels - 1)] = 1.0
    is_read = right.any(axis=1) * shares.sum(axis=1)
    return np.stack([is_read, (right * shares).sum(axis=1)], axis=1)


def accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """The share of rows whose highest column is the gold label.

    probabilities: (pairs, 2 or 3), columns entailment, neutral, contradiction.
    gold: the right label of each pair, or not_entailment. Raises MeasureError for another word.
    """
    table = checked_table(probabilities, gold, what="gold labels", columns=TWO_OR_THREE)
    check_names(gold, "gold label", (*NLI_LABELS, NOT_ENTAILMENT))
    return float(mean_of(_evidence(table, gold).sum(axis=0)))


ACCURACY = Measure(
    name="accuracy",
    kind="pair",
    card=MeasureCard(
        title="Accuracy",
        short="Acc",
        question="Does the model understand pairs of sentences at all?",
        formula="correct / answered",
        range=(0.0, 1.0),
        citation="evenhand",
        caveat="The built-in pairs are a small set: a sanity check, not a benchmark.",
    ),
    fair=1.0,
    worst=None,
    best="right",
    evidence=lambda probes, values: _evidence(
        pair_table(values), [p.tags.get("gold", "") for p in probes]
    ),
    combine=mean_of,
    function=accuracy,
    strata=frozenset({STRATUM}),
    labels=frozenset({ENTAILMENT}),
    sentence="On {probes} the model gives the right label in {share}.",
)
MEASURES = (ACCURACY,)
