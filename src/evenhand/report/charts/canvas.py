"""What all charts are drawn with: SVG elements, scales, marks and their legend signs.

Colours are CSS variables with a fallback, so that one drawing serves light, dark and print.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from evenhand.report.cells import printable

WIDE, NARROW = 720, 340  # pixels of the two pictures of a chart
SIZE = 13  # font size in pixels
EDGE = 8  # room at both ends for half a mark or half a number
FOOT = 26  # room below for the numbers of an axis
FONT = (
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', "
    "'Noto Sans CJK JP', 'Noto Sans CJK SC', sans-serif"
)
COLOURS = {  # name of the variable -> its value where no style sheet defines it
    "ink": "#1d1f24",
    "soft": "#5d626d",
    "line": "#dfe1e6",
    "paper": "#ffffff",
    "model": "#1d1f24",
    "entailment": "#2166a5",
    "neutral": "#9aa0aa",
    "contradiction": "#b8540e",
    "female": "#7544a8",
    "male": "#0b7f6b",
    "none": "#7d838e",
    "on": "#ffffff",
}
SHAPES = {  # outlines about two units wide around 0
    "circle": "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z",
    "square": "M-.9 -.9H.9V.9H-.9Z",
    "diamond": "M0 -1.2L1.2 0L0 1.2L-1.2 0Z",
    "triangle": "M0 -1.1L1.1 .9H-1.1Z",
    "cross": "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "bar": "M0 -1.5V1.5",
}
Place = tuple[float, float]  # pixels to the right, pixels down
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True, slots=True)
class Mark:
    """How a mark looks."""

    colour: str
    shape: str
    is_filled: bool = True


MARKS = {  # no two differ by colour alone
    "model": Mark("model", "diamond"),
    "random": Mark("soft", "circle", False),
    "constant": Mark("soft", "square", False),
    "fair": Mark("ink", "bar", False),
    "female": Mark("female", "circle"),
    "male": Mark("male", "square"),
    "none": Mark("none", "triangle", False),
    "first": Mark("model", "diamond"),
    "second": Mark("entailment", "circle"),
    "third": Mark("contradiction", "square"),
}
SERIES = (
    Mark("entailment", "circle"),
    Mark("contradiction", "square"),
    Mark("male", "triangle"),
    Mark("female", "diamond"),
    Mark("none", "cross"),
)


def look_of(mark: str) -> Mark:
    """How a mark looks: one of MARKS, `series-N`, else that of `model`."""
    name, _, place = mark.partition("-")
    if name == "series" and place.isdigit():
        return SERIES[int(place) % len(SERIES)]
    return MARKS.get(mark, MARKS["model"])


def paint(colour: str) -> str:
    """The CSS variable of a colour, with its fallback."""
    return f"var(--{colour}, {COLOURS[colour]})"


def fill_of(mark: str) -> str:
    """The colour of an area with this mark: a colour by its name, else that of the mark."""
    return mark if mark in COLOURS else look_of(mark).colour


def width_of(text: str, size: float = SIZE) -> float:
    """The approximate width of a text in pixels; East Asian characters are square."""
    return sum(size * (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.55) for c in text)


def overlap(a: Box, b: Box) -> bool:
    """Whether two boxes have an area in common."""
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def shortened(text: str, pixels: float) -> str:
    """The text, cut with an ellipsis where it would not fit."""
    if width_of(text) <= pixels:
        return text
    while text and width_of(text) > pixels - SIZE:
        text = text[:-1]
    return text.rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Scale:
    """A mapping of values to pixels; values beyond the domain are drawn at its end."""

    domain: tuple[float, float]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The pixel of a value."""
        low, high = self.domain
        share = (min(max(value, low), high) - low) / ((high - low) or 1.0)
        return self.start + share * (self.end - self.start)


def ticks(domain: tuple[float, float], count: int = 3) -> list[float]:
    """A few round numbers inside a domain."""
    rough = (domain[1] - domain[0]) / max(count - 1, 1)
    if not (math.isfinite(rough) and rough > 0):
        return []
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(base * m for m in (1, 2, 2.5, 5, 10) if base * m >= rough * 0.75)
    first = math.ceil(domain[0] / step - 1e-9)
    last = math.floor(domain[1] / step + 1e-9)
    return [round(k * step, 12) + 0.0 for k in range(first, last + 1)]


def tick_text(value: float, *, is_percent: bool = False) -> str:
    """A number of an axis: `0.5`, or `50 %`."""
    return f"{value * 100:g} %" if is_percent else f"{value:g}"


