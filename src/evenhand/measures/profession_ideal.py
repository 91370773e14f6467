"""Does the model know the gender of words, and yet go with neither gender where a profession is all that it is told?

profession_icat = recognition * profession_fairness. Between 0 and 1; 1 is ideal. Luo and Glass 2023.
Of two options the higher number wins; of a classifier the raw entailment value.
"""

from __future__ import annotations

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    CITATION,
    PROFESSION,
    RANGE,
    RECOGNITION,
    IcatScore,
    multiply,
)


def profession_icat(recognition: float, fairness: float) -> float:
    """The product of two shares, `recognition` and `profession_fairness`."""
    return multiply(recognition, fairness)


class ProfessionIcat(IcatScore):
    """Recognition times fairness."""

    name = "profession_icat"
    strata = frozenset({RECOGNITION, PROFESSION})
    required = strata
    card = MeasureCard(
        title="Profession iCAT",
        question="Does the model know the gender of words, and yet go with neither where a profession is all that it is told?",
        formula="recognition * profession_fairness",
        range=RANGE,
        citation=CITATION,
        caveat="A respondent that always says the same gets 0.5 (recognition 0.5, fairness 1, all by ties), a random one about 0.45.",
    )


MEASURE = ProfessionIcat()
