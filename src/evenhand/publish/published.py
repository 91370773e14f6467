"""Which numbers of a run can be published, and why the others cannot."""

from __future__ import annotations

import math

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run


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
