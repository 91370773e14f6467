"""Dot charts: values with intervals, one below the other, or swarms of single values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from evenhand.core.chart import DotChart, DotRow
from evenhand.core.estimate import without_bounds
from evenhand.core.text import number
from evenhand.report.charts.theme import (
    ABOUT,
    MARKS,
    NARROW,
    SIZE,
    SMALL,
    TOLD,
    WIDE,
    Mark,
    Values,
    about,
    area,
    axis_title,
    bands,
    coloured,
    held,
    label_expression,
    layer,
    layered,
    look_of,
    marked,
    nothing,
    numeric,
    paint,
    proper,
    shortened,
    texts,
    width_of,
)

DOT = 7.0  # pixels between the dots of a swarm
CROWD = 20  # a swarm of more values gets more room
MANY = 30  # with more rows, dense rows move closer together
LONGEST = 260  # pixels; a longer label is set above its row in a narrow chart
NAMED = 2  # how many outliers are named at either end of a swarm
OFFSET = alt.YOffset("shift:Q", scale=alt.Scale(domain=[-0.5, 0.5]))
NEAR = 0.012  # marks of a row that are nearer, as a share of the axis, make way for one another


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the words of a dot chart stand, and how far its rows are apart."""

    gutter: int  # pixels for the labels at the left; 0: they stand above their rows
    step: int  # pixels from row to row
    swarm: int  # pixels for the dots of a row
    has_note_line: bool  # notes have a line of their own below the labels


