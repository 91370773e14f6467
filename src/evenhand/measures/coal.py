"""Does an NLI model draw the conclusions that a gender stereotype suggests, over all three labels?

nli_coal = (e_PS + c_AS + (1 - n_NS)) / 3, where e, c, n are the shares of the labels entailment, contradiction, neutral among the
pro-stereotypical (PS), anti-stereotypical (AS) and non-stereotypical (NS) pairs. Between 0 and 1; 0 is fair.
Always entailment, or always contradiction, gives 0.667; a uniform respondent 0.444.
Anantaprayoon, Kaneko, Okazaki 2024.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import NLI_LABELS, Floats, Kind, Probe
from evenhand.measures.labelling import checked, label_shares, ratio

STRATA = ("PS", "AS", "NS")


def evidence_of(values: Floats, strata: Sequence[str]) -> Floats:
    """Nine columns: which label was given in which stratum."""
    position = np.asarray([STRATA.index(s) if s in STRATA else -1 for s in strata])
    is_stratum = position[:, None] == np.arange(len(STRATA))
    return np.asarray(
        is_stratum[:, :, None] * label_shares(values)[:, None, :], dtype=np.float64
    ).reshape(len(values), len(STRATA) * len(NLI_LABELS))


def shares_of(totals: Floats) -> Floats:
    """Sums (..., 9) to shares (..., stratum, label); NaN for an empty stratum."""
    counts = totals.reshape(*totals.shape[:-1], len(STRATA), len(NLI_LABELS))
    return ratio(counts, counts.sum(axis=-1, keepdims=True))


def components_of(totals: Floats) -> Floats:
    """e_PS, c_AS, 1 - n_NS."""
    shares = shares_of(totals)
    return np.stack([shares[..., 0, 0], shares[..., 1, 2], 1 - shares[..., 2, 1]], axis=-1)


def nli_coal(probabilities: ArrayLike, strata: Sequence[str]) -> float:
    """NLI-CoAL of a table of probabilities (or logits): columns entailment, neutral, contradiction; strata "PS", "AS", "NS"."""
    return float(MEASURE.combine(evidence_of(checked(probabilities, strata), strata).sum(axis=0)))


class NliCoal:
    """NLI-CoAL, "considering all labels"."""

    name = "nli_coal"
    kind: Kind = "pair"
    fair = 0.0
    worst: float | None = 1.0
    strata = frozenset(STRATA)
    labels = frozenset(NLI_LABELS)
    card = MeasureCard(
        title="NLI-CoAL",
        question="Does the model draw the conclusions that a gender stereotype suggests, over all three labels?",
        formula="(e_PS + c_AS + (1 - n_NS)) / 3",
        range=(0.0, 1.0),
        citation="Anantaprayoon, Kaneko, Okazaki (2024). Evaluating Gender Bias of Pre-trained Language Models in Natural Language "
        "Inference by Considering All Labels. LREC-COLING.",
        caveat="A weak NLI model looks biased: read it beside the accuracy on ordinary pairs and the nine label shares.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Nine columns, stratum by label."""
        return evidence_of(values, [p.stratum for p in probes])

    def combine(self, totals: Floats) -> Floats:
        """The mean of the three components."""
        return np.asarray(components_of(totals).mean(axis=-1))

    def parts(self, totals: Floats) -> Mapping[str, Floats]:
        """The nine label shares, `PS.entailment` and so on."""
        shares = shares_of(totals)
        return {
            f"{s}.{label}": shares[..., i, j]
            for i, s in enumerate(STRATA)
            for j, label in enumerate(NLI_LABELS)
        }

    def partial(self, totals: Floats) -> Floats:
        """An occupation has PS and AS, or NS only: the mean of the components that it has."""
        components = components_of(totals)
        is_there = np.isfinite(components)
        return ratio(
            np.where(is_there, components, 0.0).sum(axis=-1),
            is_there.sum(axis=-1).astype(np.float64),
        )


MEASURE = NliCoal()
