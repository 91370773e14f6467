"""Paired comparison of two respondents on the same clusters: intervals and a permutation test.

Interval: both scores from the same resampled clusters and their difference each time, so that
what is hard about a cluster for both cancels out. p value: were the two interchangeable, then
within a cluster either's evidence might as well be the other's. It is swapped at random, cluster
by cluster, and p = (1 + number of swaps with |difference| at least as large as observed) /
(1 + swaps): absolute against absolute, and never 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.bootstrap import intervals

BLOCK = 20_000_000  # numbers of a table of swaps that are held at once
SLACK = 1e-9  # of the observed difference: the same sum in another order is not smaller
LEAST = 1e-12
Combine = Callable[[Floats], Floats]


def paired_intervals(
    reference: Floats,
    other: Floats,
    combine: Combine,
    fair: float,
    rng: np.random.Generator,
    settings: Settings,
) -> tuple[Interval, Interval]:
    """Two intervals from the cluster totals (clusters, k) of both, row by row the same cluster.

    other - reference, and |other - fair| - |reference - fair|, which is below 0 where the other
    is nearer to fair.
    """
    _check(reference, other)
    width = reference.shape[1]

    def scores(sums: Floats) -> dict[str, Floats]:
        first, second = combine(sums[..., :width]), combine(sums[..., :width] + sums[..., width:])
        return {
            "difference": second - first,
            "distance": np.abs(second - fair) - np.abs(first - fair),
        }

    # the reference and what is added to it, not both side by side: a respondent is then exactly 0
    # apart from itself, whatever the rounding
    both = intervals(np.hstack([reference, other - reference]), scores, rng, settings)
    return both["difference"], both["distance"]


def permuted_differences(
    reference: Floats,
    other: Floats,
    combine: Combine,
    rng: np.random.Generator,
    permutations: int = 10_000,
) -> Floats:
    """other - reference after swapping the two in a random half of the clusters, per permutation.

    NaN where one of them has no score then.
    """
    _check(reference, other)
    apart = other - reference
    differences = np.empty(permutations)
    step = max(1, BLOCK // max(1, len(apart)))
    for start in range(0, permutations, step):
        shape = (min(step, permutations - start), len(apart))
        is_swapped = rng.integers(0, 2, size=shape).astype(np.float64)
        moved = is_swapped @ apart
        second = combine(other.sum(axis=0) - moved)
        differences[start : start + step] = second - combine(reference.sum(axis=0) + moved)
    return differences


def permutation_p(observed: float, permuted: Floats) -> float:
    """The two-sided p value of an observed difference; permutations without a score are left out.

    NaN where there is nothing to compare.
    """
    known = permuted[np.isfinite(permuted)]
    if not np.isfinite(observed) or not len(known):
        return float("nan")
    is_as_far = np.abs(known) >= abs(observed) * (1 - SLACK) - LEAST
    return float((1 + is_as_far.sum()) / (1 + len(known)))


def _check(reference: Floats, other: Floats) -> None:
    if reference.shape != other.shape:
        raise EvenhandError(
            f"totals of shape {reference.shape} and {other.shape}; "
            "give both respondents the same clusters in the same order"
        )
