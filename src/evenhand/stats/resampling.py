"""Correlations and agreement for resampled sentences, or clusters of sentences.

Fast enough for twenty thousand sentences. A score that is a function of sums (Pearson's r, nominal
alpha) is computed from weighted sums, and equal rows are drawn together, which gives the same
distribution. Spearman's rho is not such a function: it is ranked anew in every resample (ranks kept
from the whole data would make its interval too narrow), from the weights, without sorting again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import Floats

BLOCK = 2_000_000  # how many numbers of the table of weights are in memory at once
FEW_CLUSTERS = 128  # up to this many, Spearman is computed from triples of clusters


def weight_blocks(
    shares: Floats, count: int, resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """How often each of several categories with these shares is drawn in `count` draws.

    One row per resample, in blocks of rows.
    """
    step = max(1, BLOCK // max(1, len(shares)))
    for start in range(0, resamples, step):
        yield rng.multinomial(count, shares, size=min(step, resamples - start)).astype(np.float64)


def resample_sums(
    rows: Floats,
    combine: Callable[[Floats], Floats],
    rng: np.random.Generator,
    resamples: int,
    clusters: NDArray[np.str_] | None = None,
) -> Floats:
    """The score of each resample of the rows (units, k), or of whole clusters of rows.

    combine: turns sums of rows (..., k) into scores. NaN where there are fewer than two units.
    """
    if clusters is not None:
        rows = _totals(rows, np.unique(clusters, return_inverse=True)[1])
    if len(rows) < 2:
        return np.full(resamples, np.nan)
    distinct, counts = np.unique(rows, axis=0, return_counts=True)
    return np.concatenate(
        [
            combine(w @ distinct)
            for w in weight_blocks(counts / len(rows), len(rows), resamples, rng)
        ]
    )


def _totals(rows: Floats, member: NDArray[np.intp]) -> Floats:
    """The sum of the rows of each cluster."""
    totals = np.zeros((member.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(totals, member, rows)
    return totals


def correlation_rows(x: Floats, y: Floats) -> Floats:
    """The rows, one per unit, whose sums give Pearson's r; centred, so that no digits are lost."""
    a, b = x - x.mean(), y - y.mean()
    return np.stack([np.ones(len(a)), a, b, a * a, b * b, a * b], axis=1)


def correlation_of(sums: Floats) -> Floats:
    """Pearson's r of sums of `correlation_rows` (..., 6); NaN where one side does not vary."""
    n, a, b, aa, bb, ab = np.moveaxis(sums, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        spread_a, spread_b = aa - a * a / n, bb - b * b / n
        has_both = (spread_a > 1e-12 * np.maximum(aa, 1e-300)) & (
            spread_b > 1e-12 * np.maximum(bb, 1e-300)
        )
        r = (ab - a * b / n) / np.sqrt(np.where(has_both, spread_a * spread_b, np.nan))
    return np.asarray(np.clip(r, -1, 1))


def draw_evenly(count: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """`weight_blocks` for `count` categories with equal shares.

    Draws positions and counts them, in a tenth of the time of the multinomial.
    """
    step = max(1, BLOCK // count)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        yield np.stack(
            [np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(rows)]
        ).astype(np.float64)


def _rank(mass: NDArray[Any]) -> Floats:
    """The mean rank of each distinct value minus the middle rank.

    mass: how often each value occurs. Ranks are centred because squares of twenty thousand ranks
    lose digits.
    """
    return np.asarray(np.cumsum(mass) - mass / 2 - mass.sum() / 2)


def _weighted_spearman(x: NDArray[np.intp], y: NDArray[np.intp], weights: Floats) -> float:
    """Spearman's rho of weighted points.

    x, y: the position of each point among the distinct values, `y` ascending; weights: how often
    each point occurs.
    """
    mass = np.bincount(x, weights)
    a = _rank(mass)
    # without ties every point is its own value
    b = _rank(weights) if y[-1] == len(y) - 1 else _rank(np.bincount(y, weights))[y]
    wb = weights * b
    spread = ((mass * a) @ a) * (wb @ b)
    return float(np.bincount(x, wb) @ a / np.sqrt(spread)) if spread > 0 else float("nan")


def _spearman_by_moments(
    x: NDArray[np.intp], y: NDArray[np.intp], member: NDArray[np.intp], weights: Floats
) -> Floats:
    """Spearman's rho of every resample of a few clusters, all at once.

    A rank is a sum over clusters, so a sum of products of ranks is a sum over triples of clusters.
    weights: how often each cluster occurs in each resample (resamples, clusters).
    """
    count = weights.shape[1]
    sizes = np.bincount(member, minlength=count)
    centred = []  # (clusters, units): what one copy of each cluster adds to the rank of a unit
    for place in (x, y):
        mass = np.zeros((count, place.max() + 1))
        np.add.at(mass, (member, place), 1.0)
        centred.append((np.cumsum(mass, axis=1) - mass / 2 - sizes[:, None] / 2)[:, place])
    sums = np.zeros((3, len(weights)))
    for cluster in range(count):
        a, b = (ranks[:, member == cluster] for ranks in centred)
        for row, (first, second) in enumerate(((a, a), (b, b), (a, b))):
            sums[row] += weights[:, cluster] * np.einsum(
                "ij,ij->i", weights @ (first @ second.T), weights
            )
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            np.where(sums[0] * sums[1] > 0, sums[2] / np.sqrt(sums[0] * sums[1]), np.nan)
        )


def resample_correlations(
    x: Floats, y: Floats, clusters: Sequence[str], rng: np.random.Generator, resamples: int
) -> tuple[Floats, Floats, int]:
    """Pearson and Spearman of each resample of whole clusters, and how many clusters there are.

    NaN where there are fewer than two clusters.
    """
    names, member = np.unique(np.asarray(clusters), return_inverse=True)
    count = len(names)
    if count < 2 or len(x) < 3:
        return np.full(resamples, np.nan), np.full(resamples, np.nan), count
    order = np.argsort(y, kind="stable")
    x, y, member = x[order], y[order], member[order]
    totals = _totals(correlation_rows(x, y), member)
    first, second = (np.unique(v, return_inverse=True)[1] for v in (x, y))
    pearson, spearman = [], []
    is_few = count <= FEW_CLUSTERS
    blocks = (
        weight_blocks(np.full(count, 1 / count), count, resamples, rng)
        if is_few
        else draw_evenly(count, resamples, rng)
    )
    for weights in blocks:
        pearson.append(correlation_of(weights @ totals))
        if is_few:
            spearman.append(_spearman_by_moments(first, second, member, weights))
        else:
            spearman.append(
                np.asarray([_weighted_spearman(first, second, row[member]) for row in weights])
            )
    return np.concatenate(pearson), np.concatenate(spearman), count


def two_sided_p(drawn: Floats) -> float:
    """The two-sided p value of 0, given resampled values; NaN where there are none.

    Twice the share of values on the rarer side of 0, the observed value counted in.
    """
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return float("nan")
    rarer = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return float(min(1.0, 2 * (1 + rarer) / (1 + len(known))))
