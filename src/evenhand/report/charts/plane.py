"""Plane charts: named points in a plane, facts above it, a boundary and clusters of points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from evenhand.core.chart import PlaneChart, PlanePanel
from evenhand.report.cells import printable
from evenhand.report.charts.canvas import (
    HEAVY,
    NARROW,
    SIZE,
    Canvas,
    Mark,
    TextStyle,
    outline,
    overlap,
    paint,
    shortened,
    width_of,
)

GAP, INSIDE, LINE = 20, 12, 17  # pixels between panels, inside a frame, of a line of facts
RADIUS, NAME = 4.2, 11  # radius of a mark and font size of a name, in pixels
FACTS, NAMES = TextStyle(size=SIZE - 1), TextStyle(size=NAME)
Floats = NDArray[np.float64]
Boundary = tuple[float, float, float]
NamePlace = tuple[int, float, float, str]  # index of the point, x, y, anchor


def look_of(mark: str) -> tuple[Mark, float]:
    """How a point looks and how opaque it is: gendered words are opaque, `KIND-LEAN` is pale."""
    _, is_leaning, lean = mark.partition("-")
    if is_leaning:
        return Mark(lean if lean in ("male", "female") else "none", "circle"), 0.55
    if mark in ("male", "female"):
        return Mark(mark, "square" if mark == "male" else "diamond"), 1.0
    return Mark("contradiction", "triangle"), 1.0


def sign(mark: str) -> str:
    """What stands for a mark in the legend of a plane."""
    look, opacity = look_of(mark)
    return outline((9, 7), look, 5, opacity=opacity)


def draw_plane(chart: PlaneChart, width: int) -> str:
    """The chart as SVG."""
    columns = max(min(2 if width > NARROW else 1, len(chart.panels)), 1)
    side = (width - GAP * (columns - 1)) / columns
    if columns == 1 and width > NARROW:
        side = width * 0.75
    lines = max((len(panel.facts) for panel in chart.panels), default=0) + 1
    tall = max((_tallness(panel) for panel in chart.panels), default=0.6) * side
    step = lines * LINE + 10 + tall + GAP
    canvas = Canvas(width)
    for number, panel in enumerate(chart.panels):
        row, column = divmod(number, columns)
        left, top = column * (side + GAP), row * step
        canvas.text((left, top + 8), shortened(panel.title, side), HEAVY)
        for i, fact in enumerate(panel.facts, 1):
            canvas.text((left, top + 8 + LINE * i), fact, FACTS)
        canvas.parts.append(f'<g transform="translate({left:.1f} {top + lines * LINE + 10:.1f})">')
        _draw_panel(canvas, panel, (side, tall))
        canvas.parts.append("</g>")
    rows = math.ceil(len(chart.panels) / columns)
    return canvas.svg(rows * step - GAP + 2, chart.title, chart.description)


def _points(panel: PlanePanel) -> Floats:
    return np.asarray([(p.x, p.y) for p in panel.points], dtype=np.float64).reshape(-1, 2)


def _tallness(panel: PlanePanel) -> float:
    """Height over width of a plane, following its points, between 0.6 and 1."""
    points = _points(panel)
    spans = np.ptp(points, axis=0) if len(points) else np.ones(2)
    return min(max(float(spans[1] / max(spans[0], 1e-9)), 0.6), 1.0)


def _draw_panel(canvas: Canvas, panel: PlanePanel, size: tuple[float, float]) -> None:
    """The points in a frame; both directions on the same scale."""
    canvas.box((0, 0), size, frame="line")
    points = _points(panel)
    if not len(points):
        return
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.asarray(size) - 2 * INSIDE
    scale = float((room / np.maximum(high - low, 1e-9)).min())
    middle, half = (low + high) / 2, np.asarray(size) / 2 / scale

    def place(values: Floats) -> Floats:
        return np.asarray((values - middle) * [scale, -scale] + np.asarray(size) / 2)

    places = place(points)
    for cluster in panel.clusters:
        _draw_cluster(canvas, panel, cluster, places, size[0] / 6)
    if panel.boundary is not None:
        ends = clip(panel.boundary, middle - half, middle + half)
        if ends is not None:
            (x1, y1), (x2, y2) = place(np.asarray(ends))
            start, end = (float(x1), float(y1)), (float(x2), float(y2))
            canvas.rule(start, end, colour="ink", stroke=1.6, dash="6 4")
    for point, (x, y) in zip(panel.points, places, strict=True):
        look, opacity = look_of(point.mark)
        canvas.mark((float(x), float(y)), look, RADIUS, opacity=opacity, hover=point.hover)
    order = sorted(range(len(points)), key=lambda i: (panel.points[i].rank, i))
    names = [point.name for point in panel.points]
    for row, x, y, anchor in name_places(places, names, order, size):
        canvas.text((x, y - NAME * 0.35), names[row], NAMES, anchor=anchor)


def _draw_cluster(
    canvas: Canvas, panel: PlanePanel, cluster: Sequence[int], places: Floats, reach: float
) -> None:
    """A soft shape around the points of a cluster, unless they lie far apart in the plane."""
    corners = places[list(cluster)]
    centre = corners.mean(axis=0)
    if np.linalg.norm(corners - centre, axis=1).max() > reach:
        return
    around = corners[np.argsort(np.arctan2(*(corners - centre).T))]
    d = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in around) + "Z"
    names = ", ".join(panel.points[i].name for i in cluster)
    soft = paint("soft")
    canvas.parts.append(
        f'<path d="{d}" fill="{soft}" stroke="{soft}" stroke-width="16" '
        f'stroke-linejoin="round" opacity="0.13"><title>{escape(printable(names))}</title></path>'
    )


def clip(boundary: Boundary, low: Floats, high: Floats) -> tuple[Floats, Floats] | None:
    """Where the line a x + b y + c = 0 enters and leaves the box; None where it misses it."""
    a, b, c = boundary
    ends = []
    for x in (low[0], high[0]):
        if b and low[1] <= (y := -(a * x + c) / b) <= high[1]:
            ends.append((x, y))
    for y in (low[1], high[1]):
        if a and low[0] <= (x := -(b * y + c) / a) <= high[0]:
            ends.append((x, y))
    if len(ends) < 2:
        return None
    return np.asarray(min(ends)), np.asarray(max(ends))


def name_places(
    points: Floats, names: Sequence[str], order: Sequence[int], size: tuple[float, float]
) -> list[NamePlace]:
    """Places for names next to their marks, in this order; where none is free, no name."""
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]
    places = []
    for row in order:
        x, y = points[row]
        wide, gap = width_of(names[row], NAME) * 1.1, RADIUS + 3
        for tx, ty, anchor, left in (
            (x + gap, y + 4, "start", x + gap),
            (x - gap, y + 4, "end", x - gap - wide),
            (x, y - gap, "middle", x - wide / 2),
            (x, y + gap + 8, "middle", x - wide / 2),
        ):
            box = (left, ty - NAME + 2, left + wide, ty + 2)
            is_inside = box[0] >= 2 and box[2] <= size[0] - 2 and box[1] >= 0 and box[3] <= size[1]
            is_free = not any(i != row and overlap(box, other) for i, other in enumerate(taken))
            if is_inside and is_free:
                taken.append(box)
                places.append((row, float(tx), float(ty), anchor))
                break
    return places
