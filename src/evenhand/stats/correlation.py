"""Do two things rise together, and how sure can one be? Pearson and Spearman with bootstrap intervals over the clusters."""

from __future__ import annotations

import numpy as np
from scipy import stats

from evenhand.core.records import Floats, Interval
from evenhand.stats.bootstrap import draw_positions, quantile_interval


def pearson(x: Floats, y: Floats) -> Floats:
    """Pearson's r along the last axis; NaN where one side does not vary."""
    x, y = (v - v.mean(axis=-1, keepdims=True) for v in (x, y))
    with np.errstate(invalid="ignore", divide="ignore"):
        r = (x * y).sum(axis=-1) / np.sqrt((x**2).sum(axis=-1) * (y**2).sum(axis=-1))
    return np.asarray(np.clip(r, -1, 1))


def spearman(x: Floats, y: Floats) -> Floats:
    """Spearman's rho along the last axis: Pearson's r of the ranks, ties at their mean rank."""
    return pearson(stats.rankdata(x, axis=-1), stats.rankdata(y, axis=-1))


def correlate(x: Floats, y: Floats, rng: np.random.Generator, *, resamples: int = 10_000, level: float = 0.95) -> dict[str, Interval]:
    """Both coefficients of (x, y) with percentile intervals; points are drawn with replacement. Points with NaN are left out."""
    is_there = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_there], y[is_there]
    found = {}
    drawn = draw_positions(len(x), resamples, rng) if len(x) >= 3 else None
    for name, of in (("pearson", pearson), ("spearman", spearman)):
        if drawn is None:
            found[name] = Interval(np.nan, np.nan, np.nan)
        else:
            found[name] = quantile_interval(float(of(x, y)), of(x[drawn], y[drawn]), level)
    return found
