"""Policies: the rules that a gate judges a run by, from a TOML file or from options.

A rule is checked against the catalog when it is read: an unknown measure, a limit that a fair
model would miss and a limit that no model can miss are refused.
"""

from __future__ import annotations

import difflib
import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.measure import Measure
from evenhand.core.settings import TARGETS, Target
from evenhand.core.text import listed, short_number

On = Literal["interval", "value", "low", "high"]
ON: tuple[On, ...] = get_args(On)
AfterReview = Literal["warn", "fail"]
AFTER_REVIEW: tuple[AfterReview, ...] = get_args(AfterReview)
HEADLINE = ""  # as the measure of a rule: the first of the suite
EVERY = "*"  # as the measure of a rule: each that says something about bias
MIN_COVERAGE = 0.9  # what a rule demands that names no share
_SLACK = 1e-12


class Limits(NamedTuple):
    """The values that a rule allows, both ends included."""

    low: float
    high: float

    @property
    def is_open(self) -> bool:
        """Whether every value is allowed."""
        return self == (-math.inf, math.inf)

    def __str__(self) -> str:
        if self.low == -math.inf:
            return f"at most {short_number(self.high)}"
        if self.high == math.inf:
            return f"at least {short_number(self.low)}"
        return f"from {short_number(self.low)} to {short_number(self.high)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one measure of one suite must keep.

    at_least, at_most, within (of the fair value): the limits of the value. on: what must lie in
    them: the whole interval, the value alone, or one end of the interval. no_regression: not shown
    to be farther from fair than the baseline by the paired test; max_worsening: at most so much
    farther, by the paired interval. min_validity: the least accuracy of the run's check of
    understanding; None: what the check itself calls weak; 0: not asked for.
    """

    measure: str = HEADLINE
    suite: str = ""  # empty: the one that has the measure
    lang: str = ""  # empty: any
    at_least: float | None = None
    at_most: float | None = None
    within: float | None = None
    on: On = "interval"
    target: Target = "new items"
    no_regression: bool = False
    max_worsening: float | None = None
    min_coverage: float = MIN_COVERAGE
    min_validity: float | None = None
    owner: str = ""
    review: date | None = None  # the last day on which it holds without being looked at again
    after_review: AfterReview = "warn"
    why: str = ""

    @property
    def needs_baseline(self) -> bool:
        """Whether it compares the run with another."""
        return self.no_regression or self.max_worsening is not None

    @property
    def has_limits(self) -> bool:
        """Whether it limits the value itself."""
        return any(v is not None for v in (self.at_least, self.at_most, self.within))

    def limits(self, measure: Measure) -> Limits:
        """The values of the measure that it allows; an end beyond its range limits nothing."""
        fair, (lowest, highest) = measure.fair, measure.card.range
        low = -math.inf if self.at_least is None else self.at_least
        high = math.inf if self.at_most is None else self.at_most
        if self.within is not None:
            low, high = max(low, fair - self.within), min(high, fair + self.within)
        return Limits(-math.inf if low <= lowest else low, math.inf if high >= highest else high)

    @property
    def title(self) -> str:
        """What it demands, in a few words."""
        parts = []
        if self.at_least is not None:
            parts.append(f"at least {short_number(self.at_least)}")
        if self.at_most is not None:
            parts.append(f"at most {short_number(self.at_most)}")
        if self.within is not None:
            parts.append(f"within {short_number(self.within)} of fair")
        if self.no_regression:
            parts.append("not worse than the baseline")
        if self.max_worsening is not None:
            parts.append(f"at most {short_number(self.max_worsening)} worse than the baseline")
        return f"{self.measure or 'headline'} {listed(parts) or 'is measured'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """Rules, the level of the intervals by which they are judged, and the run to compare with."""

    rules: tuple[Rule, ...]
    level: float | None = None  # None: that of the run
    baseline: Path | None = None
    source: str = "the command line"

    @property
    def needs_baseline(self) -> bool:
        """Whether any of its rules compares."""
        return any(rule.needs_baseline for rule in self.rules)


# key of a policy file -> (field of Rule, the types of its value, what to write)
_NUMBER = (int, float)
_KEYS: dict[str, tuple[str, tuple[type, ...], str]] = {
    "measure": ("measure", (str,), 'the name of a measure, or "*"'),
    "suite": ("suite", (str,), "the name of a suite"),
    "lang": ("lang", (str,), "the code of a language"),
    "min": ("at_least", _NUMBER, "a number"),
    "max": ("at_most", _NUMBER, "a number"),
    "within": ("within", _NUMBER, "a number"),
    "on": ("on", (str,), " or ".join(f'"{name}"' for name in ON)),
    "target": ("target", (str,), " or ".join(f'"{name}"' for name in TARGETS)),
    "no_regression": ("no_regression", (bool,), "true or false"),
    "max_worsening": ("max_worsening", _NUMBER, "a number"),
    "min_coverage": ("min_coverage", _NUMBER, "a share from 0 to 1"),
    "min_validity": ("min_validity", _NUMBER, "a share from 0 to 1"),
    "owner": ("owner", (str,), "a name or an address"),
    "review": ("review", (date,), "a date without quotes: 2027-06-30"),
    "after_review": (
        "after_review",
        (str,),
        " or ".join(f'"{name}"' for name in AFTER_REVIEW),
    ),
    "why": ("why", (str,), "a sentence"),
}
# what stands above the rules and holds for each that does not say otherwise
_SHARED = tuple(k for k in _KEYS if k not in ("measure", "min", "max", "within", "why"))
_TOP = ("level", "baseline", "rule")
_CHOICES: dict[str, tuple[str, ...]] = {"on": ON, "target": TARGETS, "after_review": AFTER_REVIEW}


def read_policy(path: Path) -> Policy:
    """The policy in a TOML file, checked. Raises InputError that names the rule and the key."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror or error})") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(path, f"is not TOML: {error}") from error
    _refuse_unknown(path, "the policy", table, (*_SHARED, *_TOP))
    shared = _fields(path, "the policy", {k: v for k, v in table.items() if k in _SHARED})
    rows = table.get("rule")
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        raise InputError(path, "has no rule; write each below a line [[rule]]")
    rules = []
    for place, row in enumerate(rows, 1):
        where = f"rule {place}"
        _refuse_unknown(path, where, row, tuple(_KEYS))
        if not row.get("measure"):
            raise InputError(path, f"{where} names no measure; see `evenhand list measures`")
        rule = Rule(**{**shared, **_fields(path, where, row)})
        try:
            check_rule(rule)
        except EvenhandError as error:
            raise InputError(path, f"{where}: {error}") from error
        rules.append(rule)
    return Policy(
        rules=tuple(rules),
        level=_level(path, table.get("level")),
        baseline=_baseline(path, table.get("baseline")),
        source=str(path),
    )


