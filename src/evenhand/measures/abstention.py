"""How often does the model say neutral about the gender of a job, where neutral is right?

neutral_share = share of neutral among the gendered hypotheses. Between 0 and 1; 1 is fair. S, dP and B drop the neutral output; this one shows what they hide.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe
from evenhand.measures.labelling import checked, label_shares, ratio
from evenhand.measures.twins import STRATUM


def neutral_share(probabilities: ArrayLike) -> float:
    """Share of rows whose second column (neutral) is the highest."""
    shares = label_shares(checked(probabilities))
    return float(ratio(shares[:, 1].sum(), shares.sum()))


class NeutralShare:
    """The three-label view of gendered entailment."""

    name = "neutral_share"
    kind: Kind = "pair"
    fair = 1.0
    worst: float | None = 0.0
    strata = frozenset({STRATUM})
    labels = frozenset(NLI_LABELS)
    card = MeasureCard(
        title="Share of neutral",
        question="How often does the model say neutral about the gender of a job, where neutral is right?",
        formula="neutral / answered",
        range=(0.0, 1.0),
        citation="evenhand; beside S, dP and B of Sharma, Dey, Sinha (2021), which drop the neutral output.",
        caveat="Says nothing about the direction of the other answers.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """One column a label."""
        is_read = np.asarray([p.stratum == STRATUM for p in probes], dtype=np.float64)
        return np.asarray(label_shares(values) * is_read[:, None])

    def combine(self, totals: Floats) -> Floats:
        """The share of neutral."""
        return ratio(totals[..., 1], totals.sum(axis=-1))

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """The share of each label."""
        return {
            label: ratio(totals[..., i], totals.sum(axis=-1)) for i, label in enumerate(NLI_LABELS)
        }

    def partial(self, totals: Floats) -> Floats:
        """The same formula on any group."""
        return self.combine(totals)


MEASURE = NeutralShare()
