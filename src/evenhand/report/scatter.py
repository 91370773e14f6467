"""How does a measure follow a figure of the real world? One point a group, with its interval, its name where there is room, and the line of best fit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt
import numpy as np

from evenhand.core.estimate import Group, Relation
from evenhand.report.canvas import EDGE, FOOT, SIZE, plane, shortened, width_of
from evenhand.report.svg import FONT, colour

SERIES = ("entailment", "contradiction", "male", "female", "none")  # colours of several models
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross")
LEANS = {
    "female": ("female", "circle"),
    "male": ("male", "square"),
    "none": ("none", "triangle-up"),
}
LEFT = 46


def _x(width: int) -> Any:
    axis = alt.Axis(
        title="share of women among the workers, percent",
        titleColor=colour("soft"),
        titleFontSize=SIZE - 1,
        titleFontWeight="normal",
        domain=False,
        ticks=False,
        gridColor=colour("line"),
        labelColor=colour("soft"),
        labelFontSize=SIZE - 1,
        tickCount=5 if width > 400 else 4,
    )
    return alt.X("x:Q", scale=alt.Scale(domain=[0, 100], nice=False), axis=axis)


def _y(low: float, high: float, title: str) -> Any:
    axis = alt.Axis(
        title=title,
        titleColor=colour("soft"),
        titleFontSize=SIZE - 1,
        titleFontWeight="normal",
        titlePadding=10,
        domain=False,
        ticks=False,
        gridColor=colour("line"),
        labelColor=colour("soft"),
        labelFontSize=SIZE - 1,
        tickCount=5,
        format="~g",
    )
    return alt.Y("y:Q", scale=alt.Scale(domain=[low, high], nice=True, zero=False), axis=axis)


def _fit(x: Sequence[float], y: Sequence[float]) -> list[dict[str, float]]:
    slope, offset = np.polyfit(x, y, 1)
    return [{"x": end, "y": float(slope * end + offset)} for end in (min(x), max(x))]


def _labels(
    points: Sequence[Group], against: str, inner: int, tall: int, span: float
) -> list[dict[str, Any]]:
    """Names that do not lie on one another: the points farthest from the middle first."""
    middle = float(np.median([g.interval.value for g in points]))
    taken: list[tuple[float, float, float]] = []
    found = []
    for g in sorted(points, key=lambda g: -abs(g.interval.value - middle)):
        name = shortened(g.name, 150)
        x, y = float(g.tags[against]) / 100 * inner, g.interval.value / span * tall
        wide = width_of(name) + 10
        is_left = x + wide > inner
        start = x - wide if is_left else x
        if all(abs(y - b) > SIZE or start + wide < a or a + w < start for a, b, w in taken):
            taken.append((start, y, wide))
            found.append(
                {
                    "x": float(g.tags[against]),
                    "y": g.interval.value,
                    "text": name,
                    "is_left": is_left,
                }
            )
    return found


def scatter(series: Sequence[tuple[str, Relation]], *, width: int, title: str) -> Any:
    """One model with leans, intervals and names, or several models in colours of their own."""
    tall, inner = (360 if width > 400 else 260), width - LEFT - EDGE
    every = [g for _, relation in series for g in relation.points]
    is_one = len(series) == 1
    ends = [
        v for g in every for v in (g.interval if is_one else (g.interval.value,)) if np.isfinite(v)
    ]
    low, high = min(ends), max(ends)
    x, y = _x(width), _y(low, high, title)
    layers: list[Any] = []
    for number, (_, relation) in enumerate(series):
        points = relation.points
        rows = [
            {
                "x": float(g.tags[relation.against]),
                "y": g.interval.value,
                "low": g.interval.low,
                "high": g.interval.high,
            }
            for g in points
        ]
        tone = "ink" if is_one else SERIES[number % len(SERIES)]
        layers.append(
            plane(_fit([r["x"] for r in rows], [r["y"] for r in rows]))
            .mark_line(color=colour(tone), strokeWidth=1.5, strokeDash=[5, 4])
            .encode(x=x, y=y)
        )
        if is_one:
            spans = [r for r in rows if np.isfinite(r["low"])]
            layers.append(
                plane(spans)
                .mark_rule(color=colour("soft"), strokeWidth=1, opacity=0.45)
                .encode(x=x, y=alt.Y("low:Q"), y2="high:Q")
            )
            for lean, (shade, shape) in LEANS.items():
                part = [
                    r
                    for r, g in zip(rows, points, strict=True)
                    if g.tags.get("lean", "none") == lean
                ]
                if part:
                    layers.append(
                        plane(part)
                        .mark_point(
                            shape=shape, filled=True, size=52, color=colour(shade), opacity=0.95
                        )
                        .encode(x=x, y=y)
                    )
        else:
            shape = SHAPES[number % len(SHAPES)]
            layers.append(
                plane(rows)
                .mark_point(shape=shape, filled=True, size=44, color=colour(tone), opacity=0.75)
                .encode(x=x, y=y)
            )
    if is_one:
        named = _labels(every, series[0][1].against, inner, tall, max(high - low, 1e-9))
        for is_left in (False, True):
            rows_of = [n for n in named if n["is_left"] is is_left]
            if rows_of:
                mark = plane(rows_of).mark_text(
                    align="right" if is_left else "left",
                    dx=-7 if is_left else 7,
                    fontSize=SIZE - 2,
                    color=colour("ink"),
                    stroke=colour("paper"),
                    strokeWidth=3,
                )
                layers.append(mark.encode(x=x, y=y, text="text:N"))
    return (
        alt.layer(*layers)
        .properties(
            width=inner - 14,
            height=tall,
            padding={"left": 2, "right": EDGE, "top": 4, "bottom": FOOT // 2},
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )
