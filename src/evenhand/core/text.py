"""Numbers and lists as text; what was not measured is `n/a` and never looks like 0."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core.estimate import ExactInterval, Interval

EXACT = "(exact)"  # of exactly these probes, all of which were asked
MISSING = "n/a"
SMALLEST = 1e-9  # what is nearer to 0 is a rounding error of the machine
FURTHER = 3  # decimals that a bound may add to those of a difference


def number(value: float) -> str:
    """Three decimals; `n/a` for what was not measured."""
    return _fixed(value, 3) if math.isfinite(value) else MISSING


def _fixed(value: float, decimals: int) -> str:
    return f"{round(value, decimals) + 0.0:.{decimals}f}"


def _decimals(values: Sequence[float], least: int) -> int:
    """The fewest decimals, at least `least`, by which no value but 0 is printed as 0."""
    known = [abs(v) for v in values if math.isfinite(v) and abs(v) >= SMALLEST]
    return next(d for d in range(least, 11) if all(float(_fixed(v, d)) for v in known))


def _difference_decimals(interval: Interval, least: int) -> int:
    """The decimals of a difference with bounds, by which it is not printed as 0.

    Nor are its bounds, and the distance between them, unless that takes more than a few further
    decimals.
    """
    value, low, high = interval
    rest = [v for v in (low, high, high - low) if math.isfinite(v)]
    seen = [v for v in rest if float(_fixed(v, least + FURTHER))]
    return _decimals((value, *seen), least)


def _plus(text: str) -> str:
    """A printed number with its sign; a zero has none."""
    return f"+{text}" if float(text) > 0 else text


def short_number(value: float) -> str:
    """As few digits as it has: 0, 1, 0.5."""
    return f"{value:g}" if math.isfinite(value) else MISSING


def signed(value: float) -> str:
    """A difference with its sign; a zero has none, and only a zero is printed as one."""
    return _plus(_fixed(value, _decimals([value], 3))) if math.isfinite(value) else MISSING


def signed_with_bounds(interval: Interval) -> str:
    """`+0.013 [0.001, 0.025]`; more decimals where a difference needs them."""
    return _difference(interval, least=3)


def _difference(interval: Interval, least: int) -> str:
    if not math.isfinite(interval.value):
        return MISSING
    decimals = _difference_decimals(interval, least)
    value = _plus(_fixed(interval.value, decimals))
    if not interval.has_bounds:
        return f"{value} [{MISSING}]"
    return f"{value} [{_fixed(interval.low, decimals)}, {_fixed(interval.high, decimals)}]"


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
    """A share in percent without the percent sign: `42.1`; with a sign, a change: `+1.3`."""
    if not math.isfinite(value):
        return MISSING
    percentage = value * 100
    if not is_signed:
        return _fixed(percentage, 1)
    return _plus(_fixed(percentage, _decimals([percentage], 1)))


def levels_in_points(before: float, after: float) -> tuple[str, str]:
    """Two shares in percent, with as many decimals as it takes to tell them apart."""
    if not math.isfinite(before + after) or abs(after - before) < SMALLEST:
        return points(before), points(after)
    printed = ((_fixed(before * 100, d), _fixed(after * 100, d)) for d in range(1, 9))
    return next(pair for pair in printed if pair[0] != pair[1])


def bounds(interval: Interval) -> str:
    """`[0.431, 0.474]`; `[n/a]` where there are no bounds, `(exact)` where nothing is uncertain."""
    if not interval.has_bounds:
        return f"[{MISSING}]"
    if isinstance(interval, ExactInterval):
        return EXACT
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
    if is_signed:
        return _difference(Interval(*(100 * v for v in interval)), least=1)
    if not interval.has_bounds:
        return f"{points(interval.value)} [{MISSING}]"
    if isinstance(interval, ExactInterval):
        return f"{points(interval.value)} {EXACT}"
    return f"{points(interval.value)} [{points(interval.low)}, {points(interval.high)}]"


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
