"""The summary of a document on a terminal: at most twenty lines, the most important first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from evenhand.core.document import Callout, Document, Row, Table
from evenhand.core.text import counted
from evenhand.report.cells import specimen_text
from evenhand.report.terminal import fitted, front_lines, plain_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

LINES = 20
MORE = "More: --verbose"
_HEAD = 2  # lines of a table above its rows
_BEHIND = 3  # a blank line, what is left out, and where the report is


def print_summary(document: Document, console: Console) -> None:
    """Print the title, what was found, and the first table as far as the lines reach."""
    title = plain_text(document.title, "bold").append("  ")
    opening: list[RenderableType] = [title.append(plain_text(document.subtitle, "not bold"))]
    left = LINES - _BEHIND - _height(opening[0], console)
    for text in _findings(document):
        height = _height(text, console)
        if height > left and len(opening) > 1:
            break
        opening.append(text)
        left -= height
    for part in opening:
        console.print(part)
    table = _first_table(document)
    left_out = 0
    if table is not None and left > _HEAD + 1:
        left_out = _print_rows(table, left - _HEAD - 1, console)
    notes = len(document.blocks(Callout))
    told = [counted(left_out, "more row")] if left_out else []
    told += [counted(notes, "note")] if notes else []
    console.print()
    rest = f" ({', '.join(told)})" if told else ""
    console.print(plain_text(f"{MORE}{rest}.", "dim"))


def _findings(document: Document) -> Sequence[Text]:
    """What was found: the first screen where there is one, else the sentences of the lead."""
    front = document.front
    if front is None:
        return [plain_text(line) for line in document.lead]
    lines = front_lines(front, document.headline.reasons if document.headline else ())
    if front.example and front.example.specimens:
        specimen = front.example.specimens[0]
        lines.append(plain_text(f"For example: {specimen_text(specimen)}: {specimen.summary}"))
    return lines


def _height(text: RenderableType, console: Console) -> int:
    return len(console.render_lines(text, pad=False))


def _first_table(document: Document) -> Table | None:
    brief = (block for s in document.sections if s.is_brief for block in s.blocks)
    return next((b for b in brief if isinstance(b, Table) and b.rows), None)


def _print_rows(table: Table, most: int, console: Console) -> int:
    """Print the first columns and rows that fit; how many rows are left out."""
    rows = [_short(row) for row in table.rows if not row.is_heading]
    drawn: list[RenderableType] = []
    count = min(most, len(rows))
    while count and not drawn:
        parts, _ = fitted(table, rows[:count], console.width)
        if _height(parts[0], console) <= most + _HEAD:
            drawn = [parts[0]]
        else:
            count -= 1  # a name takes two lines
    for part in drawn:
        console.print()
        console.print(part)
    return len(rows) - count


def _short(row: Row) -> Row:
    """The row with the remarks behind its bounds left out."""
    cells = tuple(
        f"{cell.partition('] ')[0]}]" if isinstance(cell, str) and "] " in cell else cell
        for cell in row.cells
    )
    return replace(row, cells=cells)
