"""Does the model know the gender of words, and yet go with neither gender where a profession is all that it is told?

profession_icat_discrete = recognition_discrete * profession_fairness_discrete. Between 0 and 1; 1 is ideal. Luo and Glass 2023.
Of two options the lower predicted label wins (entailment 0, neutral 1, contradiction 2).
"""

from __future__ import annotations

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    BOTH_LABELS,
    CITATION,
    PROFESSION,
    RANGE,
    RECOGNITION,
    IcatScore,
    multiply,
)


def profession_icat_discrete(recognition: float, fairness: float) -> float:
    """The product of two shares, `recognition_discrete` and `profession_fairness_discrete`."""
    return multiply(recognition, fairness)


class ProfessionIcatDiscrete(IcatScore):
    """Recognition times fairness."""

    name = "profession_icat_discrete"
    strata = frozenset({RECOGNITION, PROFESSION})
    required = strata
    labels = BOTH_LABELS
    is_discrete = True
    card = MeasureCard(
        title="Profession iCAT, discrete",
        question="Does the model know the gender of words, and yet go with neither where a profession is all that it is told?",
        formula="recognition_discrete * profession_fairness_discrete",
        range=RANGE,
        citation=CITATION,
        caveat="A respondent that always says the same gets 0.5 (recognition 0.5, fairness 1, all by ties), a random one about 0.45.",
    )


MEASURE = ProfessionIcatDiscrete()
