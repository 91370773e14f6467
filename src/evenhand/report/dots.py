"""How are values with intervals drawn? One below the other, with what they compare to, or as a swarm of the groups behind each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.core.estimate import Interval
from evenhand.report.canvas import EDGE, along, down, finished, plane, shortened, width_of, words
from evenhand.report.svg import colour

DOT = 7.0  # pixels between the dots of a swarm
# mark -> colour, shape, is it filled: no two differ by colour alone
MARKS: dict[str, tuple[str, str, bool]] = {
    "model": ("model", "diamond", True),
    "random": ("soft", "circle", False),
    "constant": ("soft", "square", False),
    "fair": ("ink", "M0,-1.1L0,1.1", False),
    "female": ("female", "circle", True),
    "male": ("male", "square", True),
    "none": ("none", "triangle-up", False),
    "shared": ("model", "diamond", True),
    "changed": ("entailment", "circle", True),
    "whole": ("contradiction", "square", True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of a chart: words, a value with its interval, and other values to compare it with."""

    label: str
    interval: Interval
    mark: str = "model"
    note: str = ""  # at the right end
    others: tuple[tuple[float, str], ...] = ()  # value, mark
    dots: tuple[float, ...] = ()  # a swarm behind the value
    gap: int = 0  # pixels of room above it


def _points(
    rows: list[dict[str, Any]],
    mark: str,
    domain: tuple[float, float],
    *,
    size: int,
    opacity: float = 1.0,
) -> Any:
    tone, shape, is_filled = MARKS[mark]
    fill = colour(tone) if is_filled else colour("paper")
    drawn = plane(rows).mark_point(
        shape=shape,
        size=size,
        filled=False,
        fill=fill,
        stroke=colour("paper" if is_filled else tone),
        strokeWidth=1 if is_filled else 1.8,
        opacity=opacity,
    )
    return drawn.encode(x=along(domain), y=down())


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    """Where does each row lie, and how large is what is drawn there?"""

    domain: tuple[float, float]
    inner: int  # pixels of the domain
    gutter: int
    swarm: int
    places: tuple[tuple[Row, int], ...]  # row, pixels from the top

    def known(self, mark: str) -> list[tuple[Row, int]]:
        """The rows of one mark that have a value."""
        return [
            (row, y)
            for row, y in self.places
            if row.mark == mark and math.isfinite(row.interval.value)
        ]


def _clouds(plan: _Plan) -> Iterator[Any]:
    scale = plan.inner / (plan.domain[1] - plan.domain[0])
    for mark in MARKS:
        if spots := [
            spot for row, y in plan.known(mark) for spot in _swarm(row.dots, y, scale, plan.swarm)
        ]:
            yield _points(spots, mark, plan.domain, size=34, opacity=0.6)


def _spans(plan: _Plan) -> Iterator[Any]:
    for mark, (tone, _, _) in MARKS.items():
        spans = [
            {"x": row.interval.low, "to": row.interval.high, "y": y}
            for row, y in plan.known(mark)
            if math.isfinite(row.interval.low)
        ]
        if spans:
            rule = plane(spans).mark_rule(
                strokeWidth=2 if plan.gutter else 3,
                strokeCap="round",
                color=colour("ink" if plan.swarm else tone),
            )
            yield rule.encode(x=along(plan.domain), x2="to:Q", y=down())


def _values(plan: _Plan) -> Iterator[Any]:
    for mark in MARKS:
        if beside := [
            {"x": x, "y": y}
            for row, y in plan.places
            for x, kind in row.others
            if kind == mark and math.isfinite(x)
        ]:
            yield _points(beside, mark, plan.domain, size=200 if mark == "fair" else 110)
    for mark in MARKS:
        if values := [{"x": row.interval.value, "y": y} for row, y in plan.known(mark)]:
            yield _points(
                values,
                "model" if plan.swarm else mark,
                plan.domain,
                size=64 if plan.gutter else 130,
            )


