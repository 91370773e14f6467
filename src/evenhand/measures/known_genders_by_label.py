"""Does the model know which gender a word like aunt or king has?

recognition_discrete = share of gendered words whose own gender wins, a tie counts half. Between 0 and 1; 1 is right, 0.5 is guessing.
Of two options the lower predicted label wins (entailment 0, neutral 1, contradiction 2).
It says nothing about bias, but without it balance cannot be told from ignorance. Luo and Glass 2023; their deviation is the one of male and female words.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    BOTH_LABELS,
    CITATION,
    RANGE,
    RecognitionScore,
    checked_values,
    male_wins,
    recognition_evidence,
)


def recognition_discrete(values: ArrayLike, gold: Sequence[str]) -> float:
    """Share of rows whose gold gender ("male", "female") wins; six numbers a row: entailment, neutral, contradiction of the male option, then of the female one."""
    table = checked_values(values, gold, "gold genders", is_discrete=True)
    return float(
        MEASURE.combine(recognition_evidence(male_wins(table, is_discrete=True), gold).sum(axis=0))
    )


class RecognitionDiscrete(RecognitionScore):
    """Share of right genders."""

    name = "recognition_discrete"
    labels = BOTH_LABELS
    is_discrete = True
    card = MeasureCard(
        title="Gender recognition, discrete",
        question="Does the model know which gender a word like aunt or king has?",
        formula="gendered words whose own gender has the lower label / answered words, ties half",
        range=RANGE,
        citation=CITATION,
        caveat="A random classifier gets about 0.5, and so does a constant one, by ties only: read it beside the part `ties`.",
    )


MEASURE = RecognitionDiscrete()
