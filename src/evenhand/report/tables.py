"""What is a table of a report, and how is it told in little room?"""

from __future__ import annotations

from dataclasses import dataclass, replace

from evenhand.core.estimate import Interval
from evenhand.report.numbers import number, with_bounds

ROWS = 25
Cell = str | Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """A table: its first column names the row, the others hold numbers; `is_quoted` where the names are words of the suite.

    far: what the first rows are, where the table is cut; the very first row is about all.
    """

    name: str
    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    is_quoted: bool = False
    far: str = "farthest from 0"


def told(cell: Cell, *, is_short: bool = False) -> str:
    """A cell as text; a short one without its interval."""
    if isinstance(cell, str):
        return cell
    return number(cell.value) if is_short else with_bounds(cell)


def shortened(listing: Listing) -> Listing:
    """At most so many rows, and a title that says so."""
    if len(listing.rows) <= ROWS + 1:
        return listing
    title = f"{listing.title}: the {ROWS} {listing.far}, of {len(listing.rows) - 1:,}"
    return replace(listing, title=title, rows=listing.rows[: ROWS + 1])
