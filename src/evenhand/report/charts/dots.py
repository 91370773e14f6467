"""Dot charts: values with intervals, one below the other, or swarms of single values."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.core.chart import DotChart, DotRow
from evenhand.report.charts.canvas import (
    EDGE,
    FOOT,
    NARROW,
    SOFT,
    Canvas,
    Place,
    Scale,
    look_of,
    shortened,
    width_of,
)

DOT = 7.0  # pixels between the dots of a swarm
LINE = 18  # height of a line of text in pixels
CROWD = 20  # a swarm of more values gets more room
MANY = 30  # with more rows, dense rows move closer together
LONGEST = 260  # pixels; a longer label is set above its row in a narrow chart


@dataclass(frozen=True, slots=True)
class _Plan:
    """Where each row lies, and how large what is drawn there is."""

    scale: Scale
    gutter: int  # pixels for the labels at the left; 0: they stand above their line
    swarm: int  # pixels for the dots of a row
    has_note_line: bool  # notes have a line of their own below the labels
    places: tuple[tuple[DotRow, float], ...]  # row, pixels from the top
    floor: float

    def known(self) -> list[tuple[DotRow, float]]:
        """The rows that have a value."""
        return [(row, y) for row, y in self.places if math.isfinite(row.interval.value)]


def draw_dots(chart: DotChart, width: int) -> str:
    """The chart as SVG."""
    plan, head = _plan(chart, width)
    canvas = Canvas(width)
    canvas.x_axis(plan.scale, head, plan.floor, count=5 if width > NARROW else 4)
    if math.isfinite(chart.base):
        x = plan.scale(chart.base)
        canvas.rule((x, max(head - 8, 0)), (x, plan.floor), colour="ink", stroke=1.4)
    if math.isfinite(chart.reference):
        x = plan.scale(chart.reference)
        canvas.rule((x, head), (x, plan.floor), colour="soft", stroke=1.2, dash="3 3")
    if chart.sides is not None:
        _draw_sides(canvas, plan, chart.sides, chart.base)
    for row, y in plan.known() if plan.swarm else ():
        for place in swarm(row.swarm, y, plan.scale, plan.swarm):
            canvas.mark(place, row.mark, 2.9, opacity=0.6)
    _draw_values(canvas, plan)
    _draw_words(canvas, plan, chart.base)
    return canvas.svg(plan.floor + FOOT, chart.title, chart.description)


def _plan(chart: DotChart, width: int) -> tuple[_Plan, int]:
    """The plan, and the pixels above the first row that hold the names of the sides."""
    rows, is_narrow = chart.rows, width <= NARROW
    crowd = max((len(row.swarm) for row in rows), default=0)
    swarm_room = 0 if chart.is_dense or not crowd else 56 if crowd > CROWD else 40
    longest = max((width_of(row.label) for row in rows), default=0.0)
    gutter = 0
    if chart.is_dense:
        gutter = min(int(longest) + 26, width // 2 if not is_narrow else 190)
    if is_narrow and (any(row.note for row in rows) or longest > LONGEST):
        gutter = 0  # the labels stand above their lines, and the notes beside them
    is_tight = any(
        row.note and width_of(row.label) + width_of(row.note) + 12 > width for row in rows
    )
    has_note_line = is_narrow and not gutter and is_tight
    if gutter:
        pitch, top, bottom = 24 if len(rows) <= MANY else 17, 12, 12 if len(rows) <= MANY else 10
    else:
        pitch, top, bottom = 46 + swarm_room, 30 + swarm_room // 2, 16 + swarm_room // 2
    head = 24 if chart.sides else 0
    places: list[tuple[DotRow, float]] = []
    y = float(head + top - pitch)
    for row in rows:
        y += pitch + ((10 if gutter else LINE) if row.is_apart and places else 0)
        y += LINE if has_note_line and row.note else 0
        places.append((row, y))
    plan = _Plan(
        scale=Scale(chart.domain, gutter or EDGE, width - EDGE),
        gutter=gutter,
        swarm=swarm_room,
        has_note_line=has_note_line,
        places=tuple(places),
        floor=(y if places else head) + bottom,
    )
    return plan, head


def _draw_sides(canvas: Canvas, plan: _Plan, sides: tuple[str, str], base: float) -> None:
    """The names of the two sides, next to the base line where they fit, else at the ends."""
    middle = plan.scale(base) if math.isfinite(base) else (plan.scale.start + plan.scale.end) / 2
    right = min(middle + 10, canvas.width - width_of(sides[1]))
    left = max(min(middle - 10, right - 14), width_of(sides[0]) + 4)
    canvas.text((left, 8), sides[0], SOFT, anchor="end")
    canvas.text((right, 8), sides[1], SOFT)


def _draw_values(canvas: Canvas, plan: _Plan) -> None:
    for row, y in plan.known():
        if row.interval.has_bounds:
            low, high = plan.scale(row.interval.low), plan.scale(row.interval.high)
            colour = "ink" if plan.swarm else look_of(row.mark).colour
            canvas.rule((low, y), (high, y), colour=colour, stroke=2 if plan.gutter else 3)
    for row, y in plan.places:
        for value, mark in row.others:
            if math.isfinite(value):
                canvas.mark((plan.scale(value), y), mark, 4.4 if plan.gutter else 5.2)
    for row, y in plan.known():
        mark = "model" if plan.swarm else row.mark
        canvas.mark((plan.scale(row.interval.value), y), mark, 4.4 if plan.gutter else 5.6)


def _draw_words(canvas: Canvas, plan: _Plan, base: float) -> None:
    """Labels and notes; a dense row shows its note only where it has no value."""
    above = 20 + plan.swarm // 2
    for row, y in plan.places:
        if plan.gutter:
            label = shortened(row.label, plan.gutter - 14)
            canvas.text((plan.gutter - 10, y), label, anchor="end")
            if row.note and not math.isfinite(row.interval.value):
                x = plan.scale(base) if math.isfinite(base) else plan.scale.start
                canvas.text((x + 8, y), row.note, SOFT)
            continue
        lines = above + (LINE if plan.has_note_line and row.note else 0)
        taken = 0.0 if plan.has_note_line or not row.note else width_of(row.note) + 12
        canvas.text((0, y - lines), shortened(row.label, canvas.width - taken))
        if row.note and plan.has_note_line:
            canvas.text((0, y - above), shortened(row.note, canvas.width), SOFT)
        elif row.note:
            canvas.text((canvas.width, y - above), row.note, SOFT, anchor="end")


def swarm(values: Sequence[float], y: float, scale: Scale, room: int) -> list[Place]:
    """The places of the dots; those at the same value are stacked, in up to three columns."""
    known = sorted(v for v in values if math.isfinite(v))
    columns_of = [round(scale(v) / DOT) for v in known]
    most = max(Counter(columns_of).values(), default=1)
    columns = min(3, math.ceil(most * DOT / max(room, DOT)))
    step = min(DOT, (room - DOT) / max(math.ceil(most / columns) - 1, 1))
    seen: Counter[int] = Counter()
    places = []
    for value, place in zip(known, columns_of, strict=True):
        turn, column = divmod(seen[place], columns)
        seen[place] += 1
        aside = column - (columns - 1) / 2
        if columns > 2:
            aside = (column + 1) // 2 * (1 if column % 2 else -1)
        up = (turn + 1) // 2 * (1 if turn % 2 else -1) * step
        places.append((scale(value) + aside * DOT, y + up))
    return places
