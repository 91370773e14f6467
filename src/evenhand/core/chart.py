"""Charts as data: what is drawn; `report/charts` decides how it looks.

A mark names colour and shape together, so that no two differ by colour alone: `model`, `random`,
`constant`, `fair`, `female`, `male`, `none`, `first`, `second`, `third`, and `series-0` to
`series-4` for several models or measures. A legend also knows the names of labels, `bar-MARK`,
`counted`, `reference`, `density`, `mean`, `zero`, `plain`, `boundary` and `cluster`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from evenhand.core.estimate import Interval

Key = tuple[str, str]  # mark, meaning
SERIES_COUNT = 5  # how many marks `series-N` there are


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """What every chart has: a name for its file, a title, the same in words, and a legend."""

    name: str
    title: str
    description: str
    legend: tuple[Key, ...] = ()
    language: str = "en"  # of the labels


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """A numeric axis; without a domain it is as wide as the data."""

    title: str = ""
    domain: tuple[float, float] | None = None
    is_percent: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DotRow:
    """One line of a dot chart: a value with its interval, and values to compare it with."""

    label: str
    interval: Interval
    mark: str = "model"
    note: str = ""  # at the right end, where there is room
    others: tuple[tuple[float, str], ...] = ()  # value, mark
    swarm: tuple[float, ...] = ()  # single values behind the interval
    swarm_names: tuple[str, ...] = ()  # of the swarm, one each, or none at all
    swarm_shows: tuple[str, ...] = ()  # the probes behind each of the swarm, or none at all
    is_apart: bool = False  # it begins a new group, with some space above it
    shows: str = ""  # the probes behind it, as `tag=value&tag=value`

    def fair(self, default: float = math.nan) -> float:
        """Its fair value: that of the mark `fair` beside it, else the default."""
        return next((value for value, mark in self.others if mark == "fair"), default)

    def moved(self, by: float) -> DotRow:
        """The row with every value moved; its note stays, and so tells the values themselves."""
        value, low, high = self.interval
        return replace(
            self,
            interval=Interval(value + by, low + by, high + by),
            others=tuple((x + by, mark) for x, mark in self.others),
            swarm=tuple(x + by for x in self.swarm),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class DotChart(Chart):
    """Values with intervals, one below the other."""

    rows: tuple[DotRow, ...]
    domain: tuple[float, float]
    base: float = math.nan  # where the line between the two sides is
    sides: tuple[str, str] | None = None  # what lies left and right of the base
    reference: float = math.nan  # a dashed line: a value to compare all with
    is_dense: bool = False  # labels at the left of close lines, not above them
    axis: str = "value"  # what the numbers are, with their unit
    fair: float = math.nan  # the fair value of every row that names no other

    @property
    def fair_word(self) -> str:
        """`fair`, or `best` where the legend does not call the mark `fair` a fair value."""
        meaning = dict(self.legend).get("fair", "fair")
        return "fair" if "fair" in meaning else "best"

    @property
    def fair_values(self) -> list[float]:
        """The fair value of each row, NaN where it has none."""
        return [row.fair(self.fair) for row in self.rows]

    @property
    def common_fair(self) -> float:
        """The fair value that all rows share that have one, else NaN."""
        known = {value for value in self.fair_values if math.isfinite(value)}
        return known.pop() if len(known) == 1 else math.nan

    def on_common_axis(self) -> DotChart:
        """The chart itself, or its distances from fair where the rows differ in what is fair.

        Rows without a fair value leave the chart as it is, because they have no such distance.
        The note of a row still has the value itself, and the fair value with it.
        """
        fairs = self.fair_values
        if len(set(fairs)) < 2 or not all(map(math.isfinite, fairs)):
            return self
        rows = tuple(
            replace(row.moved(-fair), note=f"{row.note}, {self.fair_word} {fair:g}".strip(", "))
            for row, fair in zip(self.rows, fairs, strict=True)
        )
        values = [v for r in rows for v in (*r.interval, *r.swarm, *(x for x, _ in r.others))]
        return replace(
            self,
            rows=rows,
            domain=spanning(values),
            axis=f"distance from the {self.fair_word} value",
            fair=0.0,
            base=math.nan,
            reference=math.nan,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareBar:
    """One stacked bar; parts are (name, share, whether it counts) from left to right."""

    label: str
    note: str
    parts: tuple[tuple[str, float, bool], ...]
    shows: str = ""  # the probes behind it, as `tag=value&tag=value`


@dataclass(frozen=True, slots=True, kw_only=True)
class ShareChart(Chart):
    """Shares of a whole; the parts that count are in full colour with a frame."""

    bars: tuple[ShareBar, ...]
    axis: str = "share of answers"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bin:
    """One bar of a histogram: its range, and the share of all values in it by mark."""

    low: float
    high: float
    shares: tuple[tuple[str, float], ...]  # mark, share; stacked from the bottom


@dataclass(frozen=True, slots=True, kw_only=True)
class HistogramChart(Chart):
    """Many values around 0, with a heading at the left, in the middle and at the right."""

    bins: tuple[Bin, ...]
    heads: tuple[str, str, str]
    x: str = "value"  # title of the horizontal axis
    y: str = "share"  # title of the vertical axis


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """A point of a scatter; either side may have an interval (NaN bounds: none)."""

    label: str
    x: Interval
    y: Interval
    mark: str = "model"
    shows: str = ""  # the probes behind it, as `tag=value&tag=value`


@dataclass(frozen=True, slots=True, kw_only=True)
class ScatterChart(Chart):
    """Points with names where there is room, a fitted line per mark, and dashed references."""

    points: tuple[Point, ...]
    x: Axis
    y: Axis
    fits: tuple[tuple[str, tuple[float, float], tuple[float, float]], ...] = ()  # mark, two (x, y)
    reference_x: float = math.nan
    reference_y: float = math.nan
    has_names: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A series of means along x, and the single values (seeds) behind them."""

    mark: str
    means: tuple[tuple[float, float], ...]
    singles: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """Lines on one scale; `fair` is a dashed line (NaN: none)."""

    title: str
    subtitle: str
    lines: tuple[Line, ...]
    domain: tuple[float, float]
    fair: float = math.nan
    x: str = ""  # title of its horizontal axis, where it is not that of the chart


