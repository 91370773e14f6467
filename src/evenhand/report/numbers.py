"""How is a number printed, so that what was not measured never looks like a zero?"""

from __future__ import annotations

import math

from evenhand.core.estimate import Estimate, Interval

MISSING = "n/a"


def number(value: float) -> str:
    """Three decimals; `n/a` for what was not measured."""
    return f"{round(value, 3) + 0.0:.3f}" if math.isfinite(value) else MISSING


def plain(value: float) -> str:
    """As few digits as it has: 0, 1, 0.5."""
    return f"{value:g}" if math.isfinite(value) else MISSING


def amount(count: int, noun: str) -> str:
    """`1 pair`, `1,410 pairs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float, digits: int = 0) -> str:
    """A share in percent; what is not quite nothing, or not quite all, is not rounded to it."""
    if not math.isfinite(share):
        return MISSING
    step = 10.0**-digits
    if 0 < share * 100 < step / 2:
        return f"<{step:g} %"
    if 0 < (1 - share) * 100 < step / 2:
        return f">{100 - step:g} %"
    return f"{share * 100:.{digits}f} %"


def bounds(interval: Interval) -> str:
    """`[0.431, 0.474]`, or that there is none."""
    return (
        f"[{number(interval.low)}, {number(interval.high)}]"
        if math.isfinite(interval.low + interval.high)
        else f"[{MISSING}]"
    )


def with_bounds(interval: Interval) -> str:
    """`0.452 [0.431, 0.474]`."""
    return (
        f"{number(interval.value)} {bounds(interval)}" if math.isfinite(interval.value) else MISSING
    )


def interval_of(estimate: Estimate) -> Interval:
    """The estimate without what surrounds it."""
    return Interval(estimate.value, estimate.low, estimate.high)
