"""How are scores drawn along a ladder? Small panels: a line through the means, a light dot for every seed, and where fair is."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from evenhand.meta.climb import Climb
from evenhand.report.canvas import EDGE, down, plane, shortened, words
from evenhand.report.ladder_marks import across, draw_key, rules, spots, stack
from evenhand.report.scatter import SERIES, SHAPES
from evenhand.report.svg import colour

LEFT, HEAD, GAP, AXIS, ROW = (
    40,
    44,
    30,
    24,
    14,
)  # pixels: left of the panels, above one, between two, for the numbers below, between two rows


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One score along one ladder, in the colour and shape of its place."""

    place: int
    climb: Climb


@dataclass(frozen=True, slots=True, kw_only=True)
class LinePanel:
    """A title, what stands under it, lines on one scale, and the fair value of that scale (NaN: none)."""

    title: str
    under: str
    lines: tuple[Line, ...]
    domain: tuple[float, float]
    fair: float = math.nan


def ticks(domain: tuple[float, float], count: int = 3) -> list[float]:
    """A few round numbers inside a domain."""
    span = domain[1] - domain[0]
    rough = span / max(count - 1, 1)
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(base * m for m in (1, 2, 2.5, 5, 10) if base * m >= rough * 0.999)
    first = math.ceil(domain[0] / step - 1e-9)
    return [
        round(k * step, 12) + 0.0 for k in range(first, math.floor(domain[1] / step + 1e-9) + 1)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a panel lies, and how its values become pixels; x goes from 0 to 1."""

    left: float
    top: float
    wide: float
    tall: float
    domain: tuple[float, float]

    def px(self, value: float) -> float:
        return self.left + value * self.wide

    def py(self, value: float) -> float:
        low, high = self.domain
        return self.top + (high - min(max(value, low), high)) / (high - low) * self.tall


class _Sheet:
    """Everything that is drawn, kind by kind: one layer a kind for all panels together is ten times as fast as one a panel."""

    def __init__(self) -> None:
        self.rows: defaultdict[tuple[str, int], list[dict[str, Any]]] = defaultdict(list)

    def add(self, kind: str, *rows: dict[str, Any], place: int = 0) -> None:
        self.rows[kind, place] += rows

    def frame(self, panel: LinePanel, at: _Place, has_labels: bool) -> None:
        """Grid, numbers, the fair value, the titles."""
        right, floor = at.left + at.wide, at.top + at.tall
        below, beside = (0.0, 0.5, 1.0), ticks(panel.domain)
        self.add(
            "grid", *({"px": at.px(t), "to": at.px(t), "y": at.top, "end": floor} for t in below)
        )
        self.add(
            "grid", *({"px": at.left, "to": right, "y": at.py(t), "end": at.py(t)} for t in beside)
        )
        self.add("below", *({"px": at.px(t), "y": floor + 12, "text": f"{t:g}"} for t in below))
        if has_labels:
            self.add(
                "beside", *({"px": at.left - 6, "y": at.py(t), "text": f"{t:g}"} for t in beside)
            )
        if panel.domain[0] <= panel.fair <= panel.domain[1]:
            self.add(
                "fair",
                {"px": at.left, "to": right, "y": at.py(panel.fair), "end": at.py(panel.fair)},
            )
        self.add(
            "title", {"px": at.left, "y": at.top - 30, "text": shortened(panel.title, at.wide + 6)}
        )
        self.add(
            "under", {"px": at.left, "y": at.top - 12, "text": shortened(panel.under, at.wide + 6)}
        )

    def lines(self, panel: LinePanel, at: _Place, number: int) -> None:
        """The means, and the seeds where there are several."""
        for line in panel.lines:
            climb = line.climb
            means = [
                (x, float(y))
                for x, y in zip(climb.steps, climb.means, strict=True)
                if np.isfinite(y)
            ]
            self.add(
                "mean",
                *({"px": at.px(x), "y": at.py(y), "panel": number} for x, y in means),
                place=line.place,
            )
            seeds = [
                (x, y)
                for row in climb.values
                for x, y in zip(climb.steps, row, strict=True)
                if np.isfinite(y)
            ]
            if len(climb.seeds) > 1:
                self.add(
                    "seed", *({"px": at.px(x), "y": at.py(y)} for x, y in seeds), place=line.place
                )

    def layers(self, size: int) -> list[Any]:
        """From the back to the front."""
        rows = self.rows
        found = [rules(rows["grid", 0], "line", 1)]
        if rows["fair", 0]:
            found.append(rules(rows["fair", 0], "soft", 1.4, strokeDash=[3, 3]))
        places = sorted(
            {place for kind, place in rows if kind == "mean"}, reverse=True
        )  # the first series lies on top
        for place in places:
            tone, shape = colour(SERIES[place % len(SERIES)]), SHAPES[place % len(SHAPES)]
            if seeds := rows["seed", place]:
                found.append(
                    plane(seeds)
                    .mark_point(shape=shape, filled=True, size=size // 2, color=tone, opacity=0.35)
                    .encode(x=across(), y=down())
                )
            means = plane(rows["mean", place])
            found.append(
                means.mark_line(color=tone, strokeWidth=2).encode(
                    x=across(), y=down(), order=alt.Order("px:Q"), detail=alt.Detail("panel:N")
                )
            )
            found.append(spots(rows["mean", place], f"series-{place}", size))
        found += [words(rows["title", 0], weight="bold"), words(rows["under", 0], tone="soft")]
        found.append(words(rows["below", 0], align="center", tone="soft", is_clear=False))
        return [*found, words(rows["beside", 0], align="right", tone="soft", is_clear=False)]


def line_panels(
    found: Sequence[LinePanel],
    *,
    width: int,
    columns: int,
    entries: Sequence[tuple[str, str]],
    tall: float = 0.72,
    is_shared: bool = False,
) -> Any:
    """The panels in rows of so many, x from 0 to 1. entries: of the key below. tall: height over width. is_shared: one y axis for a row."""
    columns = min(columns, len(found))
    inner = width - LEFT - EDGE
    gap = GAP if is_shared else GAP + LEFT - 16
    wide = (inner - gap * (columns - 1)) / columns
    step = HEAD + wide * tall + AXIS + ROW
    sheet = _Sheet()
    for number, panel in enumerate(found):
        row, column = divmod(number, columns)
        place = _Place(
            left=column * (wide + gap),
            top=row * step + HEAD,
            wide=wide,
            tall=wide * tall,
            domain=panel.domain,
        )
        sheet.frame(panel, place, has_labels=column == 0 or not is_shared)
        sheet.lines(panel, place, number)
    layers = sheet.layers(60 if wide > 250 else 30)
    marks, height = draw_key(entries, width=inner, top=math.ceil(len(found) / columns) * step)
    return stack([*layers, *marks], width=inner, height=height, left=LEFT, foot=2)
