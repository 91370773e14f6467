"""How is a mitigation drawn? Before and after by method, as the paper's Figure 2 has it, and bias against what accuracy cost."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import altair as alt

from evenhand.core.estimate import Interval
from evenhand.mitigate.records import ACCURACY, BEFORE, NONE, Asked, Mitigation
from evenhand.report import mitigation_values as told
from evenhand.report.canvas import EDGE, FOOT, SIZE, plane, spanning, width_of
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import fair, title
from evenhand.report.picture import NARROW, WIDE, Figure, make_figure
from evenhand.report.svg import FONT, colour

SHOWN = ("entailment_gap", "stereotype_preference", "nli_coal")  # ΔP and B in the paper
LEFT = 52
MARKS = {BEFORE: ("model", "diamond"), NONE: ("soft", "circle")}


def figures(found: Mitigation) -> list[Figure]:
    """All of them: the trade-offs, then before and after."""
    return [*trade_offs(found), *before_after(found)]


def _name(*parts: str) -> str:
    return "-".join(re.sub(r"[^\w.-]+", "-", part) for part in parts)


def _percent(found: Interval) -> Interval:
    return Interval(*(100 * v for v in found))


def before_after(found: Mitigation) -> list[Figure]:
    """One figure for each measure of each suite: every model, and the same on unseen occupations."""
    return [
        _levels(found, a, m)
        for a in told.suites(found)
        for m in SHOWN
        if m in told.measures_on(found, a)
    ]


def _levels(found: Mitigation, asked: Asked, measure: str) -> Figure:
    rows, has_unseen = [], False
    for model in told.models(found):
        score = found.score(asked.name, "all", measure, model)
        if score is None:
            continue
        rest = found.score(asked.name, "unseen", measure, model)
        has_unseen = has_unseen or rest is not None
        mark = "model" if model == BEFORE else "random" if model == NONE else "changed"
        others = ((100 * rest.value, "whole"),) if rest and math.isfinite(rest.value) else ()
        note = (
            f"{told.percent(score.value)} [{told.percent(score.low)}, {told.percent(score.high)}]"
        )
        rows.append(
            Row(
                label=_called(model),
                interval=_percent(score.interval),
                mark=mark,
                note=note,
                others=others,
            )
        )
    before = found.score(asked.name, "all", measure, BEFORE)
    best = 100 * fair(measure)
    every = [v for r in rows for v in (*r.interval, *(x for x, _ in r.others), best)]
    domain = _domain(every, least=0.0) if best else spanning(every, low=0.0)
    heading = f"{title(measure)} on {asked.name}, percent ({best:g} is fair)"
    legend = [
        ("model", "before"),
        ("random", "control: more training alone"),
        ("changed", "method"),
        ("reference", "value of before"),
    ]
    legend = [(m, text) for m, text in legend if m == "reference" or any(r.mark == m for r in rows)]
    if has_unseen:
        legend.append(("whole", f"on {told.UNSEEN} only"))
    if best:
        legend.append(("fair", "fair"))

    def draw(width: int) -> Any:
        gutter = (
            0
            if width == NARROW
            else min(int(max(width_of(r.label) for r in rows)) + 24, WIDE * 2 // 5)
        )
        # beside the labels there is no room for the numbers: they are in the table
        shown = [
            Row(
                label=r.label,
                interval=r.interval,
                mark=r.mark,
                note="" if gutter else r.note,
                others=r.others,
            )
            for r in rows
        ]
        return dots(
            shown,
            width=width,
            gutter=gutter,
            domain=domain,
            reference=100 * before.value if before else math.nan,
            base=best or math.nan,
        )

    return make_figure(
        _name("levels", measure, asked.name),
        heading,
        "; ".join(f"{r.label} {r.note}" for r in rows),
        draw,
        legend,
    )


def _called(model: str) -> str:
    return {NONE: "none (control)"}.get(model, model)


def trade_offs(found: Mitigation) -> list[Figure]:
    """Bias against the change of accuracy, for what each suite is about and each held-out file."""
    heads = [(a, m) for a in told.suites(found) if (m := told.headline_on(found, a))]
    return [
        _trade(found, asked, measure, held)
        for asked, measure in heads
        for held in told.suites(found, "dev")
    ]


def _trade(found: Mitigation, asked: Asked, measure: str, held: Asked) -> Figure:
    spots = []
    for model in told.models(found):
        score = found.score(asked.name, "all", measure, model)
        change = found.change(held.name, "dev", ACCURACY, model, BEFORE)
        x = (
            Interval(0.0, 0.0, 0.0)
            if model == BEFORE
            else _percent(change.interval)
            if change
            else Interval(math.nan, math.nan, math.nan)
        )
        if score is not None and math.isfinite(score.value + x.value):
            spots.append((model, x, _percent(score.interval)))
    heading = f"{title(measure)} on {asked.name} against the accuracy that it cost on {held.name}"
    words = "; ".join(
        f"{_called(m)}: accuracy {x.value:+.1f} points, {title(measure)} {y.value:.1f} %"
        for m, x, y in spots
    )
    legend = [
        ("model", "before"),
        ("random", "control"),
        ("changed", "method, with both intervals"),
        ("reference", "before: what changes nothing"),
    ]
    best = f"{title(measure)}, percent"
    return make_figure(
        _name("trade-off", measure, asked.name, held.name),
        heading,
        words,
        lambda w: _plot(
            spots, width=w, title_y=best, title_x=f"change of accuracy on {held.name}, points"
        ),
        [(m, text) for m, text in legend if m != "random" or any(s[0] == NONE for s in spots)],
    )


Spot = tuple[str, Interval, Interval]


def _domain(values: Sequence[float], *, least: float = -math.inf) -> tuple[float, float]:
    known = [v for v in values if math.isfinite(v)]
    low, high = min(known), max(known)
    room = (high - low or 1.0) * 0.08
    return max(least, low - room), high + room


def _axis(kind: Any, field: str, domain: tuple[float, float], name: str) -> Any:
    axis = alt.Axis(
        title=name,
        titleColor=colour("soft"),
        titleFontSize=SIZE - 1,
        titleFontWeight="normal",
        titlePadding=8,
        domain=False,
        ticks=False,
        gridColor=colour("line"),
        labelColor=colour("soft"),
        labelFontSize=SIZE - 1,
        tickCount=5,
        format=".2~f",
    )
    return kind(
        f"{field}:Q",
        scale=alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True),
        axis=axis,
    )


def _plot(spots: Sequence[Spot], *, width: int, title_x: str, title_y: str) -> Any:
    inner, tall = width - LEFT - EDGE - 14, 340 if width > 400 else 280
    across = _domain([v for _, x, _ in spots for v in x])
    up = _domain([0.0, *(v for _, _, y in spots for v in y)], least=0.0)
    x, y = _axis(alt.X, "x", across, title_x), _axis(alt.Y, "y", up, title_y)
    before = next((s for s in spots if s[0] == BEFORE), None)
    layers: list[Any] = []
    if before is not None:
        dashed = {"color": colour("soft"), "strokeDash": [3, 3], "strokeWidth": 1.2}
        layers.append(plane([{"y": before[2].value}]).mark_rule(**dashed).encode(y=y))
        layers.append(plane([{"x": 0.0}]).mark_rule(**dashed).encode(x=x))
    for model, at, level in spots:
        tone, shape = MARKS.get(model, ("entailment", "circle"))
        row = [
            {
                "x": at.value,
                "y": level.value,
                "x1": at.low,
                "x2": at.high,
                "y1": level.low,
                "y2": level.high,
            }
        ]
        rule = plane(row).mark_rule(color=colour(tone), strokeWidth=2, opacity=0.75)
        if math.isfinite(at.low + at.high) and at.low < at.high:
            layers.append(rule.encode(x=alt.X("x1:Q"), x2="x2:Q", y=y))
        if math.isfinite(level.low + level.high):
            layers.append(rule.encode(x=x, y=alt.Y("y1:Q"), y2="y2:Q"))
        is_open = model == NONE
        mark = plane(row).mark_point(
            shape=shape,
            size=140 if model == BEFORE else 110,
            filled=False,
            fill=colour("paper" if is_open else tone),
            stroke=colour(tone if is_open else "paper"),
            strokeWidth=1.6,
        )
        layers.append(mark.encode(x=x, y=y))
    layers += _names(spots, x, y, across, up, inner, tall)
    return (
        alt.layer(*layers)
        .properties(
            width=inner,
            height=tall,
            padding={"left": 2, "right": EDGE, "top": 6, "bottom": FOOT // 2},
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )


def _names(
    spots: Sequence[Spot],
    x: Any,
    y: Any,
    across: tuple[float, float],
    up: tuple[float, float],
    inner: int,
    tall: int,
) -> list[Any]:
    """The names beside their points, each where it lies on no other name, point or interval."""

    def right(value: float) -> float:
        return (value - across[0]) / (across[1] - across[0]) * inner

    def below(value: float) -> float:
        return (up[1] - value) / (up[1] - up[0]) * tall

    taken: list[tuple[float, float, float, float]] = []  # left, top, right, bottom
    for _, at, level in spots:
        px, py = right(at.value), below(level.value)
        taken.append((px - 7, py - 7, px + 7, py + 7))
        if math.isfinite(at.low + at.high):
            taken.append((right(at.low), py - 2, right(at.high), py + 2))
        if math.isfinite(level.low + level.high):
            taken.append((px - 2, below(level.high), px + 2, below(level.low)))
    layers = []
    for model, at, level in spots:
        px, py = right(at.value), below(level.value)
        wide = width_of(_called(model))
        for dx, dy in (
            (10, -10),
            (-10 - wide, -10),
            (10, 12),
            (-10 - wide, 12),
            (10, -22),
            (-10 - wide, -22),
            (10, 24),
            (-10 - wide, 24),
        ):
            box = (px + dx, py + dy - SIZE / 2, px + dx + wide, py + dy + SIZE / 2)
            is_inside = box[0] >= 0 and box[2] <= inner and box[1] >= 0 and box[3] <= tall
            if is_inside and not any(
                box[0] < c and a < box[2] and box[1] < d and b < box[3] for a, b, c, d in taken
            ):
                break
        else:
            dx, dy, box = 10, -10, (px + 10, py - 16, px + 10 + wide, py - 4)
        taken.append(box)
        text = plane([{"x": at.value, "y": level.value, "text": _called(model)}]).mark_text(
            align="left",
            baseline="middle",
            dx=dx,
            dy=dy,
            fontSize=SIZE,
            color=colour("ink"),
            stroke=colour("paper"),
            strokeWidth=3,
        )
        layers.append(text.encode(x=x, y=y, text="text:N"))
    return layers
