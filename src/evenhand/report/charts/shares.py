"""Share charts: stacked bars, the parts that count in full colour with a frame, the others pale."""

from __future__ import annotations

import math

import altair as alt

from evenhand.core.chart import ShareBar, ShareChart
from evenhand.core.text import percent
from evenhand.report.charts.theme import (
    ABOUT,
    COLOURS,
    NARROW,
    WIDE,
    Values,
    bands,
    colours_of,
    layer,
    layered,
    nothing,
    numeric,
    paint,
    percents,
    shortened,
    texts,
    width_of,
)

STEP, TALL = 64, 28  # pixels from bar to bar and of a bar
PALE = 0.3  # opacity of what does not count


def draw_shares(chart: ShareChart, width: int = WIDE) -> alt.TopLevelLayerSpec:
    """The chart as a Vega-Lite chart of this width."""
    bars = [str(i) for i in range(len(chart.bars))]
    y = alt.Y("bar:N", axis=None, sort=None, scale=bands(bars, paddingInner=0, paddingOuter=0))
    below = alt.Axis(title=chart.axis, tickCount=5 if width > NARROW else 3, **percents())
    x = alt.X("start:Q", scale=numeric([0, 1]), axis=below)
    inner = width - 20
    rows = [part for i, bar in enumerate(chart.bars) for part in _parts(i, bar, inner)]
    names = list(dict.fromkeys(row["part"] for row in rows))
    colours = [paint(name if name in COLOURS else "neutral") for name in names]
    layers = [nothing([{"bar": bar} for bar in bars], y=y)]
    for is_counted in (False, True):
        parts = [row for row in rows if row["counts"] == is_counted]
        if not parts:
            continue
        layers.append(
            layer(
                parts,
                "bar",
                height=TALL,
                fillOpacity=1 if is_counted else PALE,
                stroke=paint("ink" if is_counted else "paper"),
                strokeWidth=1.6 if is_counted else 1,
                yOffset=8,
                cornerRadius=1,
            ).encode(
                x=x,
                x2=alt.X2("end:Q"),
                y=y,
                color=colours_of("part:N", names, colours),
                tooltip=[
                    alt.Tooltip("label:N", title="bar"),
                    alt.Tooltip("part:N", title="answer"),
                    alt.Tooltip("value:N", title="share"),
                    alt.Tooltip("counted:N", title="counts"),
                ],
                description=ABOUT,
            )
        )
        captions = [{**p, "start": (p["start"] + p["end"]) / 2} for p in parts if p["caption"]]
        style = {"fill": paint("on"), "fontWeight": "bold"} if is_counted else {}
        if captions:
            text = texts(captions, has_rim=False, dy=8, **style)
            layers.append(text.encode(x=x, y=y, text=alt.Text("caption:N")))
    layers += _words(chart, y, width)
    return layered(*layers, width=width, height=STEP * max(len(bars), 1))


def _parts(place: int, bar: ShareBar, inner: float) -> list[Values]:
    rows, start = [], 0.0
    for name, share, is_counted in bar.parts:
        if not math.isfinite(share) or share <= 0:
            continue
        counted = "yes" if is_counted else "no"
        rows.append(
            {
                "bar": str(place),
                "label": bar.label,
                "part": name,
                "start": start,
                "end": start + share,
                "share": share,
                "value": percent(share, 1),
                "counts": is_counted,
                "counted": counted,
                "caption": caption(name, share, share * inner),
                "about": f"{bar.label}: {name} {percent(share, 1)}",
                "shows": bar.shows,
            }
        )
        start += share
    return rows


def caption(name: str, share: float, room: float) -> str:
    """The longest caption that a piece has room for."""
    figure = f"{share * 100:.0f} %"
    captions = (f"{name} {figure}", f"{name[:1].upper()} {figure}", figure)
    return next((text for text in captions if width_of(text) + 10 <= room), "")


def _words(chart: ShareChart, y: alt.Y, width: int) -> list[alt.UnitSpec]:
    """The label and the note above each bar."""
    if not chart.bars:
        return []
    labels = [
        {"bar": str(i), "text": shortened(bar.label, width - width_of(bar.note) - 24)}
        for i, bar in enumerate(chart.bars)
    ]
    notes = [{"bar": str(i), "text": bar.note} for i, bar in enumerate(chart.bars)]
    return [
        texts(labels, align="left", dy=-18).encode(x=alt.XValue(0), y=y, text=alt.Text("text:N")),
        texts(notes, align="right", dy=-18, fill=paint("soft")).encode(
            x=alt.XValue("width"), y=y, text=alt.Text("text:N")
        ),
    ]
