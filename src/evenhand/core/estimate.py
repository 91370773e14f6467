"""Estimates: values with intervals, of a suite, by group, and against a real-world figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from evenhand.core.settings import Target

FEW_LEVELS = 10  # of a factor; with fewer than this, an interval is called rough


class Interval(NamedTuple):
    """A value and the range that is compatible with the data."""

    value: float
    low: float
    high: float

    @property
    def has_bounds(self) -> bool:
        """Whether both bounds are finite."""
        return math.isfinite(self.low + self.high)

    @property
    def complement(self) -> Interval:
        """The interval of 1 minus a share."""
        return Interval(1 - self.value, 1 - self.high, 1 - self.low)


class ExactInterval(Interval):
    """A value about exactly the probes that were asked, so that nothing is uncertain."""

    __slots__ = ()

    @property
    def complement(self) -> Interval:
        """1 minus a share, as exact as the share."""
        return exactly(1 - self.value)


def exactly(value: float) -> ExactInterval:
    """A value of which nothing is uncertain."""
    return ExactInterval(value, value, value)


def without_bounds(value: float) -> Interval:
    """A value whose interval is not known."""
    return Interval(value, math.nan, math.nan)


NO_INTERVAL = without_bounds(math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measure's value with its interval, and why it is NaN where it is.

    low, high: the bounds for the target; `targets` has those for every target. levels: for each
    factor that the probes share, how many of its levels the smallest part of the score has.
    """

    measure: str
    value: float
    low: float
    high: float
    level: float
    probes: int
    clusters: int
    coverage: float
    ties: int
    signature: str
    note: str = ""
    parts: Mapping[str, Interval] = field(default_factory=dict)
    target: Target = "new items"
    targets: Mapping[Target, Interval] = field(default_factory=dict)
    levels: Mapping[str, int] = field(default_factory=dict)
    has_variation: bool = True  # whether any resample differs from the value

    @property
    def is_exact(self) -> bool:
        """Whether the value is about exactly these probes and all of them were asked."""
        return isinstance(self.interval, ExactInterval)

    @property
    def interval(self) -> Interval:
        """Value and bounds alone."""
        return self.targets.get(self.target, Interval(self.value, self.low, self.high))


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One row of a breakdown: an occupation, a frame, a gender word."""

    name: str
    tags: Mapping[str, str]  # those that all its probes share
    interval: Interval
    probes: int  # how many of its probes have an answer
    # for each factor that was resampled, how many of its levels the smallest part of the score has
    levels: Mapping[str, int] = field(default_factory=dict)
    has_variation: bool = True  # whether any resample differs from the value


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
    """A measure group by group, the farthest from fair first."""

    measure: str
    by: str
    unit: str  # what was resampled within a group
    groups: tuple[Group, ...]

    def group(self, name: str) -> Group | None:
        """The group of this name, where there is one."""
        return next((g for g in self.groups if g.name == name), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """A measure's values group by group against a figure of the real world."""

    measure: str
    by: str
    against: str  # the tag that holds the figure
    points: tuple[Group, ...]
    pearson: Interval
    spearman: Interval
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """What a rule that needs no model scores on the probes that a respondent answered.

    A random rule has the mean of many draws as its value, and the range of the middle share
    (`Settings.level`) of them as its bounds; any other rule has its exact value three times.
    """

    measure: str
    value: float
    low: float
    high: float
    draws: int  # 0: a rule without chance
    note: str = ""  # why there is no value
