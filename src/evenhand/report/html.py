"""A document as one HTML file: no network, any width, light, dark and print.

Without its script the page says and shows the same, but for the explorer of its probes and charts
that answer to pointer and keyboard.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenhand.core.chart import Chart
from evenhand.core.document import (
    Answer,
    Block,
    Callout,
    Document,
    Row,
    Section,
    Table,
)
from evenhand.core.probe import BLANK
from evenhand.core.text import number
from evenhand.report.cells import (
    badge_title,
    bounds_text,
    cell_text,
    is_numeric,
    printable,
    uncounted,
    value_text,
)
from evenhand.report.explorer import pack

if TYPE_CHECKING:
    from markupsafe import Markup

TEMPLATES = Path(__file__).parent / "templates"
EAST_ASIAN = ("ja", "ko", "zh")
ROOM, HALF = 720, 350  # width in pixels of the page, and of one of two columns
SHORT, LONG = 9, 24  # letters; on a phone a longer cell takes two places, or a whole line
LETTER, PADDING = 7.3, 16  # width in pixels of a letter in a table, and of a cell's padding
NAME, FOLDED = 28, 12  # letters to which row names and other texts may be wrapped
_LETTERS = "[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
_SCRIPT = re.compile(f"{_LETTERS}+")
_PICTURED = re.compile(f"<text (?=[^>]*>[^<]*{_LETTERS})")
_JOINTS = re.compile(r"(?<=[:/_@-])(?=\w)")


def to_html(document: Document, *, has_script: bool = True) -> str:
    """The document as one HTML page.

    has_script: whether the page has the explorer of its probes, and charts with tooltips whose
    marks can be clicked and walked by keyboard.
    """
    from evenhand import __version__

    explorer = document.explorer if has_script else None
    figures = Figures(has_script=has_script, language=document.language)
    page = _templates(document, figures).get_template("document.html")
    return str(
        page.render(
            document=document,
            groups=_groups(document),
            version=__version__,
            figures=figures,
            explorer=explorer,
            script=_script("explorer.js") if explorer else "",
        )
    )


def _script(name: str) -> Markup:
    """A script of the templates as it stands in a page."""
    from markupsafe import Markup

    return Markup((TEMPLATES / name).read_text(encoding="utf-8"))


def open_templates() -> Any:
    """The environment of the templates: everything that they print is escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_cleaned,
    )


def _templates(document: Document, figures: Figures) -> Any:
    """The environment of the templates, with the filters of a document."""
    environment = open_templates()
    filters: dict[str, Callable[..., Any]] = {
        "words": partial(marked, language=document.language),
        "line": partial(specimen_line, language=document.language),
        "breakable": breakable,
        "kind": block_kind,
        "figure": figures.draw,
        "table": table_view,
        "number": number,
        "answer": answer_text,
        "pack": pack,
        "badge": badge_title,
        "uncounted": uncounted,
    }
    environment.filters.update(filters)
    return environment


def _cleaned(value: Any) -> Any:
    """What a template prints, without characters that a page must not contain."""
    is_text = isinstance(value, str) and not hasattr(value, "__html__")
    return printable(value) if is_text else value


def marked(text: str, language: str) -> Markup:
    """A text whose East Asian words carry their language, and whose percent signs do not break."""
    from markupsafe import Markup, escape

    kept = printable(text).replace(" %", "\u00a0%")
    if language not in EAST_ASIAN:
        return escape(kept)
    parts, end = [], 0
    for run in _SCRIPT.finditer(kept):
        parts += [escape(kept[end : run.start()]), Markup('<span lang="')]
        parts += [escape(language), Markup('">'), escape(run[0]), Markup("</span>")]
        end = run.end()
    return Markup("").join([*parts, escape(kept[end:])])


def specimen_line(text: str, language: str) -> Markup:
    """A line of a specimen; its blank is drawn as a line."""
    from markupsafe import Markup

    blank = Markup('<span class="blank" role="img" aria-label="blank"></span>')
    pieces = re.split(f"{re.escape(BLANK)}|_{{3,}}", text)
    return blank.join(marked(piece, language) for piece in pieces)


