"""Scatter charts: points with intervals and names, a fitted line per mark, dashed references."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from evenhand.core.chart import Axis, Point, ScatterChart
from evenhand.report.charts.canvas import (
    EDGE,
    FOOT,
    NARROW,
    SIZE,
    SOFT,
    Box,
    Canvas,
    Place,
    Scale,
    TextStyle,
    look_of,
    number_room,
    overlap,
    room_about,
    shortened,
    width_of,
)

HEAD = 26  # pixels for the title of the vertical axis
NAME, LONGEST = SIZE - 1, 150  # font size of a name, and its greatest width, in pixels
FEW = 12  # up to this many points, all have names, and their intervals are drawn in full


def draw_scatter(chart: ScatterChart, width: int) -> str:
    """The chart as SVG."""
    tall = 340 if width > NARROW else 270
    points = [p for p in chart.points if math.isfinite(p.x.value + p.y.value)]
    ends = [end for fit in chart.fits for end in fit[1:]]
    across = _domain(chart.x, [v for p in points for v in p.x], chart.reference_x)
    up = _domain(
        chart.y, [*(v for p in points for v in p.y), *(y for _, y in ends)], chart.reference_y
    )
    left = number_room(up, is_percent=chart.y.is_percent)
    top = HEAD if chart.y.title else 8
    x, y = Scale(across, left + EDGE, width - EDGE), Scale(up, top + tall, top)
    canvas = Canvas(width)
    count = 5 if width > NARROW else 4
    canvas.x_axis(x, top, top + tall, count=count, is_percent=chart.x.is_percent)
    canvas.y_axis(y, left, width, is_percent=chart.y.is_percent)
    canvas.text((0, 8), shortened(chart.y.title, width), SOFT)
    middle = ((left + width) / 2, top + tall + FOOT + 8)
    title = shortened(chart.x.title, width)
    centre = min(max(middle[0], width_of(title) / 2), width - width_of(title) / 2)
    canvas.text((centre, middle[1]), title, SOFT, anchor="middle")
    _draw_references(canvas, chart, x, y)
    for mark, start, end in chart.fits:
        colour = "ink" if _is_one_series(chart) else look_of(mark).colour
        places = [(x(a), y(b)) for a, b in (start, end)]
        canvas.rule(places[0], places[1], colour=colour, stroke=1.5, dash="5 4")
    _draw_points(canvas, points, x, y)
    if chart.has_names:
        for place, name in name_places(points, x, y):
            canvas.text(place, name, TextStyle(size=NAME))
    foot = FOOT + (SIZE + 8 if chart.x.title else 0)
    return canvas.svg(top + tall + foot, chart.title, chart.description)


def _is_one_series(chart: ScatterChart) -> bool:
    return len(chart.fits) < 2


def _domain(axis: Axis, values: Sequence[float], reference: float) -> tuple[float, float]:
    return axis.domain or room_about([*values, reference])


def _draw_references(canvas: Canvas, chart: ScatterChart, x: Scale, y: Scale) -> None:
    if math.isfinite(chart.reference_x):
        at = x(chart.reference_x)
        canvas.rule((at, y.end), (at, y.start), colour="soft", stroke=1.2, dash="3 3")
    if math.isfinite(chart.reference_y):
        at = y(chart.reference_y)
        canvas.rule((x.start, at), (x.end, at), colour="soft", stroke=1.2, dash="3 3")


def _draw_points(canvas: Canvas, points: Sequence[Point], x: Scale, y: Scale) -> None:
    is_few = len(points) <= FEW
    for point in points:
        place = (x(point.x.value), y(point.y.value))
        colour = look_of(point.mark).colour if is_few else "line"
        stroke = 2.0 if is_few else 1.2
        if point.x.has_bounds and point.x.low < point.x.high:
            ends = x(point.x.low), x(point.x.high)
            canvas.rule((ends[0], place[1]), (ends[1], place[1]), colour=colour, stroke=stroke)
        if point.y.has_bounds and point.y.low < point.y.high:
            ends = y(point.y.low), y(point.y.high)
            canvas.rule((place[0], ends[0]), (place[0], ends[1]), colour=colour, stroke=stroke)
    for point in points:
        place = (x(point.x.value), y(point.y.value))
        canvas.mark(place, point.mark, 6 if is_few else 4, hover=point.label)


def name_places(points: Sequence[Point], x: Scale, y: Scale) -> list[tuple[Place, str]]:
    """Where names stand (the middle of their left end), none on another name or mark.

    The points farthest from the middle come first; where there are few, all have their name.
    """
    is_few = len(points) <= FEW
    taken = [box for p in points for box in _occupied(p, x, y, has_intervals=is_few)]
    middle = median([p.y.value for p in points]) if points else 0.0
    places = []
    for point in sorted(points, key=lambda p: -abs(p.y.value - middle)):
        name = shortened(point.label, LONGEST)
        wide = width_of(name, NAME)
        px, py = x(point.x.value), y(point.y.value)
        offsets = _offsets(wide, is_few=is_few)
        boxes = [(px + dx, py + dy - 6, px + dx + wide, py + dy + 6) for dx, dy in offsets]
        free = (box for box in boxes if _is_inside(box, x, y) and not _hits(box, taken))
        box = next(free, boxes[0] if is_few else None)
        if box is not None:
            taken.append(box)
            places.append(((box[0], (box[1] + box[3]) / 2), name))
    return places


def _offsets(wide: float, *, is_few: bool) -> list[Place]:
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


def _is_inside(box: Box, x: Scale, y: Scale) -> bool:
    return box[0] >= x.start and box[2] <= x.end + EDGE and box[1] >= y.end and box[3] <= y.start


def _hits(box: Box, taken: Sequence[Box]) -> bool:
    return any(overlap(box, other) for other in taken)
