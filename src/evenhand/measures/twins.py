"""How differently does a model treat two hypotheses that differ in gender only? Shared by the measures of gendered entailment.

The neutral output is dropped and a softmax over the other two gives P(entailment) of each hypothesis (Sharma, Dey, Sinha 2021). A premise counts where both
of its hypotheses were answered; its evidence stands in the row of the female one. Twins must not be put into different shards.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import ENTAILMENT, Floats, Probe
from evenhand.measures.mean import Mean

STRATUM = "gendered"


def entailment_probability(values: Floats) -> Floats:
    """P(entailment) against the last label: contradiction, or not-entailment where a model has two labels."""
    with np.errstate(over="ignore"):
        return np.asarray(1 / (1 + np.exp(values[:, -1] - values[:, 0])))


def twin_rows(probes: Sequence[Probe], values: Floats) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of the female hypotheses whose male twin is there and where both were answered, and the rows of those twins."""
    is_answered = np.asarray(np.isfinite(values).all(axis=1))
    place = {p.id: i for i, p in enumerate(probes) if is_answered[i]}
    found = [
        (i, place[p.twin])
        for i, p in enumerate(probes)
        if p.stratum == STRATUM
        and p.tags.get("gender") == "female"
        and is_answered[i]
        and p.twin in place
    ]
    table = np.asarray(found, dtype=np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def twin_evidence(
    probes: Sequence[Probe], values: Floats, score: Callable[[Floats, Floats, list[Probe]], Floats]
) -> Floats:
    """Two columns: how much does the premise count, and its score from (P female, P male, female probes) times that. NaN scores do not count."""
    female, male = twin_rows(probes, values)
    chance = entailment_probability(values)
    scores = score(chance[female], chance[male], [probes[i] for i in female])
    is_counted = np.isfinite(scores)
    rows = np.zeros((len(probes), 2))
    rows[female, 0] = is_counted
    rows[female, 1] = np.where(is_counted, scores, 0.0)
    return rows


class TwinMean(Mean, ABC):
    """The mean over premises of a score of both hypotheses; two-label models will do."""

    strata = frozenset({STRATUM})
    labels = frozenset({ENTAILMENT})

    @abstractmethod
    def score(self, female: Floats, male: Floats, probes: Sequence[Probe]) -> Floats:
        """One number a premise, from P(entailment) of the female and the male hypothesis; NaN where it does not count."""

    def evidence(self, probes: Sequence[Probe], values: Floats) -> Floats:
        """Counted, score; in the row of the female hypothesis."""
        return twin_evidence(probes, values, self.score)
