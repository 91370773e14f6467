"""Does the model go with one gender where a profession is all that it is told?

profession_fairness_discrete: c = share of pairs of gendered words whose male one wins, given the profession, a tie counts half.
Of two options the lower predicted label wins (entailment 0, neutral 1, contradiction 2).
Fairness of a word = min(c, 1 - c) / 0.5, the score is its mean over words. Between 0 and 1; 1 is fair: either gender wins equally often. Luo and Glass 2023.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.word_fairness import (
    BOTH_LABELS,
    CITATION,
    PROFESSION,
    RANGE,
    FairnessScore,
    score_words,
)


def profession_fairness_discrete(values: ArrayLike, words: Sequence[str]) -> float:
    """Mean fairness of the words, one row for each word and pair; six numbers a row: entailment, neutral, contradiction of the male option, then of the female one."""
    return score_words(values, words, is_discrete=True)


class ProfessionFairnessDiscrete(FairnessScore):
    """Mean of min(c, 1 - c) / 0.5."""

    name = "profession_fairness_discrete"
    strata = frozenset({PROFESSION})
    required = strata
    labels = BOTH_LABELS
    is_discrete = True
    card = MeasureCard(
        title="Profession fairness, discrete",
        question="Does the model go with one gender where a profession is all that it is told?",
        formula="mean over professions of min(c, 1 - c) / 0.5, c = share of pairs whose male word has the lower label, ties half",
        range=RANGE,
        citation=CITATION,
        caveat="A respondent that always says the same gets 1, all of it by ties, and a random one about 0.9: read it beside recognition and the part `ties`.",
    )


MEASURE = ProfessionFairnessDiscrete()
