"""Ranking of measures: which scores rise with a known bias, and which move with mere errors.

Correlation. The score of a rung is the mean over its seeds, as in the paper (Anantaprayoon, Kaneko,
Okazaki 2024: 11 rates, 11 points), and it is the plain score, not its distance from the fair value:
at rate 0 every stereotyped word is answered against the stereotype, so a score with a direction
goes from one end through fair to the other, and a distance would hide that. A score that counts
both directions alike cannot follow the rate; `strength` is for those: the correlation with
|2 r - 1|.

Interval. Fisher's z over the rungs, one seed or many. The rates are chosen and not drawn, so it is
wider than necessary for scores that rise in a straight line. Resampling gives intervals that are
too narrow: in simulated ladders of 11 rungs and 3 seeds (no relation, weak, strong, curved), 95 %
intervals of Pearson's r held the true value in 79 to 88 % of the ladders where seeds were resampled
within a rung, in 90 to 100 % where rungs were, in 99 to 100 % where both were (far too wide), in 95
to 100 % by Fisher's z. `tests/meta/test_ranking.py` repeats the last.

A score that moves by less than a fiftieth of its possible range has not found anything, however
well its last digits correlate: Fraction Neutral is an example, in the paper and here.

Order. First |Pearson's r| to two decimals, then how far mere errors move the score against how far
bias does (leak / signal), then the deviation between seeds (noise / signal). Scores that hardly
move come last.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import stats

from evenhand.core import catalog
from evenhand.core.estimate import NO_INTERVAL, Interval
from evenhand.core.plain import plain
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.meta.ladder import LADDERS, Ladder, LadderName, Reading
from evenhand.stats.correlation import Coefficient, fisher_interval, kendall, pearson, spearman

FEWEST = 3  # rungs below which there is no correlation
CONSTANT = "constant score: no correlation"
FOUND = 0.9  # |Pearson's r| from which a score is said to follow the bias
WEAK = 0.5  # and below which it is said not to
FLAT = 0.02  # share of the possible range below which a score hardly moves
MOVED = 1 / 3  # share of the movement by bias from which a movement by mere errors counts
FEWEST_SHUFFLES = 20  # with fewer ways to shuffle nothing can be shown at 5 %

Finding = Literal["found", "weakly", "not"]
_COEFFICIENTS = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
_TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
_STEP_NAMES = {"rate": "bias rate", "errors": "share of errors"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How closely a score follows the steps of a ladder; NaN with a note where nothing is known."""

    interval: Interval
    p: float
    by_seed: Mapping[int, float] = field(default_factory=dict)  # of each seed alone
    note: str = ""

    @property
    def value(self) -> float:
        """The coefficient of the means over seeds."""
        return self.interval.value

    @property
    def mean_of_seeds(self) -> float:
        """The mean of the seeds' coefficients, the other reading of `mean of seeds`.

        NaN where one of them has none.
        """
        return float(np.mean(list(self.by_seed.values()))) if self.by_seed else math.nan


