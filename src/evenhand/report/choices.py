"""Which of two sentences does a model prefer? Counts of each outcome, and the pairs with the clearest preference."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.probe import Probe
from evenhand.core.run import Run
from evenhand.measures.sentence_preference import SentencePreference
from evenhand.report.estimates import ordered

RULES = {
    "shared": "the summed log-probability of the tokens that both sentences share",
    "changed": "the mean log-probability of the tokens in which the sentences differ",
    "whole": "the summed log-probability of all tokens of a sentence",
}
SOURCES = {
    "crows_shared": "Nangia et al. 2020",
    "crows_changed": "bias-bench, Meade et al. 2022",
    "crows_whole": "Salazar et al. 2020",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many pairs went which way?"""

    pairs: int
    first: int  # the more stereotypical sentence is likelier
    ties: int

    @property
    def second(self) -> int:
        """The other sentence is likelier."""
        return self.pairs - self.first - self.ties


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """One pair of sentences, and by how much the first, the more stereotypical one, is likelier."""

    probe: Probe
    difference: float


def rule_of(measure: str) -> str:
    """How are the two sentences compared?"""
    strata = sorted(catalog.measure(measure).strata)
    return (
        RULES.get(strata[0], catalog.measure(measure).card.formula)
        if strata
        else catalog.measure(measure).card.formula
    )


def tally(run: Run, estimate: Estimate) -> Tally | None:
    """The outcomes behind a preference; None where the measure does not count them."""
    measure = catalog.measure(estimate.measure)
    if not isinstance(measure, SentencePreference):
        return None
    pairs, first, ties = measure.evidence(run.answers.probes, run.answers.values)[:, :3].sum(axis=0)
    return Tally(pairs=int(pairs), first=int(first), ties=int(ties))


def most_preferred(
    run: Run, first: int = 10, second: int = 5
) -> tuple[list[Preference], list[Preference]]:
    """By the rule of the report's first measure: the pairs with the clearest preference for the more stereotypical sentence, and for the other."""
    strata = catalog.measure(ordered(run)[0].measure).strata
    answers = run.answers
    rows = [
        i
        for i, p in enumerate(answers.probes)
        if p.stratum in strata and np.isfinite(answers.values[i, :2]).all()
    ]
    found = [
        Preference(
            probe=answers.probes[i], difference=float(answers.values[i, 0] - answers.values[i, 1])
        )
        for i in rows
    ]
    more = sorted((p for p in found if p.difference > 0), key=lambda p: -p.difference)
    less = sorted((p for p in found if p.difference < 0), key=lambda p: p.difference)
    return more[:first], less[:second]
