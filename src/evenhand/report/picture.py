"""What is a figure? A picture in two widths with a legend; on a page, or as a file of its own."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import EvenhandError
from evenhand.report.svg import FONT, render

WIDE, NARROW = 720, 340
FORMS = (".svg", ".pdf", ".png")
_VARIABLE = re.compile(r"var\(--\w+, (#\w+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A picture in two widths, and the marks that its legend explains."""

    name: str
    heading: str
    wide: str
    narrow: str
    legend: tuple[tuple[str, str], ...]  # mark, meaning


def make_figure(
    name: str,
    heading: str,
    description: str,
    draw: Callable[[int], Any],
    legend: Sequence[tuple[str, str]] = (),
) -> Figure:
    """Draw a picture in both widths."""
    wide, narrow = (
        render(draw(width), heading=heading, description=description, kind=kind)
        for width, kind in ((WIDE, "wide"), (NARROW, "narrow"))
    )
    return Figure(name=name, heading=heading, wide=wide, narrow=narrow, legend=tuple(legend))


def standalone(figure: Figure) -> str:
    """The wide picture as an SVG file: light colours in place of the variables of the page."""
    style = f"<style>text{{paint-order:stroke;stroke-linejoin:round;font-family:{FONT}}}</style>"
    head, _, body = figure.wide.partition(">")
    return _VARIABLE.sub(
        r"\1",
        head.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1) + f">{style}{body}",
    )


def save_figure(figure: Figure, path: Path) -> None:
    """Write the wide picture as .svg, .pdf or .png (on white, twice the size)."""
    import vl_convert

    from evenhand.core.files import write_atomic

    text = standalone(figure)
    if path.suffix not in FORMS:
        raise EvenhandError(
            f"a figure cannot be written as '{path.name}'; name a file that ends in {', '.join(FORMS)}"
        )
    if path.suffix == ".pdf":
        write_atomic(path, vl_convert.svg_to_pdf(text))
    elif path.suffix == ".png":
        ground = '<rect width="100%" height="100%" fill="#ffffff"/>'
        write_atomic(
            path, vl_convert.svg_to_png(text.replace("<style>", f"{ground}<style>", 1), scale=2)
        )
    else:
        write_atomic(path, text)
