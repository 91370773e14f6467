"""What all forms of a report share: the texts of cells, cut tables, printable characters."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Sequence

from evenhand.core.document import Badge, Cell, Column, Form, Row, Specimen, Table
from evenhand.core.estimate import Interval
from evenhand.core.probe import BLANK
from evenhand.core.text import (
    MISSING,
    bounds,
    in_points,
    number,
    p_value,
    percent,
    points,
    short_number,
    signed,
    signed_with_bounds,
    with_bounds,
)

_BREAKS = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """The text on one line, without control characters and changes of writing direction."""
    if text.isprintable():
        return text
    return "".join(_printable_character(c) for c in text)


def _printable_character(c: str) -> str:
    if c in _BREAKS:
        return " "
    is_unsafe = c in _DIRECTIONS or unicodedata.category(c) in ("Cc", "Cs")
    return "\ufffd" if is_unsafe else c


def cell_text(cell: Cell, form: Form) -> str:
    """A cell as text: a str unchanged, a number or an interval in the form of its column."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Interval):
        return _INTERVALS[form](cell) if form in _INTERVALS else _NUMBERS[form](cell.value)
    return _NUMBERS[form](cell)


def value_text(cell: Cell, form: Form) -> str:
    """A cell without its interval."""
    text = cell_text(cell, form)
    is_with_bounds = isinstance(cell, Interval) and form != "bounds"
    return text.partition(" ")[0] if is_with_bounds else text


def bounds_text(cell: Cell, form: Form) -> str:
    """What `cell_text` has after `value_text`: the interval of a value, or nothing."""
    return cell_text(cell, form).removeprefix(value_text(cell, form)).strip()


_NUMBERS: dict[Form, Callable[[float], str]] = {
    "text": short_number,
    "count": lambda value: f"{value:,.0f}" if math.isfinite(value) else MISSING,
    "number": number,
    "short": short_number,
    "signed": signed,
    "p": p_value,
    "percent": lambda value: percent(value, 1),
    "interval": number,
    "signed interval": signed,
    "bounds": number,
    "points": points,
    "signed points": lambda value: points(value, is_signed=True),
}
_INTERVALS: dict[Form, Callable[[Interval], str]] = {
    "text": with_bounds,
    "interval": with_bounds,
    "signed interval": signed_with_bounds,
    "bounds": bounds,
    "points": in_points,
    "signed points": lambda interval: in_points(interval, is_signed=True),
}


def row_texts(row: Row, columns: tuple[Column, ...]) -> list[str]:
    """The cells of a row as texts; a heading may have its title alone."""
    cells = row.cells
    if row.is_heading:
        cells = (*cells, *[""] * (len(columns) - len(cells)))
    return [cell_text(cell, column.form) for cell, column in zip(cells, columns, strict=True)]


def specimen_text(specimen: Specimen) -> str:
    """The lines of a specimen on one line, its blank drawn as `____`."""
    return " / ".join(line.replace(BLANK, "____") for line in specimen.lines if line)


def badge_title(badge: Badge) -> str:
    """`Does it understand what it is asked? Yes.`"""
    return f"Does it understand what it is asked? {badge.answer.capitalize()}."


def uncounted(reasons: Sequence[str]) -> str:
    """`does not count: at chance; rough interval`."""
    return f"does not count: {'; '.join(reasons)}"


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers, which are aligned to the right."""
    return column.form != "text"


def _is_counted(row: Row) -> bool:
    return not row.is_heading and not row.is_total


def limited(table: Table) -> tuple[str, tuple[Row, ...]]:
    """The title and the rows of a table, cut to its limit.

    The title of a cut table says how many rows it shows, which ones, and of how many.
    """
    count = sum(_is_counted(row) for row in table.rows)
    if table.limit is None or count <= table.limit:
        return table.title, table.rows
    kept: list[Row] = []
    shown = 0
    for row in table.rows:
        if _is_counted(row):
            shown += 1
            if shown > table.limit:
                break
        kept.append(row)
    which = f"the {table.limit:,} {table.cut}" if table.cut else f"the first {table.limit:,}"
    return f"{table.title}: {which}, of {count:,}", tuple(kept)
