"""How differently does the model lean from sentence to sentence?

pb_sd = standard deviation (n - 1) of PB over the measuring sentences. At least 0; 0 is fair, but also what a model gets that leans equally far everywhere.
Zhu et al. 2024 (there "SD of PB(MS)").
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import GENDERS, Floats, Kind, Probe
from evenhand.measures.log_odds import CITATION, MEASURING, checked_odds, scored


def pb_sd(odds: ArrayLike) -> float:
    """The standard deviation of a list of PB values."""
    return float(np.std(checked_odds(odds), ddof=1))


class PbSd:
    """Standard deviation of PB, from the sums of 1, PB and PB squared."""

    name = "pb_sd"
    kind: Kind = "mask"
    strata = frozenset({MEASURING})
    labels = frozenset(GENDERS)
    fair = 0.0
    worst: float | None = None
    card = MeasureCard(
        title="SD of PB",
        question="How differently does the model lean from sentence to sentence?",
        formula="standard deviation (n - 1) of log p_male - log p_female over measuring sentences",
        range=(0.0, float("inf")),
        citation=CITATION,
        caveat="A model that leans equally far everywhere has 0 too: read it beside the lean.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, PB, PB squared."""
        found = scored(probes, values, MEASURING, lambda odds: odds)
        return np.column_stack([found, found[:, 1] ** 2])

    def combine(self, totals: Floats) -> Floats:
        """NaN where fewer than two sentences counted."""
        count, total, squares = totals[..., 0], totals[..., 1], totals[..., 2]
        is_enough = count > 1
        safe = np.where(is_enough, count, 2.0)
        variance = np.maximum(squares - total**2 / safe, 0.0) / (
            safe - 1
        )  # rounding may leave a little less than nothing
        return np.where(is_enough, np.sqrt(variance), np.nan)

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """No parts besides the score."""
        return {}

    def partial(self, totals: Floats) -> Floats:
        """The same formula on any group."""
        return self.combine(totals)


MEASURE = PbSd()
