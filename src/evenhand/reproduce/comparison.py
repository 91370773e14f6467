"""How far is a number from the printed one?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One printed number and what was computed for it."""

    where: str  # table, section or figure of the paper
    what: str
    printed: float
    found: float
    tolerance: float

    @property
    def is_met(self) -> bool:
        """Within the tolerance? A number that is not defined never is."""
        return (
            math.isfinite(self.found) and abs(self.found - self.printed) <= self.tolerance + 1e-12
        )


def to_json(rows: Sequence[Row]) -> list[dict[str, object]]:
    """The rows as plain data."""
    return [
        {
            "where": r.where,
            "what": r.what,
            "printed": r.printed,
            "found": r.found if math.isfinite(r.found) else None,
            "tolerance": r.tolerance,
            "is_met": r.is_met,
        }
        for r in rows
    ]
