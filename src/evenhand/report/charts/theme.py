"""How charts look: one set of colours, shapes, fonts and sizes for all of them.

Colours are CSS variables with a fallback, so that one drawing serves light, dark and print.
"""

from __future__ import annotations

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import altair as alt

from evenhand.core.estimate import Interval
from evenhand.core.text import number, with_bounds
from evenhand.report.cells import printable

WIDE, NARROW = 720, 340  # pixels of the two pictures of a chart
SIZE = 13  # font size in pixels
SMALL = 11.5  # font size of names beside marks
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
SHAPES = {  # SVG paths about two units wide around 0
    "circle": "M-1 0A1 1 0 1 0 1 0A1 1 0 1 0 -1 0Z",
    "square": "M-.9 -.9H.9V.9H-.9Z",
    "diamond": "M0 -1.2L1.2 0L0 1.2L-1.2 0Z",
    "triangle": "M0 -1.1L1.1 .9H-1.1Z",
    "cross": "M-.4 -1.1H.4V-.4H1.1V.4H.4V1.1H-.4V.4H-1.1V-.4H-.4Z",
    "bar": "M0 -1.5V1.5",
}
Values = dict[str, Any]  # one row of the data of a chart


@dataclass(frozen=True, slots=True)
class Mark:
    """How a mark looks."""

    colour: str
    shape: str
    is_filled: bool = True


MARKS = {  # no two that stand together differ by colour alone
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


def word_look(mark: str) -> Mark:
    """How a word in a plane looks: a gender, `KIND-LEAN` or a kind without a lean."""
    _, is_leaning, lean = mark.partition("-")
    if is_leaning:
        return Mark(lean if lean in ("male", "female") else "none", "circle", False)
    if mark in ("male", "female"):
        return Mark(mark, "square" if mark == "male" else "diamond")
    return Mark("contradiction", "triangle")


def paint(colour: str) -> str:
    """The CSS variable of a colour, with its fallback."""
    return f"var(--{colour}, {COLOURS[colour]})"


def fill_of(mark: str) -> str:
    """The colour of an area with this mark: a colour by its name, else that of the mark."""
    return mark if mark in COLOURS else look_of(mark).colour


CONFIG: Values = {
    "background": "transparent",
    "font": "sans-serif",  # pages and pictures name their own; each further one costs time
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "domain": False,
        "ticks": False,
        "grid": True,
        "gridColor": paint("line"),
        "labelColor": paint("soft"),
        "labelFontSize": SIZE - 1,
        "labelPadding": 6,
        "labelOverlap": "greedy",
        "titleColor": paint("soft"),
        "titleFontSize": SIZE - 1,
        "titleFontWeight": "normal",
        "titlePadding": 8,
    },
    "title": {
        "aria": False,
        "anchor": "start",
        "frame": "group",
        "color": paint("ink"),
        "fontSize": SIZE,
        "fontWeight": "bold",
        "subtitleColor": paint("soft"),
        "subtitleFontSize": SIZE - 1,
        "subtitlePadding": 4,
        "offset": 8,
    },
    "text": {"fontSize": SIZE, "fill": paint("ink"), "color": paint("ink")},
    "rule": {"color": paint("line")},
    "legend": {
        "aria": False,
        "orient": "bottom",
        "title": None,
        "labelColor": paint("soft"),
        "labelFontSize": SIZE - 1,
        "labelLimit": WIDE - 40,
        "symbolSize": 80,
        "symbolOpacity": 1,
        "labelOffset": 8,
        "columnPadding": 18,
        "offset": 12,
    },
}


def area(radius: float) -> float:
    """The size by which Vega draws a shape of SHAPES with this radius in pixels."""
    return 4 * radius**2


def marked(marks: Iterable[str], look: Callable[[str], Mark] = look_of) -> Values:
    """The encodings that give each mark its shape, inside and rim, in the order of the theme."""
    names = in_order(marks)
    looks = [look(name) for name in names]
    fills = [paint(one.colour if one.is_filled else "paper") for one in looks]
    rims = [paint("paper" if one.is_filled else one.colour) for one in looks]
    shapes = [SHAPES[one.shape] for one in looks]
    return {
        "shape": alt.Shape("mark:N", legend=None, scale=_scale(names, shapes)),
        "fill": alt.Fill("mark:N", legend=None, scale=_scale(names, fills)),
        "stroke": alt.Stroke("mark:N", legend=None, scale=_scale(names, rims)),
    }


def coloured(marks: Iterable[str], look: Callable[[str], Mark] = look_of) -> alt.Color:
    """The encoding that gives each line the colour of its mark."""
    names = in_order(marks)
    colours = [paint(look(name).colour) for name in names]
    return colours_of("mark:N", names, colours)


