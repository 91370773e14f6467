"""Which measures are right? A ladder of models of known bias says which scores rise with it, and which move with mere errors.

Correlation. The score of a rung is the mean over its seeds, as in the paper (Anantaprayoon, Kaneko, Okazaki 2024: 11 rates, 11 points), and it is the plain
score, not its distance from the fair value: at rate 0 every stereotyped word is answered against the stereotype, so a score with a direction goes from one end
through fair to the other, and a distance would hide that. A score that counts both directions alike cannot follow the rate; `strength` is for those: the
correlation with |2 r - 1|.

Interval. Fisher's z over the rungs, one seed or many. The rates are chosen and not drawn, so it is wider than it need be for straight scores. Resampling is too sure
of itself: in simulated ladders of 11 rungs and 3 seeds (no relation, weak, strong, curved), 95 % intervals of Pearson's r held the true value in 79 to 88 % of the
ladders where seeds were resampled within a rung, in 90 to 100 % where rungs were, in 99 to 100 % where both were (far too wide), in 95 to 100 % by Fisher's z.
`tests/unit/test_ranking.py` repeats the last.

A score that moves by less than a fiftieth of what is possible has not found anything, however well its last digits line up: in the paper and here Fraction Neutral is such a one.

Order. First |Pearson's r| to two decimals, then how far mere errors move the score against how far bias does (leak / signal), then the spread of seeds (noise / signal).
Scores that hardly move come last.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.meta.climb import (
    Climb,
    Correlation,
    correlate_steps,
    judge_movement,
    make_climb,
    step_of,
)
from evenhand.meta.records import Ladder, Reading

FOUND, WEAK = (
    0.9,
    0.5,
)  # |Pearson's r| from which a score is said to follow the bias, and below which it is not
FLAT = 0.02  # share of the possible range below which a score hardly moves
MOVED = 1 / 3  # share of the movement by bias from which a movement by mere errors counts

Finding = Literal["found", "weakly", "not"]


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How does one measure on one suite stand the test?"""

    suite: str
    measure: str
    rank: int
    level: float
    rates: Climb
    errors: Climb
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation
    strength: Correlation  # Pearson of |2 r - 1| with the score
    signal: float  # range of the means along the bias rates
    share: float  # the same, of the range that the measure could use; NaN where that has no end or is not known
    noise: float  # spread over seeds along the bias rates
    leak: float  # range of the means along the share of mere errors
    leak_pearson: Correlation
    leak_p: float  # do mere errors move it more than seeds do? NaN where that cannot be tested
    notes: tuple[str, ...] = ()

    @property
    def leak_ratio(self) -> float:
        """How far do mere errors move the score, against bias?"""
        return _over(self.leak, self.signal)

    @property
    def noise_ratio(self) -> float:
        """How far do seeds move the score, against bias?"""
        return _over(self.noise, self.signal)

    @property
    def finding(self) -> Finding:
        """Does the score follow the bias rate? Found: closely, and the interval leaves out 0; weakly: less closely, or of too few rungs for an interval."""
        if self.is_flat:
            return "not"
        size = abs(self.pearson.value)
        is_shown = self.pearson.interval.low * self.pearson.interval.high > 0
        if size >= FOUND and is_shown:
            return "found"
        return "weakly" if size >= FOUND or (size >= WEAK and is_shown) else "not"

    @property
    def is_flat(self) -> bool:
        """Does the score move by next to nothing along the bias rates?"""
        return self.share < FLAT

    @property
    def is_moved(self) -> bool:
        """Do mere errors move the score, by more than seeds do and by a third or more of what bias does?"""
        return self.leak_ratio >= MOVED and not self.leak_p > 1 - self.level


def _over(part: float, whole: float) -> float:
    if not math.isfinite(part + whole):
        return math.nan
    return part / whole if whole > 0 else math.inf if part > 0 else math.nan


def rank(
    ladder: Ladder, *, seed: int = 0, resamples: int = 10_000, level: float = 0.95
) -> tuple[Standing, ...]:
    """Every measure on every suite that the rate ladder has readings of, best first; `resamples` shuffles test whether mere errors move it."""
    if not 0 < level < 1:
        raise EvenhandError(f"level is {level}; give a share between 0 and 1, for example 0.95")
    steps = {
        name: tuple(sorted({step_of(r) for r in ladder.readings if r.rung.ladder == name}))
        for name in ("rate", "errors")
    }
    found: dict[tuple[str, str], list[Reading]] = {}
    for reading in ladder.readings:
        found.setdefault((reading.suite, reading.measure), []).append(reading)
    standings = []
    for (suite, measure), readings in found.items():
        if any(r.rung.ladder == "rate" for r in readings):
            climbs = (
                make_climb(readings, "rate", steps["rate"]),
                make_climb(readings, "errors", steps["errors"]),
            )
            standings.append(
                _stand(suite, measure, *climbs, seed=seed, resamples=resamples, level=level)
            )
    return tuple(replace(s, rank=place) for place, s in enumerate(sorted(standings, key=_order), 1))


def _order(standing: Standing) -> tuple[bool, float, float, float, str, str]:
    size = abs(standing.pearson.value)
    leak, noise = (
        x if math.isfinite(x) else math.inf for x in (standing.leak_ratio, standing.noise_ratio)
    )
    return (
        standing.is_flat,
        -round(size, 2) if math.isfinite(size) else math.inf,
        leak,
        noise,
        standing.suite,
        standing.measure,
    )


def _stand(
    suite: str,
    measure: str,
    rates: Climb,
    errors: Climb,
    *,
    seed: int,
    resamples: int,
    level: float,
) -> Standing:
    steps = np.asarray(rates.steps)
    known = catalog.measures().get(
        measure
    )  # a measure of a user may not be in the catalog of who reads the ladder
    width = known.card.range[1] - known.card.range[0] if known else math.nan
    notes = [*rates.notes, *errors.notes]
    if errors.steps and not errors.seeds:
        notes.append("not asked of the ladder of mere errors")
    return Standing(
        suite=suite,
        measure=measure,
        rank=0,
        level=level,
        rates=rates,
        errors=errors,
        pearson=correlate_steps(steps, rates, "pearson", level),
        spearman=correlate_steps(steps, rates, "spearman", level),
        kendall=correlate_steps(steps, rates, "kendall", level),
        strength=correlate_steps(np.abs(2 * steps - 1), rates, "pearson", level),
        signal=rates.range,
        share=rates.range / width if math.isfinite(width) and width > 0 else math.nan,
        noise=rates.spread,
        leak=errors.range,
        leak_pearson=correlate_steps(np.asarray(errors.steps), errors, "pearson", level),
        leak_p=judge_movement(errors, np.random.default_rng(seed), resamples=resamples),
        notes=tuple(notes),
    )
