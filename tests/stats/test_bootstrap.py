"""Intervals against slow references, against scipy, and against the truth in simulations."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats as scipy_stats

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.evidence import ratio
from evenhand.core.probe import Floats
from evenhand.core.settings import Method, Settings
from evenhand.engine.suites import load_suite
from evenhand.stats.bootstrap import cluster_totals, draw_weights
from evenhand.stats.crossed import EvidenceTable, Factor, Rows
from evenhand.stats.intervals import (
    Bounds,
    crossed_intervals,
    interval,
    sampled_intervals,
    single_factor,
    total_variance,
)


def mean(totals: Floats) -> Floats:
    """Count, sum -> mean: the simplest measure."""
    return ratio(totals[..., 1], totals[..., 0])


def counted(values: Floats) -> Floats:
    return np.stack([np.ones_like(values), values], axis=1)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def factor(name: str, levels: list[str]) -> Factor:
    return Factor.of(name, levels, Rows.plain(np.ones((len(levels), 1))))


def slow_variance(scores: list[float]) -> float:
    middle = sum(scores) / len(scores)
    return (len(scores) - 1) / len(scores) * sum((s - middle) ** 2 for s in scores)


def slow_freedom(scores: list[float]) -> float:
    middle = sum(scores) / len(scores)
    squares = [(s - middle) ** 2 for s in scores]
    return min(3 * sum(squares) ** 2 / sum(q * q for q in squares), len(scores)) - 1


def slow_mean(values: list[float], weights: list[float]) -> float:
    return sum(v * w for v, w in zip(values, weights, strict=True)) / sum(weights)


def slow_bounds(
    values: list[float], first: list[str], second: list[str], settings: Settings, seed: int
) -> tuple[float, float]:
    """The percentile bounds of a mean over two crossed factors, from the definition, by loops."""
    whole = slow_mean(values, [1.0] * len(values))

    def without(codes: list[str]) -> list[float]:
        return [
            slow_mean(values, [float(c != level) for c in codes]) for level in sorted(set(codes))
        ]

    cells = [f"{a}/{b}" for a, b in zip(first, second, strict=True)]
    left = [without(first), without(second)]
    variances = [slow_variance(scores) for scores in left]
    total = max(sum(variances) - slow_variance(without(cells)), *variances)
    leading = variances.index(max(variances))
    codes = (first, second)[leading]
    names = sorted(set(codes))
    drawn = [
        slow_mean(values, [weights[names.index(c)] for c in codes])
        for weights in draw_weights(len(names), settings.resamples, rng(seed)).tolist()
    ]
    freedom = [slow_freedom(scores) for scores in left]
    df = total**2 / sum(v * v / f for v, f in zip(variances, freedom, strict=True))
    tail = (1 + settings.level) / 2
    widening = scipy_stats.t.ppf(tail, df) / NormalDist().inv_cdf(tail)
    widening *= math.sqrt(total / variances[leading] * (freedom[leading] + 1) / freedom[leading])
    middle = sum(drawn) / len(drawn)
    low, high = np.quantile(drawn, [1 - tail, tail])
    return whole + widening * (low - middle), whole + widening * (high - middle)


@pytest.mark.parametrize("seed", range(4))
def test_bounds_equal_a_slow_reference(seed: int) -> None:
    """Unbalanced, with a larger effect of the one factor or of the other."""
    nature = rng(seed)
    first = [f"o{i}" for i in nature.integers(0, 12, size=80)]
    second = [f"f{i:02d}" for i in nature.integers(0, 9, size=80)]
    effect = nature.normal(size=30)
    values = [
        effect[int(a[1:])] * (seed % 2) + effect[12 + int(b[1:])] + nature.normal()
        for a, b in zip(first, second, strict=True)
    ]
    settings = Settings(resamples=199, level=0.9, method="percentile")
    found = crossed_intervals(
        EvidenceTable(rows=counted(np.asarray(values))),
        [factor("o", first), factor("f", second)],
        lambda sums: {"": mean(sums)},
        rng(5),
        settings,
    )[""].interval
    assert found[1:] == pytest.approx(slow_bounds(values, first, second, settings, 5), abs=1e-9)


def test_a_resample_draws_as_many_clusters_as_there_are() -> None:
    weights = draw_weights(7, 5000, rng())
    assert weights.shape == (5000, 7)
    assert (weights.sum(axis=1) == 7).all() and (weights >= 0).all()
    np.testing.assert_allclose(weights.mean(axis=0), 1.0, atol=0.06)


def test_the_shape_of_bca_agrees_with_scipy() -> None:
    """One observation a cluster, skewed, so that the correction matters: the bounds lie as far out
    on one side as on the other by BCa's ratio, which that of the percentiles misses.
    """
    values = rng(3).exponential(size=25)
    expected = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=40_000, method="BCa", rng=rng(1)
    ).confidence_interval
    ratio_of_sides = (expected.high - values.mean()) / (values.mean() - expected.low)
    sides = {}
    for method in ("bca", "percentile"):
        bounds = interval(counted(values), mean, rng(2), Settings(resamples=40_000, method=method))
        sides[method] = (bounds.high - bounds.value) / (bounds.value - bounds.low)
    assert sides["bca"] == pytest.approx(ratio_of_sides, rel=0.05)
    assert sides["percentile"] != pytest.approx(ratio_of_sides, rel=0.05)


@pytest.mark.parametrize("method", ["percentile", "bca"])
class TestEdges:
    """What must not be lost at the edges, by either method."""

    def test_constant_data_has_the_bounds_that_so_many_cannot_exclude(self, method: Method) -> None:
        """A share of 0.25 in each of 20 clusters: up to 1 - 0.05^(1/20) of all could differ."""
        totals, settings = np.tile([4.0, 1.0], (20, 1)), Settings(resamples=500, method=method)
        share = 1 - 0.05 ** (1 / 20)
        assert interval(totals, mean, rng(), settings, (0.0, 1.0)) == pytest.approx(
            (0.25, 0.25 - share * 0.25, 0.25 + share * 0.75)
        )
        open_ended = interval(totals, mean, rng(), settings)
        assert open_ended.value == 0.25 and not open_ended.has_bounds

    def test_one_cluster_has_no_bounds(self, method: Method) -> None:
        found = interval(
            np.asarray([[4.0, 3.0]]), mean, rng(), Settings(resamples=500, method=method)
        )
        assert found.value == 0.75 and np.isnan(found.low) and np.isnan(found.high)

    def test_no_cluster_is_nan(self, method: Method) -> None:
        assert np.isnan(
            interval(np.empty((0, 2)), mean, rng(), Settings(resamples=500, method=method))
        ).all()

    def test_a_negative_mean_mirrors_the_positive(self, method: Method) -> None:
        values = rng(1).normal(1.0, 1.0, size=40)
        above = interval(counted(values), mean, rng(2), Settings(resamples=2000, method=method))
        below = interval(counted(-values), mean, rng(2), Settings(resamples=2000, method=method))
        assert below == pytest.approx((-above.value, -above.high, -above.low), abs=1e-9)
        assert below.low < below.value < below.high < 0

    def test_two_clusters_that_cannot_be_spared(self, method: Method) -> None:
        """PS and AS in one cluster, NS in the other: leaving either out leaves no score, and no
        warning of numpy either.
        """
        totals = np.asarray([[2, 0, 0, 0, 0, 2, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1, 1, 0.0]])
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = interval(
                totals,
                catalog.measure("nli_coal").combine,
                rng(),
                Settings(resamples=200, method=method),
            )
        assert found.value == pytest.approx(2.5 / 3) and not found.has_bounds

    def test_a_higher_level_is_wider(self, method: Method) -> None:
        totals = counted(rng(4).normal(size=50))
        narrow, wide = (
            interval(totals, mean, rng(2), Settings(resamples=2000, level=level, method=method))
            for level in (0.8, 0.99)
        )
        assert wide.low < narrow.low < narrow.high < wide.high

    def test_the_same_generator_gives_the_same_bounds(self, method: Method) -> None:
        totals = counted(rng(4).normal(size=50))
        first, again, other = (
            interval(totals, mean, rng(seed), Settings(resamples=500, method=method))
            for seed in (1, 1, 2)
        )
        assert first == again and first != other


def test_clusters_are_summed_and_silent_ones_left_out() -> None:
    evidence = np.asarray([[1, 1], [1, 0], [0, 0], [1, 1.0]])
    np.testing.assert_array_equal(
        cluster_totals(evidence, ["nurse", "baker", "pilot", "nurse"]), [[1, 0], [2, 2]]
    )


@pytest.mark.parametrize(
    ("level", "method", "reason"),
    [(95, "bca", "level is 95"), (0.95, "normal", "percentile or bca")],
)
def test_wrong_settings_are_refused(level: float, method: Method, reason: str) -> None:
    with pytest.raises(EvenhandError, match=reason):
        interval(counted(np.arange(5.0)), mean, rng(), Settings(level=level, method=method))


def test_ten_thousand_resamples_of_a_whole_suite_are_one_product() -> None:
    """The measure sees all resamples in one call, whatever the number of probes."""
    measure = catalog.measure("nli_coal")
    probes = load_suite("occupation-nli").probes
    repeated = (*probes, *probes)[:5420]
    totals = cluster_totals(
        measure.evidence(repeated, rng().normal(size=(5420, 1, 3))), [p.cluster for p in repeated]
    )
    seen: list[tuple[int, ...]] = []

    def watched(sums: Floats) -> Floats:
        seen.append(sums.shape)
        return measure.combine(sums)

    found = interval(totals, watched, rng(), Settings(resamples=10_000))
    # the whole, every cluster left out, every resample
    assert seen == [(9,), (len(totals), 9), (10_000, 9)]
    assert found.low < found.value < found.high and found.value == pytest.approx(4 / 9, abs=0.03)


CLUSTERS, EACH = 50, 10


def coverage(group: Callable[[Floats], Floats], simulations: int) -> float:
    """How often does the 95 % interval hold the truth, when occupations differ (beta) and their
    probes follow them (binomial)?
    """
    nature, hits = rng(11), 0
    for _ in range(simulations):
        rates = nature.beta(
            1.2, 1.8, size=CLUSTERS
        )  # true mean 0.4, correlation within an occupation 0.25
        items = (nature.random((CLUSTERS, EACH)) < rates[:, None]).astype(np.float64)
        found = interval(group(items), mean, nature, Settings(resamples=500, method="bca"))
        hits += found.low <= 0.4 <= found.high
    return hits / simulations


def test_cluster_intervals_cover_the_truth_and_item_intervals_do_not() -> None:
    """0.95 in the long run for clusters; with 1500 simulations the error of that is 0.006. Items
    alone: about 0.73.
    """
    by_occupation = coverage(
        lambda items: np.stack([np.full(CLUSTERS, float(EACH)), items.sum(axis=1)], axis=1),
        simulations=1500,
    )
    by_item = coverage(lambda items: counted(items.ravel()), simulations=300)
    assert 0.92 <= by_occupation <= 0.98
    assert by_item < 0.85


def table_of(values: Floats) -> EvidenceTable:
    return EvidenceTable(rows=counted(values))


def test_two_factors_cover_new_frames_and_one_does_not() -> None:
    """Occupations crossed with frames that differ: 0.855 and less for occupations alone."""
    nature, one, both = rng(21), 0, 0
    cluster, frame = (grid.ravel() for grid in np.meshgrid(range(40), range(20), indexing="ij"))
    factors = [
        factor("occupation", [f"o{c}" for c in cluster]),
        factor("frame", [f"f{c}" for c in frame]),
    ]
    for _ in range(400):
        values = (
            nature.normal(size=40)[cluster] * 0.5
            + nature.normal(size=20)[frame] * 0.4
            + nature.normal(size=800)
        )
        for chosen in (factors[:1], factors):
            found = crossed_intervals(
                table_of(values), chosen, lambda s: {"": mean(s)}, nature, Settings(resamples=300)
            )[""].interval
            is_covered = found.low <= 0 <= found.high
            one, both = (
                one + (is_covered and chosen is not factors),
                both + (is_covered and chosen is factors),
            )
    assert one / 400 < 0.86
    assert 0.93 <= both / 400 <= 0.975


def test_a_factor_within_the_other_adds_nothing() -> None:
    values = rng(2).normal(size=60)
    outer = factor("o", [f"o{i // 5}" for i in range(60)])
    inner = factor("f", [f"f{i}" for i in range(60)])
    alone, together = (
        crossed_intervals(
            table_of(values), chosen, lambda s: {"": mean(s)}, rng(3), Settings(resamples=500)
        )[""]
        for chosen in ([outer], [outer, inner])
    )
    assert together.widening == pytest.approx(1.0) or together.interval.low <= alone.interval.low


def test_a_negative_sum_of_variances_falls_back_to_the_larger() -> None:
    assert total_variance([0.2, 0.3], 0.6) == 0.3
    assert total_variance([0.2, 0.3], 0.1) == pytest.approx(0.4)
    assert total_variance([0.2], 0.0) == 0.2


def test_rows_without_a_level_always_count_once() -> None:
    """Two rows have no frame; leaving out frames must leave them in."""
    rows = counted(np.asarray([1.0, 2.0, 3.0, 10.0]))
    frames = factor("f", ["a", "b", "a", ""])
    table = EvidenceTable(rows=rows)
    assert table.without_each(frames).tolist() == [[2.0, 12.0], [3.0, 14.0]]
    assert table.reweighted(frames, np.asarray([[2.0, 0.0]])).tolist() == [[5.0, 18.0]]


def test_units_that_are_not_linear_are_reweighted_before_they_are_summed() -> None:
    """Two words with three pairs each; the fairness of a word is that of its reweighted share."""

    def fold(sums: Floats) -> Floats:
        share = ratio(sums[..., 1], sums[..., 0])
        return np.stack([np.ones_like(share), np.minimum(share, 1 - share)], axis=-1)

    wins = np.asarray([1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    table = EvidenceTable(rows=counted(wins), per_unit=fold, units=np.asarray([0, 0, 0, 1, 1, 1]))
    pairs = factor("pair", ["a", "b", "c"] * 2)
    words = factor("word", ["w"] * 3 + ["v"] * 3)
    assert table.sums == pytest.approx([2, 2 / 3])
    # pair a twice, b never, c once: shares 2/3 and 1/3
    assert table.reweighted(pairs, np.asarray([[2.0, 0.0, 1.0]]))[0] == pytest.approx([2, 2 / 3])
    # without pair a: shares 1/2 and 1/2; without c: 1 and 0
    assert table.without_each(pairs) == pytest.approx(np.asarray([[2, 1.0], [2, 1.0], [2, 0.0]]))
    assert table.without_each(words) == pytest.approx(np.asarray([[1, 1 / 3], [1, 1 / 3]]))
    # without one cell the word has two pairs left
    assert table.without_cells(words, pairs)[:, 1] == pytest.approx(
        [1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 1 / 3 + 0.0, 1 / 3 + 1 / 2, 1 / 3 + 1 / 2, 1 / 3 + 0.0]
    )


def sampled(values: Floats, asked: float) -> Bounds:
    return sampled_intervals(
        table_of(values),
        single_factor(counted(values)),
        lambda sums: {"": mean(sums)},
        asked,
        Settings(),
        {"": (-10.0, 10.0)},
    )[""]


def test_this_set_with_everything_asked_is_exact() -> None:
    values = rng(1).normal(size=30)
    assert sampled(values, 1.0).interval == (values.mean(),) * 3


def test_this_set_covers_the_value_of_all_probes_of_a_suite() -> None:
    """60 of 200 asked: the interval is about the 200, narrower than one about new items."""
    nature, hits = rng(4), 0
    for _ in range(400):
        whole = nature.normal(size=200)
        found = sampled(nature.choice(whole, size=60, replace=False), 60 / 200).interval
        hits += found.low <= whole.mean() <= found.high
    assert 0.93 <= hits / 400 <= 0.975


def test_levels_are_drawn_within_what_was_fixed_by_design() -> None:
    """Half of the occupations lean one way, half the other; that much is no chance.

    A frame meets both leans, so frames are drawn as one group.
    """
    leans = ["female"] * 40 + ["male"] * 40
    values = np.where(np.asarray(leans) == "male", 1.0, -1.0) + rng(3).normal(0, 0.1, size=80)
    occupations, frames = [f"o{i // 4}" for i in range(80)], [f"f{i % 8}" for i in range(80)]
    rows = Rows([True] * 80, [""] * 80, leans)
    within = Factor.of("o", occupations, rows)
    assert [len(group) for group in within.groups] == [10, 10]
    assert [len(group) for group in Factor.of("f", frames, rows).groups] == [8]
    narrow, wide = (
        crossed_intervals(
            table_of(values), [chosen], lambda s: {"": mean(s)}, rng(1), Settings(resamples=500)
        )[""].interval
        for chosen in (within, factor("o", occupations))
    )
    assert narrow.high - narrow.low < 0.2
    assert wide.high - wide.low > 0.8


def test_a_level_of_its_own_lean_is_not_drawn_alone() -> None:
    rows = Rows([True] * 3, [""] * 3, ["a", "a", "b"])
    assert [len(g) for g in Factor.of("o", ["x", "y", "z"], rows).groups] == [3]


def test_the_levels_of_the_smallest_part_are_counted() -> None:
    rows = Rows([True, True, True, False, True], ["F", "M", "M", "F", "F"], [""] * 5)
    found = Factor.of("o", ["a", "b", "c", "d", "a"], rows)
    assert (found.levels, found.smallest) == (3, 1)


def test_a_part_of_two_levels_has_a_wide_interval() -> None:
    """Two occupations lean female: their difference is one degree of freedom, t is 12.7."""
    leans = ["female"] * 2 + ["male"] * 40
    values = np.concatenate([[0.4, 0.6], rng(1).normal(0, 0.05, size=40)])
    rows = np.zeros((42, 4))
    rows[:2, 0], rows[:2, 1], rows[2:, 2], rows[2:, 3] = 1, values[:2], 1, values[2:]
    found = crossed_intervals(
        EvidenceTable(rows=rows),
        [Factor.of("o", [f"o{i}" for i in range(42)], Rows([True] * 42, leans, leans))],
        lambda s: {"": (s[..., 1] / s[..., 0] - s[..., 3] / s[..., 2]) / 2},
        rng(2),
        Settings(resamples=500),
    )[""].interval
    assert found.value == pytest.approx(0.25, abs=0.01)
    assert found.low < 0 < found.high
