"""Scatter charts: points with intervals and names, a fitted line per mark, dashed references."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import altair as alt

from evenhand.core.chart import Axis, Point, ScatterChart
from evenhand.core.text import with_bounds
from evenhand.report.charts.theme import (
    ABOUT,
    NARROW,
    SMALL,
    WIDE,
    Values,
    area,
    axis_title,
    colours_of,
    held,
    in_order,
    layer,
    layered,
    look_of,
    marked,
    nothing,
    numeric,
    paint,
    percents,
    proper,
    room_about,
    shortened,
    texts,
    width_of,
)

FEW = 12  # up to this many points, all have names, and their intervals are drawn in full
MOST = {True: 8, False: 14}  # of more points, how many are named: in a narrow picture, a wide one
LONGEST = 150  # greatest width of a name in pixels
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping of values to pixels of the plot, and back."""

    domain: Sequence[float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value; one beyond the domain is at its end."""
        low, high = self.domain
        share = (min(max(value, low), high) - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def value(self, pixel: float) -> float:
        """The value at a pixel."""
        low, high = self.domain
        return low + (pixel - self.start) / (self.end - self.start) * (high - low)


def draw_scatter(chart: ScatterChart, width: int = WIDE) -> alt.TopLevelLayerSpec:
    """The chart as a Vega-Lite chart of this width."""
    is_narrow = width <= NARROW
    tall = 260 if is_narrow else 330
    points = [p for p in chart.points if math.isfinite(p.x.value + p.y.value)]
    heights = [y for fit in chart.fits for _, y in fit[1:]]
    across = _domain(chart.x, [v for p in points for v in p.x], chart.reference_x)
    up = _domain(chart.y, [*(v for p in points for v in p.y), *heights], chart.reference_y)
    x = alt.X("x:Q", scale=numeric(across), axis=_axis(chart.x, 4 if is_narrow else 5, width - 60))
    y = alt.Y("y:Q", scale=numeric(up), axis=_axis(chart.y, 5, tall))
    layers = _references(chart, x, y)
    lines = _line_colours(chart, points)
    layers += _fits(chart, x, y, lines)
    if chart.has_names:
        room = Scale(across, 0, width - 62), Scale(up, tall, 0)
        references = chart.reference_x, chart.reference_y
        names = name_places(points, *room, most=MOST[is_narrow], references=references)
        if names:
            text = texts(names, align="left", fontSize=SMALL)
            layers.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
    layers += _points(chart, points, x, y, across, up, lines)
    return layered(*layers, width=width, height=tall)


def _domain(axis: Axis, values: Sequence[float], reference: float) -> list[float]:
    return proper(axis.domain or room_about([*values, reference]))


def _axis(axis: Axis, count: int, room: float) -> alt.Axis:
    how = percents() if axis.is_percent else {}
    return alt.Axis(title=axis_title(axis.title, room), tickCount=count, **how)


def _references(chart: ScatterChart, x: alt.X, y: alt.Y) -> list[alt.UnitSpec]:
    """A dashed line for each reference; an empty chart still has its axes."""
    style = {"color": paint("soft"), "strokeWidth": 1.3, "strokeDash": [3, 3], "clip": True}
    empty = nothing([], x=x, y=y)
    layers = [empty]
    if math.isfinite(chart.reference_x):
        row = {"x": chart.reference_x}
        layers.append(layer([row], "rule", aria=False, **style).encode(x=x))
    if math.isfinite(chart.reference_y):
        row = {"y": chart.reference_y}
        layers.append(layer([row], "rule", aria=False, **style).encode(y=y))
    return layers


def _line_colours(chart: ScatterChart, points: Sequence[Point]) -> alt.Color:
    """The colours of intervals, and of fits: a single fit is of no series and has that of ink."""
    marks = in_order(p.mark for p in points)
    fits = in_order(mark for mark, *_ in chart.fits)
    colours = [paint(look_of(mark).colour) for mark in marks]
    colours += [paint(look_of(mark).colour if len(fits) > 1 else "ink") for mark in fits]
    domain = [*marks, *(f"fit {mark}" for mark in fits)]
    return colours_of("mark:N", domain, colours)


def _fits(chart: ScatterChart, x: alt.X, y: alt.Y, lines: alt.Color) -> list[alt.UnitSpec]:
    """A dashed line per fit, clipped to the plot."""
    if not chart.fits:
        return []
    rows = [
        {"x": a, "y": b, "mark": f"fit {mark}"}
        for mark, start, end in chart.fits
        for a, b in (start, end)
    ]
    line = layer(rows, "line", strokeWidth=1.6, strokeDash=[5, 4], clip=True, aria=False)
    return [line.encode(x=x, y=y, color=lines)]


def _points(
    chart: ScatterChart,
    points: Sequence[Point],
    x: alt.X,
    y: alt.Y,
    across: Sequence[float],
    up: Sequence[float],
    lines: alt.Color,
) -> list[alt.UnitSpec]:
    """Intervals first, then a mark for every point."""
    if not points:
        return []
    is_few = len(points) <= FEW
    marks = {p.mark for p in points}
    rows = [_point_data(p, across, up) for p in points]
    style = {"strokeWidth": 2.0 if is_few else 1.2, "clip": True, "aria": False}
    colour = {"color": lines} if is_few else {"color": alt.ColorValue(paint("line"))}
    layers = []
    for bounds, place in ((("x_low", "x_high"), "x"), (("y_low", "y_high"), "y")):
        bounded = [row for row in rows if row[bounds[0]] < row[bounds[1]]]
        if not bounded:
            continue
        rule = layer(bounded, "rule", **style)
        if place == "x":
            span = x.copy()
            span.shorthand = f"{bounds[0]}:Q"
            layers.append(rule.encode(x=span, x2=alt.X2(f"{bounds[1]}:Q"), y=y, **colour))
        else:
            span_y = y.copy()
            span_y.shorthand = f"{bounds[0]}:Q"
            layers.append(rule.encode(y=span_y, y2=alt.Y2(f"{bounds[1]}:Q"), x=x, **colour))
    layers.append(
        layer(
            rows,
            "point",
            size=area(5.6 if is_few else 4.2),
            strokeWidth=1.2,
            opacity=0.9,
            fillOpacity=1,
        ).encode(
            x=x,
            y=y,
            tooltip=[
                alt.Tooltip("label:N", title="name"),
                alt.Tooltip("across:N", title=_short(chart.x)),
                alt.Tooltip("up:N", title=_short(chart.y)),
            ],
            description=ABOUT,
            **marked(marks),
        )
    )
    return layers


def _short(axis: Axis) -> str:
    return shortened(axis.title, 180) or "value"


def _point_data(point: Point, across: Sequence[float], up: Sequence[float]) -> Values:
    def bound(value: float, other: float) -> float:
        return value if math.isfinite(value) else other

    return {
        "x": held(point.x.value, across),
        "y": held(point.y.value, up),
        "x_low": bound(point.x.low, point.x.value),
        "x_high": bound(point.x.high, point.x.value),
        "y_low": bound(point.y.low, point.y.value),
        "y_high": bound(point.y.high, point.y.value),
        "mark": point.mark,
        "label": point.label,
        "across": with_bounds(point.x),
        "up": with_bounds(point.y),
        "about": f"{point.label}: {with_bounds(point.x)}, {with_bounds(point.y)}",
        "shows": point.shows,
    }


def name_places(
    points: Sequence[Point],
    x: Scale,
    y: Scale,
    *,
    most: int,
    references: tuple[float, float] = (math.nan, math.nan),
) -> list[Values]:
    """Names with the place of their left end, none on another name, mark or line of reference.

    The points farthest from the middle come first, `most` of them; of few, all have their name.
    """
    is_few = len(points) <= FEW
    taken = [box for p in points for box in _occupied(p, x, y, has_intervals=is_few)]
    taken += _reference_boxes(references, x, y)
    middle = median([p.y.value for p in points]) if points else 0.0
    names: list[Values] = []
    for point in sorted(points, key=lambda p: -abs(p.y.value - middle)):
        if not is_few and len(names) == most:
            break
        name = shortened(point.label, LONGEST, SMALL)
        wide = width_of(name, SMALL)
        px, py = x(point.x.value), y(point.y.value)
        offsets = _offsets(wide, is_few=is_few)
        boxes = [(px + dx, py + dy - 6, px + dx + wide, py + dy + 6) for dx, dy in offsets]
        free = (box for box in boxes if _is_inside(box, x, y) and not _hits(box, taken))
        box = next(free, boxes[0] if is_few else None)
        if box is not None:
            taken.append(box)
            at = {"x": x.value(box[0]), "y": y.value((box[1] + box[3]) / 2)}
            names.append({"text": name, **at})
    return names


def _offsets(wide: float, *, is_few: bool) -> list[tuple[float, float]]:
    """Where the left end of a name may lie beside its point, the best place first."""
    sides = [(8.0, 0.0), (-8 - wide, 0.0)]
    if not is_few:
        return sides
    return [(x, y) for y in (-10.0, 12.0, -22.0, 24.0) for x in (10.0, -10 - wide)]


def _occupied(point: Point, x: Scale, y: Scale, *, has_intervals: bool) -> list[Box]:
    px, py = x(point.x.value), y(point.y.value)
    radius = 7 if has_intervals else 4
    boxes = [(px - radius, py - radius, px + radius, py + radius)]
    if has_intervals and point.x.has_bounds:
        boxes.append((x(point.x.low), py - 2, x(point.x.high), py + 2))
    if has_intervals and point.y.has_bounds:
        boxes.append((px - 2, y(point.y.high), px + 2, y(point.y.low)))
    return boxes


def _reference_boxes(references: tuple[float, float], x: Scale, y: Scale) -> list[Box]:
    across, up = references
    boxes = []
    if math.isfinite(across):
        boxes.append((x(across) - 2, y.end, x(across) + 2, y.start))
    if math.isfinite(up):
        boxes.append((x.start, y(up) - 2, x.end + 8, y(up) + 2))
    return boxes


def _is_inside(box: Box, x: Scale, y: Scale) -> bool:
    return box[0] >= x.start and box[2] <= x.end + 8 and box[1] >= y.end and box[3] <= y.start


def _hits(box: Box, taken: Sequence[Box]) -> bool:
    return any(overlap(box, other) for other in taken)


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes have an area in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
