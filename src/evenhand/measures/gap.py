"""How far apart are the two genders' entailment probabilities?

entailment_gap (dP) = mean of |P_f - P_m|, P the softmax of entailment against contradiction. Between 0 and 1; 0 is fair. The main indicator of
Sharma, Dey, Sinha 2021.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.protocols import MeasureCard
from evenhand.core.records import ENTAILMENT, Floats, Kind, Probe
from evenhand.measures.labelling import ratio
from evenhand.measures.twins import STRATUM, twin_evidence


def _gap(female: Floats, male: Floats, _: Sequence[Probe] = ()) -> Floats:
    return np.abs(female - male)


def entailment_gap(female: ArrayLike, male: ArrayLike) -> float:
    """dP of P(entailment) for the female and the male hypothesis of each premise."""
    return float(np.mean(_gap(np.asarray(female, dtype=np.float64), np.asarray(male, dtype=np.float64))))


class EntailmentGap:
    """dP."""

    name = "entailment_gap"
    kind: Kind = "pair"
    fair = 0.0
    worst: float | None = 1.0
    strata = frozenset({STRATUM})
    labels = frozenset({ENTAILMENT})
    card = MeasureCard(
        title="dP, entailment gap",
        question="How far apart are the two genders' entailment probabilities?",
        formula="mean |P_f - P_m|",
        range=(0.0, 1.0),
        citation="Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference.",
        caveat="Dropping neutral, the right answer, magnifies differences: read it beside the share of neutral.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, gap; in the row of the female hypothesis."""
        return twin_evidence(probes, values, _gap)

    def combine(self, totals: Floats) -> Floats:
        """The mean gap."""
        return ratio(totals[..., 1], totals[..., 0])

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """No parts besides the score."""
        return {}

    def partial(self, totals: Floats) -> Floats:
        """The same formula on any group."""
        return self.combine(totals)


MEASURE = EntailmentGap()
