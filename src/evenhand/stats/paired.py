"""Do two respondents differ on the same clusters, or may chance have dealt their answers this way?

Interval: both scores from the same resampled clusters, their difference each time, so that what is hard about a cluster for both cancels out.
p value: were the two interchangeable, then within a cluster either's evidence might as well be the other's. It is swapped at random, cluster by cluster, and
p = (1 + number of swaps with |difference| at least as large as observed) / (1 + swaps): absolute against absolute, and never 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.stats.bootstrap import Method, intervals

BLOCK = 20_000_000  # numbers of a table of swaps that are held at once
SLACK, LEAST = (
    1e-9,
    1e-12,
)  # of the observed difference, and at least: the same sum in another order is no smaller one
Combine = Callable[[Floats], Floats]


def paired_intervals(
    reference: Floats,
    other: Floats,
    combine: Combine,
    fair: float,
    rng: np.random.Generator,
    *,
    resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
) -> tuple[Interval, Interval]:
    """Cluster totals (clusters, k) of both, row by row the same cluster, to two intervals:

    other - reference, and |other - fair| - |reference - fair|, which is below 0 where the other is nearer to fair.
    """
    _check(reference, other)
    width = reference.shape[1]

    def scores(sums: Floats) -> dict[str, Floats]:
        first, second = combine(sums[..., :width]), combine(sums[..., :width] + sums[..., width:])
        return {
            "difference": second - first,
            "distance": np.abs(second - fair) - np.abs(first - fair),
        }

    # reference and what is added to it, not both side by side: a respondent is then exactly 0 apart from itself, whatever the rounding
    found = intervals(
        np.hstack([reference, other - reference]),
        scores,
        rng,
        resamples=resamples,
        level=level,
        method=method,
    )
    return found["difference"], found["distance"]


def permuted_differences(
    reference: Floats,
    other: Floats,
    combine: Combine,
    rng: np.random.Generator,
    permutations: int = 10_000,
) -> Floats:
    """other - reference after swapping the two in a random half of the clusters, once a permutation; NaN where one has no score then."""
    _check(reference, other)
    apart = other - reference
    found = np.empty(permutations)
    step = max(1, BLOCK // max(1, len(apart)))
    for start in range(0, permutations, step):
        is_swapped = rng.integers(0, 2, size=(min(step, permutations - start), len(apart))).astype(
            np.float64
        )
        moved = is_swapped @ apart
        found[start : start + step] = combine(other.sum(axis=0) - moved) - combine(
            reference.sum(axis=0) + moved
        )
    return found


def permutation_p(observed: float, permuted: Floats) -> float:
    """The two-sided p value of an observed difference; permutations without a score are left out. NaN where there is nothing to compare."""
    known = permuted[np.isfinite(permuted)]
    if not np.isfinite(observed) or not len(known):
        return float("nan")
    is_as_far = np.abs(known) >= abs(observed) * (1 - SLACK) - LEAST
    return float((1 + is_as_far.sum()) / (1 + len(known)))


def _check(reference: Floats, other: Floats) -> None:
    if reference.shape != other.shape:
        raise EvenhandError(
            f"totals of shape {reference.shape} and {other.shape}; give both respondents the same clusters in the same order"
        )
