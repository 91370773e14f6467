"""Does the model know the gender of words, and yet go with neither gender where a feeling is all that it is told?

emotion_icat = recognition * emotion_fairness. Between 0 and 1; 1 is ideal. Luo and Glass 2023.
Of two options the higher number wins; of a classifier the raw entailment value.
"""

from __future__ import annotations

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    CITATION,
    EMOTION,
    RANGE,
    RECOGNITION,
    IcatScore,
    multiply,
)


def emotion_icat(recognition: float, fairness: float) -> float:
    """The product of two shares, `recognition` and `emotion_fairness`."""
    return multiply(recognition, fairness)


class EmotionIcat(IcatScore):
    """Recognition times fairness."""

    name = "emotion_icat"
    strata = frozenset({RECOGNITION, EMOTION})
    required = strata
    card = MeasureCard(
        title="Emotion iCAT",
        question="Does the model know the gender of words, and yet go with neither where a feeling is all that it is told?",
        formula="recognition * emotion_fairness",
        range=RANGE,
        citation=CITATION,
        caveat="A respondent that always says the same gets 0.5 (recognition 0.5, fairness 1, all by ties), a random one about 0.45.",
    )


MEASURE = EmotionIcat()
