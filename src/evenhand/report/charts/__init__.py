"""Charts as pictures: one file per kind; `draw` for a page, `save_chart` for a file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

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
from evenhand.core.files import write_atomic
from evenhand.report.charts import plane
from evenhand.report.charts.canvas import (
    FONT,
    NARROW,
    SIGN_WIDTH,
    SIZE,
    WIDE,
    Canvas,
    TextStyle,
    sign,
    width_of,
)
from evenhand.report.charts.density import draw_density
from evenhand.report.charts.dots import draw_dots
from evenhand.report.charts.grid import draw_grid
from evenhand.report.charts.histogram import draw_histogram
from evenhand.report.charts.lines import draw_lines
from evenhand.report.charts.plane import draw_plane
from evenhand.report.charts.scatter import draw_scatter
from evenhand.report.charts.shares import draw_shares

__all__ = ["NARROW", "PICTURE_FORMS", "WIDE", "draw", "picture", "save_chart", "signs"]

PICTURE_FORMS = (".svg", ".pdf", ".png")
_DRAWERS: dict[type[Chart], Callable[[Any, int], str]] = {
    DotChart: draw_dots,
    ShareChart: draw_shares,
    HistogramChart: draw_histogram,
    ScatterChart: draw_scatter,
    LineChart: draw_lines,
    DensityChart: draw_density,
    GridChart: draw_grid,
    PlaneChart: draw_plane,
}
_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_KEY_LINE, _KEY_GAP = 20, 16  # height of a line of the key, space between two of its entries
KEY = TextStyle(colour="soft", has_rim=False)
_MARGIN = 8  # pixels around a picture that stands alone


def draw(chart: Chart, width: int) -> str:
    """The chart as an SVG element of this width (WIDE or NARROW), without its legend.

    Raises EvenhandError for a kind of chart that is not known here.
    """
    for kind, drawer in _DRAWERS.items():
        if isinstance(chart, kind):
            return drawer(chart, width)
    raise EvenhandError(
        f"{type(chart).__name__} is not a known kind of chart; use one of "
        f"{', '.join(kind.__name__ for kind in _DRAWERS)}"
    )


def signs(chart: Chart) -> list[tuple[str, str]]:
    """The legend: the sign of each mark as SVG elements in a box of 18 x 14, and its meaning."""
    return [(_sign(chart, mark), meaning) for mark, meaning in chart.legend]


def _sign(chart: Chart, mark: str) -> str:
    if isinstance(chart, LineChart) and mark == "fair":
        return sign("level")
    if isinstance(chart, PlaneChart) and mark not in ("boundary", "cluster"):
        return plane.sign(mark)
    return sign(mark)


def picture(chart: Chart) -> str:
    """The wide picture with its key as an SVG file: light colours, needs no style sheet."""
    text = draw(chart, WIDE)
    size = re.search(r'viewBox="0 0 (\d+) (\d+)"', text)
    if size is None:
        raise EvenhandError(f"the chart '{chart.name}' was drawn without a size")
    tall = int(size[2])
    key = _Key(chart)
    head, _, body = text.partition(">")
    head = head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    wide, high = WIDE + 2 * _MARGIN, tall + key.height + 2 * _MARGIN
    head = head.replace(size[0], f'viewBox="-{_MARGIN} -{_MARGIN} {wide} {high}"')
    head = head.replace(f'width="{WIDE}"', f'width="{wide}" height="{high}"')
    style = f"<style>text{{paint-order:stroke;stroke-linejoin:round;font-family:{FONT}}}</style>"
    placed = f'<g transform="translate(0 {tall})">{"".join(key.parts)}</g>' if key.parts else ""
    body = body.removesuffix("</svg>") + placed + "</svg>"
    return _VARIABLE.sub(r"\1", f"{head}>{style}{body}")


class _Key:
    """The legend of a chart as SVG elements, for a picture that stands alone."""

    def __init__(self, chart: Chart) -> None:
        canvas, x, y = Canvas(WIDE), 0.0, float(SIZE)
        for shape, meaning in signs(chart):
            wide = SIGN_WIDTH + 6 + width_of(meaning)
            if x and x + wide > WIDE:
                x, y = 0.0, y + _KEY_LINE
            canvas.parts.append(f'<g transform="translate({x:g} {y - 7:g})">{shape}</g>')
            canvas.text((x + SIGN_WIDTH + 6, y), meaning, KEY)
            x += wide + _KEY_GAP
        self.parts = canvas.parts
        self.height = int(y) + SIZE if self.parts else 0


def save_chart(chart: Chart, path: Path) -> None:
    """Write the wide picture with its key as .svg, .pdf or .png (on white, twice the size).

    Raises EvenhandError for any other suffix.
    """
    write_atomic(path, picture_file(chart, path.suffix))


def picture_file(chart: Chart, suffix: str) -> str | bytes:
    """The content of a file of the picture with this suffix.

    Raises EvenhandError for another suffix than those in PICTURE_FORMS.
    """
    if suffix not in PICTURE_FORMS:
        raise EvenhandError(
            f"a figure cannot be written as '{suffix}'; name a file that ends in "
            f"{', '.join(PICTURE_FORMS)}"
        )
    text = picture(chart)
    if suffix == ".svg":
        return text
    import vl_convert

    if suffix == ".pdf":
        return bytes(vl_convert.svg_to_pdf(text))
    place = f'x="-{_MARGIN}" y="-{_MARGIN}" width="100%" height="100%"'
    ground = f'<rect {place} fill="#ffffff"/>'
    return bytes(vl_convert.svg_to_png(text.replace("<style>", f"{ground}<style>", 1), scale=2))
