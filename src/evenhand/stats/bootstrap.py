"""The draws of the bootstrap: seeded generators, weights of resampled clusters, quantiles.

Whole clusters (occupations) are drawn with replacement, not probes: twenty sentences about a nurse
are one observation of "nurse". Because the evidence of a measure is summable, a resample is a row
of weights, and all resamples together are one matrix product; the model is not asked again.
"""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.core.estimate import Interval, without_bounds
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings

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


def draw_within(
    groups: Sequence[NDArray[np.intp]], resamples: int, rng: np.random.Generator
) -> Floats:
    """`draw_weights` for the levels of each group apart: (resamples, levels)."""
    weights = np.zeros((resamples, sum(map(len, groups))))
    for group in groups:
        weights[:, group] = draw_weights(len(group), resamples, rng)
    return weights


def draw_positions(count: int, resamples: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Which of `count` points is drawn at each place of each resample: (resamples, count)."""
    return rng.integers(0, count, size=(resamples, count))


def quantile_interval(value: float, drawn: Floats, level: float) -> Interval:
    """The percentile interval of resampled values; those that are NaN are left out."""
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(value) or len(drawn) == 0:
        return without_bounds(value)
    low, high = np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2])
    return Interval(value, float(low), float(high))
