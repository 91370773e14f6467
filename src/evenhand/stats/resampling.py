"""Correlations and agreement when sentences, or clusters of them, are drawn again.

Fast enough for twenty thousand sentences. What is a function of sums (Pearson's r, nominal alpha)
is recombined from weighted sums; equal rows are drawn together, which is the same draw.
Spearman's rho is not: its ranks are taken anew in every resample (ranks kept from the whole would
make its interval too narrow), from the weights, without sorting again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import Floats

BLOCK = 2_000_000  # numbers of a table of weights that are held at once
FEW_CLUSTERS = 128  # up to which Spearman is reckoned from triples of clusters


def weight_blocks(
    shares: Floats, count: int, resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """How often each of several sorts, of such shares, is drawn in `count` draws.

    A row per resample, some rows at a time.
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
    """The score of each resample of the rows (units, k), or of whole clusters of them.

    For scores that are a function of the sum of the rows.
    """
    if clusters is not None:
        rows = _totals(rows, np.unique(clusters, return_inverse=True)[1])
    if len(rows) < 2:
        return np.full(resamples, np.nan)
    sorts, counts = np.unique(rows, axis=0, return_counts=True)
    return np.concatenate(
        [combine(w @ sorts) for w in weight_blocks(counts / len(rows), len(rows), resamples, rng)]
    )


def _totals(rows: Floats, member: NDArray[np.intp]) -> Floats:
    """The sum of the rows of each cluster."""
    totals = np.zeros((member.max(initial=-1) + 1, rows.shape[1]))
    np.add.at(totals, member, rows)
    return totals


def correlation_rows(x: Floats, y: Floats) -> Floats:
    """What Pearson's r is a function of, unit by unit; centred, so that no digits are lost."""
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
    """The same where every one of many has the same share.

    Counted draws, which take a tenth of the time of the multinomial.
    """
    step = max(1, BLOCK // count)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        yield np.stack(
            [np.bincount(rng.integers(count, size=count), minlength=count) for _ in range(rows)]
        ).astype(np.float64)


def _rank(mass: NDArray[Any]) -> Floats:
    """The mean rank of each distinct value that is there so many times, less the middle.

    Less the middle because squares of twenty thousand ranks lose digits.
    """
    return np.asarray(np.cumsum(mass) - mass / 2 - mass.sum() / 2)


def _weighted_spearman(x: NDArray[np.intp], y: NDArray[np.intp], weights: Floats) -> float:
    """Spearman's rho of points that are there so many times.

    x, y: the position of each among the distinct values, `y` ascending.
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
    """The same for all resamples of a few clusters at once.

    A rank is a sum over clusters, so that products of ranks are sums over triples of them.
    """
    count = weights.shape[1]
    sizes = np.bincount(member, minlength=count)
    centred = []  # (clusters, units): how much of its rank a unit owes to one copy of each cluster
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


def sided_p(drawn: Floats) -> float:
    """Two-sided p of 0 from resampled values; NaN where there are none.

    Twice the share of them on the rarer side, the observed one counted.
    """
    known = drawn[np.isfinite(drawn)]
    if not len(known):
        return float("nan")
    rarer = min(int((known <= 0).sum()), int((known >= 0).sum()))
    return float(min(1.0, 2 * (1 + rarer) / (1 + len(known))))