@dataclass(frozen=True, kw_only=True)
class Series:
    """The scores of one measure along one ladder."""

    steps: tuple[float, ...]
    seeds: tuple[int, ...]
    values: Floats  # (seed, step), NaN where there is no score
    notes: tuple[str, ...] = ()  # what is missing

    @cached_property
    def means(self) -> Floats:
        """The mean over the seeds of each step."""
        if not self.values.size:
            return np.full(len(self.steps), np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a step without a value: NaN
            return np.asarray(np.nanmean(self.values, axis=0))

    @property
    def range(self) -> float:
        """From the lowest to the highest mean; NaN with fewer than two."""
        known = self.means[np.isfinite(self.means)]
        if is_constant(known):  # equal scores have means that differ in the last digit
            return 0.0
        return float(np.ptp(known)) if len(known) > 1 else math.nan

    @property
    def deviation(self) -> float:
        """The standard deviation over seeds (n - 1), mean over the steps that have several."""
        several = self.values[:, np.isfinite(self.values).sum(axis=0) > 1]
        return float(np.mean(np.nanstd(several, axis=0, ddof=1))) if several.size else math.nan


def is_constant(values: Floats) -> bool:
    """Whether all values are equal, apart from the last digits."""
    if len(values) < 2:
        return False
    return float(np.ptp(values)) <= 1e-12 * max(1.0, float(np.max(np.abs(values))))


def make_series(readings: Sequence[Reading], name: LadderName, steps: tuple[float, ...]) -> Series:
    """The readings of one measure as a table, and what is missing from it."""
    by_place = {(r.rung.seed, r.rung.step): r for r in readings if r.rung.ladder == name}
    seeds = tuple(sorted({seed for seed, _ in by_place}))
    values = np.full((len(seeds), len(steps)), np.nan)
    for (seed, step), reading in by_place.items():
        if math.isfinite(reading.value):
            values[seeds.index(seed), steps.index(step)] = reading.value
    notes = []
    for column, step in enumerate(steps if seeds else ()):
        missing = [seed for row, seed in enumerate(seeds) if not np.isfinite(values[row, column])]
        if not missing:
            continue
        which = f" with seed {', '.join(map(str, missing))}" if len(missing) < len(seeds) else ""
        lost = (by_place.get((seed, step)) for seed in missing)
        reasons = dict.fromkeys(r.note for r in lost if r and r.note)
        why = f": {'; '.join(reasons)}" if reasons else ""
        notes.append(f"no value at {_STEP_NAMES[name]} {step:g}{which}{why}")
    return Series(steps=steps, seeds=seeds, values=values, notes=tuple(notes))


def correlate_steps(steps: Floats, series: Series, kind: Coefficient, level: float) -> Correlation:
    """One coefficient of the steps with the means over seeds, and with each seed alone."""
    by_seed = {
        seed: _coefficient(steps, row, kind)
        for seed, row in zip(series.seeds, series.values, strict=True)
    }
    is_there = np.isfinite(series.means)
    count = int(is_there.sum())
    x, y = steps[is_there], series.means[is_there]
    value = _coefficient(steps, series.means, kind)
    if not math.isfinite(value):
        note = CONSTANT if is_constant(y) else "one step only: no correlation"
        if count < FEWEST:
            rungs = "rung has" if count == 1 else "rungs have"
            note = f"{count} {rungs} a value: a correlation needs {FEWEST} or more"
        return Correlation(interval=NO_INTERVAL, p=math.nan, by_seed=by_seed, note=note)
    return Correlation(
        interval=fisher_interval(value, count, kind, level=level),
        p=float(_TESTS[kind](x, y).pvalue),
        by_seed=by_seed,
    )


def _coefficient(steps: Floats, values: Floats, kind: Coefficient) -> float:
    is_there = np.isfinite(values)
    x, y = steps[is_there], values[is_there]
    if len(y) < FEWEST or is_constant(y) or is_constant(x):
        return math.nan
    return float(_COEFFICIENTS[kind](x, y))


def movement_p(series: Series, rng: np.random.Generator, *, shuffles: int) -> float:
    """The p value of the range of the means, if only the seeds made a difference.

    It is the share of shuffles of the steps within every seed that have a range as large. NaN where
    there are too few seeds or steps to show anything at 5 %.
    """
    ways = math.factorial(len(series.steps)) ** max(len(series.seeds) - 1, 0)
    if not math.isfinite(series.range) or len(series.steps) < 2 or ways < FEWEST_SHUFFLES:
        return math.nan
    table = np.broadcast_to(series.values, (shuffles, *series.values.shape))
    drawn = rng.permuted(table, axis=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        means = np.nanmean(drawn, axis=1)
        ranges = np.nanmax(means, axis=-1) - np.nanmin(means, axis=-1)
    return float((1 + np.sum(ranges >= series.range - 1e-12)) / (shuffles + 1))


@dataclass(frozen=True, kw_only=True)
class Standing:
    """How one measure does on one suite of a ladder."""

    suite: str
    measure: str
    rank: int
    level: float
    rates: Series
    errors: Series
    pearson: Correlation
    spearman: Correlation
    kendall: Correlation
    strength: Correlation  # Pearson of |2 r - 1| with the score
    signal: float  # range of the means along the bias rates
    share: float  # the same as a share of the measure's range; NaN where that is unbounded
    noise: float  # standard deviation over seeds along the bias rates
    leak: float  # range of the means along the share of mere errors
    leak_pearson: Correlation
    leak_p: float  # p that errors move it no more than seeds do; NaN where it cannot be tested
    notes: tuple[str, ...] = ()

    @property
    def leak_ratio(self) -> float:
        """How far mere errors move the score, against bias."""
        return _ratio(self.leak, self.signal)

    @property
    def noise_ratio(self) -> float:
        """How far seeds move the score, against bias."""
        return _ratio(self.noise, self.signal)

    @property
    def finding(self) -> Finding:
        """Whether the score follows the bias rate.

        Found: closely, and the interval excludes 0. Weakly: less closely, or with too few rungs
        for an interval.
        """
        if self.is_flat:
            return "not"
        size = abs(self.pearson.value)
        is_shown = self.pearson.interval.low * self.pearson.interval.high > 0
        if size >= FOUND and is_shown:
            return "found"
        return "weakly" if size >= FOUND or (size >= WEAK and is_shown) else "not"

    @property
    def is_flat(self) -> bool:
        """Whether the score moves by next to nothing along the bias rates."""
        return self.share < FLAT

    @property
    def is_moved(self) -> bool:
        """Whether mere errors move the score.

        By a third or more of what bias does, and by more than seeds do.
        """
        return self.leak_ratio >= MOVED and not self.leak_p > 1 - self.level


def _ratio(part: float, whole: float) -> float:
    if not math.isfinite(part + whole):
        return math.nan
    if whole > 0:
        return part / whole
    return math.inf if part > 0 else math.nan


def rank(ladder: Ladder, settings: Settings | None = None) -> tuple[Standing, ...]:
    """Every measure on every suite that the rate ladder has readings of, best first.

    The permutations of the settings test whether mere errors move a measure.
    """
    settings = settings or Settings()
    steps = {
        name: tuple(sorted({r.rung.step for r in ladder.readings if r.rung.ladder == name}))
        for name in LADDERS
    }
    groups: dict[tuple[str, str], list[Reading]] = {}
    for reading in ladder.readings:
        groups.setdefault((reading.suite, reading.measure), []).append(reading)
    standings = []
    for (suite, measure), readings in groups.items():
        if any(r.rung.ladder == "rate" for r in readings):
            rates = make_series(readings, "rate", steps["rate"])
            errors = make_series(readings, "errors", steps["errors"])
            standings.append(_stand(suite, measure, rates, errors, settings))
    ordered = sorted(standings, key=_order)
    return tuple(replace(s, rank=place) for place, s in enumerate(ordered, 1))


def _order(standing: Standing) -> tuple[bool, float, float, float, str, str]:
    size = abs(standing.pearson.value)
    leak, noise = standing.leak_ratio, standing.noise_ratio
    return (
        standing.is_flat,
        -round(size, 2) if math.isfinite(size) else math.inf,
        leak if math.isfinite(leak) else math.inf,
        noise if math.isfinite(noise) else math.inf,
        standing.suite,
        standing.measure,
    )


def _stand(suite: str, measure: str, rates: Series, errors: Series, settings: Settings) -> Standing:
    steps, level = np.asarray(rates.steps), settings.level
    # a plug-in's measure may be unknown on the machine where the ladder is read
    known = catalog.measures().get(measure)
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
        noise=rates.deviation,
        leak=errors.range,
        leak_pearson=correlate_steps(np.asarray(errors.steps), errors, "pearson", level),
        leak_p=movement_p(
            errors, np.random.default_rng(settings.seed), shuffles=settings.permutations
        ),
        notes=tuple(notes),
    )


def standing_fields(standing: Standing) -> dict[str, Any]:
    """A standing as plain data, keys in a fixed order."""
    s = standing
    return {
        "rank": s.rank,
        "suite": s.suite,
        "measure": s.measure,
        "finding": s.finding,
        "is_moved": s.is_moved,
        "level": s.level,
        "pearson": _correlation_fields(s.pearson),
        "spearman": _correlation_fields(s.spearman),
        "kendall": _correlation_fields(s.kendall),
        "strength": _correlation_fields(s.strength),
        "leak_pearson": _correlation_fields(s.leak_pearson),
        "signal": plain(s.signal),
        "share": plain(s.share),
        "noise": plain(s.noise),
        "leak": plain(s.leak),
        "leak_ratio": plain(s.leak_ratio),
        "noise_ratio": plain(s.noise_ratio),
        "leak_p": plain(s.leak_p),
        "rates": _series_fields(s.rates),
        "errors": _series_fields(s.errors),
        "notes": list(s.notes),
    }


def _correlation_fields(correlation: Correlation) -> dict[str, Any]:
    return {
        **plain(correlation.interval),
        "p": plain(correlation.p),
        "by_seed": plain(correlation.by_seed),
        "mean_of_seeds": plain(correlation.mean_of_seeds),
        "note": correlation.note,
    }


def _series_fields(series: Series) -> dict[str, Any]:
    return {
        "steps": list(series.steps),
        "means": plain(series.means),
        "seeds": list(series.seeds),
    }
