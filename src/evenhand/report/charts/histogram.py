"""Histograms: bars around 0, stacked by side, with a heading left, in the middle and right."""

from __future__ import annotations

import altair as alt

from evenhand.core.chart import HistogramChart
from evenhand.core.text import percent, short_number
from evenhand.report.charts.theme import (
    ABOUT,
    NARROW,
    WIDE,
    colours_of,
    fill_of,
    in_order,
    layer,
    layered,
    numeric,
    paint,
    percents,
    texts,
    width_of,
)

TALL = 170  # pixels of the bars


def draw_histogram(chart: HistogramChart, width: int = WIDE) -> alt.TopLevelLayerSpec:
    """The chart as a Vega-Lite chart of this width."""
    meanings = {mark.removeprefix("bar-"): meaning for mark, meaning in chart.legend}
    rows = []
    for one in chart.bins:
        floor = 0.0
        place = f"{short_number(round(one.low, 6))} to {short_number(round(one.high, 6))}"
        for mark, share in one.shares:
            if share <= 0:
                continue
            label = meanings.get(mark, mark)
            rows.append(
                {
                    "low": one.low,
                    "high": one.high,
                    "floor": floor,
                    "top": floor + share,
                    "mark": mark,
                    "label": label,
                    "range": place,
                    "value": percent(share, 1),
                    "about": f"{place}, {label}: {percent(share, 1)}",
                }
            )
            floor += share
    domain = [chart.bins[0].low, chart.bins[-1].high] if chart.bins else [-1.0, 1.0]
    most = max((sum(share for _, share in b.shares) for b in chart.bins), default=0.0) or 1.0
    count = 5 if width > NARROW else 4
    below = alt.Axis(title=chart.x, tickCount=count, grid=False)
    x = alt.X("low:Q", scale=numeric(domain), axis=below)
    beside = alt.Axis(title=chart.y, tickCount=3, **percents())
    y = alt.Y("floor:Q", scale=numeric([0, most]), axis=beside)
    marks = in_order(mark for b in chart.bins for mark, _ in b.shares)
    colours = [paint(fill_of(mark)) for mark in marks]
    bars = layer(rows, "bar", stroke=paint("paper"), strokeWidth=1, binSpacing=0).encode(
        x=x,
        x2=alt.X2("high:Q"),
        y=y,
        y2=alt.Y2("top:Q"),
        color=colours_of("mark:N", marks, colours),
        tooltip=[
            alt.Tooltip("range:N", title="range"),
            alt.Tooltip("label:N", title="side"),
            alt.Tooltip("value:N", title="share"),
        ],
        description=ABOUT,
    )
    line = {"color": paint("ink"), "strokeWidth": 1.4, "clip": True, "aria": False}
    zero = layer([{"low": 0.0}], "rule", **line).encode(x=x)
    return layered(bars, zero, *_heads(chart, width), width=width, height=TALL)


def _heads(chart: HistogramChart, width: int) -> list[alt.UnitSpec]:
    """The three headings; the middle one has its own line where they do not fit side by side."""
    left, middle, right = map(width_of, chart.heads)
    is_crowded = max(left, right) + middle / 2 + 8 > (width - 60) / 2
    places = (("left", 0), ("center", alt.expr("width / 2")), ("right", "width"))
    layers = []
    for i, ((align, at), text) in enumerate(zip(places, chart.heads, strict=True)):
        up = -28 if is_crowded and i == 1 else -10
        layers.append(
            texts([{"text": text}], align=align).encode(
                x=alt.XValue(at), y=alt.YValue(up), text=alt.Text("text:N")
            )
        )
    return layers