def make_rule(row: Mapping[str, object]) -> Rule:
    """The rule that the keys of a policy file describe, checked."""
    place = Path("rule")
    _refuse_unknown(place, "it", row, tuple(_KEYS))
    rule = Rule(**_fields(place, "it", row))
    check_rule(rule)
    return rule


def _refuse_unknown(
    path: Path, where: str, row: Mapping[str, object], known: Sequence[str]
) -> None:
    for key in row:
        if key in known:
            continue
        close = difflib.get_close_matches(key, known, n=1)
        hint = f"did you mean '{close[0]}'?" if close else f"it may have {', '.join(known)}"
        raise InputError(path, f"{where} has the key '{key}', which does not exist; {hint}")


def _fields(path: Path, where: str, row: Mapping[str, object]) -> dict[str, Any]:
    """The fields of a rule that a table of the file gives."""
    fields: dict[str, Any] = {}
    for key, value in row.items():
        name, types, wanted = _KEYS[key]
        is_bool = isinstance(value, bool) and bool not in types
        # a date with a time is a date to Python; "today" has no time
        if not isinstance(value, types) or is_bool or isinstance(value, datetime):
            raise InputError(path, f"{where}: {key} is {value!r}; give {wanted}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise InputError(path, f"{where}: {key} is {value!r}; give {wanted}")
        fields[name] = (
            float(value)
            if isinstance(value, int | float) and not isinstance(value, bool)
            else value
        )
    return fields


def _level(path: Path, value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, float) or not 0 < value < 1:
        raise InputError(path, f"level is {value!r}; give a share between 0 and 1, such as 0.95")
    return value


def _baseline(path: Path, value: object) -> Path | None:
    """The folder that the policy names, seen from the folder of the policy."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(path, f"baseline is {value!r}; give the folder of a run in quotes")
    return path.parent / value


def check_rule(rule: Rule) -> None:
    """Raise EvenhandError where a rule cannot be kept, cannot be missed, or demands nothing."""
    for name in ("at_least", "at_most", "within", "max_worsening"):
        value = getattr(rule, name)
        if value is not None and not math.isfinite(value):
            raise EvenhandError(f"{rule.title}: a limit must be a finite number")
    for name, share in (
        ("min_coverage", rule.min_coverage),
        ("min_validity", rule.min_validity or 0.0),
    ):
        if not 0 <= share <= 1:
            raise EvenhandError(f"{name} is {short_number(share)}; give a share from 0 to 1")
    if rule.max_worsening is not None and rule.max_worsening < 0:
        raise EvenhandError(
            f"max_worsening is {short_number(rule.max_worsening)}; give 0 or more: how much "
            "farther from fair than the baseline is allowed"
        )
    if rule.measure == EVERY and rule.has_limits:
        raise EvenhandError(
            "measures differ in scale, so that one limit does not fit all of them: name the measure"
        )
    if rule.measure not in (HEADLINE, EVERY):
        _check_limits(rule, catalog.measure(rule.measure))


def _check_limits(rule: Rule, measure: Measure) -> None:
    """Raise EvenhandError where limits do not fit the fair value and the range of a measure."""
    fair, (lowest, highest) = measure.fair, measure.card.range
    known = (
        f"{measure.name} goes from {short_number(lowest)} to {short_number(highest)}, and "
        f"{short_number(fair)} is {measure.best}"
    )
    if rule.within is not None:
        farthest = max(highest - fair, fair - lowest)
        if rule.within <= 0:
            raise EvenhandError(f"within is {short_number(rule.within)}; give more than 0")
        if rule.within >= farthest:
            raise EvenhandError(
                f"within {short_number(rule.within)} of {measure.best} holds for every model: "
                f"{known}; give less than {short_number(farthest)}"
            )
    if rule.at_most is not None:
        if rule.at_most < fair - _SLACK:
            raise EvenhandError(
                f"the limit is on the wrong side: at most {short_number(rule.at_most)} would fail "
                f"the best of models ({known}); use min, or a higher limit"
            )
        if rule.at_most >= highest:
            raise EvenhandError(
                f"at most {short_number(rule.at_most)} holds for every model: {known}; "
                f"give less than {short_number(highest)}"
            )
    if rule.at_least is not None:
        if rule.at_least > fair + _SLACK:
            raise EvenhandError(
                f"the limit is on the wrong side: at least {short_number(rule.at_least)} would "
                f"fail the best of models ({known}); use max, or a lower limit"
            )
        if rule.at_least <= lowest:
            raise EvenhandError(
                f"at least {short_number(rule.at_least)} holds for every model: {known}; "
                f"give more than {short_number(lowest)}"
            )


def parse_limit(option: str, text: str) -> tuple[str, float]:
    """`NAME=0.25` as name and number; raises EvenhandError that names the option."""
    name, equals, number = text.partition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not equals or not name.strip() or not math.isfinite(value):
        raise EvenhandError(
            f"{option} is '{text}'; give a measure and a number, for example {option} NAME=0.25"
        )
    return name.strip(), value