@dataclass(frozen=True, slots=True, kw_only=True)
class LineChart(Chart):
    """Small panels of lines, x from 0 to 1."""

    panels: tuple[LinePanel, ...]
    x: str  # title of the horizontal axis
    y: str  # title of the vertical axis
    columns: int = 3
    has_shared_axis: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityCell:
    """A rectangle and how full it is, up to 1."""

    x: tuple[float, float]
    y: tuple[float, float]
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityPanel:
    """Shaded cells, and means with intervals above places on the x axis."""

    title: str
    subtitle: str
    cells: tuple[DensityCell, ...]
    means: tuple[tuple[float, Interval], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityChart(Chart):
    """Many points of several series, one panel per series."""

    panels: tuple[DensityPanel, ...]
    x: Axis
    y: Axis


@dataclass(frozen=True, slots=True, kw_only=True)
class GridPanel:
    """Numbers from -1 to 1 between every two of the names."""

    title: str
    values: tuple[tuple[float, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GridChart(Chart):
    """How names go together: one shaded square per pair of names, one grid per panel."""

    names: tuple[str, ...]
    panels: tuple[GridPanel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanePoint:
    """A named place in the plane; points of lower rank get their name first."""

    name: str
    x: float
    y: float
    mark: str  # male, female, emotion, profession-male, profession-female, profession-none
    hover: str
    rank: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanePanel:
    """Signed distances from a boundary, and a plane of the same points beside them.

    The plane has lines of facts above it, and may have a boundary of its own and clusters.
    """

    title: str
    facts: tuple[str, ...]
    points: tuple[PlanePoint, ...]
    boundary: tuple[float, float, float] | None  # a x + b y + c = 0
    clusters: tuple[tuple[int, ...], ...]
    distances: tuple[DotRow, ...] = ()  # kinds of points: mean with interval, and a swarm
    note: str = ""  # below the plane: why it has no boundary, or how good its boundary is


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaneChart(Chart):
    """For each panel, signed distances first and a plane of named points second."""

    panels: tuple[PlanePanel, ...]
    axis: str = "distance from the boundary"
    sides: tuple[str, str] | None = None  # what lies left and right of the boundary


def spanning(values: Iterable[float], *, low: float = -math.inf) -> tuple[float, float]:
    """The domain of an axis that holds all finite values and 0, with a little space around them.

    A finite `low` is the lower end.
    """
    known = [v for v in values if math.isfinite(v)]
    least, most = min([0.0, *known]), max([0.0, *known])
    room = (most - least or 1.0) * 0.04
    if math.isfinite(low):
        return low, most + room
    return (least - room if least < 0 else -room), most + room
