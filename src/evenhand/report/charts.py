"""How are the numbers drawn? Rows of values with intervals, swarms of groups, stacked shares: Altair charts whose layout no font can move."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from evenhand.core.records import Interval
from evenhand.report.svg import FONT, colour

SIZE = 13  # pixels of a letter
EDGE = 8  # room for half a mark or half a number at both ends
FOOT = 26  # room for the numbers of the axis
# mark -> colour, shape, is it filled: no two differ by colour alone
MARKS: dict[str, tuple[str, str, bool]] = {
    "model": ("model", "diamond", True),
    "random": ("soft", "circle", False),
    "constant": ("soft", "square", False),
    "fair": ("ink", "M0,-1.1L0,1.1", False),
    "female": ("female", "circle", True),
    "male": ("male", "square", True),
    "none": ("none", "triangle-up", False),
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


def width_of(text: str) -> float:
    """About how many pixels wide is a text? East Asian letters are square."""
    return sum(SIZE * (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.55) for c in text)


def shortened(text: str, pixels: float) -> str:
    """The text, cut with an ellipsis where it would not fit."""
    if width_of(text) <= pixels:
        return text
    while text and width_of(text) > pixels - SIZE:
        text = text[:-1]
    return text.rstrip() + "…"


def _plane(values: list[dict[str, Any]]) -> Any:
    return alt.Chart(alt.InlineData(values=values))


def _at(domain: tuple[float, float], field: str = "x", *, width: int = 0) -> Any:
    scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    if not width:
        return alt.X(f"{field}:Q", scale=scale)
    axis = alt.Axis(
        title=None, tickCount=5 if width > 400 else 4, domain=False, ticks=False, labelPadding=8, gridColor=colour("line"),
        labelColor=colour("soft"), labelFontSize=SIZE - 1, labelFlush=False, labelBound=False, format="~g", labelOverlap=False,
    )  # fmt: skip
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def _height(field: str = "y") -> Any:
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def _words(rows: list[dict[str, Any]], *, align: str = "left", tone: str = "ink", weight: str = "normal") -> Any:
    """Texts at pixels (px, y)."""
    mark = _plane(rows).mark_text(align=align, baseline="middle", fontSize=SIZE, color=colour(tone), fontWeight=weight)
    return mark.encode(x=alt.X("px:Q", scale=None, axis=None), y=_height(), text="text:N")


def _points(rows: list[dict[str, Any]], mark: str, domain: tuple[float, float], *, size: int, opacity: float = 1.0) -> Any:
    tone, shape, is_filled = MARKS[mark]
    fill = colour(tone) if is_filled else colour("paper")
    drawn = _plane(rows).mark_point(
        shape=shape, size=size, filled=False, fill=fill, stroke=colour("paper" if is_filled else tone), strokeWidth=1 if is_filled else 1.8, opacity=opacity
    )
    return drawn.encode(x=_at(domain), y=_height())


def _finished(layers: list[Any], width: int, height: int, left: int) -> Any:
    inner = width - left - EDGE
    return (
        alt.layer(*layers)
        .properties(
            width=inner, height=height, autosize=alt.AutoSizeParams(type="none"), padding={"left": left, "right": EDGE, "top": 2, "bottom": FOOT}
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )


def dots(
    rows: Sequence[Row], *, width: int, domain: tuple[float, float] = (0.0, 1.0), gutter: int = 0, reference: float = math.nan, swarm: int = 0
) -> Any:
    """Values with intervals, one below the other.

    gutter: pixels for the labels at the left; 0 puts them above their line. reference: a value to compare all with. swarm: pixels for the dots of a row.
    """
    left = gutter or EDGE
    inner = width - left - EDGE
    pitch, top = (24, 12) if gutter else (46 + swarm, 30 + swarm // 2)
    height = pitch * len(rows) + (4 if gutter else 0)
    at = {id(row): top + i * pitch for i, row in enumerate(rows)}
    known = [r for r in rows if math.isfinite(r.interval.value)]
    frame = _plane([{"x": domain[0], "y": 0}]).mark_point(opacity=0).encode(x=_at(domain, width=inner), y=_height())
    layers = [frame]
    if math.isfinite(reference):
        rule = _plane([{"x": reference}]).mark_rule(color=colour("soft"), strokeDash=[3, 3], strokeWidth=1.2)
        layers.append(rule.encode(x=_at(domain)))
    for mark in MARKS:
        cloud = [spot for r in known if r.mark == mark for spot in _swarm(r.dots, at[id(r)], inner / (domain[1] - domain[0]), swarm)]
        if cloud:
            layers.append(_points(cloud, mark, domain, size=34, opacity=0.6))
    spans = [{"x": r.interval.low, "to": r.interval.high, "y": at[id(r)], "mark": r.mark} for r in known if math.isfinite(r.interval.low)]
    for mark in dict.fromkeys(s["mark"] for s in spans):
        tone = "ink" if swarm else MARKS[mark][0]
        rule = _plane([s for s in spans if s["mark"] == mark]).mark_rule(strokeWidth=3 if not gutter else 2, strokeCap="round", color=colour(tone))
        layers.append(rule.encode(x=_at(domain), x2="to:Q", y=_height()))
    for mark in MARKS:
        shown = [{"x": r.interval.value, "y": at[id(r)]} for r in known if r.mark == mark]
        beside = [{"x": x, "y": at[id(r)]} for r in rows for x, kind in r.others if kind == mark and math.isfinite(x)]
        if shown:
            layers.append(_points(shown, "model" if swarm else mark, domain, size=130 if not gutter else 64))
        if beside:
            layers.append(_points(beside, mark, domain, size=110 if mark != "fair" else 200))
    above = 0 if gutter else -(20 + swarm // 2)
    room = gutter - 14 if gutter else inner
    labels = [
        {"px": -10 if gutter else 0, "y": at[id(r)] + above, "text": shortened(r.label, room - (width_of(r.note) + 12 if r.note and not gutter else 0))}
        for r in rows
    ]
    layers.append(_words(labels, align="right" if gutter else "left"))
    if noted := [{"px": inner, "y": at[id(r)] + above, "text": r.note} for r in rows if r.note]:
        layers.append(_words(noted, align="right", tone="soft"))
    return _finished(layers, width, height, left)


def _swarm(values: Sequence[float], y: float, scale: float, room: int) -> list[dict[str, float]]:
    """Dots that share a place are stacked around the line, closer where they are many."""
    places = [round(v * scale / 7) for v in values]
    most = max(Counter(places).values(), default=1)
    step = min(7.0, (room - 7) / max(most - 1, 1))
    seen: Counter[int] = Counter()
    found = []
    for value, place in sorted(zip(values, places, strict=True)):
        turn = seen[place]
        seen[place] += 1
        offset = (turn + 1) // 2 * (1 if turn % 2 else -1)
        found.append({"x": value, "y": y + offset * step})
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """One stacked bar: words and the parts (name, share, does it count) from left to right."""

    label: str
    note: str
    parts: tuple[tuple[str, float, bool], ...]


def stacks(bars: Sequence[Stack], *, width: int) -> Any:
    """Shares of a whole, the parts that count in full colour with a frame, the others pale."""
    inner = width - 2 * EDGE
    pitch, tall = 62, 28
    frame = _plane([{"x": 0, "y": 0}]).mark_point(opacity=0).encode(x=_at((0.0, 1.0), width=inner), y=_height())
    layers = [frame]
    pieces: list[dict[str, Any]] = []
    for i, bar in enumerate(bars):
        start = 0.0
        for name, share, is_counted in bar.parts:
            if math.isfinite(share) and share > 0:
                y = 28 + i * pitch
                tone = name if name in {"entailment", "neutral", "contradiction"} else "neutral"
                pieces.append({"x": start, "to": start + share, "y": y, "low": y + tall, "tone": tone, "counted": is_counted, "name": name})
                start += share
    for is_counted in (False, True):
        for tone in ("entailment", "neutral", "contradiction"):
            if shown := [p for p in pieces if p["tone"] == tone and p["counted"] == is_counted]:
                mark = _plane(shown).mark_rect(
                    color=colour(tone), fillOpacity=1.0 if is_counted else 0.3, stroke=colour("ink" if is_counted else "paper"),
                    strokeWidth=1.6 if is_counted else 1,
                )  # fmt: skip
                layers.append(mark.encode(x=_at((0.0, 1.0)), x2="to:Q", y=_height(), y2="low:Q"))
    for is_counted in (False, True):
        texts = [
            {"px": (p["x"] + p["to"]) / 2 * inner, "y": p["y"] + tall / 2, "text": text}
            for p in pieces
            if p["counted"] == is_counted and (text := _caption(p["name"], p["to"] - p["x"], inner))
        ]
        if texts:
            layers.append(_words(texts, align="center", tone="on" if is_counted else "ink", weight="bold" if is_counted else "normal"))
    heads = [{"px": 0, "y": 14 + i * pitch, "text": shortened(b.label, inner - width_of(b.note) - 12)} for i, b in enumerate(bars)]
    ends = [{"px": inner, "y": 14 + i * pitch, "text": b.note} for i, b in enumerate(bars)]
    layers += [_words(heads), _words(ends, align="right", tone="soft")]
    return _finished(layers, width, pitch * len(bars), EDGE)


def _caption(name: str, share: float, inner: float) -> str:
    """The longest caption that a piece has room for."""
    figure = f"{share * 100:.0f} %"
    fitting = (t for t in (f"{name} {figure}", f"{name[0].upper()} {figure}", figure) if width_of(t) + 10 <= share * inner)
    return next(fitting, "")