def answer_text(answer: Answer) -> str:
    """The number of an answer with its name."""
    has_name = not answer.text or answer.label in answer.text
    return answer.text if has_name else f"{answer.label} {answer.text}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Sections side by side, each with its blocks; consecutive callouts are one block."""

    sections: tuple[tuple[Section, tuple[Block | tuple[Callout, ...], ...]], ...]
    level: int
    room: int  # width of a section in pixels


def _groups(document: Document) -> list[Group]:
    rows: list[list[Section]] = []
    for section in document.sections:
        if section.is_beside and rows:
            rows[-1].append(section)
        else:
            rows.append([section])
    return [
        Group(
            sections=tuple((section, _joined(section)) for section in row),
            level=row[0].level,
            room=ROOM if len(row) == 1 else HALF,
        )
        for row in rows
    ]


def _joined(section: Section) -> tuple[Block | tuple[Callout, ...], ...]:
    blocks: list[Block | tuple[Callout, ...]] = []
    for is_callout, run in groupby(section.blocks, lambda block: isinstance(block, Callout)):
        run_blocks = tuple(run)
        if is_callout:
            blocks.append(tuple(block for block in run_blocks if isinstance(block, Callout)))
        else:
            blocks += run_blocks
    return tuple(blocks)


def block_kind(block: Block | tuple[Callout, ...]) -> str:
    """The name of the macro that shows a block."""
    if isinstance(block, tuple):
        return "callouts"
    return "chart" if isinstance(block, Chart) else type(block).__name__.lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """The pictures of a chart and its legend, or why it could not be drawn."""

    pictures: tuple[Markup, ...] = ()
    legend: tuple[tuple[Markup, str, str], ...] = ()  # sign, meaning, series it highlights
    place: int | None = None  # of its specifications in the data of the page's script
    words: str = ""  # the language of East Asian words in it, where it is another than its own
    failure: str = ""


def _in_language(picture: str, language: str) -> str:
    """The picture whose texts with East Asian words carry their language, if one is given."""
    return _PICTURED.sub(f'<text lang="{language}" ', picture) if language else picture


class Figures:
    """Draws the figures of a page, and collects what its script needs to bring them to life.

    Each is drawn for a wide and for a narrow window, so that nothing depends on the script.
    language: of quoted words.
    """

    def __init__(self, *, has_script: bool, language: str) -> None:
        self.has_script = has_script
        self.language = language
        self.specs: list[str] = []  # of each figure as JSON: wide, narrow

    def draw(self, chart: Chart) -> Figure:
        """The pictures of a chart; if drawing fails, the report is written without this figure."""
        from markupsafe import Markup

        try:
            from evenhand.report.charts import (
                NARROW,
                WIDE,
                draw,
                series_of,
                sign_svg,
                signs,
                spec_of,
            )

            is_mixed = self.language in EAST_ASIAN and self.language != chart.language
            words = self.language if is_mixed else ""
            specs = {width: spec_of(chart, width) for width in (WIDE, NARROW)}
            series = series_of(chart, specs[WIDE]) if self.has_script else {}
            text = json.dumps(
                list(specs.values()), ensure_ascii=False, allow_nan=False, separators=(",", ":")
            )
            figure = Figure(
                pictures=tuple(
                    Markup(_in_language(draw(chart, width, specs[width]), words)) for width in specs
                ),
                legend=tuple(
                    (Markup(sign_svg(sign)), meaning, series.get(mark, ""))
                    for (sign, meaning), (mark, _) in zip(signs(chart), chart.legend, strict=True)
                ),
                place=len(self.specs) if self.has_script else None,
                words=words,
            )
        except Exception as error:
            return Figure(failure=f"{type(error).__name__}: {error}")
        self.specs.append(text)
        return figure

    def scripts(self) -> tuple[Markup, Markup, Markup] | None:
        """The specifications and the Vega runtime, packed, and the script that unites them.

        None where there is nothing to bring to life.
        """
        from markupsafe import Markup

        if not self.has_script or not self.specs:
            return None
        from evenhand.report.charts.runtime import packed, runtime

        specs = packed(f"[{','.join(self.specs)}]")
        return Markup(specs), Markup(runtime()), _script("charts.js")


