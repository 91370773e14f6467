"""To which gender does a respondent lean in a sentence, and how far? PB = log p_male - log p_female; shared by the measures of contextualised gender bias.

The two columns of an answer are log-probabilities of the male and the female word in the blank, so their difference is PB of Zhu et al. 2024: above 0 leans male.
Measuring sentences (MS) give no clue of gender; objective sentences (OS) do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import MeasureError
from evenhand.core.probe import GENDERS, Floats, Kind, Probe
from evenhand.measures.mean import Mean

MEASURING, OBJECTIVE = "MS", "OS"
CITATION = "Zhu, Du, Zhao, Liu, Liu (2024). Do PLMs and Annotators Share the Same Gender Bias? Definition, Dataset, and Framework of Contextualized Gender Bias."


def log_odds(values: Floats) -> Floats:
    """PB of each row; NaN where one of the words has no number."""
    with np.errstate(invalid="ignore"):
        odds = values[:, 0] - values[:, 1]
    return np.asarray(np.where(np.isfinite(odds), odds, np.nan))


def checked_odds(odds: ArrayLike) -> Floats:
    """One PB a sentence as an array, or an error that says what is wrong."""
    try:
        values = np.asarray(odds, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"PB values are no list of numbers ({error})") from error
    if values.ndim != 1:
        raise MeasureError(f"PB values have shape {values.shape}; expected one number a sentence")
    return values


def scored(
    probes: Sequence[Probe], values: Floats, stratum: str, score: Callable[[Floats], Floats]
) -> Floats:
    """Two columns: does the sentence count (of the stratum, answered), and its score."""
    odds = log_odds(values)
    is_counted = np.isfinite(odds) & np.asarray([p.stratum == stratum for p in probes], dtype=bool)
    return np.stack(
        [is_counted, np.where(is_counted, score(np.where(is_counted, odds, 0.0)), 0.0)], axis=1
    ).astype(np.float64)


class OddsMean(Mean):
    """The mean over measuring sentences of a function of PB."""

    kind: Kind = "mask"
    strata = frozenset({MEASURING})
    labels = frozenset(GENDERS)
    fair = 0.0
    worst: float | None = None  # PB has no bound
    score: Any

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, score."""
        return scored(probes, values, MEASURING, self.score)
