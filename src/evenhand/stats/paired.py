"""Paired comparison of two respondents on the same probes: intervals and a permutation test.

Interval: both scores are computed from the same resampled levels of the factors, and their
difference each time, so that what makes a cluster hard for both cancels out. p value: if the two
were interchangeable, their evidence could be swapped within any cluster. It is swapped at random,
cluster by cluster, and p = (1 + number of permutations with |difference| at least as large as
observed) / (1 + permutations), which is two-sided and never 0. Where a second factor is crossed
with the clusters, the swapped differences are widened as the interval is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.crossed import EvidenceTable, Factor
from evenhand.stats.intervals import Bounds, crossed_intervals

BLOCK = 20_000_000  # how many numbers of the table of swaps are in memory at once
# Rounding must not make the same sum in another order count as smaller than the observed one.
RELATIVE_SLACK = 1e-9
ABSOLUTE_SLACK = 1e-12
Combine = Callable[[Floats], Floats]


class Scale(NamedTuple):
    """The fair value of a score and its two ends."""

    fair: float
    low: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedBounds:
    """The intervals of a difference and of how much nearer to fair the other is."""

    difference: Bounds
    distance: Bounds


def paired_table(reference: EvidenceTable, other: EvidenceTable) -> EvidenceTable:
    """The evidence of two respondents on the same probes side by side.

    It holds the reference and the difference from it, not both: a respondent then differs from
    itself by exactly 0, whatever the rounding.
    """
    _check(reference.rows, other.rows)
    rows = np.hstack([reference.rows, other.rows - reference.rows])
    if reference.per_unit is None:
        return EvidenceTable(rows=rows)
    per_unit, width = reference.per_unit, reference.rows.shape[1]

    def both(sums: Floats) -> Floats:
        first = per_unit(sums[..., :width])
        second = per_unit(sums[..., :width] + sums[..., width:])
        return np.concatenate([first, second - first], axis=-1)

    return EvidenceTable(rows=rows, per_unit=both, units=reference.units)


def paired_intervals(
    table: EvidenceTable,
    factors: Sequence[Factor],
    combine: Combine,
    scale: Scale,
    rng: np.random.Generator,
    settings: Settings,
) -> PairedBounds:
    """The intervals of other - reference and of |other - fair| - |reference - fair|.

    The second is below 0 where the other is nearer to fair. table: that of `paired_table`. Both
    are exactly 0 where the two have the same evidence.
    """
    fair, low, high = scale
    width = table.rows.shape[1] // 2
    if (
        len(table.rows)
        and not table.rows[:, width:].any()
        and np.isfinite(combine(table.sums[: len(table.sums) // 2]))
    ):
        same = Bounds(interval=Interval(0.0, 0.0, 0.0), has_variation=False)
        return PairedBounds(difference=same, distance=same)

    def scores(sums: Floats) -> dict[str, Floats]:
        width = sums.shape[-1] // 2
        first, second = combine(sums[..., :width]), combine(sums[..., :width] + sums[..., width:])
        return {
            "difference": second - first,
            "distance": np.abs(second - fair) - np.abs(first - fair),
        }

    limits = dict.fromkeys(("difference", "distance"), (low - high, high - low))
    both = crossed_intervals(table, factors, scores, rng, settings, limits)
    return PairedBounds(difference=both["difference"], distance=both["distance"])


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


def permutation_p(observed: float, permuted: Floats, widening: float = 1.0) -> float:
    """The two-sided p value of an observed difference; permutations without a score are left out.

    widening: what permuted differences are multiplied by. NaN where there is nothing to compare.
    """
    known = permuted[np.isfinite(permuted)] * widening
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
