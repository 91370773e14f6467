"""Does the model know which gender a word like aunt or king has?

recognition = share of gendered words whose own gender wins, a tie counts half. Between 0 and 1; 1 is right, 0.5 is guessing.
Of two options the higher number wins; of a classifier the raw entailment value.
It says nothing about bias, but without it balance cannot be told from ignorance. Luo and Glass 2023; their deviation is the one of male and female words.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    CITATION,
    RANGE,
    RecognitionScore,
    checked_values,
    male_wins,
    recognition_evidence,
)


def recognition(values: ArrayLike, gold: Sequence[str]) -> float:
    """Share of rows whose gold gender ("male", "female") wins; one number an option, male then female, or one a label each."""
    table = checked_values(values, gold, "gold genders")
    return float(
        MEASURE.combine(recognition_evidence(male_wins(table, is_discrete=False), gold).sum(axis=0))
    )


class Recognition(RecognitionScore):
    """Share of right genders."""

    name = "recognition"
    card = MeasureCard(
        title="Gender recognition",
        question="Does the model know which gender a word like aunt or king has?",
        formula="gendered words whose own gender has the higher score / answered words, ties half",
        range=RANGE,
        citation=CITATION,
        caveat="A random respondent gets about 0.5, and so does a constant one, by ties only: read it beside the part `ties`.",
    )


MEASURE = Recognition()
