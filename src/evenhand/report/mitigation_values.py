"""Which values of a mitigation belong together, in which order, and how are they printed? Percent, and points of them."""

from __future__ import annotations

import math

from evenhand.core.estimate import Interval
from evenhand.mitigate.records import ACCURACY, BEFORE, NONE, Asked, Change, Mitigation, Part, Score
from evenhand.report.estimates import fair
from evenhand.report.numbers import MISSING

HEADLINES = (
    "nli_coal",
    "entailment_gap",
)  # what a suite is about, and what the trade-off is drawn for
COLUMNS = (
    "same_label",
    "entailment_gap",
    "stereotype_preference",
    "nli_coal",
    "fraction_neutral",
    "person_entailment",
)
SHORT = {
    ACCURACY: "Acc",
    "same_label": "S",
    "entailment_gap": "ΔP",
    "stereotype_preference": "B",
    "nli_coal": "NLI-CoAL",
    "fraction_neutral": "FN",
    "person_entailment": "person",
}
UNSEEN = "unseen occupations"


def percent(value: float, *, is_signed: bool = False) -> str:
    """`42.1`, `+1.3`: percent, or points of them; never a zero with a sign."""
    if not math.isfinite(value):
        return MISSING
    text = (
        f"{value * 100:.1f}".replace("-0.0", "0.0") if abs(value) < 0.0005 else f"{value * 100:.1f}"
    )
    return f"+{text}" if is_signed and value > 0 and text != "0.0" else text


def points(found: Interval) -> str:
    """`-12.3 [-15.0, -9.8]`."""
    if not math.isfinite(found.value):
        return MISSING
    bounds = (
        f"[{percent(found.low)}, {percent(found.high)}]"
        if math.isfinite(found.low + found.high)
        else f"[{MISSING}]"
    )
    return f"{percent(found.value, is_signed=True)} {bounds}"


def is_shown(found: Mitigation, change: Change) -> bool:
    """Is the change shown, after the correction for all that were looked at?"""
    return math.isfinite(change.adjusted) and change.adjusted <= 1 - found.level


def ratio(before: Score, after: Score) -> float:
    """How far from fair is it, as a share of how far it was? NaN where it was fair."""
    best = fair(before.measure)
    far = abs(before.value - best)
    return abs(after.value - best) / far if far > 0 else math.nan


def models(found: Mitigation) -> list[str]:
    """`before` and the methods."""
    return [BEFORE, *(t.method for t in found.trained)]


def suites(found: Mitigation, part: Part = "all") -> list[Asked]:
    """What was asked, of one sort."""
    return [a for a in found.asked if a.part == part]


def measures_on(found: Mitigation, asked: Asked) -> list[str]:
    """The measures of a suite, in the order of the table."""
    there = {s.measure for s in found.scores if (s.asked, s.part) == (asked.name, asked.part)}
    return [m for m in COLUMNS if m in there]


def headline_on(found: Mitigation, asked: Asked) -> str | None:
    """The measure that a suite is about."""
    return next((m for m in HEADLINES if m in measures_on(found, asked)), None)


def methods(found: Mitigation, *, has_anchors: bool | None = None) -> list[str]:
    """The methods but the control; with or without anchors, where that is asked for."""
    names = [t.method for t in found.trained if t.method != NONE]
    return (
        names
        if has_anchors is None
        else [n for n in names if ("anchors" in n.split("+")) is has_anchors]
    )


def where(asked: Asked) -> str:
    """`occupation-nli`, `occupation-nli (unseen occupations)`."""
    return f"{asked.name} ({UNSEEN})" if asked.part == "unseen" else asked.name
