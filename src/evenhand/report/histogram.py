"""How are many values around 0 drawn? As bars, female to the left, male to the right, and what lies about 0 apart."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.probe import Floats
from evenhand.report.canvas import EDGE, along, down, finished, plane, words
from evenhand.report.svg import colour

STEP = 0.2  # width of a bar, so that the middle one holds |x| < 0.1
REACH = (1.1, 6.1)  # the axis goes at least, and with narrow bars at most, so far
TOP, TALL = 34, 150  # pixels above the bars and of the bars


class Bar(NamedTuple):
    """From, to, and the shares of all values that lie in it, by side."""

    low: float
    high: float
    female: float
    near: float
    male: float


def bars_of(values: Floats, near: float) -> list[Bar]:
    """Bars of equal width around 0 that hold all values; the outermost two also what lies beyond them (at most one value in a hundred)."""
    reach = (
        max(float(np.quantile(np.abs(values), 0.99)), REACH[0] - STEP / 2)
        if len(values)
        else REACH[0]
    )
    factor = 1
    while reach > REACH[1] * factor:
        factor += 2  # an odd multiple keeps the ends of the middle bar on ends of narrow ones
    step = STEP * factor
    count = math.ceil(round(reach / step - 0.5, 9))
    places = np.clip(np.rint(values / step).astype(np.int64), -count, count)
    sides = (values <= -near, np.abs(values) < near, values >= near)
    found = []
    for place in range(-count, count + 1):
        shares = [float(np.sum((places == place) & side)) / max(len(values), 1) for side in sides]
        found.append(Bar((place - 0.5) * step, (place + 0.5) * step, *shares))
    return found


def histogram(bars: list[Bar], heads: tuple[str, str, str], *, width: int) -> Any:
    """The bars with a line at 0 and the words (left, middle, right) above them."""
    inner = width - 2 * EDGE
    domain = (bars[0].low, bars[-1].high)
    most = max((b.female + b.near + b.male for b in bars), default=0.0) or 1.0
    layers = [
        plane([{"x": domain[0], "y": 0}])
        .mark_point(opacity=0)
        .encode(x=along(domain, width=inner), y=down())
    ]
    ticks = _ticks(most)
    lines = [{"x": domain[0], "to": domain[1], "y": TOP + TALL * (1 - t / most)} for t in ticks]
    layers.append(
        plane(lines).mark_rule(color=colour("line")).encode(x=along(domain), x2="to:Q", y=down())
    )
    pieces: dict[str, list[dict[str, float]]] = {"female": [], "none": [], "male": []}
    for bar in bars:
        floor = float(TOP + TALL)
        for side, share in zip(pieces, (bar.female, bar.near, bar.male), strict=True):
            if share > 0:
                pieces[side].append(
                    {"x": bar.low, "to": bar.high, "y": floor, "roof": floor - TALL * share / most}
                )
                floor -= TALL * share / most
    for side, rows in pieces.items():
        if rows:
            mark = plane(rows).mark_rect(color=colour(side), stroke=colour("paper"), strokeWidth=1)
            layers.append(mark.encode(x=along(domain), x2="to:Q", y=down(), y2="roof:Q"))
    zero = plane([{"x": 0.0, "y": TOP - 12, "to": TOP + TALL}]).mark_rule(
        color=colour("ink"), strokeWidth=1.4
    )
    layers.append(zero.encode(x=along(domain), y=down(), y2="to:Q"))
    layers.append(
        words(
            [
                {"px": -EDGE, "y": line["y"] - 8, "text": f"{t * 100:g} %"}
                for t, line in zip(ticks, lines, strict=True)
            ],
            tone="soft",
        )
    )
    for text, at, align in zip(
        heads, (-EDGE, inner / 2, inner + EDGE), ("left", "center", "right"), strict=True
    ):
        layers.append(words([{"px": at, "y": 10, "text": text}], align=align))
    return finished(layers, width, TOP + TALL, EDGE)


def _ticks(most: float) -> list[float]:
    """One to three round shares below the highest bar."""
    step = next(
        (s for s in (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5) if most / s < 4), 0.5
    )
    return [round(step * i, 6) for i in range(1, 4) if step * i <= most]
