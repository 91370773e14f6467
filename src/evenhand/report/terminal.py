"""A document on a terminal: what can be said, the tables of its brief sections, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evenhand.core.document import (
    Block,
    Callout,
    Column,
    Document,
    Exhibit,
    Facts,
    Prose,
    Row,
    Section,
    Signatures,
    Table,
)
from evenhand.core.probe import BLANK
from evenhand.report.cells import bounds_text, cell_text, is_numeric, limited, printable, value_text

if TYPE_CHECKING:
    from rich import table as rich_table
    from rich.console import Console
    from rich.text import Text

SPECIMENS = 3  # of an exhibit that are printed
SHORT_TABLE = 14  # rows up to which a wide table is cut in two and keeps its intervals
NAMES, TEXTS = 24, 20  # columns to which names and other texts may be folded
WORD = 32  # columns of a word that is not folded
GAP = 3  # columns between two columns of a table


def plain_text(text: str, style: str = "") -> Text:
    """A text without markup: `[n/a]` stays as it is, and nothing in it steers the terminal."""
    from rich.text import Text

    return Text(printable(text), style=style)


def print_document(document: Document, console: Console) -> None:
    """Print the title, the lead and the brief sections; signatures last."""

    console.print()
    console.print(
        plain_text("")
        .append(plain_text(document.title, "bold"))
        .append("  ")
        .append(plain_text(document.subtitle))
    )
    console.print()
    is_one = document.headline is not None  # sentences about one number are one paragraph
    for line in [" ".join(document.lead)] if is_one else document.lead:
        console.print(plain_text(line))
    console.print()
    brief = [section for section in document.sections if section.is_brief]
    for section in brief:
        _print_section(section, console)
    for section in brief:
        for block in section.blocks:
            if isinstance(block, Signatures) and not block.is_folded:
                _print_signatures(block, console)


def _print_section(section: Section, console: Console) -> None:

    shown = [b for b in section.blocks if _is_shown(b)]
    if not shown:
        return
    if not all(isinstance(block, Callout) for block in shown):
        console.print(plain_text(section.title, "bold"))
    for i, block in enumerate(shown):
        _print_block(block, section, console)
        if not (isinstance(block, Callout) and isinstance(_at(shown, i + 1), Callout)):
            console.print()


def _at(blocks: Sequence[Block], place: int) -> Block | None:
    return blocks[place] if place < len(blocks) else None


def _is_shown(block: Block) -> bool:
    match block:
        case Table(rows=rows, note=note):
            return bool(rows or note)
        case Prose(lines=lines):
            return bool(lines)
        case Callout() | Facts() | Exhibit():
            return True
    return False


def _print_block(block: Block, section: Section, console: Console) -> None:

    match block:
        case Prose(lines=lines, is_list=is_list, is_quiet=is_quiet):
            style = "dim" if is_quiet else ""
            for line in lines:
                _print_beside("-" if is_list else "", line, style, console)
        case Callout(text=text):
            _print_beside("!", text, "yellow", console)
        case Table():
            _print_table(block, section, console)
        case Facts(rows=rows):
            for name, value in rows:
                console.print(plain_text(f"{name}: {value}", "dim"))
        case Exhibit():
            if block.title != section.title:
                console.print(plain_text(block.title, "bold"))
            console.print(plain_text(block.note, "dim"))
            for specimen in block.specimens[:SPECIMENS]:
                text = " / ".join(line.replace(BLANK, "____") for line in specimen.lines if line)
                _print_beside("-", f"{text}: {specimen.summary}", "", console)


def _print_beside(sign: str, text: str, style: str, console: Console) -> None:
    """A sign and the text beside it, folded under its own beginning."""
    from rich.table import Table as Grid

    if not sign:
        console.print(plain_text(text, style))
        return
    grid = Grid.grid(padding=(0, 1))
    grid.add_row(sign, plain_text(text), style=style)
    console.print(grid)


def _print_table(table: Table, section: Section, console: Console) -> None:

    title, rows = limited(table)
    if title and title != section.title:
        console.print(plain_text(title, "bold"))
    parts, has_all = fitted(table, rows, console.width) if rows else ([], True)
    for i, part in enumerate(parts):
        if i:
            console.print()
        console.print(part)
    missing = "" if has_all else "The intervals are in the report."
    if note := " ".join(filter(None, (table.note, missing))):
        console.print(plain_text(note, "dim"))


def fitted(table: Table, rows: Sequence[Row], width: int) -> tuple[list[rich_table.Table], bool]:
    """The table as wide as there is room, and whether it has its intervals.

    One table; else two that share their first column; else, as for a long table, without
    intervals, in as many tables as are needed.
    """
    whole = list(range(len(table.columns)))
    has_stars = _has_stars(rows)
    texts = [_texts(row, table.columns, has_stars=has_stars) for row in rows]
    if _width(table, rows, texts, whole) <= width:
        return [_drawn(table, rows, texts, whole)], True
    is_long = sum(not row.is_heading for row in rows) > SHORT_TABLE
    parts = _parts(table, rows, texts, width)
    has_intervals = any(
        bounds_text(cell, column.form)
        for row in rows
        for cell, column in zip(row.cells, table.columns, strict=False)
    )
    if has_intervals and (is_long or len(parts) > 2):
        texts = [_texts(row, table.columns, has_stars=has_stars, is_short=True) for row in rows]
        parts = _parts(table, rows, texts, width)
        return [_drawn(table, rows, texts, part) for part in parts], False
    return [_drawn(table, rows, texts, part) for part in parts], True


def _has_stars(rows: Sequence[Row]) -> bool:
    """Whether rows differ in what is set apart, or set several apart: bold alone may be lost."""
    strong = [row.strong for row in rows if not row.is_heading]
    return len(set(strong)) > 1 or any(len(places) > 1 for places in strong)


def _texts(
    row: Row, columns: Sequence[Column], *, has_stars: bool, is_short: bool = False
) -> list[str]:
    if row.is_heading:
        return [cell_text(row.cells[0], columns[0].form), *[""] * (len(columns) - 1)]
    texts = []
    for place, (cell, column) in enumerate(zip(row.cells, columns, strict=True)):
        text = (value_text if is_short else cell_text)(cell, column.form)
        texts.append(f"*{text}" if has_stars and place in row.strong else text)
    return texts


def _sizes(table: Table, rows: Sequence[Row], texts: Sequence[Sequence[str]]) -> list[int]:
    """How many terminal columns each column needs at least; texts may be folded, numbers not."""
    from rich.cells import cell_len

    sizes = []
    for place, column in enumerate(table.columns):
        known = [text[place] for text, row in zip(texts, rows, strict=True) if not row.is_heading]
        natural = max((cell_len(text) for text in known), default=0)
        longest = max((cell_len(word) for text in known for word in text.split()), default=0)
        if not is_numeric(column):
            natural = min(natural, max(min(longest, WORD), NAMES if place == 0 else TEXTS))
        head = max((cell_len(word) for word in column.title.split()), default=0)
        sizes.append(max(natural, head))
    return sizes


def _width(
    table: Table, rows: Sequence[Row], texts: Sequence[Sequence[str]], part: Sequence[int]
) -> int:
    sizes = _sizes(table, rows, texts)
    return sum(sizes[place] for place in part) + GAP * (len(part) - 1)


def _parts(
    table: Table, rows: Sequence[Row], texts: Sequence[Sequence[str]], width: int
) -> list[list[int]]:
    """The columns in groups that fit, each with the first column before them."""
    sizes = _sizes(table, rows, texts)
    parts, used = [[0]], sizes[0]
    for place in range(1, len(sizes)):
        if len(parts[-1]) > 1 and used + GAP + sizes[place] > width:
            parts.append([0])
            used = sizes[0]
        parts[-1].append(place)
        used += GAP + sizes[place]
    return parts


def _drawn(
    table: Table, rows: Sequence[Row], texts: Sequence[Sequence[str]], part: Sequence[int]
) -> rich_table.Table:
    columns = [table.columns[place] for place in part]
    sizes = _sizes(table, rows, texts)
    drawn = make_table(columns, [sizes[place] for place in part])
    for row, cells in zip(rows, texts, strict=True):
        strong = {0} if row.is_heading else row.strong
        add_row(drawn, [cells[i] for i in part], [i in strong for i in part])
    return drawn


def make_table(columns: Sequence[Column], sizes: Sequence[int] = ()) -> rich_table.Table:
    """An empty table: texts to the left, numbers to the right and never cut."""
    from rich import box
    from rich.table import Table as RichTable

    table = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(
            plain_text(column.title),
            justify="right" if is_numeric(column) else "left",
            min_width=sizes[i] if i < len(sizes) else None,
            overflow="fold",
        )
    return table


def add_row(table: rich_table.Table, cells: Sequence[str], is_strong: Sequence[bool]) -> None:
    """Add a row of plain texts: `[n/a]` must not be taken for markup."""

    styles = ["bold" if strong else "" for strong in is_strong]
    table.add_row(*(plain_text(cell, s) for cell, s in zip(cells, styles, strict=True)))


def folded(signature: str, width: int) -> list[str]:
    """The signature in lines of at most `width`, broken between fields where that is possible."""
    lines = [""]
    for i, field in enumerate(signature.split("|")):
        piece = f"|{field}" if i else field
        if lines[-1] and len(lines[-1]) + len(piece) > width:
            lines.append("  ")
        lines[-1] += piece
    return lines


def _print_signatures(signatures: Signatures, console: Console) -> None:

    for line in signatures.lines:
        # a terminal folds between fields; a file gets one line each, to be copied or searched
        lines = folded(line, console.width) if console.is_terminal else [line]
        for piece in lines:
            console.print(plain_text(piece, "dim"), soft_wrap=True)
