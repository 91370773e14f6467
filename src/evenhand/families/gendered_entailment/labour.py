"""Which share of an occupation's workers are women? Built-in figures, or a table of any country and year."""

from __future__ import annotations

from pathlib import Path

from evenhand import lexicons
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows

DOMINANCE = 70.0  # percent; "dominated" in Sharma et al. 2021
_NAMES = ("occupation", "word", "job", "title")
_SHARES = ("share", "share_women", "percent_women", "women")


def built_in() -> dict[str, float]:
    """US Current Population Survey 2019, percent of women, by English word."""
    rows = [*lexicons.table("en", "workforce"), *lexicons.table("en", "occupations")]
    return {row["word"].lower(): float(row["share_women"]) for row in rows if row["share_women"]}


def read_shares(path: Path) -> dict[str, float]:
    """A table with the columns occupation and share (percent of women)."""
    rows = read_rows(path)
    columns = list(rows[0][1])
    name = next((c for c in _NAMES if c in columns), None)
    share = next((c for c in _SHARES if c in columns), None)
    if name is None or share is None:
        raise InputError(
            path,
            f"has the columns {', '.join(columns)}; needed are occupation and share (percent of women)",
        )
    found: dict[str, float] = {}
    for number, row in rows:
        try:
            value = float(row[share])
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(path, f"share {row.get(share)!r} is no number", row=number) from error
        if not 0 <= value <= 100:
            raise InputError(
                path,
                f"share {value:g} of '{row.get(name)}' is outside 0 to 100 percent",
                row=number,
            )
        found[str(row.get(name, "")).strip().lower()] = value
    return found


def lean(share: float, dominance: float = DOMINANCE) -> str:
    """female, male or none: which gender has more than `dominance` percent of the workers?"""
    if not 50 <= dominance < 100:
        raise EvenhandError(
            f"dominance is {dominance:g}; give a percentage of at least 50 and below 100"
        )
    return "female" if share > dominance else "male" if share < 100 - dominance else "none"


def majority(share: float) -> str:
    """female, male or, at exactly half, none."""
    return "female" if share > 50 else "male" if share < 50 else "none"
