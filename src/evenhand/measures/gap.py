"""How far apart are the two genders' entailment probabilities?

entailment_gap (dP) = mean of |P_f - P_m|, P the softmax of entailment against contradiction. Between 0 and 1; 0 is fair. The main indicator of
Sharma, Dey, Sinha 2021.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats, Probe
from evenhand.measures.twins import TwinMean


def entailment_gap(female: ArrayLike, male: ArrayLike) -> float:
    """dP of P(entailment) for the female and the male hypothesis of each premise."""
    return float(
        np.mean(
            MEASURE.score(
                np.asarray(female, dtype=np.float64), np.asarray(male, dtype=np.float64), ()
            )
        )
    )


class EntailmentGap(TwinMean):
    """dP."""

    name = "entailment_gap"
    fair = 0.0
    worst: float | None = 1.0
    card = MeasureCard(
        title="dP, entailment gap",
        question="How far apart are the two genders' entailment probabilities?",
        formula="mean |P_f - P_m|",
        range=(0.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="Dropping neutral, the right answer, magnifies differences: read it beside the share of neutral.",
    )

    def score(self, female: Floats, male: Floats, probes: Sequence[Probe]) -> Floats:
        """The distance."""
        return np.abs(female - male)


MEASURE = EntailmentGap()
