"""Line charts: small panels with a line through means, light marks for single values, and fair."""

from __future__ import annotations

import math

from evenhand.core.chart import Line, LineChart, LinePanel
from evenhand.report.charts.canvas import (
    EDGE,
    HEAVY,
    NARROW,
    SOFT,
    Canvas,
    Scale,
    look_of,
    number_room,
    shortened,
)

# pixels: at least left of a panel, above it, between two, for the numbers below, between two rows
LEFT, HEAD, GAP, AXIS, ROW = 40, 44, 30, 24, 14
BOLD = 0.88  # share of the usual letters that fit in bold


def draw_lines(chart: LineChart, width: int) -> str:
    """The chart as SVG."""
    columns = chart.columns if width > NARROW else max(chart.columns - 1, 1)
    columns = max(min(columns, len(chart.panels)), 1)
    margin = max([float(LEFT), *(number_room(panel.domain, 3) for panel in chart.panels)])
    gap = GAP if chart.has_shared_axis else GAP + margin - 16
    wide = (width - margin - EDGE - gap * (columns - 1)) / columns
    tall = wide * _tallness(chart, width)
    step = HEAD + tall + AXIS + ROW
    canvas = Canvas(width)
    for number, panel in enumerate(chart.panels):
        row, column = divmod(number, columns)
        left, top = margin + column * (wide + gap), row * step + HEAD
        x, y = Scale((0.0, 1.0), left, left + wide), Scale(panel.domain, top + tall, top)
        has_numbers = column == 0 or not chart.has_shared_axis
        _draw_frame(canvas, panel, x, y, has_numbers=has_numbers)
        for line in reversed(panel.lines):  # the first lies on top
            _draw_line(canvas, line, x, y)
    height = math.ceil(len(chart.panels) / columns) * step - ROW
    return canvas.svg(height, chart.title, chart.description)


def _tallness(chart: LineChart, width: int) -> float:
    """Height over width of a panel."""
    if not chart.has_shared_axis:
        return 0.72
    return 0.5 if len(chart.panels) == 1 and width > NARROW else 0.8


def _draw_frame(canvas: Canvas, panel: LinePanel, x: Scale, y: Scale, *, has_numbers: bool) -> None:
    """Grid, numbers, the fair value, the titles."""
    canvas.x_axis(x, y.end, y.start, count=3)
    if has_numbers:
        canvas.y_axis(y, x.start, x.end, count=3)
    else:
        canvas.y_grid(y, x.start, x.end, count=3)
    if panel.domain[0] <= panel.fair <= panel.domain[1]:
        at = y(panel.fair)
        canvas.rule((x.start, at), (x.end, at), colour="soft", stroke=1.4, dash="3 3")
    room = x.end - x.start + 6
    canvas.text((x.start, y.end - 30), shortened(panel.title, room * BOLD), HEAVY)
    canvas.text((x.start, y.end - 12), shortened(panel.subtitle, room), SOFT)


def _draw_line(canvas: Canvas, line: Line, x: Scale, y: Scale) -> None:
    radius = 3.9 if x.end - x.start > 250 else 2.8
    for at, value in line.singles:
        if math.isfinite(at + value):
            canvas.mark((x(at), y(value)), line.mark, radius * 0.7, opacity=0.35)
    known = [(x(at), y(value)) for at, value in sorted(line.means) if math.isfinite(at + value)]
    if known:
        canvas.curve(known, colour=look_of(line.mark).colour)
    for place in known:
        canvas.mark(place, line.mark, radius)
