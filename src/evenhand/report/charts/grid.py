"""Grid charts: a shaded square for every two names, one grid per panel."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core.chart import GridChart, GridPanel
from evenhand.report.charts.canvas import (
    EDGE,
    HEAVY,
    NARROW,
    SIZE,
    Canvas,
    Place,
    TextStyle,
    shortened,
    width_of,
)

GAP, HEAD = 36, 46  # pixels between two grids, above a grid
LARGEST, LEGIBLE = 92, 44  # the largest cell, the smallest cell with a number, in pixels
SHADES = 5
PLAIN = TextStyle(has_rim=False)


def draw_grid(chart: GridChart, width: int) -> str:
    """The chart as SVG."""
    count = max(len(chart.names), 1)
    labels = _labels(chart.names, width)
    gutter = min(int(max(map(width_of, labels), default=0)) + 16, width // 3)
    columns = len(chart.panels) if width > NARROW else 1
    columns = max(min(columns, 2), 1)
    inner = width - gutter - EDGE
    cell = min((inner - GAP * (columns - 1)) / columns / count, LARGEST)
    side = cell * count
    canvas = Canvas(width)
    for number, panel in enumerate(chart.panels):
        row, column = divmod(number, columns)
        corner = (gutter + column * (side + GAP), HEAD + row * (side + HEAD + 8))
        room = side if columns > 1 else width - corner[0]
        canvas.text((corner[0], corner[1] - 32), shortened(panel.title, room), HEAVY)
        _draw_panel(canvas, panel, corner, cell)
        if cell >= SIZE:
            _draw_heads(canvas, short_names(chart.names), corner, cell)
        if cell >= SIZE and column == 0:
            _draw_labels(canvas, labels, corner, cell)
    rows = math.ceil(len(chart.panels) / columns)
    return canvas.svg(rows * (side + HEAD + 8), chart.title, chart.description)


def _draw_panel(canvas: Canvas, panel: GridPanel, corner: Place, cell: float) -> None:
    for a, values in enumerate(panel.values):
        for b, value in enumerate(values):
            at = (corner[0] + b * cell + 1, corner[1] + a * cell + 1)
            _draw_cell(canvas, value, at, cell - 2)


def _draw_cell(canvas: Canvas, value: float, corner: Place, size: float) -> None:
    """One square; a negative number has a minus sign, so that colour is not the only clue."""
    canvas.box(corner, (size, size), frame="line")
    shade = math.ceil(min(abs(value), 1.0) * SHADES) if math.isfinite(value) else 0
    if shade:
        colour = "entailment" if value > 0 else "contradiction"
        opacity = 0.12 + 0.78 * (shade - 1) / (SHADES - 1)
        canvas.box(corner, (size, size), colour=colour, opacity=opacity)
    middle = (corner[0] + size / 2, corner[1] + size / 2)
    if size + 2 >= LEGIBLE:
        text = f"{value:.2f}" if math.isfinite(value) else "n/a"
        colour = "on" if shade > 3 else "ink"
        canvas.text(middle, text, TextStyle(colour=colour, has_rim=False), anchor="middle")
    elif value < 0:
        canvas.text(middle, "−", PLAIN, anchor="middle")


def _labels(names: Sequence[str], width: int) -> Sequence[str]:
    """The names, without their common prefix where a narrow picture has no room for it."""
    is_cut = max(map(width_of, names), default=0) + 16 > width // 4
    bare = _without_prefix(names)
    return bare if width <= NARROW and is_cut and all(bare) else names


def _draw_heads(canvas: Canvas, names: Sequence[str], corner: Place, cell: float) -> None:
    """Short names above the columns."""
    for i, name in enumerate(names):
        place = (corner[0] + (i + 0.5) * cell, corner[1] - 10)
        text = shortened(name, cell)
        canvas.text(place, text, TextStyle(colour="soft", has_rim=False), anchor="middle")


def _draw_labels(canvas: Canvas, labels: Sequence[str], corner: Place, cell: float) -> None:
    """Names at the left of a grid."""
    for i, label in enumerate(labels):
        place = (corner[0] - 8, corner[1] + (i + 0.5) * cell)
        canvas.text(place, shortened(label, corner[0] - 10), PLAIN, anchor="end")


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
