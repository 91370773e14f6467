"""Paired comparison of two respondents on the same clusters: intervals and a permutation test.

Interval: both scores are computed from the same resampled clusters, and their difference each time,
so that what makes a cluster hard for both cancels out. p value: if the two were interchangeable,
their evidence could be swapped within any cluster. It is swapped at random, cluster by cluster, and
p = (1 + number of permutations with |difference| at least as large as observed) /
(1 + permutations), which is two-sided and never 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.bootstrap import intervals

BLOCK = 20_000_000  # how many numbers of the table of swaps are in memory at once
# Rounding must not make the same sum in another order count as smaller than the observed one.
RELATIVE_SLACK = 1e-9
ABSOLUTE_SLACK = 1e-12
Combine = Callable[[Floats], Floats]


def paired_intervals(
    reference: Floats,
    other: Floats,
    combine: Combine,
    fair: float,
    rng: np.random.Generator,
    settings: Settings,
) -> tuple[Interval, Interval]:
    """The intervals of other - reference and of |other - fair| - |reference - fair|.

    The second is below 0 where the other is nearer to fair. Both arguments are cluster totals
    (clusters, k) with the same clusters in the same order.
    """
    _check(reference, other)
    width = reference.shape[1]

    def scores(sums: Floats) -> dict[str, Floats]:
        first, second = combine(sums[..., :width]), combine(sums[..., :width] + sums[..., width:])
        return {
            "difference": second - first,
            "distance": np.abs(second - fair) - np.abs(first - fair),
        }

    # the reference and the difference from it, not both totals: a respondent then differs from
    # itself by exactly 0, whatever the rounding
    both = intervals(np.hstack([reference, other - reference]), scores, rng, settings)
    return both["difference"], both["distance"]


def permuted_differences(
    reference: Floats,
    other: Floats,
    combine: Combine,
    rng: np.random.Generator,
    permutations: int = 10_000,
) -> Floats:
    """For each permutation, other - reference after swapping the two in random clusters.

    NaN where one of them has no score after the swap.
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
    is_as_far = np.abs(known) >= abs(observed) * (1 - RELATIVE_SLACK) - ABSOLUTE_SLACK
    return float((1 + is_as_far.sum()) / (1 + len(known)))


def _check(reference: Floats, other: Floats) -> None:
    if reference.shape != other.shape:
        raise EvenhandError(
            f"totals of shape {reference.shape} and {other.shape}; "
            "give both respondents the same clusters in the same order"
        )
