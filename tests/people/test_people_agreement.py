"""Agreement against slow references on random tables with holes, and where it is not defined."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from scipy import stats

from evenhand.core.errors import EvenhandError, MeasureError
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.people.agreement import AgreementReport, agree, alpha_of, alpha_rows, final_scores
from evenhand.stats import resampling

QUICK = Settings(resamples=200)


def slow_alpha(signs: Floats) -> float:
    """Nominal alpha from the table of coincidences, pair of answers by pair of answers."""
    values = sorted({v for v in signs.ravel().tolist() if math.isfinite(v)})
    seen = {(a, b): 0.0 for a in values for b in values}
    for unit in signs.T.tolist():
        known = [v for v in unit if math.isfinite(v)]
        for a, b in permutations(range(len(known)), 2):
            seen[known[a], known[b]] += 1 / (len(known) - 1)
    margin = {a: sum(seen[a, b] for b in values) for a in values}
    total = sum(margin.values())
    observed = sum(n for (a, b), n in seen.items() if a != b)
    expected = sum(margin[a] * margin[b] for a in values for b in values if a != b) / (total - 1)
    return 1 - observed / expected


def random_table(rng: np.random.Generator, people: int, sentences: int, holes: float) -> Floats:
    """Fine scores that the people share in part."""
    shared = rng.choice([-1.0, 0.0, 0.75], size=sentences)
    own = rng.choice([-1.5, -0.5, 0.0, 0.5, 1.5], size=(people, sentences))
    fine = np.where(rng.random((people, sentences)) < 0.5, shared, own)
    return np.where(rng.random((people, sentences)) < holes, np.nan, fine)


@pytest.mark.parametrize("seed", range(12))
def test_alpha_is_that_of_the_coincidences(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fine = random_table(rng, people=int(rng.integers(2, 6)), sentences=60, holes=0.3 * (seed % 3))
    agreed = agree(
        fine, ["MS"] * 30 + ["OS"] * 30, [f"p{i}" for i in range(len(fine))], settings=QUICK
    )
    for stratum, part in (("MS", fine[:, :30]), ("OS", fine[:, 30:])):
        alpha = agreed.alpha(stratum)
        assert alpha.interval.value == pytest.approx(slow_alpha(np.sign(part)), abs=1e-12)
        assert float(alpha_of(alpha_rows(np.sign(part)).sum(axis=0))) == pytest.approx(
            alpha.interval.value, abs=1e-12
        )
        assert alpha.interval.low <= alpha.interval.value <= alpha.interval.high
        assert alpha.sentences == int((np.isfinite(part).sum(axis=0) > 1).sum())


def test_a_resample_of_sums_is_a_resample_of_sentences() -> None:
    rng = np.random.default_rng(3)
    signs = np.sign(random_table(rng, 3, 25, 0.2))
    drawn = rng.integers(0, 25, size=25)
    weights = np.bincount(drawn, minlength=25)[np.isfinite(signs).sum(axis=0) > 1]
    assert float(alpha_of(weights @ alpha_rows(signs))) == pytest.approx(
        slow_alpha(signs[:, drawn]), abs=1e-12
    )


def test_intervals_are_as_wide_as_resampling_sentence_by_sentence_makes_them() -> None:
    rng = np.random.default_rng(4)
    fine = random_table(rng, 3, 200, 0.0)
    agreed = (
        agree(fine, ["MS"] * 200, ["a", "b", "c"], settings=Settings(resamples=2000))
        .alpha("MS")
        .interval
    )
    slow = [slow_alpha(np.sign(fine[:, rng.integers(0, 200, size=200)])) for _ in range(300)]
    assert agreed.high - agreed.low == pytest.approx(
        np.subtract(*np.quantile(slow, [0.975, 0.025])), rel=0.2
    )


def three() -> AgreementReport:
    fine = np.asarray(
        [
            [1.0, -1.0, 0.5, 0.0, 1.5, np.nan],
            [0.5, -0.75, 1.0, 0.0, 1.5, 0.5],
            [np.nan, 0.75, 1.5, -0.5, 1.0, np.nan],
        ]
    )
    return agree(fine, ["MS", "MS", "MS", "MS", "OS", "MS"], ["ann", "bob", "cy"], settings=QUICK)


def test_pairs_shares_and_means_are_those_of_a_table_reckoned_by_hand() -> None:
    agreed = three()
    both = agreed.pair("MS", "bob", "ann")
    wanted = stats.pearsonr([1.0, -1.0, 0.5, 0.0], [0.5, -0.75, 1.0, 0.0])
    assert both.pearson.value == pytest.approx(wanted.statistic)
    assert both.p == pytest.approx(wanted.pvalue)
    assert both.sentences == 4
    assert agreed.pair("MS", "ann", "cy").sentences == 3
    assert (
        agreed.pair("OS", "ann", "bob").sentences,
        math.isnan(agreed.pair("OS", "ann", "bob").p),
    ) == (1, True)
    assert "a correlation needs 3" in agreed.pair("OS", "ann", "bob").note
    assert agreed.everybody.mean.value == pytest.approx(np.mean([0.75, -1 / 3, 1.0, -0.5 / 3, 0.5]))
    assert agreed.everybody.shares == {"male": 3 / 5, "female": 2 / 5, "neutral": 0.0}
    assert [(x.name, x.sentences) for x in agreed.leanings] == [("ann", 4), ("bob", 5), ("cy", 3)]
    assert agreed.leanings[0].shares == {"male": 0.5, "female": 0.25, "neutral": 0.25}
    one, *_ = agreed.others
    assert one.pearson.value == pytest.approx(
        stats.pearsonr([1.0, -1.0, 0.5, 0.0], [0.5, 0.0, 1.25, -0.25]).statistic
    )


def test_what_is_not_defined_is_nan_with_a_reason() -> None:
    same = agree(np.full((3, 5), 0.5), ["MS"] * 5, ["a", "b", "c"], settings=QUICK)
    assert math.isnan(same.alpha("MS").interval.value)
    assert "always said the same" in same.alpha("MS").note
    assert same.alpha("OS").note == "no sentences in OS"
    assert same.pair("MS", "a", "b").note == "one of them always gave the same score"
    apart = agree(
        np.asarray([[1.0, np.nan], [np.nan, -1.0]]), ["MS", "MS"], ["a", "b"], settings=QUICK
    )
    assert apart.alpha("MS").note == "no unit was judged by two people"
    alone = agree(np.asarray([[1.0, -1.0, 0.0]]), ["MS"] * 3, ["a"], settings=QUICK)
    assert (alone.pairs, alone.others, alone.alpha("MS").note) == (
        (),
        (),
        "no unit was judged by two people",
    )
    nobody = agree(np.full((2, 3), np.nan), ["MS"] * 3, ["a", "b"], settings=QUICK)
    assert nobody.everybody.sentences == 0
    assert all(map(math.isnan, nobody.everybody.shares.values()))


def test_missing_is_no_category_and_order_is_irrelevant() -> None:
    fine = random_table(np.random.default_rng(7), 3, 50, 0.2)
    plain = agree(fine, ["MS"] * 50, ["a", "b", "c"], settings=QUICK)
    with_silent = agree(
        np.vstack([fine, np.full(50, np.nan)]),
        ["MS"] * 50,
        ["a", "b", "c", "silent"],
        settings=QUICK,
    )
    turned = agree(fine[::-1, ::-1], ["MS"] * 50, ["c", "b", "a"], settings=QUICK)
    mirrored = agree(-fine, ["MS"] * 50, ["a", "b", "c"], settings=QUICK)
    for other in (with_silent, turned, mirrored):
        assert other.alpha("MS").interval.value == pytest.approx(plain.alpha("MS").interval.value)
    assert mirrored.everybody.mean.value == pytest.approx(-plain.everybody.mean.value)
    assert mirrored.everybody.shares["male"] == plain.everybody.shares["female"]
    assert math.isnan(final_scores(np.full((2, 1), np.nan))[0])


def test_clusters_are_drawn_as_a_whole() -> None:
    fine = random_table(np.random.default_rng(9), 3, 60, 0.1)
    names, strata = ["a", "b", "c"], ["MS"] * 60
    single = agree(fine, strata, names, settings=QUICK)
    own = agree(fine, strata, names, clusters=[f"s{i:02}" for i in range(60)], settings=QUICK)
    assert (single.unit, own.unit) == ("sentence", "pair")
    assert repr(own.pairs) == repr(single.pairs)  # not by ==: NaN is not itself
    assert own.alpha("MS").interval == single.alpha("MS").interval
    twice = {"clusters": [f"s{i:02}" for i in range(60)] * 2, "settings": QUICK}
    doubled = agree(np.hstack([fine, fine]), strata * 2, names, **twice)  # type: ignore[arg-type]
    assert doubled.pair("MS", "a", "b").pearson == pytest.approx(
        single.pair("MS", "a", "b").pearson
    )  # a copy of everything is no news
    assert doubled.everybody.mean == pytest.approx(single.everybody.mean)
    alone = (
        agree(np.hstack([fine, fine]), strata * 2, names, settings=QUICK)
        .pair("MS", "a", "b")
        .pearson
    )
    assert alone.high - alone.low < 0.85 * (
        doubled.pair("MS", "a", "b").pearson.high - doubled.pair("MS", "a", "b").pearson.low
    )
    few = agree(fine, strata, names, clusters=["x", "y", "z"] * 20, settings=QUICK)
    assert few.alpha("MS").note == "only 3 word pairs: the interval is rough"
    assert np.isnan(
        agree(fine, strata, names, clusters=["x"] * 60, settings=QUICK).alpha("MS").interval.low
    )


def test_the_same_seed_gives_the_same_intervals() -> None:
    assert repr(three()) == repr(three())  # not by ==: NaN is not itself


def test_the_pairs_of_a_crowd_have_fishers_intervals() -> None:
    fine = random_table(np.random.default_rng(8), 15, 300, 0.1)
    agreed = agree(fine, ["MS"] * 300, [f"p{i}" for i in range(15)], settings=QUICK)
    few = agree(fine[:2], ["MS"] * 300, ["p0", "p1"], settings=Settings(resamples=2000))
    assert (agreed.is_drawn, few.is_drawn) == (False, True)
    crowd, drawn = (report.pair("MS", "p0", "p1").pearson for report in (agreed, few))
    z, reach = (
        math.atanh(crowd.value),
        1.959964 / math.sqrt(agreed.pair("MS", "p0", "p1").sentences - 3),
    )
    assert (crowd.low, crowd.high) == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))
    assert (drawn.low, drawn.high) == pytest.approx((crowd.low, crowd.high), abs=0.04)


def test_tables_that_do_not_fit_are_refused() -> None:
    with pytest.raises(MeasureError, match="2 annotators and 3 sentences"):
        agree(np.zeros((3, 2)), ["MS"] * 3, ["a", "b"])
    with pytest.raises(MeasureError, match="two annotators have one name: a"):
        agree(np.zeros((2, 3)), ["MS"] * 3, ["a", "a"])
    with pytest.raises(MeasureError, match="1 clusters for 3 sentences"):
        agree(np.zeros((1, 3)), ["MS"] * 3, ["a"], clusters=["x"])
    with pytest.raises(EvenhandError, match="level is 95"):
        agree(np.zeros((1, 1)), ["MS"], ["a"], settings=Settings(level=95))


def test_rank_correlations_of_resamples_are_those_of_repeated_points(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rng = np.random.default_rng(5)
    x, y = np.round(rng.normal(size=60), 1), np.round(rng.normal(size=60), 1)
    clusters = [f"c{i}" for i in rng.integers(0, 7, size=60)]
    few = resampling.resample_correlations(x, y, clusters, np.random.default_rng(1), 50)
    monkeypatch.setattr(resampling, "FEW_CLUSTERS", 0)
    monkeypatch.setattr(
        resampling,
        "draw_evenly",
        lambda n, times, rng: resampling.weight_blocks(np.full(n, 1 / n), n, times, rng),
    )
    many = resampling.resample_correlations(x, y, clusters, np.random.default_rng(1), 50)
    names, member = np.unique(clusters, return_inverse=True)
    weights = np.random.default_rng(1).multinomial(
        len(names), np.full(len(names), 1 / len(names)), size=50
    )
    apart = resampling.resample_correlations(
        x, np.arange(60.0), clusters, np.random.default_rng(1), 50
    )[1]  # no ties but those of the draw
    for turn, drawn in enumerate(weights):
        assert apart[turn] == pytest.approx(
            stats.spearmanr(*(np.repeat(v, drawn[member]) for v in (x, np.arange(60.0)))).statistic
        )
        a, b = (np.repeat(v, drawn[member]) for v in (x, y))
        assert few[0][turn] == pytest.approx(stats.pearsonr(a, b).statistic)
        assert few[1][turn] == pytest.approx(stats.spearmanr(a, b).statistic)
        assert many[1][turn] == pytest.approx(few[1][turn])
    assert few[2] == len(names)


def test_even_draws_are_those_of_the_bootstrap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resampling, "BLOCK", 10_000)  # several blocks, the last one short
    drawn = np.concatenate(list(resampling.draw_evenly(200, 4_030, np.random.default_rng(0))))
    assert drawn.shape == (4_030, 200)
    assert (drawn.sum(axis=1) == 200).all()
    assert drawn.mean(axis=0) == pytest.approx(np.ones(200), abs=0.08)  # 5 standard errors
    assert drawn.var() == pytest.approx(1 - 1 / 200, abs=0.01)
    assert np.cov(drawn[:, 0], drawn[:, 1])[0, 1] == pytest.approx(-1 / 200, abs=0.08)


def test_sentences_drawn_again_give_the_interval_of_large_samples() -> None:
    rng = np.random.default_rng(3)
    x = np.round(rng.normal(size=2_000) * 2) / 2
    y = 0.4 * x + rng.normal(size=2_000)
    *drawn, count = resampling.resample_correlations(
        x, y, [str(i) for i in range(2_000)], rng, 1_000
    )
    assert count == 2_000
    for values, of in zip(drawn, (stats.pearsonr, stats.spearmanr), strict=True):
        r = float(of(x, y).statistic)
        assert values.mean() == pytest.approx(r, abs=0.004)
        assert values.std() == pytest.approx((1 - r**2) / 2_000**0.5, rel=0.12)


def test_two_sided_p_of_resamples() -> None:
    assert resampling.two_sided_p(np.asarray([1.0, 2.0, 3.0, -1.0, np.nan])) == pytest.approx(
        2 * 2 / 5
    )
    assert resampling.two_sided_p(np.full(99, 0.5)) == pytest.approx(0.02)
    assert resampling.two_sided_p(np.zeros(10)) == 1.0
    assert math.isnan(resampling.two_sided_p(np.asarray([np.nan])))
    assert all(
        np.isnan(
            resampling.resample_correlations(
                np.ones(5), np.ones(5), ["a"] * 5, np.random.default_rng(0), 3
            )[0]
        )
    )
