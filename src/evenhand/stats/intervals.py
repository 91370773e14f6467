"""Intervals of scores for new items: other levels of every factor that the probes share.

The width comes from the jackknife. With one factor a it is V_a; with two crossed factors it is
V_a + V_b - V_ab (Cameron, Gelbach, Miller 2011), at least the larger of V_a and V_b. The shape
comes from the bootstrap over the levels of the factor with the larger variance (`bca` or
`percentile`), moved so that its mean is the score: what is estimated is the score expected of
another set of the same size. Deviations are widened from that factor's to the whole, by G / (G - 1)
and by the quantile of t in place of the normal one (degrees of freedom: Satterthwaite's). Where no
resample differs from the score, the bounds say what so many levels cannot exclude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.special import stdtrit

from evenhand.core.estimate import Interval, exactly, without_bounds
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.bootstrap import draw_within
from evenhand.stats.crossed import Codes, EvidenceTable, Factor

Scores = Callable[[Floats], Mapping[str, Floats]]
Range = tuple[float, float]
EVERYWHERE: Range = (-math.inf, math.inf)
SHARE: Range = (0.0, 1.0)
_SAME = 1e-12  # resampled scores that differ by less are the same


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """An interval, and whether the resampled scores varied at all.

    widening: the standard error over that of the first factor alone.
    """

    interval: Interval
    has_variation: bool = True
    widening: float = 1.0


def single_factor(totals: Floats) -> Factor:
    """Each row of the totals as a level of its own."""
    count = len(totals)
    groups = (np.arange(count),) if count else ()
    return Factor(name="", codes=np.arange(count), groups=groups, smallest=count)


def interval(
    totals: Floats,
    combine: Callable[[Floats], Floats],
    rng: np.random.Generator,
    settings: Settings,
    limits: Range = EVERYWHERE,
) -> Interval:
    """The score of cluster totals (clusters, k) with its interval.

    The bounds are NaN where there are fewer than two clusters. limits: the ends of the score.
    """
    found = crossed_intervals(
        EvidenceTable(rows=totals),
        [single_factor(totals)],
        lambda sums: {"": combine(sums)},
        rng,
        settings,
        {"": limits},
    )
    return found[""].interval


def crossed_intervals(
    table: EvidenceTable,
    factors: Sequence[Factor],
    scores: Scores,
    rng: np.random.Generator,
    settings: Settings,
    limits: Mapping[str, Range] | None = None,
) -> dict[str, Bounds]:
    """Several scores with their intervals for new items, by name, from the same resamples.

    factors: one or two. The bounds are NaN where the first has fewer than two levels; a second one
    with fewer is left out. limits: the ends of the scores that have them, by name.
    """
    whole = {name: float(value) for name, value in scores(table.sums).items()}
    usable = [f for f in factors if f.levels > 1]
    if factors[0].levels < 2 or not any(map(math.isfinite, whole.values())):
        return {name: Bounds(interval=without_bounds(v)) for name, v in whole.items()}
    pulls = [_all_influences(scores(table.without_each(f)), f.groups) for f in usable]
    shared = dict.fromkeys(whole, 0.0)
    if len(usable) > 1:
        left_out = scores(table.without_cells(usable[0], usable[1]))
        shared = {k: float((influences(v) ** 2).sum()) for k, v in left_out.items()}
    variances = {k: [float((p[k] ** 2).sum()) for p in pulls] for k in whole}
    leading = {k: int(np.argmax(v)) for k, v in variances.items()}
    drawn = {}
    for place in sorted(set(leading.values())):
        weights = draw_within(usable[place].groups, settings.resamples, rng)
        drawn[place] = scores(table.reweighted(usable[place], weights))
    found = {}
    for name, value in whole.items():
        place, own = leading[name], variances[name]
        bounds = _bounds(
            value,
            np.asarray(drawn[place][name]),
            pulls[place][name] if settings.method == "bca" else None,
            _widening(usable, [p[name] for p in pulls], shared[name], settings.level),
            (usable, (limits or {}).get(name, EVERYWHERE)),
            settings.level,
        )
        if own[0] > 0:
            ratio = math.sqrt(total_variance(own, shared[name]) / own[0])
            bounds = replace(bounds, widening=ratio)
        found[name] = bounds
    return found


def sampled_intervals(
    table: EvidenceTable,
    units: Factor,
    scores: Scores,
    asked: float,
    settings: Settings,
    limits: Mapping[str, Range],
) -> dict[str, Bounds]:
    """Several scores with their intervals for the whole of which `units` are a sample.

    asked: the share of the whole that was asked, drawn at random without replacement. Where that
    is everything, the bounds are the score itself.
    """
    whole = {name: float(value) for name, value in scores(table.sums).items()}
    if asked >= 1:
        return {name: Bounds(interval=exactly(v)) for name, v in whole.items()}
    if units.levels < 2:
        return {name: Bounds(interval=without_bounds(v)) for name, v in whole.items()}
    without = scores(table.without_each(units))
    quantile = float(stdtrit(units.levels - 1, (1 + settings.level) / 2))
    found = {}
    for name, value in whole.items():
        half = quantile * math.sqrt((1 - asked) * float((influences(without[name]) ** 2).sum()))
        low, high = limits.get(name, EVERYWHERE)
        bounds = Interval(value, max(value - half, low), min(value + half, high))
        found[name] = Bounds(
            interval=bounds if half else unvaried(value, [units], (low, high), settings.level),
            has_variation=half > 0,
        )
    return found


def influences(left_out: Floats, groups: Sequence[Codes] = ()) -> Floats:
    """What each level adds to a score, in units whose squares sum to the jackknife variance.

    left_out: the scores without each level; groups: the levels of each stratum, all in one by
    default. 0 where leaving a level out leaves no score.
    """
    scores = np.asarray(left_out, dtype=np.float64)
    pulls = np.zeros(len(scores))
    for group in groups or (np.arange(len(scores)),):
        known = group[np.isfinite(scores[group])]
        if len(known) > 1:
            share = math.sqrt((len(known) - 1) / len(known))
            pulls[known] = share * (scores[known].mean() - scores[known])
    return pulls


def _all_influences(left_out: Mapping[str, Floats], groups: Sequence[Codes]) -> dict[str, Floats]:
    return {name: influences(scores, groups) for name, scores in left_out.items()}


def total_variance(parts: Sequence[float], shared: float) -> float:
    """V_a + V_b - V_ab, at least the largest of the parts; the only part where there is one."""
    if len(parts) == 1:
        return parts[0]
    return max(sum(parts) - shared, *parts)


def _widening(
    factors: Sequence[Factor], pulls: Sequence[Floats], shared: float, level: float
) -> float:
    """By how much deviations of the leading factor's bootstrap are multiplied.

    pulls: the influences of the levels, by factor.
    """
    variances = [float((values**2).sum()) for values in pulls]
    leading = int(np.argmax(variances))
    if variances[leading] <= 0:
        return 1.0
    total = total_variance(variances, shared)
    freedom = [_freedom(values, f.groups) for values, f in zip(pulls, factors, strict=True)]
    uncertain = sum(v**2 / n for v, n in zip(variances, freedom, strict=True))
    tail = (1 + level) / 2
    quantile = float(stdtrit(total**2 / uncertain, tail)) / NormalDist().inv_cdf(tail)
    lost = (freedom[leading] + 1) / freedom[leading]  # the bootstrap divides by G, not by G - 1
    return quantile * math.sqrt(total / variances[leading] * lost)


def _freedom(pulls: Floats, groups: Sequence[Codes]) -> float:
    """The degrees of freedom of a jackknife variance, at least 1.

    The smaller of two: Satterthwaite's over the groups, and as many as levels weigh in the variance
    less one: G levels of equal weight whose influences are normal give 3 (sum d^2)^2 / sum d^4 = G.
    """
    squares = pulls**2
    total = float(squares.sum())
    if total <= 0:
        return max(len(pulls) - 1.0, 1.0)
    uncertain = sum(float(squares[group].sum()) ** 2 / (len(group) - 1) for group in groups)
    weighty = 3 * total**2 / float((squares**2).sum()) - 1
    return max(min(weighty, total**2 / uncertain), 1.0)


def _bounds(
    value: float,
    drawn: Floats,
    pulls: Floats | None,
    widening: float,
    extent: tuple[Sequence[Factor], Range],
    level: float,
) -> Bounds:
    factors, (lowest, highest) = extent
    drawn = drawn[np.isfinite(drawn)]
    if not math.isfinite(value) or len(drawn) == 0:
        return Bounds(interval=without_bounds(value))
    if np.abs(drawn - value).max() <= _SAME * max(1.0, abs(value)):
        return Bounds(
            interval=unvaried(value, factors, (lowest, highest), level), has_variation=False
        )
    drawn = drawn + (value - drawn.mean())
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if pulls is not None:
        tails = bca_tails(tails, value, drawn, pulls)
    low, high = value + widening * (np.quantile(drawn, tails) - value)
    return Bounds(
        interval=Interval(
            value, float(min(max(low, lowest), value)), float(max(min(high, highest), value))
        )
    )


def unvaried(value: float, factors: Sequence[Factor], limits: Range, level: float) -> Interval:
    """The bounds of a score that no resample changes.

    If a share p of all levels were different, none of G would show it with the chance (1 - p)^G;
    p is the largest share for which that is at least 1 - level, and the score may lie as much
    nearer to its ends. NaN where the score has no ends.
    """
    lowest, highest = limits
    if not math.isfinite(lowest + highest):
        return without_bounds(value)
    share = 1 - (1 - level) ** (1 / max(1, min(f.smallest for f in factors)))
    return Interval(value, value - share * (value - lowest), value + share * (highest - value))


def bca_tails(tails: Floats, value: float, drawn: Floats, pulls: Floats) -> Floats:
    """The quantiles to take as bounds, corrected for bias and acceleration (Efron 1987)."""
    normal = NormalDist()
    below = ((drawn < value).sum() + 0.5 * (drawn == value).sum()) / len(drawn)
    if not 0 < below < 1:
        return tails
    variance = float((pulls**2).sum())
    acceleration = float((pulls**3).sum()) / (6 * variance**1.5) if variance > 0 else 0.0
    bias = normal.inv_cdf(float(below))
    shifted = [bias + normal.inv_cdf(t) for t in tails]
    return np.asarray([normal.cdf(bias + s / (1 - acceleration * s)) for s in shifted])
