"""Share charts: stacked bars, the parts that count in full colour with a frame, the others pale."""

from __future__ import annotations

import math

from evenhand.core.chart import ShareBar, ShareChart
from evenhand.report.charts.canvas import (
    COLOURS,
    EDGE,
    FOOT,
    NARROW,
    SOFT,
    Canvas,
    Scale,
    TextStyle,
    shortened,
    width_of,
)

PITCH, TOP, TALL = 62, 28, 28  # pixels from bar to bar, above a bar, of a bar
COUNTED, PALE = TextStyle(colour="on", is_bold=True, has_rim=False), TextStyle(has_rim=False)


def draw_shares(chart: ShareChart, width: int) -> str:
    """The chart as SVG."""
    canvas, scale = Canvas(width), Scale((0.0, 1.0), EDGE, width - EDGE)
    floor = PITCH * len(chart.bars)
    canvas.x_axis(scale, 0, floor, count=5 if width > NARROW else 3, is_percent=True)
    for i, bar in enumerate(chart.bars):
        _draw_bar(canvas, scale, bar, i * PITCH + TOP)
        label = shortened(bar.label, width - width_of(bar.note) - 12)
        canvas.text((0, i * PITCH + 14), label)
        canvas.text((width, i * PITCH + 14), bar.note, SOFT, anchor="end")
    return canvas.svg(floor + FOOT, chart.title, chart.description)


def _draw_bar(canvas: Canvas, scale: Scale, bar: ShareBar, top: float) -> None:
    pieces, start = [], 0.0
    for name, share, is_counted in bar.parts:
        if math.isfinite(share) and share > 0:
            pieces.append((name, start, start + share, is_counted))
            start += share
    for name, low, high, is_counted in sorted(pieces, key=lambda piece: piece[3]):
        left, right = scale(low), scale(high)
        canvas.box(
            (left, top),
            (right - left, TALL),
            colour=name if name in COLOURS else "neutral",
            opacity=1 if is_counted else 0.3,
            frame="ink" if is_counted else "paper",
            stroke=1.6 if is_counted else 1,
        )
        if caption := _caption(name, high - low, right - left):
            style = COUNTED if is_counted else PALE
            canvas.text(((left + right) / 2, top + TALL / 2), caption, style, anchor="middle")


def _caption(name: str, share: float, room: float) -> str:
    """The longest caption that a piece has room for."""
    figure = f"{share * 100:.0f} %"
    captions = (f"{name} {figure}", f"{name[:1].upper()} {figure}", figure)
    return next((text for text in captions if width_of(text) + 10 <= room), "")