@dataclass(frozen=True, slots=True, kw_only=True)
class CellView:
    """What the template prints for a cell."""

    head: str
    text: Markup
    is_strong: bool
    kind: str  # class
    is_quoted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RowView:
    """What the template prints for a row."""

    is_heading: bool
    is_quiet: bool
    note: str
    cells: tuple[CellView, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableView:
    """What the template prints for a table."""

    kind: str  # classes
    heads: tuple[tuple[Markup, str], ...]  # title, class
    rows: tuple[RowView, ...]


def table_view(table: Table, room: int, language: str) -> TableView:
    """The layout of a table within a width of `room` pixels."""
    heads = [column.title for column in table.columns]
    is_deep = _letters(table) * LETTER + PADDING * len(heads) > room
    is_compact = _letters(table, is_deep=True) * LETTER + PADDING * len(heads) > room
    kinds = [_class(table, place, is_deep=is_deep) for place in range(len(heads))]
    classes = {
        "deep": is_deep,
        "compact": is_compact,
        "broad": all("double" in kind for kind in kinds[1:]),
    }
    return TableView(
        kind=" ".join(["stack", *(name for name, is_set in classes.items() if is_set)]),
        heads=tuple((breakable(head), kind) for head, kind in zip(heads, kinds, strict=True)),
        rows=tuple(_row_view(row, table, kinds, classes, language) for row in table.rows),
    )


def _letters(table: Table, *, is_deep: bool = False) -> int:
    """The approximate width of a table in letters, with names and texts wrapped.

    is_deep: intervals stand below their values.
    """
    total = 0
    for place, column in enumerate(table.columns):
        texts = _column_texts(table, place, is_deep=is_deep)
        longest = max(map(len, texts), default=0)
        head = max(map(len, column.title.split()), default=0)
        if not is_numeric(column):
            words = max((len(word) for text in texts for word in text.split()), default=0)
            longest = min(longest, max(words, FOLDED if place or is_deep else NAME))
        total += max(longest, min(head, FOLDED))
    return total


def _column_texts(table: Table, place: int, *, is_deep: bool) -> list[str]:
    """The texts of a column; in a deep table the intervals are texts of their own."""
    form = table.columns[place].form
    parts = (value_text, bounds_text) if is_deep else (cell_text,)
    cells = [row.cells[place] for row in table.rows if not row.is_heading]
    return [part(cell, form) for cell in cells for part in parts]


def _class(table: Table, place: int, *, is_deep: bool) -> str:
    """The CSS classes of a column: its alignment, and how much room a cell needs on a phone."""
    if not place:
        return ""
    column = table.columns[place]
    texts = _column_texts(table, place, is_deep=is_deep)
    longest = max((len(text) for text in texts if len(text) <= LONG), default=0)
    is_wide = longest > SHORT or len(column.title) > LONG
    return " ".join(
        name for name, is_set in (("words", not is_numeric(column)), ("double", is_wide)) if is_set
    )


def breakable(name: str) -> Markup:
    """The name with places where a narrow column may break the line."""
    from markupsafe import Markup, escape

    return Markup("<wbr>").join(escape(part) for part in _JOINTS.split(printable(name)))


def _row_view(
    row: Row, table: Table, kinds: list[str], classes: Mapping[str, bool], language: str
) -> RowView:
    cells = []
    for i, (cell, column) in enumerate(zip(row.cells, table.columns, strict=False)):
        text = cell_text(cell, column.form)
        below = bounds_text(cell, column.form) if classes["deep"] else ""
        shown = _deep(value_text(cell, column.form), below) if below else marked(text, language)
        if classes["compact"] and not is_numeric(column) and text.isascii():
            shown = breakable(text)
        is_long = i > 0 and len(text) > LONG
        cells.append(
            CellView(
                head=column.title,
                text=shown,
                is_strong=i in row.strong and not row.is_heading,
                kind=f"{kinds[i]} long".strip() if is_long else kinds[i],
                is_quoted=column.is_quoted,
            )
        )
    return RowView(
        is_heading=row.is_heading, is_quiet=row.is_quiet, note=row.note, cells=tuple(cells)
    )


def _deep(value: str, below: str) -> Markup:
    """A value with its interval under it."""
    from markupsafe import Markup, escape

    return Markup('{}<span class="bounds"> {}</span>').format(escape(value), escape(below))
