"""Why a number of a run does not count, or counts only with a reservation."""

from __future__ import annotations

import math

from evenhand.core import account, catalog
from evenhand.core.account import RANDOM
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.core.text import number


def reservations(run: Run, estimate: Estimate) -> list[str]:
    """What must stand beside a number wherever it is published; empty where nothing must.

    It has no value; the model does not understand such probes; its interval holds what random
    answers get; its interval is rough.
    """
    if not math.isfinite(estimate.value):
        return [f"not computed: {estimate.note or 'not defined on these answers'}"]
    is_bias = catalog.measure(estimate.measure).worst is not None
    reasons = []
    check = next(iter(account.checks(run)), None)
    if is_bias and check is not None and not math.isfinite(check.value):
        reasons.append(f"whether the model understands is not known: {check.note}")
    elif is_bias and check is not None and check.is_weak:
        reasons.append(
            f"the model gives the right label on {number(check.value)} of {check.items}, less than "
            f"{number(check.weak_below)}: part of the number may be misunderstanding"
        )
    guess = run.baseline(RANDOM, estimate.measure)
    if guess is not None and _holds(estimate, guess.value):
        reasons.append(
            f"the interval holds {number(guess.value)}, what random answers are expected to get"
        )
    return [*reasons, estimate.note] if estimate.note else reasons


def _holds(estimate: Estimate, value: float) -> bool:
    has_range = estimate.interval.has_bounds and not estimate.is_exact
    return has_range and math.isfinite(value) and estimate.low <= value <= estimate.high


def published_estimates(run: Run) -> list[Estimate]:
    """The estimates that have a value.

    Raises EvenhandError where none has one: nothing must be published as if it were a result.
    """
    known = [e for e in run.estimates if math.isfinite(e.value)]
    if not known:
        reason = run.headline.note or "not defined on these answers"
        raise EvenhandError(
            f"the run of {run.answers.respondent} on {run.suite.card.name} has no number that "
            f"could be published: {reason}"
        )
    return known


def left_out(run: Run) -> dict[str, str]:
    """Measure -> why it has no value."""
    return {
        e.measure: e.note or "not defined on these answers"
        for e in run.estimates
        if not math.isfinite(e.value)
    }
