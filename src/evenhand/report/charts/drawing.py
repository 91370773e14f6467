"""A chart as a Vega-Lite specification, and that drawn to SVG by vl-convert."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Any

import altair as alt
from altair.utils.schemapi import debug_mode

from evenhand.core.chart import (
    Chart,
    DensityChart,
    DotChart,
    GridChart,
    HistogramChart,
    LineChart,
    PlaneChart,
    ScatterChart,
    ShareChart,
)
from evenhand.core.errors import EvenhandError
from evenhand.report.charts.dots import draw_dots
from evenhand.report.charts.histogram import draw_histogram
from evenhand.report.charts.panels import draw_density, draw_grid, draw_lines
from evenhand.report.charts.plane import draw_plane
from evenhand.report.charts.scatter import draw_scatter
from evenhand.report.charts.shares import draw_shares
from evenhand.report.charts.theme import (
    CONFIG,
    NARROW,
    SIZE,
    WIDE,
    Sign,
    Values,
    layer,
    paint,
    safe,
    sign_of,
    width_of,
    word_look,
)

DRAWERS: dict[type[Chart], Callable[[Any, int], Any]] = {
    DotChart: draw_dots,
    ShareChart: draw_shares,
    HistogramChart: draw_histogram,
    ScatterChart: draw_scatter,
    LineChart: draw_lines,
    DensityChart: draw_density,
    GridChart: draw_grid,
    PlaneChart: draw_plane,
}
SIGNAL = "series"  # of a specification: the series that stands out
PALE = 0.15  # how much is left of the opacity of the others
_HEAD = re.compile(r"^<svg [^>]*>")
_SIZE = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_TOLD = re.compile(
    r'<(\w+) aria-label="([^"]*)" role="graphics-symbol" aria-roledescription="[^"]*"([^>]*?)/>'
)
_CLIP = re.compile(r'(?<=id="clip)\d+|(?<=url\(#clip)\d+')
_NAMED = re.compile(r'(?<=id="clip)(?=-)|(?<=url\(#clip)(?=-)')
_UNUSED = re.compile(
    r' (?:class|aria-hidden|aria-label|aria-roledescription|role|pointer-events)="[^"]*"'
    r'|<path d="M0,0h0v0h0Z"/>|<path d="" display="none"/>'
)


def spec_of(chart: Chart, width: int = WIDE) -> Values:
    """The Vega-Lite specification of a chart of this width (WIDE or NARROW), without its legend.

    Every text in it is printable, because a control character ends the process that draws it.
    Raises EvenhandError for a kind of chart that is not known here.
    """
    for kind, drawer in DRAWERS.items():
        if isinstance(chart, kind):
            with debug_mode(False):  # tests validate; here it costs a third of the time
                return _highlighting(_finished(drawer(chart, width), chart.title), chart)
    raise EvenhandError(
        f"{type(chart).__name__} is not a known kind of chart; use one of "
        f"{', '.join(kind.__name__ for kind in DRAWERS)}"
    )


def _finished(drawn: Any, title: str) -> Values:
    """The specification with the theme, printable."""
    spec: Values = drawn.to_dict(validate=False)
    spec["config"] = CONFIG
    spec["description"] = title
    spec.pop("$schema", None)
    return dict(safe(spec))


def _units(spec: Values) -> Iterator[Values]:
    """Every layer of the specification."""
    parts = [*spec.get("layer", ()), *spec.get("concat", ())]
    for part in parts:
        yield from _units(part)
    if not parts:
        yield spec


def _series_rows(unit: Values) -> list[str]:
    """The series of each row of a layer, where it has any."""
    rows = unit.get("data", {}).get("values", ())
    return [row.get("mark") or row["part"] for row in rows if "mark" in row or "part" in row]


def series_of(chart: Chart, spec: Values) -> dict[str, str]:
    """Which marks of the legend stand for a series that can be highlighted, and its name there.

    Empty where there are not several.
    """
    known = {name for unit in _units(spec) for name in _series_rows(unit)}
    names = {mark: mark.removeprefix("bar-") for mark, _ in chart.legend}
    several = {mark: name for mark, name in names.items() if name in known}
    return several if len(several) > 1 else {}


def _highlighting(spec: Values, chart: Chart) -> Values:
    """The specification with a signal that names one series: all others turn pale.

    As drawn, it names none.
    """
    if not series_of(chart, spec):
        return spec
    spec["params"] = [{"name": SIGNAL, "value": ""}]
    own = f"datum.mark === {SIGNAL} || datum.part === {SIGNAL} || datum.mark === 'fit ' + {SIGNAL}"
    for unit in _units(spec):
        if _series_rows(unit):
            shown = unit["mark"].pop("opacity", 1)
            condition = {"test": f"{SIGNAL} === '' || {own}", "value": shown}
            unit["encoding"]["opacity"] = {"condition": condition, "value": shown * PALE}
    return spec


def to_svg(spec: Values) -> tuple[str, float, float]:
    """What an SVG element of the specification holds, its width and its height.

    Names of clips carry a digest of the drawing, because a page has many drawings.
    """
    import vl_convert

    text = vl_convert.vegalite_to_svg(spec)
    size = _SIZE.search(text)
    if size is None:
        raise EvenhandError(f"the chart '{spec.get('description', '')}' was drawn without a size")
    body = _HEAD.sub("", text).removesuffix("</svg>")
    numbers = {name: i for i, name in enumerate(dict.fromkeys(_CLIP.findall(body)))}
    body = _CLIP.sub(lambda clip: f"-{numbers[clip[0]]}", body)  # Vega counts on, call by call
    own = hashlib.sha256(body.encode()).hexdigest()[:10]
    body = _NAMED.sub(f"-{own}", body)
    body = _TOLD.sub(r"<\1\3><title>\2</title></\1>", body)  # shown under the pointer, no script
    return _UNUSED.sub("", body), float(size[1]), float(size[2])


def draw(chart: Chart, width: int = WIDE, spec: Values | None = None) -> str:
    """The chart as an SVG element of this width (WIDE or NARROW), without its legend.

    spec: its specification, where that is already known.
    """
    body, wide, tall = to_svg(spec if spec is not None else spec_of(chart, width))
    kind = "wide" if width > NARROW else "narrow"
    title, words = (escape(safe(text)) for text in (chart.title, chart.description))
    return (
        f'<svg class="{kind}" viewBox="0 0 {wide:g} {tall:g}" width="{wide:g}" '
        f'style="max-width:{wide:g}px" role="img" '
        f'aria-label="{title}"><title>{title}</title><desc>{words}</desc>{body}</svg>'
    )


def signs(chart: Chart) -> list[tuple[Sign, str]]:
    """The legend: the sign of each mark, and its meaning."""
    return [(_sign(chart, mark), meaning) for mark, meaning in chart.legend]


def _sign(chart: Chart, mark: str) -> Sign:
    if isinstance(chart, LineChart) and mark == "fair":
        return sign_of("level")
    if isinstance(chart, PlaneChart) and mark != "model":
        return sign_of(mark, word_look)
    return sign_of(mark)


def key_of(chart: Chart, width: int = WIDE) -> Values | None:
    """The specification of the legend of a chart, for a picture that stands alone.

    None where the chart has no legend.
    """
    entries = signs(chart)
    if not entries:
        return None
    names = [meaning for _, meaning in entries]
    longest = max(map(width_of, names))
    columns = max(min(int(width / (longest + 40)), len(names)), 1)
    own = [sign for sign, _ in entries]
    legend = alt.Legend(columns=columns, symbolStrokeWidth=1.7, clipHeight=SIZE + 5)
    ranges: dict[Any, Sequence[Any]] = {
        alt.Shape: [sign.path for sign in own],
        alt.Fill: [paint(sign.fill) if sign.fill else "transparent" for sign in own],
        alt.Stroke: [paint(sign.stroke) if sign.stroke else "transparent" for sign in own],
        alt.StrokeDash: [list(sign.dash) or [1, 0] for sign in own],
        alt.Opacity: [sign.opacity for sign in own],
    }
    encoded = {
        f"{kind.__name__[0].lower()}{kind.__name__[1:]}": kind(
            "key:N", legend=legend, scale=alt.Scale(domain=names, range=values)
        )
        for kind, values in ranges.items()
    }
    keys = layer([], "point", aria=False, opacity=1).encode(**encoded)
    return _finished(alt.LayerSpec(layer=[keys], width=1, height=1), chart.title)
