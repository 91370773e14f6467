"""Charts of several panels: lines along a rate, shaded cells, grids of numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from evenhand.core.chart import (
    Axis,
    DensityChart,
    DensityPanel,
    GridChart,
    GridPanel,
    LineChart,
    LinePanel,
)
from evenhand.core.estimate import without_bounds
from evenhand.core.text import number
from evenhand.report.charts.theme import (
    ABOUT,
    NARROW,
    SIZE,
    TOLD,
    WIDE,
    Values,
    about,
    area,
    axis_title,
    bands,
    coloured,
    colours_of,
    held,
    label_expression,
    layer,
    marked,
    nothing,
    numeric,
    paint,
    percents,
    proper,
    room_about,
    shortened,
    texts,
    width_of,
    wrapped,
)

NUMBERS, TITLE = 40, 22  # pixels of the numbers of a vertical axis, and of its title
ABOVE = 8  # pixels of a number above the end of its axis
GAP = 26  # pixels between two panels
LARGEST, LEGIBLE = 92, 42  # the largest cell, the smallest cell with a number, in pixels
SHADES = 5


def joined(panels: Sequence[Any], columns: int, spacing: int = GAP) -> alt.TopLevelConcatSpec:
    """The panels side by side, so many in a row, each with scales of its own."""
    empty = alt.UnitSpec(data=alt.InlineData(values=[]), mark="point", width=20, height=20)
    channels = ("x", "y", "yOffset", "color", "shape", "fill", "stroke", "fillOpacity")
    own = alt.ScaleResolveMap(**dict.fromkeys(channels, "independent"))
    return alt.TopLevelConcatSpec(
        concat=list(panels) or [empty],
        columns=columns,
        spacing=spacing,
        resolve=alt.Resolve(scale=own),
    )


def heading(title: str, subtitle: str, room: float) -> alt.TitleParams:
    """The title of a panel in lines as wide as it is, and a line below it."""
    lines = wrapped(subtitle, room + 10, SIZE - 1) if subtitle else []
    return alt.TitleParams(text=wrapped(title, room * 0.94), subtitle=lines)


def _level() -> alt.UnitSpec:
    """Nothing, so far above a panel that its title stands as high with numbers as without."""
    return nothing([{}], x=alt.XValue(0), y=alt.YValue(-ABOVE))


# lines


def draw_lines(chart: LineChart, width: int = WIDE) -> alt.TopLevelConcatSpec:
    """The chart as a Vega-Lite chart of this width."""
    columns = chart.columns if width > NARROW else max(chart.columns - 1, 1)
    columns = max(min(columns, len(chart.panels)), 1)
    is_shared = chart.has_shared_axis
    numbered = 1 if is_shared else columns
    room = width - (NUMBERS + 6) * numbered - TITLE - GAP * (columns - 1) - 8
    wide = room / columns
    tall = wide * (0.72 if not is_shared else 0.45 if len(chart.panels) == 1 else 0.8)
    panels = [
        _line_panel(
            chart,
            panel,
            (wide, tall),
            has_numbers=not is_shared or not place % columns,
            has_title=not place % columns,
        )
        for place, panel in enumerate(chart.panels)
    ]
    return joined(panels, columns)


def _line_panel(
    chart: LineChart,
    panel: LinePanel,
    size: tuple[float, float],
    *,
    has_numbers: bool,
    has_title: bool,
) -> alt.LayerSpec:
    domain, meanings = proper(panel.domain), dict(chart.legend)
    across = axis_title(panel.x or chart.x, size[0])
    x = alt.X("x:Q", scale=numeric([0, 1]), axis=alt.Axis(title=across, tickCount=3))
    extent = NUMBERS if has_numbers else 0
    beside = alt.Axis(
        title=axis_title(chart.y, size[1]) if has_title else None,
        tickCount=3,
        labels=has_numbers,
        minExtent=extent,
        maxExtent=extent,
    )
    y = alt.Y("y:Q", scale=numeric(domain), axis=beside)
    marks = [line.mark for line in panel.lines]
    radius = 3.9 if size[0] > 250 else 2.9
    layers: list[Any] = [nothing([], x=x, y=y)]
    if domain[0] <= panel.fair <= domain[1]:
        fair = {"y": panel.fair, **about("fair value", without_bounds(panel.fair))}
        layers.append(
            layer(
                [fair], "rule", color=paint("soft"), strokeWidth=1.4, strokeDash=[3, 3], clip=True
            ).encode(y=y, tooltip=list(TOLD[:2]), description=ABOUT)
        )
    for line in reversed(panel.lines):  # the first lies on top
        label = meanings.get(line.mark, panel.title)
        singles, means = (
            [_line_point(label, place, line.mark, domain) for place in sorted(places)]
            for places in (_finite(line.singles), _finite(line.means))
        )
        if singles:
            layers.append(
                layer(
                    singles,
                    "point",
                    size=area(radius * 0.75),
                    opacity=0.35,
                    strokeWidth=0.5,
                    fillOpacity=1,
                ).encode(x=x, y=y, tooltip=_LINE_TOLD, description=ABOUT, **marked(marks))
            )
        if means:
            layers += [
                layer(
                    means, "line", strokeWidth=2, strokeJoin="round", clip=True, aria=False
                ).encode(x=x, y=y, color=coloured(marks)),
                layer(
                    means, "point", size=area(radius), strokeWidth=1, opacity=1, fillOpacity=1
                ).encode(x=x, y=y, tooltip=_LINE_TOLD, description=ABOUT, **marked(marks)),
            ]
    title = heading(panel.title, panel.subtitle, size[0])
    return alt.LayerSpec(layer=[*layers, _level()], width=size[0], height=size[1], title=title)


_LINE_TOLD = [
    alt.Tooltip("label:N", title="name"),
    alt.Tooltip("at:N", title="at"),
    alt.Tooltip("value:N", title="value"),
]


def _finite(places: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    return [(x, y) for x, y in places if math.isfinite(x + y)]


def _line_point(
    label: str, place: tuple[float, float], mark: str, domain: Sequence[float]
) -> Values:
    x, y = place
    text = f"{label} at {x:g}: {number(y)}"
    return {
        "x": x,
        "y": held(y, domain),
        "mark": mark,
        "label": label,
        "at": f"{x:g}",
        "value": number(y),
        "about": text,
    }


# density


def draw_density(chart: DensityChart, width: int = WIDE) -> alt.TopLevelConcatSpec:
    """The chart as a Vega-Lite chart of this width."""
    columns = max(min(3, len(chart.panels)), 1) if width > NARROW else 1
    across = _domain(chart.x, [v for p in chart.panels for c in p.cells for v in c.x])
    up = _domain(chart.y, [v for p in chart.panels for c in p.cells for v in c.y])
    wide = (width - NUMBERS - TITLE - GAP * (columns - 1) - 8) / columns
    tall = wide * (0.95 if columns > 2 else 0.6)
    panels = [
        _density_panel(chart, panel, (across, up), (wide, tall), is_first=not place % columns)
        for place, panel in enumerate(chart.panels)
    ]
    return joined(panels, columns)


def _domain(axis: Axis, values: Sequence[float]) -> list[float]:
    return proper(axis.domain or room_about(values, 0.0))


def _density_panel(
    chart: DensityChart,
    panel: DensityPanel,
    domains: tuple[list[float], list[float]],
    size: tuple[float, float],
    *,
    is_first: bool,
) -> alt.LayerSpec:
    x = alt.X("x:Q", scale=numeric(domains[0]), axis=_axis(chart.x, size[0]))
    extent = NUMBERS if is_first else 0
    upright = _axis(
        chart.y if is_first else Axis(),
        size[1],
        labels=is_first,
        minExtent=extent,
        maxExtent=extent,
    )
    y = alt.Y("y:Q", scale=numeric(domains[1]), axis=upright)
    cells = [
        {"x": c.x[0], "x2": c.x[1], "y": c.y[0], "y2": c.y[1], "weight": c.weight}
        for c in panel.cells
        if c.weight > 0
    ]
    shades = alt.Scale(type="quantize", domain=[0, 1], range=[0.08, 0.2, 0.35, 0.5, 0.65, 0.8])
    weight = alt.FillOpacity("weight:Q", legend=None, scale=shades)
    layers: list[Any] = [
        layer(cells, "rect", fill=paint("entailment"), clip=True, aria=False, strokeWidth=0).encode(
            x=x, x2=alt.X2("x2:Q"), y=y, y2=alt.Y2("y2:Q"), fillOpacity=weight
        )
    ]
    line = {"color": paint("ink"), "strokeWidth": 1, "aria": False, "clip": True}
    if domains[0][0] <= 0 <= domains[0][1]:
        layers.append(layer([{"x": 0}], "rule", **line).encode(x=x))
    if domains[1][0] <= 0 <= domains[1][1]:
        layers.append(layer([{"y": 0}], "rule", **line).encode(y=y))
    means = [
        {
            "x": at,
            "y": held(mean.value, domains[1]),
            "low": mean.low if mean.has_bounds else mean.value,
            "high": mean.high if mean.has_bounds else mean.value,
            "mark": "model",
            **about(f"{panel.title}, mean at {at:g}", mean),
        }
        for at, mean in panel.means
        if math.isfinite(mean.value)
    ]
    if means:
        low = alt.Y("low:Q", scale=numeric(domains[1]), axis=upright)
        for colour, stroke in (("paper", 5), ("ink", 2)):
            style = {"color": paint(colour), "strokeWidth": stroke, "clip": True, "aria": False}
            rule = layer(means, "rule", **style)
            layers.append(rule.encode(x=x, y=low, y2=alt.Y2("high:Q")))
        layers.append(
            layer(means, "point", size=area(3.2), strokeWidth=1, opacity=1, fillOpacity=1).encode(
                x=x, y=y, tooltip=list(TOLD), description=ABOUT, **marked(["model"])
            )
        )
    title = heading(panel.title, panel.subtitle, size[0])
    return alt.LayerSpec(layer=[*layers, _level()], width=size[0], height=size[1], title=title)


def _axis(axis: Axis, room: float, **how: Any) -> alt.Axis:
    if axis.is_percent:
        how |= percents()
    title = axis_title(axis.title, room) if axis.title else None
    return alt.Axis(title=title, tickCount=5, **how)


# grids


def draw_grid(chart: GridChart, width: int = WIDE) -> alt.TopLevelConcatSpec:
    """The chart as a Vega-Lite chart of this width."""
    count = max(len(chart.names), 1)
    labels = _labels(chart.names, width)
    gutter = min(int(max(map(width_of, labels), default=0)) + 12, width // 3)
    columns = max(min(len(chart.panels), 2), 1) if width > NARROW else 1
    cell = min((width - gutter - 36 * (columns - 1) - 8) / columns / count, LARGEST)
    panels = [
        _grid_panel(chart, panel, labels, cell, gutter, is_first=not place % columns)
        for place, panel in enumerate(chart.panels)
    ]
    return joined(panels, columns, 36)


def _grid_panel(
    chart: GridChart,
    panel: GridPanel,
    labels: Sequence[str],
    cell: float,
    gutter: int,
    *,
    is_first: bool,
) -> alt.LayerSpec:
    places = [str(i) for i in range(len(chart.names))]
    has_labels = cell >= SIZE
    heads = [shortened(name, cell) for name in short_names(chart.names)]
    left = [shortened(label, gutter - 8) for label in labels]
    scale = bands(places, padding=0.02)
    above = _names(heads, "top", has_labels=has_labels)
    beside = _names(left, "left", has_labels=has_labels and is_first, room=gutter)
    x = alt.X("column:N", title=None, sort=None, scale=scale, axis=above)
    y = alt.Y("row:N", title=None, sort=None, scale=scale, axis=beside)
    rows = [
        _cell(chart.names, a, b, value, cell)
        for a, values in enumerate(panel.values)
        for b, value in enumerate(values)
    ]
    signs = ["positive", "negative", "none"]
    colours = [paint("entailment"), paint("contradiction"), paint("paper")]
    shades = alt.Scale(type="quantize", domain=[0, 1], range=[0.12, 0.3, 0.5, 0.7, 0.9])
    side = cell * max(len(chart.names), 1)
    squares = layer(rows, "rect", stroke=paint("line"), strokeWidth=1).encode(
        x=x,
        y=y,
        color=colours_of("sign:N", signs, colours),
        fillOpacity=alt.FillOpacity("size:Q", legend=None, scale=shades),
        tooltip=[alt.Tooltip("label:N", title="between"), alt.Tooltip("value:N")],
        description=ABOUT,
    )
    layers: list[Any] = [squares]
    for is_strong in (False, True):
        told = [row for row in rows if row["text"] and (row["size"] > 0.6) == is_strong]
        if told:
            fill = paint("on" if is_strong else "ink")
            text = texts(told, has_rim=False, fill=fill, fontSize=SIZE if cell >= LEGIBLE else 11)
            layers.append(text.encode(x=x, y=y, text=alt.Text("text:N")))
    title = alt.TitleParams(text=shortened(panel.title, max(side, 200)))
    return alt.LayerSpec(layer=layers, width=side, height=side, title=title)


def _names(
    names: Sequence[str], orient: str, *, has_labels: bool, room: int | None = None
) -> alt.Axis | None:
    if not has_labels:
        return None
    extent = {"minExtent": room, "maxExtent": room, "labelLimit": room} if room else {}
    return alt.Axis(
        orient=orient,
        labelExpr=label_expression(names),
        labelAngle=0,
        labelOverlap=False,
        labelColor=paint("ink" if room else "soft"),
        grid=False,
        **extent,
    )


def _cell(names: Sequence[str], a: int, b: int, value: float, size: float) -> Values:
    """One square; a negative number has a minus sign, so that colour is not the only clue."""
    is_known = math.isfinite(value)
    small = "−" if is_known and value < 0 else ""
    text = (f"{value:.2f}" if is_known else "n/a") if size >= LEGIBLE else small
    label = f"{names[a]} and {names[b]}"
    return {
        "row": str(a),
        "column": str(b),
        "size": min(abs(value), 1.0) if is_known else 0.0,
        "sign": ("positive" if value > 0 else "negative") if is_known and value else "none",
        "text": text,
        "label": label,
        "value": f"{value:.2f}" if is_known else "n/a",
        "about": f"{label}: {value:.2f}" if is_known else f"{label}: n/a",
    }


def _labels(names: Sequence[str], width: int) -> Sequence[str]:
    """The names, without their common prefix where a narrow picture has no room for it."""
    is_cut = max(map(width_of, names), default=0) + 16 > width // 4
    bare = _without_prefix(names)
    return bare if width <= NARROW and is_cut and all(bare) else names


def _without_prefix(names: Sequence[str]) -> list[str]:
    alike = [len(set(letters)) == 1 for letters in zip(*names, strict=False)]
    shared = alike.index(False) if False in alike else len(alike)
    return [name[shared:] for name in names] if len(names) > 1 else list(names)


def short_names(names: Sequence[str]) -> list[str]:
    """The names without their common prefix; numbers where the rest is not short."""
    bare = _without_prefix(names)
    if all(bare) and max(map(len, bare), default=0) <= 4:
        return bare
    return [str(i) for i in range(1, len(names) + 1)]
