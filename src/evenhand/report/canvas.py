"""What is every chart drawn on? An Altair plane with places in pixels, so that no font can move its layout."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any

import altair as alt

from evenhand.report.svg import FONT, colour

SIZE = 13  # pixels of a letter
EDGE = 8  # room for half a mark or half a number at both ends
FOOT = 26  # room for the numbers of the axis


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


def spanning(values: Iterable[float], *, low: float = -math.inf) -> tuple[float, float]:
    """An axis for data without bounds: from the least to the greatest value with a little room, 0 always on it, nothing below a finite `low`."""
    known = [v for v in values if math.isfinite(v)]
    least, most = min([0.0, *known]), max([0.0, *known])
    room = (most - least or 1.0) * 0.04
    return (low if math.isfinite(low) else least - room if least < 0 else -room), most + room


def plane(values: list[dict[str, Any]]) -> Any:
    """A chart of these rows, no mark yet."""
    return alt.Chart(alt.InlineData(values=values))


def along(
    domain: tuple[float, float], field: str = "x", *, width: int = 0, is_percent: bool = False
) -> Any:
    """To the right by the value; with a `width` (pixels) also the axis."""
    scale = alt.Scale(domain=list(domain), nice=False, zero=False, clamp=True)
    if not width:
        return alt.X(f"{field}:Q", scale=scale)
    axis = alt.Axis(
        title=None,
        tickCount=5 if width > 400 else 4,
        domain=False,
        ticks=False,
        labelPadding=8,
        gridColor=colour("line"),
        labelColor=colour("soft"),
        labelFontSize=SIZE - 1,
        labelFlush=is_percent,
        labelBound=False,
        labelOverlap=False,
        labelExpr="format(datum.value * 100, 'd') + ' %'"
        if is_percent
        else "format(datum.value, '~g')",
    )
    return alt.X(f"{field}:Q", scale=scale, axis=axis)


def down(field: str = "y") -> Any:
    """Down by so many pixels."""
    return alt.Y(f"{field}:Q", scale=None, axis=None)


def words(
    rows: list[dict[str, Any]],
    *,
    align: str = "left",
    tone: str = "ink",
    weight: str = "normal",
    is_clear: bool = True,
) -> Any:
    """Texts at pixels (px, y); a clear one has a rim of paper that keeps grid lines off (the style sheet paints it first)."""
    rim = {"stroke": colour("paper"), "strokeWidth": 4} if is_clear else {}
    mark = plane(rows).mark_text(
        align=align, baseline="middle", fontSize=SIZE, color=colour(tone), fontWeight=weight, **rim
    )
    return mark.encode(x=alt.X("px:Q", scale=None, axis=None), y=down(), text="text:N")


def finished(layers: list[Any], width: int, tall: int, left: int) -> Any:
    """The layers as one chart of a fixed size."""
    inner = width - left - EDGE
    return (
        alt.layer(*layers)
        .properties(
            width=inner,
            height=tall,
            autosize=alt.AutoSizeParams(type="none"),
            padding={"left": left, "right": EDGE, "top": 2, "bottom": FOOT},
        )
        .configure(font=FONT, background="transparent", aria=False)
        .configure_view(stroke=None)
    )