def layout_of(chart: DotChart, width: int) -> Layout:
    """The layout of a chart of this width."""
    rows, is_narrow = chart.rows, width <= NARROW
    crowd = max((len(row.swarm) for row in rows), default=0)
    swarm = 0 if chart.is_dense or not crowd else 56 if crowd > CROWD else 40
    longest = max((width_of(row.label) for row in rows), default=0.0)
    gutter = 0
    if chart.is_dense:
        gutter = min(int(longest) + 10, 170 if is_narrow else width // 2)
    if is_narrow and (any(row.note for row in rows) or longest > LONGEST):
        gutter = 0
    is_tight = any(row.note and width_of(row.label + row.note) + 12 > width for row in rows)
    has_note_line = is_narrow and not gutter and is_tight
    step = (24 if len(rows) <= MANY else 17) if gutter else 46 + swarm + 18 * has_note_line
    return Layout(gutter=gutter, step=step, swarm=swarm, has_note_line=has_note_line)


def draw_dots(chart: DotChart, width: int = WIDE) -> alt.TopLevelLayerSpec:
    """The chart as a Vega-Lite chart of this width."""
    plan = layout_of(chart.on_common_axis(), width)
    layers, height = dot_layers(chart, plan, width - plan.gutter - 16)
    return layered(*layers, width=width, height=height)


def dot_layers(
    chart: DotChart,
    plan: Layout,
    inner: float,
    look: Callable[[str], Mark] = look_of,
) -> tuple[list[alt.UnitSpec], int]:
    """The layers of a dot chart whose plot is about `inner` pixels wide, and its height."""
    shown = chart.on_common_axis()
    names = [str(i) for i in range(len(shown.rows))]
    domain: list[str] = []
    for name, row in zip(names, shown.rows, strict=True):
        domain += [f"above {name}"] if row.is_apart and domain else []
        domain.append(name)
    labels = [shortened(row.label, plan.gutter - 4) for row in shown.rows] if plan.gutter else []
    beside = alt.Axis(
        values=names,
        labelExpr=label_expression(labels),
        labelColor=paint("ink"),
        labelFontSize=SIZE,
        labelLimit=plan.gutter,
        labelPadding=10,
        labelOverlap=False,
        grid=False,
    )
    scale = bands(domain, paddingInner=0, paddingOuter=0)
    y = alt.Y("row:N", title=None, sort=None, scale=scale, axis=beside if labels else None)
    title = axis_title(shown.axis, inner)
    below = alt.Axis(title=title, tickCount=5 if inner > NARROW else 4 if inner > 200 else 2)
    x = alt.X("x:Q", scale=numeric(proper(shown.domain)), axis=below)
    marks = {row.mark for row in shown.rows} | {m for r in shown.rows for _, m in r.others}
    every = {*marks, *(["model"] if plan.swarm else [])}
    looks = marked(every, lambda mark: MARKS["model"] if mark == "model" else look(mark))
    lines = coloured(every)
    layers = _references(shown, plan, x, y)
    layers += _swarms(chart, shown, plan, x, y, inner, looks)
    layers += _intervals(chart, shown, plan, x, y, lines)
    layers += _values(chart, shown, plan, x, y, looks)
    layers += _words(shown, plan, x, y, inner)
    layers += _ends(shown, x, inner, -10 if plan.gutter else -14)
    return layers, plan.step * max(len(domain), 1)


def _references(chart: DotChart, plan: Layout, x: alt.X, y: alt.Y) -> list[alt.UnitSpec]:
    """Lines for the base, the fair value and a value to compare with."""
    rows = [{"row": str(i)} for i in range(len(chart.rows))]
    layers = [nothing(rows, y=y)]
    across = {} if plan.gutter else _beside_marks(plan, y)
    base = chart.base if math.isfinite(chart.base) else chart.common_fair
    if math.isfinite(base):
        layers.append(_rule(base, rows, x, across, color=paint("ink"), strokeWidth=1.4))
    if math.isfinite(chart.reference):
        meaning = dict(chart.legend).get("reference", "")
        style = {"color": paint("soft"), "strokeWidth": 1.3, "strokeDash": [3, 3]}
        layers.append(_rule(chart.reference, rows, x, across, meaning, **style))
    return layers


def _beside_marks(plan: Layout, y: alt.Y) -> Values:
    """The part of each row in which its marks stand: a line through its label would hide both."""
    above, below = (5, 20) if plan.has_note_line else (12, 14)  # the words above, the row below
    half = plan.swarm / 2
    top = y.copy()
    top.bandPosition = 0.5 - (half + above) / plan.step
    return {"y": top, "y2": alt.Y2("row:N", bandPosition=0.5 + (half + below) / plan.step)}


def _rule(
    value: float, rows: Sequence[Values], x: alt.X, across: Values, label: str = "", **style: Any
) -> alt.UnitSpec:
    """A line at this value, whole or row by row."""
    told = {"x": value, **about(label, without_bounds(value))}
    data = [{**row, **told} for row in rows] if across else [told]
    line = layer(data, "rule", clip=True, aria=bool(label), **style)
    hints = {"tooltip": list(TOLD[:2]), "description": ABOUT} if label else {}
    return line.encode(x=x, **across, **hints)


def _row_data(row: DotRow, place: int, told: DotRow) -> Values:
    """What every mark of a row carries."""
    return {"row": str(place), **about(told.label, told.interval, shows=row.shows)}


def _intervals(
    chart: DotChart, shown: DotChart, plan: Layout, x: alt.X, y: alt.Y, lines: alt.Color
) -> list[alt.UnitSpec]:
    """A line from bound to bound for every row that has them."""
    rows = [
        {
            **_row_data(row, i, chart.rows[i]),
            "x": row.interval.low,
            "x2": row.interval.high,
            "mark": "model" if plan.swarm else row.mark,
        }
        for i, row in enumerate(shown.rows)
        if row.interval.has_bounds and math.isfinite(row.interval.value)
    ]
    if not rows:
        return []
    return [
        layer(
            rows,
            "rule",
            strokeWidth=2 if plan.gutter else 3,
            strokeCap="round",
            clip=True,
            aria=False,
        ).encode(x=x, x2=alt.X2("x2:Q"), y=y, color=lines, tooltip=list(TOLD))
    ]


def _values(
    chart: DotChart, shown: DotChart, plan: Layout, x: alt.X, y: alt.Y, looks: Values
) -> list[alt.UnitSpec]:
    """Values to compare with, then the value of each row on top of them."""
    meanings, size = dict(chart.legend), area(4.4 if plan.gutter else 5.4)
    others, values, domain = [], [], proper(shown.domain)
    has_line = math.isfinite(shown.common_fair)  # one line tells the fair value of all rows
    for i, (row, told) in enumerate(zip(shown.rows, chart.rows, strict=True)):
        known = [
            (value, mark, original)
            for (value, mark), (original, _) in zip(row.others, told.others, strict=True)
            if math.isfinite(value) and not (mark == "fair" and has_line)
        ]
        shifts = apart([*(v for v, *_ in known), row.interval.value], domain)
        for (value, mark, original), shift in zip(known, shifts, strict=False):
            label = f"{told.label}, {meanings.get(mark, mark)}".strip(", ")
            others.append(
                {
                    "row": str(i),
                    "x": held(value, domain),
                    "mark": mark,
                    "shift": shift,
                    **about(label, without_bounds(original), shows=row.shows),
                }
            )
        if math.isfinite(row.interval.value):
            mark = "model" if plan.swarm else row.mark
            at = {"x": held(row.interval.value, domain), "mark": mark, "shift": 0}
            values.append({**_row_data(row, i, told), **at})
    return [
        layer(rows, "point", size=size, strokeWidth=1.5, opacity=1, fillOpacity=1).encode(
            x=x,
            y=y,
            yOffset=OFFSET,
            tooltip=list(TOLD if is_own else TOLD[:2]),
            description=ABOUT,
            **looks,
        )
        for rows, is_own in ((others, False), (values, True))
        if rows
    ]


def apart(values: Sequence[float], domain: Sequence[float]) -> list[float]:
    """How far each value is moved across its row, as a share of the row, to be seen.

    The last value stays; one that lies on another moves up or down.
    """
    near = (domain[1] - domain[0]) * NEAR
    shifts = []
    for i, value in enumerate(values):
        hits = sum(abs(value - other) < near for other in values[i + 1 :])
        shifts.append(0.16 * ((hits + 1) // 2) * (-1 if hits % 2 else 1) if hits else 0.0)
    return shifts


def _words(chart: DotChart, plan: Layout, x: alt.X, y: alt.Y, inner: float) -> list[alt.UnitSpec]:
    """Labels above rows, and notes; a dense row shows its note only where it has no value."""
    if plan.gutter:
        at = chart.base if math.isfinite(chart.base) else proper(chart.domain)[0]
        missing = [
            {"row": str(i), "x": at, "text": row.note}
            for i, row in enumerate(chart.rows)
            if row.note and not math.isfinite(row.interval.value)
        ]
        if not missing:
            return []
        return [
            texts(missing, align="left", dx=6, fill=paint("soft")).encode(
                x=x, y=y, text=alt.Text("text:N")
            )
        ]
    above = -(20 + plan.swarm / 2)
    labels, notes = [], []
    for i, row in enumerate(chart.rows):
        taken = 0.0 if plan.has_note_line or not row.note else width_of(row.note) + 12
        labels.append({"row": str(i), "text": shortened(row.label, inner - taken + 16)})
        if row.note:
            notes.append({"row": str(i), "text": shortened(row.note, inner)})
    left, right = alt.XValue(0), alt.XValue("width")
    shift = 18 if plan.has_note_line else 0
    middle = shift / 2
    layers = [
        texts(labels, align="left", dy=above - shift + middle).encode(
            x=left, y=y, text=alt.Text("text:N")
        )
    ]
    if notes:
        place: Values = {"align": "left"} if plan.has_note_line else {"align": "right"}
        layers.append(
            texts(notes, dy=above + middle, fill=paint("soft"), **place).encode(
                x=left if plan.has_note_line else right, y=y, text=alt.Text("text:N")
            )
        )
    return layers


def _ends(chart: DotChart, x: alt.X, inner: float, up: float) -> list[alt.UnitSpec]:
    """What lies at either end of the axis: the names of the sides, else where it is fairer."""
    if chart.sides is not None:
        ends = [("left", 0, chart.sides[0]), ("right", "width", chart.sides[1])]
        is_tight = sum(width_of(side) for side in chart.sides) + 12 > inner
        return [
            texts([{"text": text}], align=align, fill=paint("soft")).encode(
                x=alt.XValue(at),
                y=alt.YValue(up - 17 if is_tight and align == "left" else up),
                text=alt.Text("text:N"),
            )
            for align, at, text in ends
        ]
    fair, (low, high) = chart.common_fair, proper(chart.domain)
    if not math.isfinite(fair) or not low <= fair <= high:
        return []
    word = "fairer" if chart.fair_word == "fair" else "better"
    share = (fair - low) / (high - low)
    align, text = "center", f"→ {word} ←"
    if share < 0.12:
        align, text = "left", f"← {word}"
    elif share > 0.88:
        align, text = "right", f"{word} →"
    row = {"x": fair, "text": text}
    return [
        texts([row], align=align, fill=paint("soft")).encode(
            x=x, y=alt.YValue(up), text=alt.Text("text:N")
        )
    ]


def _swarms(
    chart: DotChart,
    shown: DotChart,
    plan: Layout,
    x: alt.X,
    y: alt.Y,
    inner: float,
    looks: Values,
) -> list[alt.UnitSpec]:
    """A dot for every single value, and the names of those that lie farthest out."""
    if not plan.swarm:
        return []
    dots: list[Values] = []
    for i, (row, told) in enumerate(zip(shown.rows, chart.rows, strict=True)):
        names = told.swarm_names or ("",) * len(row.swarm)
        leads = told.swarm_shows or (row.shows,) * len(row.swarm)
        for place, shift in swarm(row.swarm, proper(shown.domain), inner, plan.swarm):
            label = names[place] or told.label
            dots.append(
                {
                    "row": str(i),
                    "x": held(row.swarm[place], proper(shown.domain)),
                    "shift": shift / plan.step,
                    "mark": row.mark,
                    **about(label, without_bounds(told.swarm[place]), shows=leads[place]),
                }
            )
    if not dots:
        return []
    layers = [
        layer(dots, "point", size=area(3), strokeWidth=1.2, opacity=0.75, fillOpacity=1).encode(
            x=x, y=y, yOffset=OFFSET, tooltip=list(TOLD[:2]), description=ABOUT, **looks
        )
    ]
    named = outliers(shown.rows, inner, proper(shown.domain))
    if named:
        text = texts(named, fontSize=SMALL, dy=plan.swarm / 2 + 4, fill=paint("soft"))
        layers.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
    return layers


def outliers(rows: Sequence[DotRow], inner: float, domain: Sequence[float]) -> list[Values]:
    """The names of the values at either end of their swarm, where there is room.

    A value that more than NAMED share is no outlier and has no name.
    """
    named: list[Values] = []
    scale = inner / (domain[1] - domain[0])
    for i, row in enumerate(rows):
        counts = Counter(row.swarm)
        known = [
            (value, name)
            for value, name in zip(row.swarm, row.swarm_names, strict=False)
            if math.isfinite(value) and name
        ]
        known.sort(key=lambda pair: pair[0])
        ends = [*known[:NAMED], *reversed(known[max(len(known) - NAMED, NAMED) :])]
        taken: list[tuple[float, float]] = []
        for value, name in ends:
            if counts[value] > NAMED:
                continue
            half = width_of(name, SMALL) / 2 + 4
            centre = min(max((value - domain[0]) * scale, half), inner - half)
            if all(centre + half < low or centre - half > high for low, high in taken):
                taken.append((centre - half, centre + half))
                at = domain[0] + centre / scale
                named.append({"row": str(i), "x": at, "text": name, "value": number(value)})
    return named


def swarm(
    values: Sequence[float], domain: Sequence[float], inner: float, room: int
) -> list[tuple[int, float]]:
    """For each finite value its place in `values`, and by how many pixels it leaves the row.

    Values in the same column of pixels are stacked on either side of the row.
    """
    known = [i for i, v in enumerate(values) if math.isfinite(v)]
    scale = inner / (domain[1] - domain[0])
    columns = {i: round((values[i] - domain[0]) * scale / DOT) for i in known}
    most = max(Counter(columns.values()).values(), default=1)
    step = min(DOT, (room - DOT) / max(most - 1, 1))
    seen: Counter[int] = Counter()
    places = []
    for i in sorted(known, key=lambda i: values[i]):
        turn = seen[columns[i]]
        seen[columns[i]] += 1
        places.append((i, (turn + 1) // 2 * (1 if turn % 2 else -1) * step))
    return places
