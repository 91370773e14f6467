"""Correlations with intervals: Pearson, Spearman and Kendall.

Points that were drawn from many (occupations) get bootstrap intervals; points that were chosen
(the rungs of a ladder) get Fisher's.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np
from scipy import stats

from evenhand.core.estimate import NO_INTERVAL, Interval, without_bounds
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.bootstrap import draw_positions, quantile_interval

Coefficient = Literal["pearson", "spearman", "kendall"]


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r along the last axis; NaN where one side does not vary."""
    x, y = (v - v.mean(axis=-1, keepdims=True) for v in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.asarray(np.clip(r, -1, 1))


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho along the last axis: Pearson's r of the ranks, ties at their mean rank."""
    return pearson(stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1))


def kendall(x: Floats, y: Floats) -> Floats:
    """Kendall's tau-b along the last axis; NaN where one side does not vary.

    Pairs in the same order minus pairs in the other, over the pairs that are not tied.
    """
    first, second = np.triu_indices(x.shape[-1], 1)
    a, b = (np.sign(v[..., second] - v[..., first]) for v in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = (a * b).sum(axis=-1) / np.sqrt((a**2).sum(axis=-1) * (b**2).sum(axis=-1))
    return np.asarray(np.clip(tau, -1, 1))


def fisher_interval(
    value: float, count: int, kind: Coefficient, *, level: float = 0.95
) -> Interval:
    """The interval of a coefficient over `count` points by Fisher's z = artanh.

    The bounds are NaN where there are too few points for one. Standard errors of z:
    1 / sqrt(n - 3) for Pearson, sqrt((1 + rho^2 / 2) / (n - 3)) for Spearman and
    sqrt(0.437 / (n - 4)) for Kendall (Bonett and Wright 2000). A rank coefficient moves in steps
    (two neighbours change places) and z is infinite at 1: its bounds start one step away.
    """
    spare = count - (4 if kind == "kendall" else 3)
    if not math.isfinite(value) or spare < 1:
        return without_bounds(value)
    step = {
        "pearson": 0.0,
        "spearman": 12 / (count * (count**2 - 1)),
        "kendall": 4 / (count * (count - 1)),
    }[kind]
    inner = max(min(value, 1 - step), step - 1)
    variance = {"pearson": 1.0, "spearman": 1 + inner**2 / 2, "kendall": 0.437}[kind] / spare
    reach = NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance)
    low, high = (math.tanh(_artanh(value + side * step) + side * reach) for side in (-1, 1))
    return Interval(value, low, high)


def _artanh(value: float) -> float:
    return math.copysign(math.inf, value) if abs(value) >= 1 else math.atanh(value)


def correlate(
    x: Floats, y: Floats, rng: np.random.Generator, settings: Settings
) -> dict[str, Interval]:
    """`pearson` and `spearman` of (x, y) with percentile intervals over resampled points.

    Points with NaN are left out; with fewer than three points both are NaN.
    """
    is_known = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_known], y[is_known]
    if len(x) < 3:
        return dict.fromkeys(("pearson", "spearman"), NO_INTERVAL)
    rows = draw_positions(len(x), settings.resamples, rng)
    return {
        name: quantile_interval(
            float(coefficient(x, y)), coefficient(x[rows], y[rows]), settings.level
        )
        for name, coefficient in (("pearson", pearson), ("spearman", spearman))
    }
