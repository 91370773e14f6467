"""Density charts: a panel per series, shaded cells for how many points, marks for the means."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core.chart import Axis, DensityChart, DensityPanel
from evenhand.report.charts.canvas import (
    EDGE,
    HEAVY,
    NARROW,
    SIZE,
    SOFT,
    Canvas,
    Scale,
    number_room,
    room_about,
    shortened,
)

TOP, HEAD, GAP, AXIS = 22, 44, 28, 26  # pixels above all, above a panel, between two, below one
SHADES = 6
COLUMNS = 3


def draw_density(chart: DensityChart, width: int) -> str:
    """The chart as SVG."""
    columns = max(min(COLUMNS, len(chart.panels)), 1) if width > NARROW else 1
    across = _domain(chart.x, [v for p in chart.panels for c in p.cells for v in c.x])
    up = _domain(chart.y, [v for p in chart.panels for c in p.cells for v in c.y])
    margin = max(34.0, number_room(up, is_percent=chart.y.is_percent))
    wide = (width - margin - EDGE - GAP * (columns - 1)) / columns
    tall = wide * (0.95 if columns > 1 else 0.66)
    step = HEAD + tall + AXIS
    canvas = Canvas(width)
    canvas.text((0, 8), shortened(chart.y.title, width), SOFT)
    for number, panel in enumerate(chart.panels):
        row, column = divmod(number, columns)
        left, top = margin + column * (wide + GAP), TOP + row * step + HEAD
        x, y = Scale(across, left, left + wide), Scale(up, top + tall, top)
        canvas.x_axis(x, top, top + tall, is_percent=chart.x.is_percent)
        if column:
            canvas.y_grid(y, left, left + wide)
        else:
            canvas.y_axis(y, left, left + wide, is_percent=chart.y.is_percent)
        _draw_panel(canvas, panel, x, y)
        canvas.text((left, top - 30), shortened(panel.title, wide), HEAVY)
        canvas.text((left, top - 12), shortened(panel.subtitle, wide + GAP - 6))
    floor = TOP + math.ceil(len(chart.panels) / columns) * step
    title = shortened(chart.x.title, width)
    canvas.text(((margin + width) / 2, floor + SIZE - 4), title, SOFT, anchor="middle")
    return canvas.svg(floor + SIZE + 8, chart.title, chart.description)


def _domain(axis: Axis, values: Sequence[float]) -> tuple[float, float]:
    return axis.domain or room_about(values, 0.0)


def _draw_panel(canvas: Canvas, panel: DensityPanel, x: Scale, y: Scale) -> None:
    for cell in panel.cells:
        shade = min(max(math.ceil(cell.weight * SHADES), 1), SHADES)
        corner, end = (x(cell.x[0]), y(cell.y[1])), (x(cell.x[1]), y(cell.y[0]))
        size = (end[0] - corner[0], end[1] - corner[1])
        opacity = 0.08 + 0.72 * (shade - 1) / (SHADES - 1)
        canvas.box(corner, size, colour="entailment", opacity=opacity)
    if x.domain[0] <= 0 <= x.domain[1]:
        canvas.rule((x(0), y.end), (x(0), y.start), colour="ink")
    if y.domain[0] <= 0 <= y.domain[1]:
        canvas.rule((x.start, y(0)), (x.end, y(0)), colour="ink")
    for at, mean in panel.means:
        if mean.has_bounds:
            ends = (x(at), y(mean.low)), (x(at), y(mean.high))
            canvas.rule(*ends, colour="paper", stroke=5)
            canvas.rule(*ends, colour="ink", stroke=2)
    for at, mean in panel.means:
        if math.isfinite(mean.value):
            canvas.mark((x(at), y(mean.value)), "model", 3.2)
