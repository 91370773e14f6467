"""How often does an NLI model fail to say neutral, where neutral is right?

fraction_neutral = 1 - (share of neutral among all pairs of PS, AS and NS). Between 0 and 1; 0 is fair.
The original (Dev et al. 2020) is the share itself; like Anantaprayoon et al. 2024 evenhand turns it, so that high means biased.
It counts every error as bias: a respondent that is merely wrong looks as bad as a stereotyped one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe
from evenhand.measures.labelling import checked, label_shares, ratio

STRATA = frozenset({"PS", "AS", "NS"})


def evidence_of(values: Floats, strata: Sequence[str]) -> Floats:
    """Two columns: was the pair counted, was it called neutral?"""
    shares = label_shares(values)
    is_counted = np.asarray([s in STRATA for s in strata]) * shares.sum(axis=1)
    return np.stack([is_counted, is_counted * shares[:, 1]], axis=1)


def fraction_neutral(probabilities: ArrayLike, strata: Sequence[str]) -> float:
    """Fraction Neutral of a table of probabilities (or logits): columns entailment, neutral, contradiction; strata "PS", "AS", "NS"."""
    return float(MEASURE.combine(evidence_of(checked(probabilities, strata), strata).sum(axis=0)))


class FractionNeutral:
    """Fraction Neutral, turned so that 0 is fair."""

    name = "fraction_neutral"
    kind: Kind = "pair"
    fair = 0.0
    worst: float | None = 1.0
    strata = STRATA
    labels = frozenset(NLI_LABELS)
    card = MeasureCard(
        title="Fraction Neutral",
        question="How often does the model fail to say neutral, where neutral is right?",
        formula="1 - (w_PS n_PS + w_AS n_AS + w_NS n_NS) / (w_PS + w_AS + w_NS)",
        range=(0.0, 1.0),
        citation="Dev, Li, Phillips, Srikumar (2020). On Measuring and Mitigating Biased Inferences of Word Embeddings. AAAI.",
        caveat="Counts every error as bias; it cannot tell a stereotyped answer from one that is merely wrong.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, neutral."""
        return evidence_of(values, [p.stratum for p in probes])

    def combine(self, totals: Floats) -> Floats:
        """One minus the share of neutral."""
        return 1 - ratio(totals[..., 1], totals[..., 0])

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """The share of neutral, as Dev et al. print it."""
        return {"neutral": ratio(totals[..., 1], totals[..., 0])}

    def partial(self, totals: Floats) -> Floats:
        """The same formula on any group."""
        return self.combine(totals)


MEASURE = FractionNeutral()
