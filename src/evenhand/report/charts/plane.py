"""Plane charts: signed distances from a boundary, and a plane of the same words beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np
from numpy.typing import NDArray

from evenhand.core.chart import DotChart, PlaneChart, PlanePanel, spanning
from evenhand.report.charts.dots import Layout, dot_layers
from evenhand.report.charts.panels import joined
from evenhand.report.charts.scatter import overlap
from evenhand.report.charts.theme import (
    ABOUT,
    NARROW,
    SIZE,
    WIDE,
    Values,
    area,
    layer,
    marked,
    numeric,
    paint,
    shortened,
    texts,
    width_of,
    word_look,
    wrapped,
)

GAP, INSIDE = 30, 14  # pixels between distances and plane, inside a frame
RADIUS, NAME = 4.2, 11  # radius of a mark and font size of a name, in pixels
MOST = 40  # names in a plane
Floats = NDArray[np.float64]
Boundary = tuple[float, float, float]


def draw_plane(chart: PlaneChart, width: int = WIDE) -> Any:
    """The chart as a Vega-Lite chart of this width: a row for each panel, or a column."""
    is_wide = width > NARROW
    parts: list[Any] = []
    for panel in chart.panels:
        has_distances = bool(panel.distances)
        side = (width - GAP - 8) / 2 if is_wide and has_distances else width - 8
        if has_distances:
            parts.append(_distances(chart, panel, side))
        parts.append(_plane(panel, min(side, 0.75 * WIDE), is_first=not has_distances))
    has_pairs = is_wide and any(panel.distances for panel in chart.panels)
    return joined(parts, 2 if has_pairs else 1, GAP)


def _distances(chart: PlaneChart, panel: PlanePanel, side: float) -> alt.LayerSpec:
    """The kinds of words, each a swarm of signed distances with its mean and interval."""
    values = [v for p in chart.panels for r in p.distances for v in (*r.interval, *r.swarm)]
    dots = DotChart(
        name=chart.name,
        title=panel.title,
        description=chart.description,
        legend=chart.legend,
        rows=panel.distances,
        domain=spanning(values),
        base=0.0,
        sides=chart.sides,
        axis=chart.axis,
    )
    plan = Layout(gutter=0, step=102, swarm=38, has_note_line=True)
    facts = [line for fact in panel.facts for line in wrapped(fact, side, SIZE - 1)]
    title = alt.TitleParams(text=shortened(panel.title, side * 0.94), subtitle=facts, offset=24)
    layers, height = dot_layers(dots, plan, side, word_look)
    return alt.LayerSpec(layer=layers, width=side, height=height, title=title)


def _points(panel: PlanePanel) -> Floats:
    return np.asarray([(p.x, p.y) for p in panel.points], dtype=np.float64).reshape(-1, 2)


def _plane(panel: PlanePanel, side: float, *, is_first: bool) -> alt.LayerSpec:
    """The points in a frame; both directions on the same scale, which has no unit."""
    points = _points(panel)
    spans = np.ptp(points, axis=0) if len(points) else np.ones(2)
    tall = side * min(max(float(spans[1] / max(spans[0], 1e-9)), 0.6), 1.0)
    size = np.asarray([side, tall])
    low = points.min(axis=0) if len(points) else np.zeros(2)
    high = points.max(axis=0) if len(points) else np.ones(2)
    scale = float(((size - 2 * INSIDE) / np.maximum(high - low, 1e-9)).min())
    middle, half = (low + high) / 2, size / 2 / scale
    ends = np.stack([middle - half, middle + half])
    frame = alt.Axis(labels=False, grid=False, domain=True, domainColor=paint("line"), title=None)
    x = alt.X("x:Q", axis=frame, scale=numeric(ends[:, 0].tolist()))
    y = alt.Y("y:Q", axis=frame, scale=numeric(ends[:, 1].tolist()))
    layers: list[Any] = [
        layer([{}], "rect", fill=None, stroke=paint("line"), aria=False).encode(
            x=alt.XValue(0), x2=alt.X2Value("width"), y=alt.YValue(0), y2=alt.Y2Value("height")
        )
    ]
    layers += _clusters(panel, points, x, y, side / 6 / scale)
    if panel.boundary is not None and (cut := clip(panel.boundary, *ends)) is not None:
        rows = [{"x": float(a), "y": float(b)} for a, b in cut]
        layers.append(
            layer(
                rows,
                "line",
                color=paint("ink"),
                strokeWidth=1.6,
                strokeDash=[6, 4],
                clip=True,
                aria=False,
            ).encode(x=x, y=y)
        )
    if len(points):
        places = (points - middle) * [scale, -scale] + size / 2
        order = sorted(range(len(points)), key=lambda i: (panel.points[i].rank, i))
        names = [point.name for point in panel.points]
        placed = name_places(places, names, order[:MOST], (side, tall))
        named = [
            {
                "text": names[row],
                "x": float((left - side / 2) / scale + middle[0]),
                "y": float((tall / 2 - top) / scale + middle[1]),
            }
            for row, left, top in placed
        ]
        if named:
            text = texts(named, align="left", fontSize=NAME)
            layers.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
        layers.append(_marks(panel, x, y))
    lines = () if not is_first else panel.facts
    facts = [line for fact in (*lines, panel.note) for line in wrapped(fact, side, SIZE - 1)]
    title = panel.title if is_first else "The same words by t-SNE, for the eye only"
    heading = alt.TitleParams(
        text=shortened(title, side * 0.94), subtitle=[fact for fact in facts if fact]
    )
    return alt.LayerSpec(layer=layers, width=side, height=tall, title=heading)


def _marks(panel: PlanePanel, x: alt.X, y: alt.Y) -> alt.UnitSpec:
    rows: list[Values] = [
        {"x": p.x, "y": p.y, "mark": p.mark, "label": p.name, "about": p.hover}
        for p in panel.points
    ]
    style = {"size": area(RADIUS), "strokeWidth": 1.4, "opacity": 0.85, "fillOpacity": 1}
    return layer(rows, "point", **style).encode(
        x=x,
        y=y,
        tooltip=[alt.Tooltip("label:N", title="word"), alt.Tooltip("about:N", title="about")],
        description=ABOUT,
        **marked({p.mark for p in panel.points}, word_look),
    )


def _clusters(
    panel: PlanePanel, points: Floats, x: alt.X, y: alt.Y, reach: float
) -> list[alt.UnitSpec]:
    """A soft shape around the points of a cluster, unless they lie far apart in the plane."""
    layers = []
    for number, cluster in enumerate(panel.clusters):
        corners = points[list(cluster)]
        centre = corners.mean(axis=0)
        if np.linalg.norm(corners - centre, axis=1).max() > reach:
            continue
        around = corners[np.argsort(np.arctan2(*(corners - centre).T))]
        names = ", ".join(panel.points[i].name for i in cluster)
        rows = [
            {"x": float(a), "y": float(b), "order": i, "cluster": str(number), "about": names}
            for i, (a, b) in enumerate([*around, around[0]])
        ]
        layers.append(
            layer(
                rows,
                "line",
                stroke=paint("soft"),
                fill=paint("soft"),
                strokeWidth=16,
                strokeJoin="round",
                strokeCap="round",
                opacity=0.13,
                interpolate="linear-closed",
            ).encode(
                x=x,
                y=y,
                order=alt.Order("order:Q"),
                tooltip=[alt.Tooltip("about:N", title="near one another")],
                description=ABOUT,
            )
        )
    return layers


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
) -> list[tuple[int, float, float]]:
    """The left end of each name next to its mark, in this order; where none is free, no name."""
    taken = [(x - RADIUS, y - RADIUS, x + RADIUS, y + RADIUS) for x, y in points]
    places = []
    for row in order:
        x, y = points[row]
        wide, gap = width_of(names[row], NAME) * 1.2, RADIUS + 3
        for left, middle in (
            (x + gap, y),
            (x - gap - wide, y),
            (x - wide / 2, y - gap - 5),
            (x - wide / 2, y + gap + 5),
        ):
            box = (left, middle - 6, left + wide, middle + 6)
            is_inside = box[0] >= 2 and box[2] <= size[0] - 2 and box[1] >= 0 and box[3] <= size[1]
            is_free = not any(i != row and overlap(box, other) for i, other in enumerate(taken))
            if is_inside and is_free:
                taken.append(box)
                places.append((row, float(left), float(middle)))
                break
    return places
