"""How are many points of several series drawn side by side? A panel each: shaded cells for how many, marks for the mean above each place on the x axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from evenhand.core.estimate import Interval
from evenhand.report.canvas import EDGE, SIZE, down, plane, shortened, words
from evenhand.report.svg import FONT, colour

LEFT, HEAD, GAP, AXIS = (
    34,
    44,
    28,
    26,
)  # pixels left of the panels, above one, between two, below one
SHADES = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One series: two lines of title, cells (x from, x to, y from, y to, weight up to 1) and means (x, mean with interval)."""

    title: str
    under: str
    cells: tuple[tuple[float, float, float, float, float], ...]
    means: tuple[tuple[float, Interval], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a panel lies, and how its values become pixels."""

    left: float
    top: float
    wide: float
    tall: float
    x: tuple[float, float]
    y: tuple[float, float]

    def px(self, value: float) -> float:
        return (
            self.left
            + (min(max(value, self.x[0]), self.x[1]) - self.x[0])
            / (self.x[1] - self.x[0])
            * self.wide
        )

    def py(self, value: float) -> float:
        return (
            self.top
            + (self.y[1] - min(max(value, self.y[0]), self.y[1]))
            / (self.y[1] - self.y[0])
            * self.tall
        )


def _x(field: str = "px") -> Any:
    return alt.X(f"{field}:Q", scale=None, axis=None)


def _lines(rows: list[dict[str, float]], tone: str, stroke: float) -> Any:
    return (
        plane(rows)
        .mark_rule(color=colour(tone), strokeWidth=stroke)
        .encode(x=_x(), x2="to:Q", y=down(), y2="end:Q")
    )


def _frame(
    place: _Place, ticks: tuple[Sequence[float], Sequence[float]], has_labels: bool
) -> list[Any]:
    """Grid, zero lines and numbers."""
    right, floor = place.left + place.wide, place.top + place.tall
    grid = [
        {"px": place.px(t), "to": place.px(t), "y": place.top, "end": floor} for t in ticks[0] if t
    ]
    grid += [
        {"px": place.left, "to": right, "y": place.py(t), "end": place.py(t)} for t in ticks[1] if t
    ]
    layers = [_lines(grid, "line", 1)]
    layers.append(
        words(
            [{"px": place.px(t), "y": floor + 12, "text": f"{t:g}"} for t in ticks[0]],
            align="center",
            tone="soft",
            is_clear=False,
        )
    )
    if has_labels:
        layers.append(
            words(
                [{"px": place.left - 8, "y": place.py(t), "text": f"{t:g}"} for t in ticks[1]],
                align="right",
                tone="soft",
                is_clear=False,
            )
        )
    return layers


def _inside(panel: Panel, place: _Place) -> list[Any]:
    layers = []
    for shade in range(1, SHADES + 1):
        rows = [
            {"px": place.px(a), "to": place.px(b), "y": place.py(d), "end": place.py(c)}
            for a, b, c, d, weight in panel.cells
            if math.ceil(weight * SHADES) == shade
        ]
        if rows:
            mark = plane(rows).mark_rect(
                color=colour("entailment"), opacity=0.08 + 0.72 * (shade - 1) / (SHADES - 1)
            )
            layers.append(mark.encode(x=_x(), x2="to:Q", y=down(), y2="end:Q"))
    zero = [
        {"px": place.px(0), "to": place.px(0), "y": place.top, "end": place.top + place.tall},
        {"px": place.left, "to": place.left + place.wide, "y": place.py(0), "end": place.py(0)},
    ]
    layers.append(_lines(zero, "ink", 1))
    spans = [
        {"px": place.px(x), "to": place.px(x), "y": place.py(m.low), "end": place.py(m.high)}
        for x, m in panel.means
        if math.isfinite(m.low)
    ]
    if spans:
        layers += [_lines(spans, "paper", 5), _lines(spans, "ink", 2)]
    dots = [{"px": place.px(x), "y": place.py(m.value)} for x, m in panel.means]
    mark = plane(dots).mark_point(
        shape="diamond",
        size=34,
        filled=False,
        fill=colour("model"),
        stroke=colour("paper"),
        strokeWidth=1,
    )
    return [*layers, mark.encode(x=_x(), y=down())]


def panels(
    found: Sequence[Panel],
    *,
    width: int,
    columns: int,
    x: tuple[float, float],
    y: tuple[float, float],
    ticks: tuple[Sequence[float], Sequence[float]],
    titles: tuple[str, str],
) -> Any:
    """The panels in rows of so many; `titles` of the x and y axis stand once, below and above all."""
    inner = width - LEFT - EDGE
    wide = (inner - GAP * (columns - 1)) / columns
    tall = wide * (0.95 if columns > 1 else 0.66)
    step = HEAD + tall + AXIS
    layers: list[Any] = [words([{"px": -LEFT, "y": 8, "text": titles[1]}], tone="soft")]
    for number, panel in enumerate(found):
        row, column = divmod(number, columns)
        place = _Place(
            left=column * (wide + GAP), top=22 + row * step + HEAD, wide=wide, tall=tall, x=x, y=y
        )
        layers += _frame(place, ticks, has_labels=column == 0)
        layers += _inside(panel, place)
        layers.append(
            words(
                [{"px": place.left, "y": place.top - 30, "text": shortened(panel.title, wide)}],
                weight="bold",
            )
        )
        layers.append(words([{"px": place.left, "y": place.top - 12, "text": panel.under}]))
    rows = math.ceil(len(found) / columns)
    layers.append(
        words(
            [{"px": inner / 2, "y": 22 + rows * step + SIZE - 4, "text": titles[0]}],
            align="center",
            tone="soft",
        )
    )
    return (
        alt.layer(*layers)
        .properties(
            width=inner,
            height=22 + rows * step,
            autosize=alt.AutoSizeParams(type="none"),
            padding={"left": LEFT, "right": EDGE, "top": 2, "bottom": SIZE + 8},
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )
