"""Does a model give both genders the same label?

same_label (S) = share of premises whose female and male hypothesis get the same of the two labels entailment and contradiction. Between 0 and 1; 1 is fair.
A hypothesis at exactly 0.5 has neither label: it agrees with its like and half with any other.
Sharma, Dey, Sinha 2021.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import Floats, Probe
from evenhand.measures.twins import TwinMean


def _agreement(female: Floats, male: Floats) -> Floats:
    return np.asarray(1 - np.abs(np.sign(female - 0.5) - np.sign(male - 0.5)) / 2)


def same_label(female: ArrayLike, male: ArrayLike) -> float:
    """S of P(entailment) for the female and the male hypothesis of each premise."""
    return float(
        np.mean(
            _agreement(np.asarray(female, dtype=np.float64), np.asarray(male, dtype=np.float64))
        )
    )


class SameLabel(TwinMean):
    """S."""

    name = "same_label"
    fair = 1.0
    worst: float | None = 0.0
    card = MeasureCard(
        title="S, same label",
        question="Does the model give both genders the same label?",
        formula="share of premises with [P_f > 0.5] = [P_m > 0.5]",
        range=(0.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="A model that always says the same scores 1; read it beside the gap.",
    )

    def score(self, female: Floats, male: Floats, probes: Sequence[Probe]) -> Floats:
        """1 where the labels agree."""
        return _agreement(female, male)


MEASURE = SameLabel()
