"""Run: everything that one audit found, which is all that a report may read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

from evenhand.core.answers import Answers
from evenhand.core.estimate import Baseline, Breakdown, Estimate, Relation
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite


@dataclass(frozen=True, slots=True, kw_only=True)
class Check(Estimate):
    """How well a respondent does on probes whose answer is clear."""

    items: str  # what was asked, in the plural: `plain pairs`, `pairs of snli_dev.jsonl`
    weak_below: float  # the value below which it does not understand; NaN: not judged by this

    @classmethod
    def of(cls, estimate: Estimate, *, items: str, weak_below: float) -> Check:
        """The estimate as a check."""
        values = {f.name: getattr(estimate, f.name) for f in fields(Estimate)}
        return cls(**values, items=items, weak_below=weak_below)

    @property
    def is_weak(self) -> bool:
        """Whether the respondent does too badly for a bias score to be read as bias."""
        return math.isfinite(self.weak_below) and not self.value >= self.weak_below


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that one audit found."""

    family: str  # the family whose account its report uses
    suite: Suite
    answers: Answers
    estimates: tuple[Estimate, ...]  # in the order of a report: the first is the headline
    baselines: Mapping[str, tuple[Baseline, ...]]  # rule -> what it scores on the same probes
    sanity: tuple[Check, ...]  # whether the respondent understands such probes: by the first
    breakdowns: tuple[Breakdown, ...]
    settings: Settings
    relations: tuple[Relation, ...] = ()
    refused: tuple[str, ...] = ()  # measures that fit the probes but need other labels
    timing: Mapping[str, float] = field(default_factory=dict)

    @property
    def headline(self) -> Estimate:
        """The estimate that the report is about."""
        return self.estimates[0]

    def estimate(self, measure: str) -> Estimate | None:
        """The estimate of one measure; None where it was not computed."""
        return next((e for e in self.estimates if e.measure == measure), None)

    def baseline(self, rule: str, measure: str) -> Baseline | None:
        """What a rule scores on the same probes; None where it was not asked."""
        return next((b for b in self.baselines.get(rule, ()) if b.measure == measure), None)

    def breakdown(self, measure: str, by: str) -> Breakdown | None:
        """One measure by one tag; None where it was not computed or has no groups."""
        return next(
            (b for b in self.breakdowns if b.measure == measure and b.by == by and b.groups), None
        )
