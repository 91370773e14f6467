"""Histograms: bars around 0, stacked by side, with a heading left, in the middle and right."""

from __future__ import annotations

from evenhand.core.chart import HistogramChart
from evenhand.report.charts.canvas import (
    EDGE,
    FOOT,
    NARROW,
    SOFT,
    Canvas,
    Scale,
    fill_of,
    width_of,
)

TOP, TALL = 34, 150  # pixels above the bars and of the bars
STEPS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)


def draw_histogram(chart: HistogramChart, width: int) -> str:
    """The chart as SVG."""
    canvas, bins = Canvas(width), chart.bins
    domain = (bins[0].low, bins[-1].high) if bins else (-1.0, 1.0)
    most = max((sum(share for _, share in b.shares) for b in bins), default=0.0) or 1.0
    lift = 18 if _is_crowded(chart.heads, width) else 0  # the middle heading on its own line
    top = TOP + lift
    across, up = Scale(domain, EDGE, width - EDGE), Scale((0.0, most), top + TALL, top)
    canvas.x_axis(across, top, top + TALL, count=5 if width > NARROW else 4)
    levels = share_ticks(most)
    for level in levels:
        canvas.rule((EDGE, up(level)), (width - EDGE, up(level)))
    for b in bins:
        floor = 0.0
        left, right = across(b.low), across(b.high)
        for mark, share in b.shares:
            if share > 0:
                corner = (left, up(floor + share))
                size = (right - left, up(floor) - up(floor + share))
                canvas.box(corner, size, colour=fill_of(mark), frame="paper")
                floor += share
    canvas.rule((across(0), top - 12), (across(0), top + TALL), colour="ink", stroke=1.4)
    for level in levels:
        canvas.text((0, up(level) - 8), f"{level * 100:g} %", SOFT)
    left_head, middle_head, right_head = chart.heads
    canvas.text((0, 10 + lift), left_head)
    canvas.text((width / 2, 10), middle_head, anchor="middle")
    canvas.text((width, 10 + lift), right_head, anchor="end")
    return canvas.svg(top + TALL + FOOT, chart.title, chart.description)


def _is_crowded(heads: tuple[str, str, str], width: int) -> bool:
    """Whether the three headings do not fit side by side around the middle."""
    left, middle, right = map(width_of, heads)
    return max(left, right) + middle / 2 + 8 > width / 2


def share_ticks(most: float) -> list[float]:
    """One to three round shares below the highest bar."""
    step = next((s for s in STEPS if most / s < 4), 0.5)
    return [round(step * i, 6) for i in range(1, 4) if step * i <= most]
