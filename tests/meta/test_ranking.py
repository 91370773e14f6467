"""The ranking of measures says what can be computed by hand, and nothing where nothing is known."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from itertools import combinations, pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ladders import (
    ERRORS,
    RATES,
    SCORES,
    SUITE,
    Score,
    large_ladder,
    make_ladder,
    quick_rank,
    read,
    rungs,
)
from scipy import stats

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.settings import Settings
from evenhand.meta.ladder import Ladder, Reading, Rung, ladder_fields, read_ladder, write_ladder
from evenhand.meta.ranking import CONSTANT, Standing, rank
from evenhand.stats.correlation import Coefficient, fisher_interval, kendall, pearson, spearman


def stand(score: Score, *, models: Sequence[Rung] | None = None) -> Standing:
    """The standing of one score on a full ladder."""
    ladder = make_ladder({"nli_coal": score}, models=models)
    (standing,) = quick_rank(ladder, 500)
    return standing


def test_scores_that_can_be_computed_by_hand() -> None:
    coal, own, neutral = quick_rank(make_ladder(SCORES), 2000)
    assert [s.measure for s in (coal, own, neutral)] == [
        "nli_coal",
        "objective",
        "fraction_neutral",
    ]
    assert [s.rank for s in (coal, own, neutral)] == [1, 2, 3]
    for correlation in (coal.pearson, coal.spearman, coal.kendall):
        assert correlation.value == pytest.approx(1)
        assert correlation.p < 1e-6
        assert correlation.by_seed == pytest.approx({0: 1, 1: 1, 2: 1})
    assert (coal.signal, coal.share) == pytest.approx((2 / 3, 2 / 3))
    assert (coal.noise, coal.leak, coal.leak_ratio, coal.noise_ratio) == pytest.approx(
        (0, 0, 0, 0), abs=1e-12
    )
    assert coal.leak_pearson.note == CONSTANT
    assert (coal.finding, coal.is_moved) == ("found", False)

    assert own.pearson.value == pytest.approx(-1)
    assert own.noise == pytest.approx(0.02)  # of -0.02, 0 and 0.02, n - 1
    assert own.signal == pytest.approx(1)
    assert math.isnan(own.share)  # no catalog has it
    assert (own.leak, own.is_moved) == (0, False)

    assert neutral.signal == 0
    assert neutral.leak == pytest.approx(2 / 3)
    assert neutral.leak_ratio == math.inf
    assert neutral.leak_pearson.value == pytest.approx(1)
    assert neutral.leak_p < 0.01
    assert (neutral.finding, neutral.is_moved) == ("not", True)


def test_a_score_that_hardly_moves_has_found_nothing_however_straight_it_is() -> None:
    weak, flat = rank(
        make_ladder(
            {
                "fraction_neutral": lambda rung: 0.66 + 0.01 * rung.rate,
                "nli_coal": lambda rung: 0.66 + 0.03 * rung.rate,
            }
        )
    )
    assert [(s.measure, s.is_flat, s.finding) for s in (weak, flat)] == [
        ("nli_coal", False, "found"),
        ("fraction_neutral", True, "not"),
    ]
    assert flat.pearson.value == pytest.approx(1)


def test_a_constant_score_has_no_correlation_and_says_so() -> None:
    standing = stand(lambda rung: 0.1 + 0.2 + rung.seed * 0)
    for part in (standing.pearson, standing.spearman, standing.kendall, standing.strength):
        assert math.isnan(part.value)
        assert math.isnan(part.p)
        assert math.isnan(part.mean_of_seeds)
        assert part.note == "constant score: no correlation"
    assert (standing.signal, standing.share, standing.noise) == pytest.approx((0, 0, 0), abs=1e-12)
    # seeds differ, their mean does not: constant for the paper, not for a seed
    turning = stand(lambda rung: 0.5 + (rung.seed - 1) * rung.rate / 10)
    assert turning.pearson.note == CONSTANT
    assert turning.pearson.by_seed[0] == pytest.approx(-1)
    assert turning.pearson.by_seed[2] == pytest.approx(1)


def slow_kendall(x: list[float], y: list[float]) -> float:
    pairs = [
        (np.sign(b - a), np.sign(d - c))
        for (a, c), (b, d) in combinations(zip(x, y, strict=True), 2)
    ]
    ties = [sum(p[i] != 0 for p in pairs) for i in (0, 1)]
    return (
        float(sum(a * b for a, b in pairs) / math.sqrt(ties[0] * ties[1]))
        if all(ties)
        else math.nan
    )


def test_a_noisy_score_as_scipy_and_as_slow_code_have_it() -> None:
    rng = np.random.default_rng(5)
    scores = {rung: 0.3 * rung.rate + 0.1 * float(rng.standard_normal()) for rung in rungs()}
    standing = stand(lambda rung: scores[rung])
    table = [[scores[Rung(ladder="rate", rate=r, seed=s)] for r in RATES] for s in range(3)]
    means = [sum(column) / 3 for column in zip(*table, strict=True)]
    for kind, test in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        theirs, mine = test(RATES, means), getattr(standing, kind)
        assert mine.value == pytest.approx(theirs.statistic)
        assert mine.p == pytest.approx(theirs.pvalue)
        assert mine.by_seed == pytest.approx(
            {s: test(RATES, row).statistic for s, row in enumerate(table)}
        )
        assert mine.mean_of_seeds == pytest.approx(
            sum(test(RATES, row).statistic for row in table) / 3
        )
        assert mine.interval.low < mine.value < mine.interval.high
    assert standing.kendall.value == pytest.approx(slow_kendall(list(RATES), means))
    assert standing.strength.value == pytest.approx(
        stats.pearsonr([abs(2 * r - 1) for r in RATES], means).statistic
    )
    assert standing.signal == pytest.approx(max(means) - min(means))
    assert standing.noise == pytest.approx(
        np.mean([np.std(column, ddof=1) for column in zip(*table, strict=True)])
    )
    errors = [
        np.mean([scores[Rung(ladder="errors", rate=0.5, errors=e, seed=s)] for s in range(3)])
        for e in ERRORS
    ]
    assert standing.leak == pytest.approx(max(errors) - min(errors))
    assert standing.leak_pearson.value == pytest.approx(stats.pearsonr(ERRORS, errors).statistic)


def test_a_score_that_counts_both_directions_alike() -> None:
    standing = stand(lambda rung: abs(2 * rung.rate - 1))
    assert standing.pearson.value == pytest.approx(0, abs=1e-9)
    assert standing.strength.value == pytest.approx(1)
    assert standing.finding == "not"


def test_few_and_missing_rungs_are_named() -> None:
    two = stand(SCORES["nli_coal"], models=rungs(rates=(0, 1), errors=()))
    assert two.pearson.note == "2 rungs have a value: a correlation needs 3 or more"
    assert two.signal == pytest.approx(2 / 3)
    assert two.notes == ()
    assert math.isnan(two.leak)
    assert not two.is_moved
    three = stand(SCORES["nli_coal"], models=rungs(rates=(0, 0.5, 1), errors=ERRORS))
    assert three.pearson.value == pytest.approx(1)
    assert math.isnan(three.pearson.interval.low)  # three points have no interval
    assert three.finding == "weakly"

    whole = make_ladder(SCORES)

    def is_silent(r: Reading) -> bool:
        return (r.measure, r.rung.rate) == ("nli_coal", 0.3) or (r.rung.rate, r.rung.seed) == (
            0.7,
            2,
        )

    kept = [r for r in whole.readings if (r.measure, r.rung.rate) != ("objective", 0.9)]
    holed = [
        read(r.rung, r.suite, r.measure, math.nan, "no answer") if is_silent(r) else r for r in kept
    ]
    coal, own, _ = sorted(
        quick_rank(Ladder(language="en", encoder="x", words={}, readings=tuple(holed)), 100),
        key=lambda s: s.rank,
    )
    assert coal.notes == (
        "no value at bias rate 0.3: no answer",
        "no value at bias rate 0.7 with seed 2: no answer",
    )
    assert own.notes[-1] == "no value at bias rate 0.9"
    assert coal.pearson.value == pytest.approx(1)
    assert coal.noise == pytest.approx(0, abs=1e-12)


def test_a_measure_that_the_ladder_of_errors_was_not_asked() -> None:
    whole = make_ladder(SCORES)
    part = [r for r in whole.readings if r.measure != "objective" or r.rung.ladder == "rate"]
    standings = {
        s.measure: s
        for s in quick_rank(Ladder(language="en", encoder="x", words={}, readings=tuple(part)), 50)
    }
    assert standings["objective"].notes == ("not asked of the ladder of mere errors",)
    assert math.isnan(standings["objective"].leak_ratio)
    assert standings["nli_coal"].notes == ()


def test_one_seed() -> None:
    standing = stand(lambda rung: rung.rate**2, models=rungs(seeds=1))
    squared = stats.pearsonr(RATES, np.square(RATES)).statistic
    assert standing.pearson.value == pytest.approx(squared)
    assert math.isnan(standing.noise)
    assert math.isnan(standing.leak_p)
    moved = stand(lambda rung: rung.rate + rung.errors, models=rungs(seeds=1))
    assert moved.is_moved  # by all of what bias does; there is no noise to hold against it


def test_the_order() -> None:
    """By |r| to two decimals; by what errors do; by what seeds do; without a correlation last."""

    def line(slope: float, leak: float, spread: float) -> Score:
        return lambda rung: (
            slope * rung.rate
            + (leak * rung.errors if rung.ladder == "errors" else 0)
            + spread * (rung.seed - 1)
        )

    scores = {
        "flat": line(0, 0, 0),
        "leaky": line(1, 0.3, 0),
        "noisy": line(1, 0.1, 0.05),
        "best": line(-1, 0.1, 0.01),
        "curved": lambda rung: rung.rate**8,
    }
    assert [s.measure for s in quick_rank(make_ladder(scores), 100)] == [
        "best",
        "noisy",
        "leaky",
        "curved",
        "flat",
    ]


def test_settings_are_checked_and_nothing_to_rank_is_nothing() -> None:
    with pytest.raises(EvenhandError, match=r"level is 1\.5; give a share between 0 and 1"):
        rank(make_ladder(SCORES), Settings(level=1.5))
    assert rank(make_ladder({})) == ()
    assert rank(make_ladder(SCORES, models=rungs(rates=()))) == ()  # errors alone rank nothing


values = st.lists(st.floats(-10, 10).map(lambda v: round(v, 2)), min_size=11, max_size=11)


@given(values, values)
def test_kendall_as_slow_code_has_it(x: list[float], y: list[float]) -> None:
    mine = float(kendall(np.asarray(x), np.asarray(y)))
    assert mine == pytest.approx(slow_kendall(x, y), nan_ok=True)
    assert float(kendall(np.asarray([x, y]), np.asarray([y, x]))[1]) == pytest.approx(
        mine, nan_ok=True
    )


@given(values, st.floats(0.1, 5), st.floats(-3, 3), st.randoms())
def test_laws(scores: list[float], slope: float, offset: float, chance: object) -> None:
    """The order of readings is irrelevant; another scale changes no coefficient; turned round,
    all change their sign."""
    ladder = make_ladder(
        {
            "m": lambda rung: scores[round(rung.rate * 10)],
            "turned": lambda rung: offset - slope * scores[round(rung.rate * 10)],
        }
    )
    mixed = list(ladder.readings)
    chance.shuffle(mixed)  # type: ignore[attr-defined]
    standings = {s.measure: s for s in quick_rank(ladder, 50)}
    again = {
        s.measure: s
        for s in quick_rank(Ladder(language="en", encoder="x", words={}, readings=tuple(mixed)), 50)
    }
    for kind in ("pearson", "spearman", "kendall"):
        first, second = (getattr(standings[m], kind).value for m in ("m", "turned"))
        assert first == pytest.approx(-second, abs=1e-6, nan_ok=True)
        assert getattr(again["m"], kind).value == pytest.approx(first, nan_ok=True)
    assert standings["turned"].signal == pytest.approx(slope * standings["m"].signal, abs=1e-9)


def test_fisher_by_hand() -> None:
    interval = fisher_interval(0.5, 28, "pearson")  # z 0.549306, its error 1 / 5
    assert interval == pytest.approx(
        (0.5, math.tanh(0.549306 - 0.391993), math.tanh(0.549306 + 0.391993)), abs=1e-5
    )
    turned = fisher_interval(-0.5, 28, "pearson")
    assert turned[1:] == pytest.approx((-interval.high, -interval.low))
    for kind in ("spearman", "kendall"):
        whole = fisher_interval(1.0, 11, kind)
        assert (
            0.85 < whole.low < 1 == whole.high
        )  # a perfect order of 11 is no proof of a perfect order
        assert math.isnan(fisher_interval(1.0, 3, kind).low)
    lows = [fisher_interval(0.8, n, "pearson").low for n in range(4, 30)]
    assert all(a < b for a, b in pairwise(lows))


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [1, 3])
@pytest.mark.parametrize("shape", ["none", "weak", "strong", "curved", "saturated", "dip"])
def test_the_intervals_hold_what_they_should(shape: str, seeds: int) -> None:
    """Ladders made 4,000 times over: 95 % intervals hold the usual coefficient in 94 % or more.

    Of ranks, which move in steps, in 90 % or more.
    """
    x = np.asarray(RATES)
    mean = {
        "none": 0 * x,
        "weak": 0.3 * x,
        "strong": 2 / 3 * x,
        "curved": x**3,
        "saturated": 1 - np.exp(-6 * x),
        "dip": (x - 0.3) ** 2,
    }[shape]
    rng = np.random.default_rng(1)
    kinds: dict[Coefficient, float] = {"pearson": 0.94, "spearman": 0.90, "kendall": 0.90}
    for noise in (0.02, 0.1, 0.4):
        drawn = (mean + noise * rng.standard_normal((4000, seeds, len(x)))).mean(axis=1)
        for kind, least in kinds.items():
            coefficients = {"pearson": pearson, "spearman": spearman, "kendall": kendall}[kind](
                np.broadcast_to(x, drawn.shape), drawn
            )
            usual = float(np.median(coefficients))
            held = [
                i.low - 1e-9 <= usual <= i.high + 1e-9
                for i in (fisher_interval(float(v), len(x), kind) for v in coefficients)
            ]
            assert np.mean(held) >= least, (kind, noise, usual)


def test_a_ladder_comes_back_from_its_file(tmp_path: Path) -> None:
    ladder = large_ladder()
    path = write_ladder(ladder, tmp_path / "deep" / "ladder.json")
    again = read_ladder(path)
    # NaN is not equal to itself: compared as it is written
    assert ladder_fields(again) == ladder_fields(ladder)
    assert again.readings[0] == ladder.readings[0]
    assert again.words == ladder.words
    missing = [r for r in again.readings if math.isnan(r.value)]
    assert len(missing) == 3
    assert missing[0].note == "no probe was answered"
    assert "NaN" not in path.read_text("utf-8")
    assert [p.name for p in path.parent.iterdir()] == ["ladder.json"]
    assert read_ladder(path.parent).encoder == "default"
    first, second = quick_rank(ladder, 50), quick_rank(again, 50)
    assert [(s.measure, s.pearson.value) for s in first[:20]] == [
        (s.measure, s.pearson.value) for s in second[:20]
    ]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"readings": None}, "not a ladder"),
        ({"words": []}, "not a ladder"),
        ({"readings": [{"ladder": "height"}]}, "ladder is 'height', not one of rate, errors"),
        ({"readings": [{"ladder": "rate", "rate": 0}]}, "the field 'errors' is missing"),
    ],
)
def test_files_that_hold_no_ladder(tmp_path: Path, change: dict[str, object], reason: str) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps({**ladder_fields(make_ladder(SCORES)), **change}), encoding="utf-8")
    with pytest.raises(InputError, match=reason):
        read_ladder(path)


def test_a_file_that_is_no_json(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        read_ladder(path)
    with pytest.raises(InputError, match="there is no such file"):
        read_ladder(tmp_path / "none.json")


def test_a_suite_twice_is_ranked_twice() -> None:
    one = make_ladder(SCORES)
    both = Ladder(
        language="en",
        encoder="x",
        words={},
        readings=(
            *one.readings,
            *(read(r.rung, "other", r.measure, r.value) for r in one.readings),
        ),
    )
    assert sorted({s.suite for s in quick_rank(both, 50)}) == sorted({SUITE, "other"})