def colours_of(field: str, names: Sequence[str], colours: Sequence[str]) -> alt.Color:
    """The encoding that gives each of the names its colour."""
    return alt.Color(field, legend=None, scale=_scale(names, colours))


def _scale(domain: Sequence[str], values: Sequence[str]) -> alt.Scale:
    return alt.Scale(domain=list(domain), range=list(values))


def numeric(domain: Sequence[float]) -> alt.Scale:
    """The scale of numbers from end to end of the domain."""
    return alt.Scale(domain=list(domain), nice=False, zero=False)


def bands(places: Sequence[str], **how: Any) -> alt.Scale:
    """The scale of places side by side, each as wide as any other."""
    return alt.Scale(type="band", domain=list(places) or ["0"], **how)


def in_order(marks: Iterable[str]) -> list[str]:
    """The marks once each, in the order of the theme; others after them, by name."""
    known = list(MARKS)
    return sorted(set(marks), key=lambda m: (known.index(m) if m in known else len(known), m))


def about(label: str, interval: Interval, **more: object) -> Values:
    """What a mark says under the pointer, and to a screen reader."""
    text = with_bounds(interval)
    return {
        "label": label,
        "value": number(interval.value),
        "interval": text.partition(" ")[2],
        "about": f"{label}: {text}" if label else text,
        **more,
    }


TOLD = (
    alt.Tooltip("label:N", title="name"),
    alt.Tooltip("value:N", title="value"),
    alt.Tooltip("interval:N", title="interval"),
)
ABOUT = alt.Description("about:N")


_UNDRAWABLE = re.compile("[\ufffe\uffff]")  # beside control characters; XML has no form for them


