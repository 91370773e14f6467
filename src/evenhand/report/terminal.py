"""A document on a terminal: its lead, and the tables and notes of its brief sections."""

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
    Finding,
    Front,
    Prose,
    Row,
    Section,
    Signatures,
    Table,
)
from evenhand.core.text import sentence_case
from evenhand.report.cells import (
    badge_title,
    bounds_text,
    cell_text,
    is_numeric,
    limited,
    printable,
    specimen_text,
    uncounted,
    value_text,
)

if TYPE_CHECKING:
    from rich import table as rich_table
    from rich.console import Console
    from rich.text import Text

SPECIMENS = 3  # how many of an exhibit are printed
SHORT_TABLE = 14  # rows up to which a wide table is split in two and keeps its intervals
# in characters of the terminal
NAMES, TEXTS = 24, 20  # the width to which row names and other texts may be wrapped
WORD = 32  # the longest word that is not broken
GAP = 3  # between two columns of a table


def plain_text(text: str, style: str = "") -> Text:
    """A text without markup (`[n/a]` is printed literally) and without control characters."""
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
    if document.front is not None:
        reasons = document.headline.reasons if document.headline else ()
        _print_front(document.front, reasons, console)
    is_one = document.headline is not None  # sentences about one number are one paragraph
    for line in [" ".join(document.lead)] if is_one else document.lead:
        console.print(plain_text(line))
    console.print()
    if document.front is not None and document.front.findings:
        console.print(plain_text("Findings", "bold"))
        for finding in document.front.findings:
            _print_beside("-", _finding(finding), "dim" if finding.reasons else "", console)
        console.print()
    brief = [section for section in document.sections if section.is_brief]
    for section in brief:
        _print_section(section, console)
    for section in brief:
        for block in section.blocks:
            if isinstance(block, Signatures) and not block.is_folded:
                _print_signatures(block, console)


def front_lines(front: Front, reasons: Sequence[str]) -> list[Text]:
    """Verdict, direction and badge; reasons: why the headline does not count."""
    lines = [plain_text(front.verdict, "dim" if reasons else "bold")]
    if reasons:
        lines.append(plain_text(f"{sentence_case(uncounted(reasons))}.", "dim"))
    if front.direction:
        style = "dim" if front.direction.reasons else ""
        lines.append(plain_text(f"Direction. {_finding(front.direction)}", style))
    if front.badge:
        title = plain_text(badge_title(front.badge), "bold")
        lines.append(title.append(plain_text(f" {front.badge.reason}", "not bold")))
    return lines


def _print_front(front: Front, reasons: Sequence[str], console: Console) -> None:
    """The first screen but for its findings."""
    for line in front_lines(front, reasons):
        console.print(line)
    if front.example:
        console.print(plain_text(f"{front.example.title}. {front.example.note}", "dim"))
        for specimen in front.example.specimens:
            _print_beside("-", f"{specimen_text(specimen)}: {specimen.summary}", "", console)
    console.print()


def _finding(finding: Finding) -> str:
    return f"{finding.text} ({uncounted(finding.reasons)})" if finding.reasons else finding.text


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
                line = f"{specimen_text(specimen)}: {specimen.summary}"
                _print_beside("-", line, "", console)


def _print_beside(sign: str, text: str, style: str, console: Console) -> None:
    """Print a sign and, next to it, the text, wrapped with a hanging indent."""
    from rich.table import Table as Grid

    if not sign:
        console.print(plain_text(text, style))
        return
    grid = Grid.grid(padding=(0, 1))
    grid.add_column()
    grid.add_column(overflow="fold")  # Chinese and Japanese have no spaces to break at
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
    """The table in parts that fit the width, and whether they have its intervals.

    One table if it fits; else two that repeat the first column. A long table, or one that needs
    more parts, loses its intervals.
    """
    sheet = _Sheet(table, rows)
    parts = sheet.parts(width)
    is_long = sum(not row.is_heading for row in rows) > SHORT_TABLE
    is_crowded = len(parts) > 2 or (is_long and len(parts) > 1)
    if is_crowded and sheet.has_intervals:
        sheet = _Sheet(table, rows, is_short=True)
        return [sheet.drawn(part, width) for part in sheet.parts(width)], False
    return [sheet.drawn(part, width) for part in parts], True


class _Sheet:
    """The texts of a table, with or without intervals, and how wide its columns are."""

    def __init__(self, table: Table, rows: Sequence[Row], *, is_short: bool = False) -> None:
        self.columns, self.rows = table.columns, rows
        has_stars = _has_stars(rows)
        self.texts = [
            _texts(row, table.columns, has_stars=has_stars, is_short=is_short) for row in rows
        ]
        self.has_intervals = any(
            bounds_text(cell, column.form)
            for row in rows
            for cell, column in zip(row.cells, table.columns, strict=False)
        )
        sizes = [self._size(place) for place in range(len(table.columns))]
        self.least = [least for least, _ in sizes]
        self.most = [most for _, most in sizes]

    def _size(self, place: int) -> tuple[int, int]:
        """The least and the greatest width of a column; texts can be wrapped, numbers cannot."""
        from rich.cells import cell_len

        column = self.columns[place]
        pairs = zip(self.texts, self.rows, strict=True)
        known = [texts[place] for texts, row in pairs if not row.is_heading]
        most = least = max(map(cell_len, known), default=0)
        if not is_numeric(column):
            words = max((cell_len(word) for text in known for word in text.split()), default=0)
            least = min(most, max(min(words, WORD), NAMES if place == 0 else TEXTS))
        head = max(map(cell_len, column.title.split()), default=0)
        return max(least, head), max(most, cell_len(column.title))

    def parts(self, width: int) -> list[list[int]]:
        """Groups of columns that fit the width, each beginning with the first column."""
        parts, used = [[0]], self.least[0]
        for place in range(1, len(self.columns)):
            if len(parts[-1]) > 1 and used + GAP + self.least[place] > width:
                parts.append([0])
                used = self.least[0]
            parts[-1].append(place)
            used += GAP + self.least[place]
        return parts

    def drawn(self, part: Sequence[int], width: int) -> rich_table.Table:
        """A group of columns as a table; spare width goes to the first columns first."""
        from rich import box
        from rich.table import Table as RichTable

        spare = width - sum(self.least[place] for place in part) - GAP * (len(part) - 1)
        drawn = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="dim")
        for place in part:
            column = self.columns[place]
            extra = min(max(spare, 0), self.most[place] - self.least[place])
            spare -= extra
            drawn.add_column(
                plain_text(column.title),
                justify="right" if is_numeric(column) else "left",
                width=self.least[place] + extra,
                overflow="fold",
            )
        for row, texts in zip(self.rows, self.texts, strict=True):
            strong = {0} if row.is_heading else row.strong
            shade = "dim" if row.is_quiet else ""
            styles = [shade or ("bold" if place in strong else "") for place in part]
            drawn.add_row(
                *(plain_text(texts[i], style) for i, style in zip(part, styles, strict=True))
            )
        return drawn


def _has_stars(rows: Sequence[Row]) -> bool:
    """Whether emphasis needs stars, because rows differ in it: bold alone may be lost."""
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


def folded(signature: str, width: int) -> list[str]:
    """The signature in lines of at most `width`, broken between fields where possible."""
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
