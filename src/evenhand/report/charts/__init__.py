"""Charts as pictures: Vega-Lite specifications by altair, drawn to SVG, PNG and PDF.

`draw` for a page, `save_chart` for a file; `theme` says how all charts look.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from pathlib import Path

from evenhand.core.chart import Chart
from evenhand.core.errors import EvenhandError
from evenhand.core.files import write_atomic
from evenhand.report.charts.drawing import draw, key_of, series_of, signs, spec_of, to_svg
from evenhand.report.charts.theme import FONT, NARROW, WIDE, safe, sign_svg

__all__ = [
    "NARROW",
    "PICTURE_FORMS",
    "WIDE",
    "draw",
    "picture",
    "picture_file",
    "picture_files",
    "save_chart",
    "series_of",
    "sign_svg",
    "signs",
    "spec_of",
]

PICTURE_FORMS = (".svg", ".pdf", ".png")
_VARIABLE = re.compile(r"var\(--[\w-]+, (#\w+)\)")
_DRAWN_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_MARGIN = 8  # pixels around a picture that stands alone
PAPER = 6.3  # inches: the width of the text of a printed page, to which a .pdf is scaled
_DOTS = 72  # units of a .pdf per inch


def picture(chart: Chart) -> str:
    """The wide picture with its key as an SVG file: light colours, needs no style sheet."""
    parts = [spec_of(chart, WIDE)]
    if (key := key_of(chart)) is not None:
        parts.append(key)
    drawn = [to_svg(part) for part in parts]
    wide = max(width for _, width, _ in drawn) + 2 * _MARGIN
    tall = sum(height for *_, height in drawn) + 2 * _MARGIN
    body, top = "", float(_MARGIN)
    for text, _, height in drawn:
        body += f'<g transform="translate({_MARGIN} {top:g})">{text}</g>'
        top += height
    title, words = (escape(safe(text)) for text in (chart.title, chart.description))
    style = f"<style>text{{paint-order:stroke;stroke-linejoin:round;font-family:{FONT}}}</style>"
    return _VARIABLE.sub(
        r"\1",
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide:g} {tall:g}" '
        f'width="{wide:g}" height="{tall:g}" role="img" aria-label="{title}">'
        f"<title>{title}</title><desc>{words}</desc>{style}{body}</svg>",
    )


def save_chart(chart: Chart, path: Path) -> None:
    """Write the wide picture with its key as .svg, .pdf or .png (on white, twice the size).

    Raises EvenhandError for any other suffix.
    """
    write_atomic(path, picture_file(chart, path.suffix))


def picture_file(chart: Chart, suffix: str) -> str | bytes:
    """The content of a file of the picture with this suffix; a .pdf is as wide as a printed text.

    Raises EvenhandError for another suffix than those in PICTURE_FORMS.
    """
    return picture_files(chart, [suffix])[suffix]


def picture_files(chart: Chart, suffixes: Sequence[str]) -> dict[str, str | bytes]:
    """The same for several suffixes; the picture is drawn once."""
    for suffix in suffixes:
        if suffix not in PICTURE_FORMS:
            raise EvenhandError(
                f"a figure cannot be written as '{suffix}'; name a file that ends in "
                f"{', '.join(PICTURE_FORMS)}"
            )
    text = picture(chart)
    return {suffix: _FORMS[suffix](text) for suffix in suffixes}


def _pdf(text: str) -> bytes:
    import vl_convert

    return bytes(vl_convert.svg_to_pdf(_DRAWN_SIZE.sub(_on_paper, text, count=1)))


def _on_paper(size: re.Match[str]) -> str:
    scale = PAPER * _DOTS / float(size[1])
    return f'width="{PAPER * _DOTS:g}" height="{float(size[2]) * scale:g}"'


def _png(text: str) -> bytes:
    import vl_convert

    ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
    return bytes(vl_convert.svg_to_png(text.replace("<style>", f"{ground}<style>", 1), scale=2))


_FORMS: dict[str, Callable[[str], str | bytes]] = {".svg": str, ".pdf": _pdf, ".png": _png}
