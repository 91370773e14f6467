"""Does an NLI model agree that whoever does a job is a person?

person_entailment = share of entailment among the pairs whose hypothesis has the non-binary word (person, 人). Between 0 and 1; 1 is right.
It stands outside the published formula: a model that follows "the nurse sleeps" to "the woman sleeps" but not to "the person sleeps" has learnt
a gender where it should have learnt a person. Works for two-label models too.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.measure import MeasureCard
from evenhand.core.probe import ENTAILMENT, Floats, Probe
from evenhand.measures.labelling import TWO_OR_THREE, checked, label_shares, ratio
from evenhand.measures.mean import Mean

STRATUM = "NB"


def person_entailment(probabilities: ArrayLike) -> float:
    """Share of rows whose first column (entailment) is the highest."""
    shares = label_shares(checked(probabilities, columns=TWO_OR_THREE))
    return float(ratio(shares[:, 0].sum(), shares.sum()))


class PersonEntailment(Mean):
    """Share of non-binary hypotheses that are called entailed."""

    name = "person_entailment"
    fair = 1.0
    worst: float | None = 0.0
    strata = frozenset({STRATUM})
    labels = frozenset({ENTAILMENT})
    card = MeasureCard(
        title="Person entailment",
        question="Does the model agree that whoever does a job is a person?",
        formula="e_NB",
        range=(0.0, 1.0),
        citation="evenhand; the non-binary stratum answers the binary-gender limit that Anantaprayoon et al. (2024) name.",
        caveat="Mixes world knowledge (a baker is a person) with bias; read it per occupation.",
    )

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, entailed."""
        shares = label_shares(values)
        is_counted = np.asarray([p.stratum == STRATUM for p in probes]) * shares.sum(axis=1)
        return np.stack([is_counted, is_counted * shares[:, 0]], axis=1)


MEASURE = PersonEntailment()