def _texts(plan: _Plan) -> Iterator[Any]:
    above = 0 if plan.gutter else -(20 + plan.swarm // 2)
    labels, notes = [], []
    for row, y in plan.places:
        taken = width_of(row.note) + 12 if row.note and not plan.gutter else 0
        room = (plan.gutter - 14 if plan.gutter else plan.inner) - taken
        labels.append(
            {
                "px": -10 if plan.gutter else -EDGE,
                "y": y + above,
                "text": shortened(row.label, room),
            }
        )
        if row.note:
            notes.append({"px": plan.inner + EDGE, "y": y + above, "text": row.note})
    yield words(labels, align="right" if plan.gutter else "left")
    if notes:
        yield words(notes, align="right", tone="soft")


def dots(
    rows: Sequence[Row],
    *,
    width: int,
    domain: tuple[float, float],
    gutter: int = 0,
    reference: float = math.nan,
    swarm: int = 0,
    base: float = math.nan,
    sides: tuple[str, str] | None = None,
    pitch: int = 0,
) -> Any:
    """Values with intervals, one below the other.

    gutter: pixels for the labels at the left; 0 puts them above their line. reference: a value to compare all with.
    swarm: pixels for the dots of a row. base: the value that is neither one side nor the other; sides: what lies left and right of it.
    pitch: pixels from row to row, where the usual number does not do.
    """
    left = gutter or EDGE
    usual, top = (24, 12) if gutter else (46 + swarm, 30 + swarm // 2)
    pitch, head = pitch or usual, 24 if sides else 0
    places, y = [], head + top - pitch
    for row in rows:
        y += pitch + row.gap
        places.append((row, y))
    plan = _Plan(
        domain=domain, inner=width - left - EDGE, gutter=gutter, swarm=swarm, places=tuple(places)
    )
    layers = [
        plane([{"x": domain[0], "y": 0}])
        .mark_point(opacity=0)
        .encode(x=along(domain, width=plan.inner), y=down())
    ]
    if math.isfinite(base):
        line = plane(
            [{"x": base, "y": head and head - 8, "to": _tall(plan, pitch, top)}]
        ).mark_rule(color=colour("ink"), strokeWidth=1.4)
        layers.append(line.encode(x=along(domain), y=down(), y2="to:Q"))
        layers += _sides(plan, base, sides or ("", ""))
    if math.isfinite(reference):
        line = plane([{"x": reference, "y": head, "to": _tall(plan, pitch, top)}])
        rule = line.mark_rule(color=colour("soft"), strokeDash=[3, 3], strokeWidth=1.2)
        layers.append(rule.encode(x=along(domain), y=down(), y2="to:Q"))
    layers += [*_clouds(plan), *_spans(plan), *_values(plan), *_texts(plan)]
    return finished(layers, width, _tall(plan, pitch, top), left)


def _tall(plan: _Plan, pitch: int, top: int) -> int:
    """Pixels from the top to the axis."""
    return (plan.places[-1][1] + max(pitch, 24) - top if plan.places else 0) + (
        4 if plan.gutter else 0
    )


def _sides(plan: _Plan, base: float, sides: tuple[str, str]) -> list[Any]:
    """The words for left and right, beside the line where they fit there, else at the ends."""
    middle = (base - plan.domain[0]) / (plan.domain[1] - plan.domain[0]) * plan.inner
    start = min(middle + 10, plan.inner - width_of(sides[1]))
    left = [
        {
            "px": max(min(middle - 10, start - 14), width_of(sides[0]) - plan.gutter + 4),
            "y": 8,
            "text": sides[0],
        }
    ]
    right = [{"px": start, "y": 8, "text": sides[1]}]
    return [words(left, align="right", tone="soft"), words(right, tone="soft")]


def _swarm(values: Sequence[float], y: float, scale: float, room: int) -> list[dict[str, float]]:
    """Dots that share a place are stacked around the line; many of them in up to three columns side by side, and closer."""
    places = [round(v * scale / DOT) for v in values]
    most = max(Counter(places).values(), default=1)
    columns = min(3, math.ceil(most * DOT / max(room, DOT)))
    step = min(DOT, (room - DOT) / max(math.ceil(most / columns) - 1, 1))
    seen: Counter[int] = Counter()
    found = []
    for value, place in sorted(zip(values, places, strict=True)):
        turn, column = divmod(seen[place], columns)
        seen[place] += 1
        aside = (
            (column + 1) // 2 * (1 if column % 2 else -1)
            if columns > 2
            else column - (columns - 1) / 2
        )
        found.append(
            {
                "x": value + aside * DOT / scale,
                "y": y + (turn + 1) // 2 * (1 if turn % 2 else -1) * step,
            }
        )
    return found
