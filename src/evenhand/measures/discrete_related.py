"""Does the model prefer what is related to the context to what is not?

lms_esp_discrete: 1 is understood. It says nothing about bias. The convention of ESP, Luo and Glass 2023, predicted labels.
min(label pro, label anti) <= label unrelated, over items; a tie counts for it.
A random classifier gets about 0.81, one that always gives the same label 1.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.discrete_comparisons import Discrete, discrete_totals
from evenhand.measures.stereoset_scores import LUO, RANGE, RelatedScore, related_share


def lms_esp_discrete(pro: ArrayLike, anti: ArrayLike, unrelated: ArrayLike) -> float:
    """The score from one label an item for each option (0 entailment, 1 neutral, 2 contradiction); NaN where nothing was answered."""
    return float(related_share(discrete_totals(pro, anti, unrelated)))


class LmsEspDiscrete(Discrete, RelatedScore):
    """The language modelling score in one of its three conventions."""

    name = "lms_esp_discrete"
    card = MeasureCard(
        title="StereoSet LMS, ESP discrete",
        question="Does the model prefer what is related to the context to what is not?",
        formula="share of items with min(label pro, label anti) <= label unrelated",
        range=RANGE,
        citation=LUO,
        caveat="Ties count for it: a classifier that always gives the same label gets 1. Read it beside the constant respondent.",
    )


MEASURE = LmsEspDiscrete()
