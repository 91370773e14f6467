"""Measure: how answers become one number. Each measure is an instance, not a class."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from evenhand.core.evidence import Combine, Evidence, Parts, Ties, highest_ties, no_parts
from evenhand.core.probe import Floats, Kind

Best = Literal["fair", "right", "ideal"]  # what the best value is called
Unit = Literal["share", "log-odds"]  # a share is printed in percent where there is room for words


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
    add to the whole, and a bootstrap is `combine(weights @ evidence)`.
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
    parts: Parts = no_parts  # the named shares that the score is made of, from the same sums
    partial: Combine | None = None  # the score of a group that may lack strata; None: `combine`
    ties: Ties = highest_ties
    worst_rule: str = "stereotyped"  # the fixed respondent that reaches `worst`
    sentence: str = ""  # what a report says: {share} {number} {pairs} {premises} {probes}

    def of_group(self, totals: Floats) -> Floats:
        """The score of a group that may lack strata."""
        return (self.partial or self.combine)(totals)

    @property
    def is_bounded(self) -> bool:
        """Whether its range has two finite ends."""
        low, high = self.card.range
        return low > float("-inf") and high < float("inf")
