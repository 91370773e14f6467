"""Estimates: values with intervals, of a suite, by group, and against a real-world figure."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class Interval(NamedTuple):
    """A value and the range that is compatible with the data."""

    value: float
    low: float
    high: float

    @property
    def has_bounds(self) -> bool:
        """Whether both bounds are finite."""
        return math.isfinite(self.low + self.high)


def without_bounds(value: float) -> Interval:
    """A value whose interval is not known."""
    return Interval(value, math.nan, math.nan)


NO_INTERVAL = without_bounds(math.nan)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A measure's value with its interval, and why it is NaN where it is."""

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

    @property
    def interval(self) -> Interval:
        """Value and bounds alone."""
        return Interval(self.value, self.low, self.high)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """One row of a breakdown: an occupation, a frame, a gender word."""

    name: str
    tags: Mapping[str, str]  # those that all its probes share
    interval: Interval
    probes: int  # how many of its probes have an answer


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
