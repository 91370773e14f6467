"""How is a number written in JSON? NaN has no form there: null, and the note beside it says why."""

from __future__ import annotations

import math

from evenhand.core.estimate import Estimate, Interval


def json_number(value: float) -> float | None:
    """The number, or None where there is none."""
    return float(value) if math.isfinite(value) else None


def json_interval(found: Interval | Estimate) -> dict[str, float | None]:
    """A value and its interval."""
    return {
        "value": json_number(found.value),
        "low": json_number(found.low),
        "high": json_number(found.high),
    }
