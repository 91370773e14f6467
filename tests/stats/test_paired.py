"""Do paired intervals and p values keep what they promise? Simulated sets with clustered noise, and
slow obvious references.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from scipy import stats

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.stats.bootstrap import draw_weights
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.crossed import EvidenceTable, Factor, Rows
from evenhand.stats.intervals import single_factor
from evenhand.stats.paired import (
    Scale,
    paired_intervals,
    paired_table,
    permutation_p,
    permuted_differences,
)

SETS, CLUSTERS, EACH = 400, 30, 5


def mean(totals: Floats) -> Floats:
    return np.asarray(totals[..., 1] / totals[..., 0])


def totals_of(scores: Floats) -> Floats:
    """Scores (clusters, probes) to sums: count, score."""
    return np.stack(
        [np.full(len(scores), scores.shape[1], dtype=np.float64), scores.sum(axis=1)], axis=1
    )


def drawn(rng: np.random.Generator, shift: float = 0.0) -> tuple[Floats, Floats]:
    """Two models: a cluster is hard for both, each has its own way with it, and every probe has its
    noise.
    """
    shared = rng.normal(size=(CLUSTERS, 1))
    pair = [
        shared + 0.5 * rng.normal(size=(CLUSTERS, 1)) + rng.normal(size=(CLUSTERS, EACH))
        for _ in range(2)
    ]
    return totals_of(pair[0]), totals_of(pair[1] + shift)


def intervals(
    a: Floats, b: Floats, fair: float, rng: np.random.Generator, settings: Settings
) -> tuple[Interval, Interval]:
    """The difference of the means and of their distances from fair, clusters resampled."""
    table = paired_table(EvidenceTable(rows=a), EvidenceTable(rows=b))
    scale = Scale(fair, float("-inf"), float("inf"))
    both = paired_intervals(table, [single_factor(a)], mean, scale, rng, settings)
    return both.difference.interval, both.distance.interval


class Simulated(NamedTuple):
    p: Floats
    covered: Floats


@pytest.fixture(scope="module")
def simulated() -> Simulated:
    rng = np.random.default_rng(11)
    p, covered = [], []
    for _ in range(SETS):
        a, b = drawn(rng)
        found, _ = intervals(a, b, 0.0, rng, Settings(resamples=1000))
        p.append(permutation_p(found.value, permuted_differences(a, b, mean, rng, 1000)))
        covered.append(found.low <= 0 <= found.high)
    return Simulated(np.asarray(p), np.asarray(covered, dtype=np.float64))


def test_without_a_difference_p_is_uniform(simulated: Simulated) -> None:
    low, high = stats.binom.interval(0.99, SETS, 0.05)
    assert low <= (simulated.p <= 0.05).sum() <= high
    assert stats.kstest(simulated.p, "uniform").pvalue > 0.01


def test_the_interval_covers_the_true_difference(simulated: Simulated) -> None:
    assert 0.92 <= simulated.covered.mean() <= 0.98


def test_a_real_difference_is_found() -> None:
    rng = np.random.default_rng(5)
    finds, covered = 0, 0
    for _ in range(100):
        a, b = drawn(rng, shift=1.0)
        found, distance = intervals(a, b, 1.0, rng, Settings(resamples=500))
        finds += permutation_p(found.value, permuted_differences(a, b, mean, rng, 500)) <= 0.05
        covered += found.low <= 1.0 <= found.high
        assert distance.value == pytest.approx(
            abs(mean(b.sum(axis=0)) - 1.0) - abs(mean(a.sum(axis=0)) - 1.0)
        )
    assert finds >= 98
    assert covered >= 88


def test_pairing_takes_out_what_is_hard_for_both() -> None:
    a, b = drawn(np.random.default_rng(3))
    found, _ = intervals(a, b, 0.0, np.random.default_rng(0), Settings(resamples=2000))
    unpaired, _ = intervals(
        a,
        b[np.random.default_rng(1).permutation(CLUSTERS)],
        0.0,
        np.random.default_rng(0),
        Settings(resamples=2000),
    )
    assert found.high - found.low < 0.8 * (unpaired.high - unpaired.low)


def test_the_interval_is_that_of_the_difference_in_the_same_resamples() -> None:
    a, b = drawn(np.random.default_rng(8))
    settings = Settings(resamples=300, method="percentile")
    found, _ = intervals(a, b, 0.0, np.random.default_rng(4), settings)
    weights = draw_weights(CLUSTERS, 300, np.random.default_rng(4))
    slow = [
        float(mean((w[:, None] * b).sum(axis=0)) - mean((w[:, None] * a).sum(axis=0)))
        for w in weights
    ]
    quantiles = np.quantile(slow, [0.025, 0.975]) - np.mean(slow)
    widths = np.asarray([found.low, found.high]) - found.value
    # the same shape, widened by t and by G / (G - 1)
    assert widths[0] / quantiles[0] == pytest.approx(widths[1] / quantiles[1])
    assert 1.02 < widths[0] / quantiles[0] < 1.15


def test_p_comes_near_that_of_all_swaps() -> None:
    rng = np.random.default_rng(2)
    a, b = (totals_of(rng.normal(size=(8, 3))) for _ in range(2))
    observed = float(mean(b.sum(axis=0)) - mean(a.sum(axis=0)))
    every = []
    for swap in itertools.product([False, True], repeat=8):
        kept = np.asarray(swap)[:, None]
        every.append(
            float(mean(np.where(kept, a, b).sum(axis=0)) - mean(np.where(kept, b, a).sum(axis=0)))
        )
    exact = float(np.mean(np.abs(every) >= abs(observed) - 1e-12))
    found = permutation_p(
        observed, permuted_differences(a, b, mean, np.random.default_rng(0), 20_000)
    )
    assert found == pytest.approx(exact, abs=0.015)


def test_a_respondent_does_not_differ_from_itself() -> None:
    a, _ = drawn(np.random.default_rng(1))
    found, distance = intervals(a, a.copy(), 0.3, np.random.default_rng(0), Settings(resamples=500))
    assert found == (0.0, 0.0, 0.0)
    assert distance == (0.0, 0.0, 0.0)
    assert (
        permutation_p(
            found.value, permuted_differences(a, a.copy(), mean, np.random.default_rng(0), 500)
        )
        == 1.0
    )


def test_absolute_is_compared_with_absolute() -> None:
    # WEFE compared |permuted| with a signed score: an observed -4 got p = 1.0
    permuted = np.random.default_rng(0).normal(size=999)
    assert np.abs(permuted).max() < 4
    assert permutation_p(-4.0, permuted) == permutation_p(4.0, permuted) == 1 / 1000
    a, b = drawn(np.random.default_rng(6), shift=-2.0)
    observed = float(mean(b.sum(axis=0)) - mean(a.sum(axis=0)))
    assert observed < -1
    assert (
        permutation_p(observed, permuted_differences(a, b, mean, np.random.default_rng(0), 999))
        == 1 / 1000
    )


def test_the_order_of_the_two_changes_the_sign_only() -> None:
    a, b = drawn(np.random.default_rng(9))
    there, back = (
        permuted_differences(x, y, mean, np.random.default_rng(0), 200) for x, y in ((a, b), (b, a))
    )
    assert there == pytest.approx(-back)


def test_the_same_sum_in_another_order_counts() -> None:
    assert permutation_p(0.3, np.asarray([0.1 + 0.2, -(0.1 + 0.2), 0.3 - 1e-15, 0.2])) == (
        1 + 3
    ) / (1 + 4)


def test_blocks_of_swaps_are_the_same_swaps(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = drawn(np.random.default_rng(9))
    whole = permuted_differences(a, b, mean, np.random.default_rng(0), 100)
    monkeypatch.setattr("evenhand.stats.paired.BLOCK", CLUSTERS * 7)
    assert permuted_differences(a, b, mean, np.random.default_rng(0), 100) == pytest.approx(whole)


def test_what_cannot_be_compared_has_no_number() -> None:
    one = np.asarray([[2.0, 1.0]])
    found, distance = intervals(
        one, one + 1, 0.0, np.random.default_rng(0), Settings(resamples=100)
    )
    assert found.value == pytest.approx(2 / 3 - 1 / 2)
    assert np.isnan([found.low, found.high, distance.low, distance.high]).all()
    assert np.isnan(permutation_p(float("nan"), np.zeros(5)))
    assert np.isnan(permutation_p(0.5, np.full(5, np.nan)))
    assert permutation_p(0.5, np.asarray([np.nan, 0.1, 0.6])) == 2 / 3
    with pytest.raises(EvenhandError, match=r"shape \(1, 2\) and \(2, 2\)"):
        permuted_differences(one, np.vstack([one, one]), mean, np.random.default_rng(0), 10)


def slow_correction(p: list[float]) -> list[float]:
    """The smallest share of false finds at which the find would still be made."""
    ranked = sorted(p)
    return [
        min(min(1.0, q * len(p) / (ranked.index(q) + ranked.count(q))) for q in ranked if q >= own)
        for own in p
    ]


@pytest.mark.parametrize("seed", range(5))
def test_the_correction_is_that_of_benjamini_and_hochberg(seed: int) -> None:
    p = np.round(np.random.default_rng(seed).uniform(size=23) ** 3, 2 if seed % 2 else 9)
    adjusted = benjamini_hochberg(p)
    assert adjusted == pytest.approx(slow_correction(p.tolist()))
    assert adjusted == pytest.approx(stats.false_discovery_control(p))


def test_the_correction_of_a_published_example() -> None:
    # Benjamini and Hochberg 1995, section 4.1: 15 tests, at 0.05 the first four are finds
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert (benjamini_hochberg(p) <= 0.05).tolist() == [True] * 4 + [False] * 11


def test_what_was_not_tested_is_not_counted() -> None:
    found = benjamini_hochberg([0.04, float("nan"), 0.02])
    assert found[[0, 2]] == pytest.approx([0.04, 0.04])
    assert np.isnan(found[1])
    assert benjamini_hochberg([]).tolist() == []
    assert np.isnan(benjamini_hochberg([float("nan")])).all()
    with pytest.raises(EvenhandError, match=r"p value 1\.5 at position 1"):
        benjamini_hochberg([0.2, 1.5])
    with pytest.raises(EvenhandError, match="shape"):
        benjamini_hochberg([[0.2]])


def crossed(rng: np.random.Generator, frames: float) -> tuple[Floats, Floats, list[Factor]]:
    """Two models on 25 clusters x 15 frames; every frame suits one of them better."""
    cluster, frame = (grid.ravel() for grid in np.meshgrid(range(25), range(15), indexing="ij"))
    base = rng.normal(size=25)[cluster]
    own = rng.normal(0, frames, size=15)[frame]
    pair = [base + rng.normal(size=375), base + own + rng.normal(size=375)]
    factors = [
        Factor.of(name, [str(c) for c in codes], Rows.plain(np.ones((375, 1))))
        for name, codes in (("cluster", cluster), ("frame", frame))
    ]
    ones = np.ones(375)
    return np.stack([ones, pair[0]], axis=1), np.stack([ones, pair[1]], axis=1), factors


def test_frames_that_suit_one_model_do_not_make_false_differences() -> None:
    """Swapping clusters alone finds a difference in most sets without one; widened it does not."""
    rng = np.random.default_rng(12)
    narrow = wide = covered = 0
    for _ in range(200):
        a, b, factors = crossed(rng, frames=1.0)
        tables = EvidenceTable(rows=a), EvidenceTable(rows=b)
        scale = Scale(0.0, float("-inf"), float("inf"))
        bounds = paired_intervals(
            paired_table(*tables), factors, mean, scale, rng, Settings(resamples=300)
        ).difference
        first, second = (table.totals(factors[0]) for table in tables)
        swapped = permuted_differences(first, second, mean, rng, 300)
        narrow += permutation_p(bounds.interval.value, swapped) <= 0.05
        wide += permutation_p(bounds.interval.value, swapped, bounds.widening) <= 0.05
        covered += bounds.interval.low <= 0 <= bounds.interval.high
    assert narrow / 200 > 0.4
    assert wide / 200 < 0.11
    assert 0.9 <= covered / 200 <= 0.99
