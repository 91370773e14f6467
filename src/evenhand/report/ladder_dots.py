"""How is a ranking of measures drawn? A row each: the correlation with its interval, and beside it how far errors and seeds move the score."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.meta.ranking import FOUND, MOVED, Standing
from evenhand.report.canvas import EDGE, shortened, width_of, words
from evenhand.report.ladder import suites_of, title
from evenhand.report.ladder_marks import draw_key, rules, spots, stack
from evenhand.report.numbers import number, with_bounds
from evenhand.report.picture import NARROW, Figure, make_figure

TOP, FOOT = 46, 24  # pixels above the first row, and for the numbers below the last
PLACE = 24  # pixels of the column of ranks
MARK_OF = {"leak": "whole", "noise": "random"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Axis:
    """From where to where, in pixels and in values; what lies beyond is drawn at the end."""

    left: float
    right: float
    domain: tuple[float, float]

    def px(self, value: float) -> float:
        low, high = self.domain
        return self.left + (min(max(value, low), high) - low) / (high - low) * (
            self.right - self.left
        )


def _upright(
    axis: _Axis, values: Iterable[float], bands: Sequence[tuple[float, float]]
) -> list[dict[str, float]]:
    """Lines at these values, from top to bottom of every band."""
    return [
        {"px": axis.px(v), "to": axis.px(v), "y": top, "end": end}
        for v in values
        for top, end in bands
    ]


def _grid(
    axis: _Axis, marks: dict[float, str], bands: Sequence[tuple[float, float]], floor: float
) -> list[Any]:
    numbers = [{"px": axis.px(t), "y": floor + 12, "text": text} for t, text in marks.items()]
    return [
        rules(_upright(axis, marks, bands), "line", 1),
        words(numbers, align="center", tone="soft", is_clear=False),
    ]


def _labels(
    standings: Sequence[Standing], places: Sequence[float], room: float, is_narrow: bool
) -> list[Any]:
    """Names at the left, the suite under them where there are several; in a narrow picture both above their row."""
    has_suites = len(suites_of(standings)) > 1
    names: list[dict[str, Any]] = []
    under: list[dict[str, Any]] = []
    ranks = []
    for s, y in zip(standings, places, strict=True):
        line = y - 18 if is_narrow else y - 8 if has_suites else y
        ranks.append({"px": PLACE - 8, "y": line, "text": str(s.rank)})
        text = shortened(title(s.measure), room - PLACE)
        names.append({"px": PLACE, "y": line, "text": text})
        taken = PLACE + width_of(text) + 24 if is_narrow else PLACE
        if has_suites and room - taken > 60:
            under.append(
                {
                    "px": taken,
                    "y": line if is_narrow else y + 8,
                    "text": shortened(s.suite, room - taken),
                }
            )
    return [
        words(ranks, align="right", tone="soft"),
        words(names),
        *([words(under, tone="soft")] if under else []),
    ]


def _chart(standings: Sequence[Standing], width: int) -> Any:
    is_narrow = width == NARROW
    inner = width - 2 * EDGE
    pitch = 50 if is_narrow else 38 if len(suites_of(standings)) > 1 else 26
    gutter = 0.0 if is_narrow else 262.0
    split = gutter + (inner - gutter) * 0.62
    first, second = (
        _Axis(left=gutter, right=split - 22, domain=(-1, 1)),
        _Axis(left=split + 12, right=inner - 6, domain=(0, 1)),
    )
    places = [TOP + (22 if is_narrow else 6) + pitch * i for i in range(len(standings))]
    floor = places[-1] + (14 if is_narrow else 16)
    bands = (
        [(y - 11.0, y + 11.0) for y in places] if is_narrow else [(TOP - 10.0, floor)]
    )  # in a narrow picture the labels stand between them
    layers = _grid(first, {-1: "-1", -0.5: "-0.5", 0: "0", 0.5: "0.5", 1: "1"}, bands, floor)
    layers += _grid(second, {0: "0", 0.5: "0.5", 1: "1+"}, bands, floor)
    limits = [*_upright(first, (-FOUND, FOUND), bands), *_upright(second, (MOVED,), bands)]
    layers += [
        rules(limits, "soft", 1.2, strokeDash=[3, 3]),
        rules(_upright(first, (0.0,), bands), "ink", 1.2),
    ]
    heads = (
        ("Pearson's r", "against bias")
        if is_narrow
        else ("Pearson's r with the bias rate", "moved, against bias")
    )
    layers.append(
        words(
            [
                {"px": first.left, "y": 10, "text": heads[0]},
                {"px": second.left, "y": 10, "text": heads[1]},
            ],
            tone="soft",
        )
    )
    rows = list(zip(standings, places, strict=True))
    known = [(s, y) for s, y in rows if math.isfinite(s.pearson.value)]
    spans = [
        {
            "px": first.px(s.pearson.interval.low),
            "to": first.px(s.pearson.interval.high),
            "y": y,
            "end": y,
        }
        for s, y in known
        if math.isfinite(s.pearson.interval.low)
    ]
    if spans:
        layers.append(rules(spans, "ink", 2))
    if known:
        layers.append(
            spots([{"px": first.px(s.pearson.value), "y": y} for s, y in known], "model", 80)
        )
    if without := [
        {"px": first.px(0) + 8, "y": y, "text": _why(s)}
        for s, y in rows
        if not math.isfinite(s.pearson.value)
    ]:
        layers.append(words(without, tone="soft"))
    for name, mark in MARK_OF.items():
        ratios = [(getattr(s, f"{name}_ratio"), y) for s, y in rows]
        if known_ratios := [{"px": second.px(v), "y": y} for v, y in ratios if not math.isnan(v)]:
            layers.append(spots(known_ratios, mark, 70))
    layers += _labels(standings, places, gutter - 14 if gutter else inner, is_narrow)
    marks, height = draw_key(_entries(standings), width=inner, top=floor + FOOT)
    return stack([*layers, *marks], width=inner, height=height, left=EDGE, foot=2)


def _entries(standings: Sequence[Standing]) -> list[tuple[str, str]]:
    found = [("model", "correlation, with interval")]
    found += (
        [("whole", "moved by mere errors, over by bias")]
        if any(not math.isnan(s.leak_ratio) for s in standings)
        else []
    )
    found += (
        [("random", "spread over seeds, over moved by bias")]
        if any(not math.isnan(s.noise_ratio) for s in standings)
        else []
    )
    return [*found, ("reference", f"found from {FOUND:g} on; moved from a third on")]


def _why(standing: Standing) -> str:
    return "constant score" if standing.signal == 0 else "no correlation"


def ranking(standings: Sequence[Standing]) -> Figure:
    """All measures, best first."""
    told = "; ".join(
        f"{s.rank} {title(s.measure)} on {s.suite}: Pearson {with_bounds(s.pearson.interval)}, errors against bias {number(s.leak_ratio)}, "
        f"seeds against bias {number(s.noise_ratio)}"
        for s in standings
    )
    return make_figure("ranking", "Measures, best first", told, lambda w: _chart(standings, w))
