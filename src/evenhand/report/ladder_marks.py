"""What are the pictures of a ladder drawn with? Marks, rules and a key at places in pixels, so that a picture can be shown without its page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from evenhand.report.canvas import EDGE, SIZE, down, plane, width_of, words
from evenhand.report.dots import MARKS
from evenhand.report.scatter import SERIES, SHAPES
from evenhand.report.svg import FONT, colour


def across(field: str = "px") -> Any:
    """To the right by so many pixels."""
    return alt.X(f"{field}:Q", scale=None, axis=None)


def rules(rows: list[dict[str, float]], tone: str, stroke: float, **settings: Any) -> Any:
    """Straight lines from (px, y) to (to, end)."""
    return (
        plane(rows)
        .mark_rule(color=colour(tone), strokeWidth=stroke, **settings)
        .encode(x=across(), x2=alt.X2("to:Q"), y=down(), y2=alt.Y2("end:Q"))
    )


def draw_key(
    entries: Sequence[tuple[str, str]], *, width: float, top: float
) -> tuple[list[Any], float]:
    """What the marks mean, in the picture itself, so that it can be shown alone; and where it ends."""
    layers: list[Any] = []
    texts, x, y = [], 0.0, top + SIZE
    for mark, text in entries:
        wide = 22 + width_of(text)
        if x and x + wide > width:
            x, y = 0.0, y + 20
        layers.append(_sign(mark, x + 8, y))
        texts.append({"px": x + 20, "y": y, "text": text})
        x += wide + 16
    return [*layers, words(texts, tone="soft")], y + SIZE


def _sign(mark: str, x: float, y: float) -> Any:
    if mark in ("fair", "reference"):
        reach = (0, 7) if mark == "reference" else (8, 0)
        return rules(
            [{"px": x - reach[0], "to": x + reach[0], "y": y - reach[1], "end": y + reach[1]}],
            "soft",
            1.4,
            strokeDash=[3, 3],
        )
    return spots([{"px": x, "y": y}], mark, 70)


def spots(rows: list[dict[str, float]], mark: str, size: int) -> Any:
    """Marks at pixels (px, y): `series-0` and so on, or a mark of `dots`."""
    name, _, place = mark.partition("-")
    tone, shape, is_filled = (
        (SERIES[int(place) % len(SERIES)], SHAPES[int(place) % len(SHAPES)], True)
        if name == "series"
        else MARKS[mark]
    )
    fill, stroke = (colour(tone), colour("paper")) if is_filled else (colour("paper"), colour(tone))
    drawn = plane(rows).mark_point(
        shape=shape,
        size=size,
        filled=False,
        fill=fill,
        stroke=stroke,
        strokeWidth=1 if is_filled else 1.8,
        opacity=1,
    )
    return drawn.encode(x=across(), y=down())


def stack(layers: list[Any], *, width: float, height: float, left: int, foot: int) -> Any:
    """The layers as one chart of a fixed size, places in pixels."""
    return (
        alt.layer(*layers)
        .properties(
            width=width,
            height=height,
            autosize=alt.AutoSizeParams(type="none"),
            padding={"left": left, "right": EDGE, "top": 2, "bottom": foot},
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )
