"""How are shares of a whole drawn? As stacked bars, the parts that count in full colour with a frame, the others pale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.canvas import EDGE, along, down, finished, plane, shortened, width_of, words
from evenhand.report.svg import colour


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
    frame = (
        plane([{"x": 0, "y": 0}])
        .mark_point(opacity=0)
        .encode(x=along((0.0, 1.0), width=inner, is_percent=True), y=down())
    )
    layers = [frame]
    pieces: list[dict[str, Any]] = []
    for i, bar in enumerate(bars):
        start = 0.0
        for name, share, is_counted in bar.parts:
            if math.isfinite(share) and share > 0:
                y = 28 + i * pitch
                tone = name if name in {"entailment", "neutral", "contradiction"} else "neutral"
                pieces.append(
                    {
                        "x": start,
                        "to": start + share,
                        "y": y,
                        "low": y + tall,
                        "tone": tone,
                        "counted": is_counted,
                        "name": name,
                    }
                )
                start += share
    for is_counted in (False, True):
        for tone in ("entailment", "neutral", "contradiction"):
            if shown := [p for p in pieces if p["tone"] == tone and p["counted"] == is_counted]:
                mark = plane(shown).mark_rect(
                    color=colour(tone),
                    fillOpacity=1.0 if is_counted else 0.3,
                    stroke=colour("ink" if is_counted else "paper"),
                    strokeWidth=1.6 if is_counted else 1,
                )
                layers.append(mark.encode(x=along((0.0, 1.0)), x2="to:Q", y=down(), y2="low:Q"))
    for is_counted in (False, True):
        texts = [
            {"px": (p["x"] + p["to"]) / 2 * inner, "y": p["y"] + tall / 2, "text": text}
            for p in pieces
            if p["counted"] == is_counted and (text := _caption(p["name"], p["to"] - p["x"], inner))
        ]
        if texts:
            layers.append(
                words(
                    texts,
                    align="center",
                    tone="on" if is_counted else "ink",
                    weight="bold" if is_counted else "normal",
                    is_clear=False,
                )
            )
    heads = [
        {
            "px": -EDGE,
            "y": 14 + i * pitch,
            "text": shortened(b.label, inner - width_of(b.note) - 12),
        }
        for i, b in enumerate(bars)
    ]
    ends = [{"px": inner + EDGE, "y": 14 + i * pitch, "text": b.note} for i, b in enumerate(bars)]
    layers += [words(heads), words(ends, align="right", tone="soft")]
    return finished(layers, width, pitch * len(bars), EDGE)


def _caption(name: str, share: float, inner: float) -> str:
    """The longest caption that a piece has room for."""
    figure = f"{share * 100:.0f} %"
    fitting = (
        t
        for t in (f"{name} {figure}", f"{name[0].upper()} {figure}", figure)
        if width_of(t) + 10 <= share * inner
    )
    return next(fitting, "")
