"""How does one measure climb a ladder? Its scores step by step and seed by seed, and how closely they follow the steps."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from scipy import stats

from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.meta.records import LadderName, Reading
from evenhand.stats.correlation import Coefficient, fisher_interval, kendall, pearson, spearman

FEWEST = 3  # rungs below which no correlation is told
CONSTANT = "constant score: no correlation"

_OF = {"pearson": pearson, "spearman": spearman, "kendall": kendall}
_TESTS = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How closely does a score follow the steps of a ladder? NaN with a note where that cannot be said; `by_seed`: of each seed alone."""

    interval: Interval
    p: float
    by_seed: Mapping[int, float] = field(default_factory=dict)
    note: str = ""

    @property
    def value(self) -> float:
        """The coefficient of the means over seeds."""
        return self.interval.value

    @property
    def mean_of_seeds(self) -> float:
        """The mean of the coefficients of the seeds, the other reading of `mean of seeds`; NaN where one of them has none."""
        return float(np.mean(list(self.by_seed.values()))) if self.by_seed else math.nan


@dataclass(frozen=True, kw_only=True)
class Climb:
    """What one measure says along one ladder: steps to the right, seeds downwards, NaN where it says nothing."""

    steps: tuple[float, ...]
    seeds: tuple[int, ...]
    values: Floats
    notes: tuple[str, ...] = ()  # what is missing

    @cached_property
    def means(self) -> Floats:
        """The mean over the seeds of each step."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a step without a value: NaN
            return (
                np.asarray(np.nanmean(self.values, axis=0))
                if self.values.size
                else np.full(len(self.steps), np.nan)
            )

    @property
    def range(self) -> float:
        """From the least to the greatest mean; NaN below two."""
        known = self.means[np.isfinite(self.means)]
        # equal scores have means that differ in the last digit
        return 0.0 if is_constant(known) else float(np.ptp(known)) if len(known) > 1 else math.nan

    @property
    def spread(self) -> float:
        """The standard deviation over seeds (n - 1), mean over the steps that have several."""
        several = self.values[:, np.isfinite(self.values).sum(axis=0) > 1]
        return float(np.mean(np.nanstd(several, axis=0, ddof=1))) if several.size else math.nan


def is_constant(values: Floats) -> bool:
    """Are all values one, but for the last digits?"""
    return len(values) > 1 and float(np.ptp(values)) <= 1e-12 * max(
        1.0, float(np.max(np.abs(values)))
    )


def step_of(reading: Reading) -> float:
    """Where does a reading stand on its ladder?"""
    return round(reading.rung.step, 6)  # 0.1 + 0.2 is the rung 0.3


def make_climb(readings: Sequence[Reading], name: LadderName, steps: tuple[float, ...]) -> Climb:
    """The readings of one measure as a table, and what is missing from it."""
    mine = {(r.rung.seed, step_of(r)): r for r in readings if r.rung.ladder == name}
    seeds = tuple(sorted({s for s, _ in mine}))
    values = np.full((len(seeds), len(steps)), np.nan)
    for (s, step), reading in mine.items():
        values[seeds.index(s), steps.index(step)] = (
            reading.value if math.isfinite(reading.value) else np.nan
        )
    notes = []
    what = "bias rate" if name == "rate" else "share of errors"
    for column, step in enumerate(steps if seeds else ()):
        gone = [s for row, s in enumerate(seeds) if not np.isfinite(values[row, column])]
        if gone:
            whose = "" if len(gone) == len(seeds) else f" with seed {', '.join(map(str, gone))}"
            reasons = dict.fromkeys(r.note for s in gone if (r := mine.get((s, step))) and r.note)
            notes.append(
                f"no value at {what} {step:g}{whose}{': ' + '; '.join(reasons) if reasons else ''}"
            )
    return Climb(steps=steps, seeds=seeds, values=values, notes=tuple(notes))


def correlate_steps(steps: Floats, climb: Climb, kind: Coefficient, level: float) -> Correlation:
    """One coefficient of the steps with the means over seeds, and with each seed alone."""
    by_seed = {
        s: _coefficient(steps, row, kind) for s, row in zip(climb.seeds, climb.values, strict=True)
    }
    is_there = np.isfinite(climb.means)
    count = int(is_there.sum())
    x, y = steps[is_there], climb.means[is_there]
    value = _coefficient(steps, climb.means, kind)
    if not math.isfinite(value):
        few = f"{count} {'rung has' if count == 1 else 'rungs have'} a value: a correlation needs {FEWEST} or more"
        note = (
            few
            if count < FEWEST
            else CONSTANT
            if is_constant(y)
            else "one step only: no correlation"
        )
        return Correlation(
            interval=Interval(math.nan, math.nan, math.nan), p=math.nan, by_seed=by_seed, note=note
        )
    return Correlation(
        interval=fisher_interval(value, count, kind, level=level),
        p=float(_TESTS[kind](x, y).pvalue),
        by_seed=by_seed,
    )


def _coefficient(steps: Floats, values: Floats, kind: Coefficient) -> float:
    is_there = np.isfinite(values)
    x, y = steps[is_there], values[is_there]
    return (
        float(_OF[kind](x, y))
        if len(y) >= FEWEST and not is_constant(y) and not is_constant(x)
        else math.nan
    )


def judge_movement(climb: Climb, rng: np.random.Generator, *, resamples: int) -> float:
    """Is the range of the means greater than seeds alone would make it? Share of shuffles of the steps within every seed with a range as great.

    NaN where no shuffle could show it at 5 %: one seed, or few steps.
    """
    ways = math.factorial(len(climb.steps)) ** max(len(climb.seeds) - 1, 0)
    if not math.isfinite(climb.range) or len(climb.steps) < 2 or ways < 20:
        return math.nan
    drawn = rng.permuted(np.broadcast_to(climb.values, (resamples, *climb.values.shape)), axis=-1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        means = np.nanmean(drawn, axis=1)
        ranges = np.nanmax(means, axis=-1) - np.nanmin(means, axis=-1)
    return float((1 + np.sum(ranges >= climb.range - 1e-12)) / (resamples + 1))
