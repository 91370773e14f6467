"""How the cells of tables and the letters of foreign texts read, the same in every form."""

from __future__ import annotations

import unicodedata

from evenhand.core.document import Cell, Column, Form, Row, Table
from evenhand.core.estimate import Interval
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
    with_bounds,
)

_BREAKS = frozenset("\t\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029")
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    """The text on one line, without what could steer a terminal or turn the line around."""
    if text.isprintable():
        return text
    return "".join(_letter(c) for c in text)


def _letter(c: str) -> str:
    if c in _BREAKS:
        return " "
    is_unsafe = c in _DIRECTIONS or unicodedata.category(c) in ("Cc", "Cs")
    return "\ufffd" if is_unsafe else c


def cell_text(cell: Cell, form: Form) -> str:
    """A cell as text: a text as it is, a number or an interval in the form of its column."""
    if isinstance(cell, str):
        return cell
    if isinstance(cell, Interval):
        return _interval_text(cell, form)
    return _number_text(cell, form)


def value_text(cell: Cell, form: Form) -> str:
    """A cell without its interval."""
    if isinstance(cell, Interval) and form != "bounds":
        return _number_text(cell.value, form)
    return cell_text(cell, form)


def bounds_text(cell: Cell, form: Form) -> str:
    """What `cell_text` has after `value_text`: the interval of a value, or nothing."""
    return cell_text(cell, form).removeprefix(value_text(cell, form)).strip()


def _number_text(value: float, form: Form) -> str:
    match form:
        case "count":
            return f"{value:,.0f}" if value == value else MISSING  # noqa: PLR0124
        case "number" | "interval" | "bounds":
            return number(value)
        case "text" | "short":
            return short_number(value)
        case "signed" | "signed interval":
            return signed(value)
        case "p":
            return p_value(value)
        case "percent":
            return percent(value, 1)
        case "points":
            return points(value)
        case "signed points":
            return points(value, is_signed=True)


def _interval_text(interval: Interval, form: Form) -> str:
    value = _number_text(interval.value, form)
    match form:
        case "interval" | "text":
            return with_bounds(interval)
        case "bounds":
            return bounds(interval)
        case "signed interval":
            return MISSING if value == MISSING else f"{value} {bounds(interval)}"
        case "points":
            return in_points(interval)
        case "signed points":
            return in_points(interval, is_signed=True)
        case _:
            return value


def row_texts(row: Row, columns: tuple[Column, ...]) -> list[str]:
    """The cells of a row as texts; a heading may have its title alone."""
    cells = row.cells
    if row.is_heading:
        cells = (*cells, *[""] * (len(columns) - len(cells)))
    return [cell_text(cell, column.form) for cell, column in zip(cells, columns, strict=True)]


def is_numeric(column: Column) -> bool:
    """Whether a column holds numbers, which stand at the right."""
    return column.form != "text"


def limited(table: Table) -> tuple[str, tuple[Row, ...]]:
    """The title and the rows of a table where there is little room.

    A cut table says in its title how many rows it shows, which these are, and of how many.
    """
    rows = table.rows
    count = sum(not row.is_heading for row in rows)
    if table.limit is None or count <= table.limit:
        return table.title, rows
    kept: list[Row] = []
    for row in rows:
        if sum(not r.is_heading for r in kept) == table.limit:
            break
        kept.append(row)
    which = f"the {table.limit:,} {table.cut}" if table.cut else f"the first {table.limit:,}"
    return f"{table.title}: {which}, of {count:,}", tuple(kept)
