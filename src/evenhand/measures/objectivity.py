"""Does the model see the gender where the sentence settles it?

objective_accuracy = share of objective sentences in which the right word is the likelier one; ties count half. Between 0 and 1; 1 is right, 0.5 is guessing.
It says nothing about bias, but without it a small bias cannot be told from ignorance. Zhu et al. 2024 (there "accuracy of OS").
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import MeasureError
from evenhand.core.measure import MeasureCard
from evenhand.core.probe import GENDERS, Floats, Kind, Probe
from evenhand.measures.log_odds import CITATION, OBJECTIVE, checked_odds, log_odds
from evenhand.measures.mean import Mean


def objective_accuracy(odds: ArrayLike, gold: Sequence[str]) -> float:
    """Share of PB values whose sign is that of the gold gender ("male", "female")."""
    values = checked_odds(odds)
    if len(gold) != len(values):
        raise MeasureError(f"{len(values)} PB values but {len(gold)} gold genders")
    return float(MEASURE.combine(_evidence(values, gold).sum(axis=0)))


def _evidence(odds: Floats, gold: Sequence[str]) -> Floats:
    sign = np.asarray([{"male": 1.0, "female": -1.0}.get(g, np.nan) for g in gold])
    is_counted = np.isfinite(odds) & np.isfinite(sign)
    right = (1 + np.sign(np.where(is_counted, odds * sign, 0.0))) / 2  # a tie is half right
    return np.stack([is_counted, np.where(is_counted, right, 0.0)], axis=1).astype(np.float64)


class ObjectiveAccuracy(Mean):
    """Share of right signs."""

    name = "objective_accuracy"
    kind: Kind = "mask"
    fair = 1.0
    worst: float | None = None
    strata = frozenset({OBJECTIVE})
    labels = frozenset(GENDERS)
    card = MeasureCard(
        title="Accuracy on objective sentences",
        question="Does the model see the gender where the sentence settles it?",
        formula="right / answered objective sentences, ties half",
        range=(0.0, 1.0),
        citation=CITATION,
        caveat="Near 0.5 the model guesses, and its bias score says little about stereotypes.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, right."""
        return _evidence(
            log_odds(values),
            [p.tags.get("gold", "") if p.stratum == OBJECTIVE else "" for p in probes],
        )


MEASURE = ObjectiveAccuracy()
