"""Cluster bootstrap: intervals of scores whose probes are not independent of one another.

Whole clusters (occupations) are drawn with replacement, not probes: twenty sentences about a nurse
are one observation of "nurse". Because the evidence of a measure is summable, a resample is a row
of weights, and all resamples together are one matrix product; the model is not asked again.

percentile: the quantiles of the resampled scores. bca: corrected for bias and acceleration
(Efron 1987), the default.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evenhand.core.estimate import Interval, without_bounds
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings

FEW = 10  # clusters; with fewer than this, a note calls the interval rough
GROUP_RESAMPLES = 2000  # for each of many groups


def generator(seed: int, name: str) -> np.random.Generator:
    """A generator that depends on the seed and a name only, not on what was computed before."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def group_settings(settings: Settings) -> Settings:
    """The settings for each of many groups: fewer resamples, percentile intervals."""
    return dataclasses.replace(settings, resamples=GROUP_RESAMPLES, method="percentile")


def cluster_totals(evidence: Floats, clusters: Sequence[str]) -> Floats:
    """The evidence summed within each cluster, clusters in the order of their names.

    Clusters whose sums are all 0 are left out.
    """
    names, position = np.unique(np.asarray(clusters), return_inverse=True)
    totals = np.zeros((len(names), evidence.shape[1]))
    np.add.at(totals, position, evidence)
    return np.asarray(totals[np.any(totals != 0, axis=1)])


def draw_weights(count: int, resamples: int, rng: np.random.Generator) -> Floats:
    """How often each of `count` clusters is drawn in each resample: (resamples, count)."""
    return rng.multinomial(count, np.full(count, 1 / count), size=resamples).astype(np.float64)


def draw_positions(count: int, resamples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Which of `count` points is drawn at each place of each resample: (resamples, count)."""
    return rng.integers(0, count, size=(resamples, count))


def quantile_interval(value: float, drawn: Floats, level: float) -> Interval:
    """The percentile interval of resampled values."""
    return _bounds(value, drawn, None, level)


def interval(
    totals: Floats,
    combine: Callable[[Floats], Floats],
    rng: np.random.Generator,
    settings: Settings,
) -> Interval:
    """The score of cluster totals (clusters, k) with its interval.

    The bounds are NaN where there are fewer than two clusters.
    """
    return intervals(totals, lambda sums: {"": combine(sums)}, rng, settings)[""]


def intervals(
    totals: Floats,
    scores: Callable[[Floats], dict[str, Floats]],
    rng: np.random.Generator,
    settings: Settings,
) -> dict[str, Interval]:
    """Several scores with their intervals, by name, all from the same resamples."""
    count = len(totals)
    whole = {k: float(v) for k, v in scores(totals.sum(axis=0)).items()}
    if count < 2:
        return {k: without_bounds(v) for k, v in whole.items()}
    drawn = scores(draw_weights(count, settings.resamples, rng) @ totals)
    left_out = scores(totals.sum(axis=0) - totals) if settings.method == "bca" else {}
    return {k: _bounds(v, drawn[k], left_out.get(k), settings.level) for k, v in whole.items()}


def _bounds(value: float, drawn: Floats, left_out: Floats | None, level: float) -> Interval:
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(value) or len(drawn) == 0:
        return without_bounds(value)
    tails = np.asarray([(1 - level) / 2, (1 + level) / 2])
    if left_out is not None:
        tails = _bca_tails(tails, value, drawn, left_out[np.isfinite(left_out)])
    low, high = np.quantile(drawn, tails)
    return Interval(value, float(low), float(high))


def _bca_tails(tails: Floats, value: float, drawn: Floats, left_out: Floats) -> Floats:
    """The quantiles to take as bounds, corrected for bias and acceleration (BCa)."""
    normal = NormalDist()
    below = ((drawn < value).sum() + 0.5 * (drawn == value).sum()) / len(drawn)
    if not 0 < below < 1:
        return tails
    # empty where leaving out any cluster leaves no score
    deviation = left_out.mean() - left_out if len(left_out) else left_out
    spread = float((deviation**2).sum())
    acceleration = float((deviation**3).sum()) / (6 * spread**1.5) if spread > 0 else 0.0
    bias = normal.inv_cdf(float(below))
    shifted = [bias + normal.inv_cdf(t) for t in tails]
    return np.asarray([normal.cdf(bias + s / (1 - acceleration * s)) for s in shifted])
