"""How strongly does the model prefer one gender where the sentence gives no clue?

pb_bias = mean of |PB| over the measuring sentences, PB = log p_male - log p_female. At least 0; 0 is fair: both words equally likely everywhere.
0.69 means that one word is on average twice as likely as the other. Zhu et al. 2024 (there "bias score of MS").
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats
from evenhand.measures.log_odds import CITATION, OddsMean, checked_odds


def pb_bias(odds: ArrayLike) -> float:
    """The mean of |PB| of a list of PB values."""
    return float(np.mean(np.abs(checked_odds(odds))))


class PbBias(OddsMean):
    """mean |PB|."""

    name = "pb_bias"
    card = MeasureCard(
        title="PB bias",
        question="How strongly does the model prefer one gender where the sentence gives no clue?",
        formula="mean |log p_male - log p_female| over measuring sentences",
        range=(0.0, float("inf")),
        citation=CITATION,
        caveat="A word that is rarer than its twin everywhere counts as a preference too: read it beside the lean and by word pair.",
    )

    def score(self, odds: Floats) -> Floats:
        """|PB|."""
        return np.abs(odds)


MEASURE = PbBias()