def number_room(domain: tuple[float, float], count: int = 5, *, is_percent: bool = False) -> float:
    """The width of the numbers to the left of a vertical axis, in pixels."""
    texts = (tick_text(value, is_percent=is_percent) for value in ticks(domain, count))
    return max((width_of(text, SIZE - 1) for text in texts), default=0.0) + 10


def room_about(values: Iterable[float], share: float = 0.08) -> tuple[float, float]:
    """A domain that holds all finite values, with some space at both ends."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * share
    return low - room, high + room


@dataclass(frozen=True, slots=True, kw_only=True)
class TextStyle:
    """How a text is set; a rim in the colour of the paper separates it from lines behind it."""

    colour: str = "ink"
    size: float = SIZE
    is_bold: bool = False
    has_rim: bool = True


INK, SOFT, HEAVY = TextStyle(), TextStyle(colour="soft"), TextStyle(is_bold=True)
NUMBERS = TextStyle(colour="soft", size=SIZE - 1, has_rim=False)  # of an axis


class Canvas:
    """A picture that is drawn element by element."""

    def __init__(self, width: float) -> None:
        self.width = width
        self.parts: list[str] = []

    def rule(
        self, start: Place, end: Place, *, colour: str = "line", stroke: float = 1, dash: str = ""
    ) -> None:
        """A straight line."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<path d="M{_n(start[0])} {_n(start[1])}L{_n(end[0])} {_n(end[1])}" fill="none" '
            f'stroke="{paint(colour)}" stroke-width="{_n(stroke)}" '
            f'stroke-linecap="{"butt" if dash else "round"}"{dashes}/>'
        )

    def curve(self, places: Sequence[Place], *, colour: str, stroke: float = 2) -> None:
        """A line through places."""
        points = "L".join(f"{_n(x)} {_n(y)}" for x, y in places)
        self.parts.append(
            f'<path d="M{points}" fill="none" stroke="{paint(colour)}" '
            f'stroke-width="{_n(stroke)}" stroke-linejoin="round" stroke-linecap="round"/>'
        )

    def box(
        self,
        corner: Place,
        size: tuple[float, float],
        *,
        colour: str = "",
        opacity: float = 1,
        frame: str = "",
        stroke: float = 1,
    ) -> None:
        """A rectangle with its upper left corner; no colour: only its frame."""
        filled = f'fill="{paint(colour)}"' if colour else 'fill="none"'
        if opacity < 1:
            filled += f' fill-opacity="{_n(opacity)}"'
        framed = f' stroke="{paint(frame)}" stroke-width="{_n(stroke)}"' if frame else ""
        self.parts.append(
            f'<rect x="{_n(corner[0])}" y="{_n(corner[1])}" width="{_n(max(size[0], 0))}" '
            f'height="{_n(max(size[1], 0))}" {filled}{framed}/>'
        )

    def mark(
        self, place: Place, look: str | Mark, radius: float, *, opacity: float = 1, hover: str = ""
    ) -> None:
        """A mark; `hover` is shown under the pointer."""
        self.parts.append(outline(place, look, radius, opacity=opacity, hover=hover))

    def text(
        self, place: Place, text: str, style: TextStyle = INK, *, anchor: str = "start"
    ) -> None:
        """A text whose middle line is at the place."""
        extra = f' text-anchor="{anchor}"' if anchor != "start" else ""
        extra += f' font-size="{_n(style.size)}"' if style.size != SIZE else ""
        extra += ' font-weight="bold"' if style.is_bold else ""
        extra += f' stroke="{paint("paper")}" stroke-width="4"' if style.has_rim else ""
        self.parts.append(
            f'<text x="{_n(place[0])}" y="{_n(place[1] + style.size * 0.35)}" '
            f'fill="{paint(style.colour)}"{extra}>{_escaped(text)}</text>'
        )

    def x_axis(
        self, scale: Scale, top: float, floor: float, *, count: int = 5, is_percent: bool = False
    ) -> None:
        """Lines from top to floor at round values, and the values below them."""
        for value in ticks(scale.domain, count):
            x, text = scale(value), tick_text(value, is_percent=is_percent)
            self.rule((x, top), (x, floor))
            half = width_of(text, SIZE - 1) / 2
            middle = min(max(x, half), self.width - half)
            self.text((middle, floor + 14), text, NUMBERS, anchor="middle")

    def y_axis(
        self, scale: Scale, left: float, right: float, *, count: int = 5, is_percent: bool = False
    ) -> None:
        """Lines from left to right at round values, and the values at their left."""
        for value in ticks(scale.domain, count):
            y = scale(value)
            self.rule((left, y), (right, y))
            text = tick_text(value, is_percent=is_percent)
            self.text((left - 8, y), text, NUMBERS, anchor="end")

    def y_grid(self, scale: Scale, left: float, right: float, *, count: int = 5) -> None:
        """The lines of a y axis without its values."""
        for value in ticks(scale.domain, count):
            self.rule((left, scale(value)), (right, scale(value)))

    def svg(self, height: float, title: str, description: str) -> str:
        """The picture as an SVG element, with title and description for screen readers."""
        kind = "wide" if self.width > NARROW else "narrow"
        return (
            f'<svg class="{kind}" viewBox="0 0 {_n(self.width)} {math.ceil(height)}" '
            f'width="{_n(self.width)}" role="img" aria-label="{_escaped(title)}" '
            f'font-size="{SIZE}"><title>{_escaped(title)}</title>'
            f"<desc>{_escaped(description)}</desc>{''.join(self.parts)}</svg>"
        )