def safe(value: Any) -> Any:
    """The same with every text printable, keys too."""
    if isinstance(value, str):
        return _UNDRAWABLE.sub("\ufffd", printable(value))
    if isinstance(value, dict):
        return {safe(key): safe(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [safe(item) for item in value]
    return value


def label_expression(labels: Sequence[str]) -> str:
    """The expression by which an axis of the places `0`, `1` ... shows these labels.

    Made safe here, because an escaped character in an expression becomes itself again.
    """
    return f"{json.dumps(safe(labels), ensure_ascii=False)}[datum.value]"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of data that go into a specification as they are: altair asks for `to_dict`."""

    _schema: ClassVar[Values] = {"type": "array"}
    rows: list[Values]

    def to_dict(self) -> list[Values]:
        """The rows themselves."""
        return self.rows


@dataclass(frozen=True, slots=True)
class Layer:
    """One kind of mark for rows of data; altair's own `Chart` copies them in every step."""

    rows: Sequence[Values]
    mark: alt.MarkDef

    def encode(self, **encoding: Any) -> alt.UnitSpec:
        """The layer with what its rows become: places, colours, texts."""
        values = alt.InlineData(values=_Rows(list(self.rows)))
        return alt.UnitSpec(data=values, mark=self.mark, encoding=alt.FacetedEncoding(**encoding))


def layer(rows: Sequence[Values], kind: str, **style: Any) -> Layer:
    """A layer of marks of a kind of Vega-Lite, such as `point`, that look like this."""
    return Layer(rows, alt.MarkDef(type=kind, **style))


def layered(*layers: alt.UnitSpec, **how: Any) -> alt.TopLevelLayerSpec:
    """The layers one upon the other as a chart that is as wide as it says with its axes."""
    fit = alt.AutoSizeParams(type="fit-x", contains="padding")
    return alt.TopLevelLayerSpec(layer=list(layers), autosize=fit, **how)


def nothing(rows: Sequence[Values], **encoding: Any) -> alt.UnitSpec:
    """A layer that draws nothing, so that its axes are there whatever else is."""
    return layer(rows, "point", opacity=0, color=paint("paper"), aria=False).encode(**encoding)


def texts(rows: Sequence[Values], *, has_rim: bool = True, **how: Any) -> Layer:
    """A layer of texts; a rim in the colour of the paper separates them from lines behind them."""
    rim = {"stroke": paint("paper"), "strokeWidth": 3} if has_rim else {}
    return layer(rows, "text", aria=False, **{"fill": paint("ink"), **rim, **how})


def percents() -> Values:
    """How an axis of shares prints its numbers: `20 %`."""
    return {"labelExpr": "format(100 * datum.value, '.3~g') + ' %'"}


def room_about(values: Iterable[float], share: float = 0.08) -> tuple[float, float]:
    """A domain that holds all finite values, with some space at both ends."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    room = (high - low or abs(high) or 1.0) * share
    return low - room, high + room


def proper(domain: tuple[float, float]) -> list[float]:
    """The domain of a scale; one without extent is widened."""
    low, high = domain
    return [low, high] if high > low else [low - 0.5, low + 0.5]


def held(value: float, domain: Sequence[float]) -> float:
    """The value; one beyond the axis is drawn at its end."""
    return min(max(value, domain[0]), domain[1])


def width_of(text: str, size: float = SIZE) -> float:
    """The approximate width of a text in pixels; East Asian characters are square."""
    return sum(size * (1.0 if unicodedata.east_asian_width(c) in "WF" else 0.55) for c in text)


def shortened(text: str, pixels: float, size: float = SIZE) -> str:
    """The text, cut with an ellipsis where it would not fit."""
    if width_of(text, size) <= pixels:
        return text
    while text and width_of(text, size) > pixels - size:
        text = text[:-1]
    return text.rstrip() + "…"


def wrapped(text: str, pixels: float, size: float = SIZE) -> list[str]:
    """The text in lines that fit; a single word that does not is cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= pixels:
            lines[-1] += f" {word}"
        else:
            lines.append(shortened(word, pixels, size))
    return lines or [""]


def axis_title(text: str, pixels: float) -> list[str]:
    """The title of an axis in lines that fit; broken after a comma where that suffices."""
    size = SIZE - 1
    parts = re.split("(?<=,) ", text)
    if any(width_of(part, size) > pixels for part in parts):
        return wrapped(text, pixels, size)
    lines = parts[:1]
    for part in parts[1:]:
        if width_of(f"{lines[-1]} {part}", size) <= pixels:
            lines[-1] += f" {part}"
        else:
            lines.append(part)
    return lines


@dataclass(frozen=True, slots=True, kw_only=True)
class Sign:
    """What stands for a mark in a legend: a path around 0, and how it is painted."""

    path: str
    fill: str = ""  # a name of COLOURS; empty: none
    stroke: str = ""
    dash: tuple[int, ...] = ()
    opacity: float = 1.0


_UPRIGHT, _LEVEL, _BOX = "M0 -1.5V1.5", "M-1.8 0H1.8", "M-1.6 -1.2H1.6V1.2H-1.6Z"
_SIGNS = {
    "model": Sign(path="M-1.8 0H1.8M0 -1.2L1.2 0L0 1.2L-1.2 0Z", fill="model", stroke="model"),
    "fair": Sign(path=_UPRIGHT, stroke="ink"),
    "level": Sign(path=_LEVEL, stroke="soft", dash=(3, 3)),  # a fair value on a vertical axis
    "reference": Sign(path=_UPRIGHT, stroke="soft", dash=(3, 3)),
    "counted": Sign(path=_BOX, stroke="ink"),
    "plain": Sign(path="M-.8 0H.8", stroke="soft", dash=(2, 2)),
    "density": Sign(path=_BOX, fill="entailment", opacity=0.5),
    "mean": Sign(path="M0 -1.5V1.5M0 -.8L.8 0L0 .8L-.8 0Z", fill="model", stroke="model"),
    "zero": Sign(path="M0 -1.5V1.5M-1.5 0H1.5", stroke="ink"),
    "boundary": Sign(path=_LEVEL, stroke="ink", dash=(4, 3)),
    "cluster": Sign(
        path="M-1 -1.2H1A1.2 1.2 0 0 1 1 1.2H-1A1.2 1.2 0 0 1 -1 -1.2Z", fill="soft", opacity=0.25
    ),
}


def sign_of(mark: str, look: Callable[[str], Mark] | None = None) -> Sign:
    """What stands for a mark in a legend; `look` knows marks of a special kind of chart."""
    if mark in ("boundary", "cluster") or (look is None and mark in _SIGNS):
        return _SIGNS[mark]
    if look is None and mark.startswith("bar-"):
        return Sign(path="M-1 -1.3H1V1.3H-1Z", fill=fill_of(mark[4:]))
    if look is None and mark not in MARKS and not mark.startswith("series-"):
        return Sign(path=_BOX, fill=mark if mark in COLOURS else "neutral")
    shown = (look or look_of)(mark)
    if not shown.is_filled:
        return Sign(path=SHAPES[shown.shape], stroke=shown.colour)
    return Sign(path=SHAPES[shown.shape], fill=shown.colour)


def sign_svg(sign: Sign) -> str:
    """A sign as an SVG element in a box of 18 x 14."""
    fill = paint(sign.fill) if sign.fill else "none"
    stroke = f' stroke="{paint(sign.stroke)}" stroke-width="1.7"' if sign.stroke else ""
    dash = f' stroke-dasharray="{" ".join(map(str, sign.dash))}"' if sign.dash else ""
    opacity = f' opacity="{sign.opacity:g}"' if sign.opacity < 1 else ""
    return (
        f'<path d="{sign.path}" transform="translate(9 7) scale(4.6)" fill="{fill}"{stroke}{dash}'
        f'{opacity} vector-effect="non-scaling-stroke"/>'
    )
