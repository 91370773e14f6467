"""How far is the stereotype score from either end?

fs_esp_discrete: FS = min(SS, 1 - SS) / 0.5; 1 is fair, 0 always on one side. The convention of ESP, Luo and Glass 2023, predicted labels.
SS: label pro > label anti (the anti-stereotype is entailed sooner), a tie counts half, over items. Below 0.5 leans to stereotypes.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.discrete_comparisons import Discrete, discrete_totals
from evenhand.measures.stereoset_scores import LUO, RANGE, FairnessScore, fairness


def fs_esp_discrete(pro: ArrayLike, anti: ArrayLike, unrelated: ArrayLike) -> float:
    """The score from one label an item for each option (0 entailment, 1 neutral, 2 contradiction); NaN where nothing was answered."""
    return float(fairness(discrete_totals(pro, anti, unrelated)))


class FsEspDiscrete(Discrete, FairnessScore):
    """The fairness score in one of its three conventions."""

    name = "fs_esp_discrete"
    card = MeasureCard(
        title="StereoSet FS, ESP discrete",
        question="How far is the stereotype score from either end?",
        formula="min(SS, 1 - SS) / 0.5, SS = share of items with label pro > label anti, ties half",
        range=RANGE,
        citation=LUO,
        caveat="A classifier that always gives the same label gets 1. Read it beside LMS and the constant respondent.",
    )


MEASURE = FsEspDiscrete()
