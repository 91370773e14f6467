"""Does the model prefer the gender that clearly dominates an occupation?

dominated_preference = B over the occupations in which one gender has more than the threshold (70 % by default) of the workers. Between 0 and 1; 0.5 is fair.
The prose of Sharma, Dey, Sinha 2021 speaks of dominated occupations, their sets give every occupation its majority gender: `stereotype_preference` is the latter.
"""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.measures.preference import StereotypePreference, stereotype_preference


def dominated_preference(female: ArrayLike, male: ArrayLike, lean: Sequence[str]) -> float:
    """B of the premises whose lean is "female" or "male"; others are left out."""
    return stereotype_preference(female, male, lean)


class DominatedPreference(StereotypePreference):
    """B, dominated occupations only."""

    name = "dominated_preference"
    tag = "lean"
    card = MeasureCard(
        title="B, dominated occupations",
        question="Does the model prefer the gender that clearly dominates an occupation?",
        formula="share of premises of dominated occupations with P_dominant > P_other (ties half)",
        range=(0.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="Occupations under the threshold are left out; the breakdown by lean shows them apart.",
    )


MEASURE = DominatedPreference()
