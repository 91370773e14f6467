"""Numbers and lists as text; what was not measured is `n/a` and never looks like 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core.estimate import Interval

MISSING = "n/a"


def number(value: float) -> str:
    """Three decimals; `n/a` for what was not measured."""
    return f"{round(value, 3) + 0.0:.3f}" if math.isfinite(value) else MISSING


def short_number(value: float) -> str:
    """As few digits as it has: 0, 1, 0.5."""
    return f"{value:g}" if math.isfinite(value) else MISSING


def signed(value: float) -> str:
    """A difference with its sign; a zero has none."""
    text = number(value)
    return f"+{text}" if value > 0 and text not in (MISSING, "0.000") else text


def counted(count: int, noun: str) -> str:
    """`1 pair`, `1,410 pairs`."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def percent(share: float, digits: int = 0) -> str:
    """A share in percent; only exactly 0 and 1 become `0 %` and `100 %`, others `<1 %`, `>99 %`."""
    if not math.isfinite(share):
        return MISSING
    step = 10.0**-digits
    if 0 < share * 100 < step / 2:
        return f"<{step:g} %"
    if 0 < (1 - share) * 100 < step / 2:
        return f">{100 - step:g} %"
    return f"{share * 100:.{digits}f} %"


def points(value: float, *, is_signed: bool = False) -> str:
    """A share in percent without the percent sign: `42.1`, `+1.3`."""
    if not math.isfinite(value):
        return MISSING
    text = f"{round(value * 100, 1) + 0.0:.1f}"
    return f"+{text}" if is_signed and value > 0 and text != "0.0" else text


def bounds(interval: Interval) -> str:
    """`[0.431, 0.474]`; `[n/a]` where there are no bounds."""
    if not interval.has_bounds:
        return f"[{MISSING}]"
    return f"[{number(interval.low)}, {number(interval.high)}]"


def with_bounds(interval: Interval) -> str:
    """`0.452 [0.431, 0.474]`."""
    if not math.isfinite(interval.value):
        return MISSING
    return f"{number(interval.value)} {bounds(interval)}"


def in_points(interval: Interval, *, is_signed: bool = False) -> str:
    """`43.0 [40.1, 46.2]`: percent, as the papers print shares and their changes."""
    if not math.isfinite(interval.value):
        return MISSING
    if not interval.has_bounds:
        return f"{points(interval.value, is_signed=is_signed)} [{MISSING}]"
    low, high = points(interval.low), points(interval.high)
    return f"{points(interval.value, is_signed=is_signed)} [{low}, {high}]"


def p_value(p: float) -> str:
    """Three decimals; `<0.001` instead of 0."""
    if not math.isfinite(p):
        return MISSING
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; empty for none."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"


def sentence_case(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[:1].upper() + text[1:]