def _escaped(text: str) -> str:
    return escape(printable(text))


def _n(value: float) -> str:
    """A length, rounded to hundredths of a pixel."""
    return f"{round(value, 2) + 0.0:g}"


def outline(
    place: Place, look: str | Mark, radius: float, *, opacity: float = 1, hover: str = ""
) -> str:
    """A mark as an SVG element."""
    shown = look_of(look) if isinstance(look, str) else look
    inside, rim, stroke = shown.colour, "paper", 1.0
    if not shown.is_filled:
        inside, rim, stroke = "paper", shown.colour, 1.8
    extra = f' opacity="{_n(opacity)}"' if opacity < 1 else ""
    named = f"<title>{_escaped(hover)}</title>" if hover else ""
    return (
        f'<path d="{SHAPES[shown.shape]}" '
        f'transform="translate({_n(place[0])} {_n(place[1])}) scale({_n(radius)})" '
        f'fill="{paint(inside)}" stroke="{paint(rim)}" '
        f'stroke-width="{stroke / radius:.2f}"{extra}>{named}</path>'
    )


SIGN_WIDTH = 18  # pixels of a sign of a legend


def sign(mark: str) -> str:
    """What stands for a mark in a legend: SVG elements in a box of 18 x 14."""
    if mark in _SIGNS:
        return _SIGNS[mark]
    if mark.startswith("bar-"):
        return f'<path d="M4 1H14V13H4Z" fill="{paint(fill_of(mark[4:]))}"/>'
    if mark in MARKS or mark.startswith("series-"):
        return outline((9, 7), mark, 5)
    colour = mark if mark in COLOURS else "neutral"
    return f'<path d="M1 1H17V13H1Z" fill="{paint(colour)}"/>'


def _line(d: str, colour: str, stroke: float, dash: str = "") -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (
        f'<path d="{d}" fill="none" stroke="{paint(colour)}" stroke-width="{_n(stroke)}"{dashes}/>'
    )


def _shade(left: int, right: int, opacity: float) -> str:
    fill = f'fill="{paint("entailment")}" fill-opacity="{_n(opacity)}"'
    return f'<path d="M{left} 1H{right}V13H{left}Z" {fill}/>'


_SIGNS = {
    "model": _line("M1 7H17", "model", 2.5) + outline((9, 7), "model", 4.5),
    "fair": _line("M9 0V14", "ink", 2),
    "level": _line("M0 7H18", "soft", 1.4, "3 3"),  # a fair value on a vertical axis
    "reference": _line("M9 0V14", "soft", 1.4, "3 3"),
    "counted": _line("M1.5 1.5H16.5V12.5H1.5Z", "ink", 1.8),
    "plain": _line("M5 7H13", "soft", 1.8, "2 2"),
    "density": _shade(1, 6, 0.2) + _shade(6, 12, 0.5) + _shade(12, 17, 1),
    "mean": _line("M9 0V14", "model", 2) + outline((9, 7), "model", 3.5),
    "zero": _line("M9 0V14M2 7H16", "ink", 1.2),
    "boundary": _line("M1 7H17", "ink", 1.6, "6 4"),
    "cluster": (
        f'<rect x="1" y="1" width="16" height="12" rx="6" fill="{paint("soft")}" '
        'fill-opacity="0.2"/>'
    ),
}
