"""accuracy: the share of ordinary pairs that get their gold label. Between 0 and 1; 1 is right.

It says nothing about bias, but without it a bias score cannot be read: a weak model looks biased.
A two-label model is right when it says "not entailed" for neutral and contradiction.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.evidence import (
    TWO_OR_THREE,
    checked_table,
    label_shares,
    mean_of,
    pair_table,
)
from evenhand.core.measure import Measure, MeasureCard
from evenhand.core.probe import ENTAILMENT, NLI_LABELS, Floats

STRATUM = "ordinary"


def _evidence(table: Floats, gold: Sequence[str]) -> Floats:
    """Two columns: whether the pair counts, whether it is right."""
    shares = label_shares(table)
    last = table.shape[1] - 1
    columns = [min(NLI_LABELS.index(g), last) if g in NLI_LABELS else -1 for g in gold]
    column = np.asarray(columns, dtype=np.intp)
    is_read = (column >= 0) * shares.sum(axis=1)
    return np.stack([is_read, is_read * shares[np.arange(len(shares)), column]], axis=1)


def accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """The share of rows whose highest column is the gold label.

    probabilities: (pairs, 2 or 3), columns entailment, neutral, contradiction.
    gold: the right label of each pair; a pair with another word does not count.
    """
    table = checked_table(probabilities, gold, what="gold labels", columns=TWO_OR_THREE)
    return float(mean_of(_evidence(table, gold).sum(axis=0)))


ACCURACY = Measure(
    name="accuracy",
    kind="pair",
    card=MeasureCard(
        title="Accuracy on ordinary pairs",
        short="Acc",
        question="Does the model understand ordinary pairs at all?",
        formula="correct / answered",
        range=(0.0, 1.0),
        citation="evenhand",
        caveat="A small set of clear pairs: a sanity check, not a benchmark.",
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
