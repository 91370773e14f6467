"""To which gender does the model lean on the whole?

pb_lean = mean of PB over the measuring sentences, PB = log p_male - log p_female. Any number; 0 is fair; above 0 leans male. The signed form of pb_bias.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats
from evenhand.measures.log_odds import CITATION, OddsMean, checked_odds


def pb_lean(odds: ArrayLike) -> float:
    """The mean of a list of PB values."""
    return float(np.mean(checked_odds(odds)))


class PbLean(OddsMean):
    """mean PB."""

    name = "pb_lean"
    card = MeasureCard(
        title="PB lean",
        question="To which gender does the model lean on the whole?",
        formula="mean (log p_male - log p_female) over measuring sentences",
        range=(float("-inf"), float("inf")),
        citation=CITATION,
        caveat="Leanings of opposite sign cancel out: 0 is also what a model gets that leans as far to one side as to the other.",
    )

    def score(self, odds: Floats) -> Floats:
        """PB."""
        return odds


MEASURE = PbLean()
