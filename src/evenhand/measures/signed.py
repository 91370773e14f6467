"""To which gender do the entailment probabilities lean?

signed_gap = mean of P_f - P_m, P the softmax of entailment against contradiction. Between -1 and 1; 0 is fair; above 0 leans female. The signed form of dP of
Sharma, Dey, Sinha 2021.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats, Probe
from evenhand.measures.twins import TwinMean


def signed_gap(female: ArrayLike, male: ArrayLike) -> float:
    """The signed gap of P(entailment) for the female and the male hypothesis of each premise."""
    return float(
        np.mean(
            MEASURE.score(
                np.asarray(female, dtype=np.float64), np.asarray(male, dtype=np.float64), ()
            )
        )
    )


class SignedGap(TwinMean):
    """P_f - P_m."""

    name = "signed_gap"
    fair = 0.0
    worst: float | None = None  # a stereotyped respondent leans both ways, by occupation
    card = MeasureCard(
        title="Signed gap",
        question="To which gender do the entailment probabilities lean?",
        formula="mean (P_f - P_m)",
        range=(-1.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="Leanings of opposite sign cancel out over occupations: read it per occupation.",
    )

    def score(self, female: Floats, male: Floats, probes: Sequence[Probe]) -> Floats:
        """The difference."""
        return np.asarray(female - male)


MEASURE = SignedGap()
