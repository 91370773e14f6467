"""Measure: how answers become one number. Each measure is an instance, not a class."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.evidence import Combine, Evidence, Parts, Ties, highest_ties, no_parts
from evenhand.core.probe import Floats, Kind, Probe

Best = Literal["fair", "right", "ideal"]  # what the best value is called
Unit = Literal["share", "log-odds"]  # a share is printed in percent where there is room for words


def _reads_all(probe: Probe) -> bool:
    return True


def _stratum_of(probe: Probe) -> str:
    return probe.stratum


def _no_reason(probes: Sequence[Probe], values: Floats) -> str:
    return ""


def _same_unit(answers: Answers) -> str:
    return ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureCard:
    """What a measure is, for `evenhand show` and the docs."""

    title: str  # its long name
    short: str  # its name in a column title or a chart: S, dP, iCAT
    question: str
    formula: str
    range: tuple[float, float]
    citation: str
    caveat: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """How answers become one number.

    `evidence` turns probes and values (probe, option, label) into one summable row per probe, a
    row of zeros for a probe that does not count; `combine` turns sums (..., k) of such rows into
    scores (...), NaN where something needed is empty. They are apart because sums add up: shards
    add to the whole, and a bootstrap is `combine(weights @ evidence)`. Where a score is not linear
    over clusters, `per_cluster` stands between the two: it turns the sums of each cluster, zeros
    for an empty one, into numbers that add up, so that any factor can be reweighted before.
    """

    name: str
    kind: Kind
    card: MeasureCard
    fair: float  # the value of a fair respondent, or the best value
    worst: float | None  # the value of a fully stereotyped one; None: says nothing about bias
    evidence: Evidence
    combine: Combine
    function: Callable[..., float]  # the same on plain arrays: `evenhand.measures.NAME`
    best: Best = "fair"
    unit: Unit = "share"
    strata: frozenset[str] = frozenset()  # the strata it reads; empty: all
    required: frozenset[str] = frozenset()  # strata without which it does not apply
    options: frozenset[str] = frozenset()  # the options it needs
    labels: frozenset[str] = frozenset()  # the labels it needs
    needs_numbers: bool = False  # predicted labels alone are not enough
    parts: Parts = no_parts  # the named shares that the score is made of, from the same sums
    partial: Combine | None = None  # the score of a group that may lack strata; None: `combine`
    # the sums of one cluster to numbers that add up over clusters; None: evidence adds up as it is
    per_cluster: Combine | None = None
    reads: Callable[[Probe], bool] = _reads_all  # which probes of its strata it reads
    part_of: Callable[[Probe], str] = _stratum_of  # the part of the score that a probe belongs to
    shares: frozenset[str] = frozenset()  # parts from 0 to 1 of a score with another range
    scoring: str = ""  # what it reads of a classifier's answer, for the signature
    ties: Ties = highest_ties
    # why its score is NaN, from the probes and values; empty where the strata tell it
    why_empty: Callable[[Sequence[Probe], Floats], str] = _no_reason
    # what its values are counted in, where respondents differ: no difference between two units
    unit_of: Callable[[Answers], str] = _same_unit
    worst_rule: str = "stereotyped"  # the fixed respondent that reaches `worst`
    sentence: str = ""  # what a report says: {share} {number} {pairs} {premises} {probes}

    def of_group(self, totals: Floats) -> Floats:
        """The score of a group that may lack strata."""
        return (self.partial or self.combine)(totals)

    def why_unreadable(self, answers: Answers) -> str:
        """Why it cannot be computed from answers of this sort; empty where it can."""
        if not self.needs_numbers or not answers.is_labels_only:
            return ""
        return "it reads probabilities or scores, and only labels were given"

    def readable_values(self, answers: Answers) -> Floats:
        """The values of the answers; NaN throughout where it cannot be computed from them."""
        if self.why_unreadable(answers):
            return np.full_like(answers.values, np.nan)
        return answers.values

    @property
    def is_bounded(self) -> bool:
        """Whether its range has two finite ends."""
        low, high = self.card.range
        return low > float("-inf") and high < float("inf")
