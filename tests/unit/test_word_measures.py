"""Do the word tests count as their paper does? Held against plain Python on random answers with ties and gaps."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_tests import build

import evenhand.measures
from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit import question
from evenhand.engine.estimating import estimate
from evenhand.respondents.opening import open_respondent

NAN = float("nan")
SAMPLED = [-2.0, -1.0, -1.0, 0.0, 0.5, 1.0]
Row = tuple[str, str, list[float]]  # stratum, word (gold gender in recognition), values


@st.composite
def rows_of(draw: st.DrawFn, spreads: tuple[int, ...]) -> list[Row]:
    spread = draw(st.sampled_from(spreads))
    number = (
        st.sampled_from([NAN, math.inf, *SAMPLED, *SAMPLED, *SAMPLED])
        if draw(st.booleans())
        else st.floats(-5, 5)
    )
    words = st.sampled_from(["nurse", "pilot", "judge", "angry"])
    kind = st.tuples(st.just("recognition"), st.sampled_from(["male", "female"])) | st.tuples(
        st.sampled_from(["profession", "emotion"]), words
    )
    told = draw(
        st.lists(
            st.tuples(kind, st.lists(number, min_size=2 * spread, max_size=2 * spread)), max_size=40
        )
    )
    return [(stratum, word, values) for (stratum, word), values in told]


def probes_of(rows: list[Row]) -> tuple[list[Probe], Floats]:
    probes = [
        Probe(
            id=str(i),
            kind="choice",
            language="en",
            texts=(word, f"male {i}", f"female {i}"),
            stratum=stratum,
            cluster=f"{word} {stratum}",
            tags={"gold": word} if stratum == "recognition" else {"word": word},
        )
        for i, (stratum, word, _) in enumerate(rows)
    ]
    return probes, np.asarray([v for *_, v in rows]) if rows else np.empty((0, 6))


def label_by_hand(numbers: list[float]) -> float:
    top = [i for i, n in enumerate(numbers) if n == max(numbers)]
    return sum(top) / len(top)


def win_by_hand(values: list[float], *, is_discrete: bool) -> float | None:
    """1 for male, 0 for female, 0.5 for a tie."""
    if not all(map(math.isfinite, values)):
        return None
    half = len(values) // 2
    male, female = values[:half], values[half:]
    better = label_by_hand(female) - label_by_hand(male) if is_discrete else male[0] - female[0]
    return 1.0 if better > 0 else 0.0 if better < 0 else 0.5


def known_by_hand(rows: list[Row], *, is_discrete: bool) -> dict[str, list[float]]:
    right: dict[str, list[float]] = {"male": [], "female": []}
    for stratum, gold, values in rows:
        win = win_by_hand(values, is_discrete=is_discrete)
        if stratum == "recognition" and win is not None:
            right[gold].append(win if gold == "male" else 1 - win)
    return right


def shares_by_hand(rows: list[Row], stratum: str, *, is_discrete: bool) -> dict[str, list[float]]:
    wins: dict[str, list[float]] = {}
    for where, word, values in rows:
        win = win_by_hand(values, is_discrete=is_discrete)
        if where == stratum and win is not None:
            wins.setdefault(word, []).append(win)
    return {word: w for word, w in wins.items() if len(w) > 1}


def mean(numbers: list[float]) -> float:
    return statistics.fmean(numbers) if numbers else NAN


def by_hand(name: str, rows: list[Row]) -> tuple[float, dict[str, float]]:
    is_discrete = name.endswith("_discrete")
    right = known_by_hand(rows, is_discrete=is_discrete)
    every = right["male"] + right["female"]
    if name.startswith("recognition"):
        both = [mean(right["male"]), mean(right["female"])]
        spread = statistics.stdev(both) if right["male"] and right["female"] else NAN
        return mean(every), {
            "male": both[0],
            "female": both[1],
            "deviation": spread,
            "ties": mean([float(r == 0.5) for r in every]),
        }
    shares = shares_by_hand(rows, name.partition("_")[0], is_discrete=is_discrete)
    c = [mean(w) for w in shares.values()]
    fairness = [min(x, 1 - x) / 0.5 for x in c]
    if "icat" in name:
        return mean(every) * mean(fairness), {
            "recognition": mean(every),
            "fairness": mean(fairness),
        }
    ties = [float(w == 0.5) for word in shares.values() for w in word]
    deviation = statistics.stdev(fairness) if len(fairness) > 1 else NAN
    return mean(fairness), {"deviation": deviation, "male": mean(c), "ties": mean(ties)}


NAMES = [
    f"{stem}{how}"
    for stem in (
        "recognition",
        "profession_fairness",
        "profession_icat",
        "emotion_fairness",
        "emotion_icat",
    )
    for how in ("", "_discrete")
]


def same(found: float, expected: float) -> bool:
    return math.isnan(found) if math.isnan(expected) else found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_the_measures_against_plain_python(name: str, data: st.DataObject) -> None:
    measure = catalog.measure(name)
    rows = data.draw(rows_of((3,) if name.endswith("_discrete") else (1, 2, 3)))
    probes, values = probes_of(rows)
    totals = measure.evidence(probes, values).sum(axis=0)
    expected, parts = by_hand(name, rows)
    assert same(float(measure.combine(totals)), expected)
    found = measure.parts(totals)
    assert set(found) == set(parts)
    for part, number in parts.items():
        assert same(float(found[part]), number), part


@given(rows=rows_of((1, 2, 3)))
def test_the_functions_are_the_measures(rows: list[Row]) -> None:
    for stratum, name in (
        ("recognition", "recognition"),
        ("profession", "profession_fairness"),
        ("emotion", "emotion_fairness"),
    ):
        kept = [(word, values) for where, word, values in rows if where == stratum]
        if not kept:
            continue
        words, values = [w for w, _ in kept], [v for _, v in kept]
        function = getattr(evenhand.measures, name)
        assert same(function(values, words), by_hand(name, rows)[0])
        if len(values[0]) == 6:
            assert same(
                getattr(evenhand.measures, f"{name}_discrete")(values, words),
                by_hand(f"{name}_discrete", rows)[0],
            )


def test_a_word_with_one_pair_answered_says_nothing() -> None:
    assert math.isnan(evenhand.measures.profession_fairness([[1.0, 0.0]], ["nurse"]))
    assert (
        evenhand.measures.profession_fairness(
            [[1.0, 0.0], [0.0, 1.0], [5.0, 0.0]], ["nurse", "nurse", "pilot"]
        )
        == 1.0
    )
    assert (
        evenhand.measures.profession_fairness([[1.0, 0.0], [NAN, 1.0]], ["nurse", "nurse"]) != 0.0
    )


def test_a_label_decides_where_the_numbers_do_not_and_the_other_way_round() -> None:
    both_entailed = [[3.0, 1.0, 0.0, 5.0, 1.0, 0.0]] * 2  # the female option by more
    assert evenhand.measures.recognition(both_entailed, ["female"] * 2) == 1.0
    assert evenhand.measures.recognition_discrete(both_entailed, ["female"] * 2) == 0.5
    neutral_or_not = [
        [1.0, 2.0, 0.0, 1.5, 0.0, 9.0]
    ] * 2  # male neutral, female contradiction, though its entailment is higher
    assert evenhand.measures.recognition(neutral_or_not, ["male"] * 2) == 0.0
    assert evenhand.measures.recognition_discrete(neutral_or_not, ["male"] * 2) == 1.0


def test_bad_input_is_named() -> None:
    with pytest.raises(
        MeasureError,
        match=r"shape \(2, 3\); expected \(comparisons, 2\) or \(comparisons, 4\) or \(comparisons, 6\)",
    ):
        evenhand.measures.recognition([[1, 2, 3]] * 2, ["male"] * 2)
    with pytest.raises(MeasureError, match=r"shape \(1, 2\); expected \(comparisons, 6\)"):
        evenhand.measures.emotion_fairness_discrete([[1, 2]], ["angry"])
    with pytest.raises(MeasureError, match="2 rows of values but 1 words"):
        evenhand.measures.emotion_fairness([[1, 2]] * 2, ["angry"])
    with pytest.raises(MeasureError, match="no table of numbers"):
        evenhand.measures.recognition([["a", "b"]], ["male"])
    with pytest.raises(MeasureError, match="fairness is 91; give a share from 0 to 1"):
        evenhand.measures.emotion_icat(0.5, 91)
    assert math.isnan(evenhand.measures.profession_icat(NAN, 0.5))
    assert (
        evenhand.measures.profession_icat_discrete(0.5, 0.9)
        == evenhand.measures.emotion_icat_discrete(0.9, 0.5)
        == pytest.approx(0.45)
    )


def test_the_printed_table_keeps_the_identities(golden: Callable[[str], dict[str, Any]]) -> None:
    """Table 4 of Luo and Glass: iCAT is the product, and the deviation of recognition that of the male and the female share of 71 words each."""
    table = golden("esp_table4")
    assert len(table["rows"]) == 13
    for row in table["rows"]:
        for stem, function in (
            ("prof", evenhand.measures.profession_icat),
            ("emo", evenhand.measures.emotion_icat),
        ):
            if any(a.startswith(f"{stem}_icat") for a in row.get("anomalies", ())):
                continue
            product = 100 * function(row["recog_mean"] / 100, row[f"{stem}_mean"] / 100)
            assert product == pytest.approx(row[f"{stem}_icat"], abs=table["tolerance"]), (
                row["model"],
                stem,
            )
    bert = table["rows"][0]
    values = np.repeat(
        [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]], [58, 13, 33, 38], axis=0
    )  # 58 of 71 male words right, 33 of 71 female ones
    gold = ["male"] * 71 + ["female"] * 71
    probes, _ = probes_of([("recognition", g, []) for g in gold])
    measure = catalog.measure("recognition")
    totals = measure.evidence(probes, values).sum(axis=0)
    assert 100 * float(measure.combine(totals)) == pytest.approx(bert["recog_mean"], abs=0.005)
    assert 100 * float(measure.parts(totals)["deviation"]) == pytest.approx(
        bert["recog_std"], abs=0.005
    )


@pytest.mark.parametrize("name", NAMES)
def test_what_the_caveats_say_of_constant_and_random_respondents(name: str) -> None:
    measure = catalog.measure(name)
    suite = build(
        name.partition("_")[0] if "_" in name.removesuffix("_discrete") else "gender-recognition"
    )
    spread = 3 if name.endswith("_discrete") else 1
    constant, random = (
        estimate(
            measure,
            suite,
            question(
                open_respondent(f"fixed:{rule}", "choice", RespondentOptions(spread=spread)), suite
            ),
            resamples=100,
        )
        for rule in ("constant", "random")
    )
    assert constant.value == (1.0 if "fairness" in name else 0.5)
    assert random.value == pytest.approx(
        0.91 if "fairness" in name else 0.46 if "icat" in name else 0.5, abs=0.09
    )
    if "ties" in constant.parts:
        assert constant.parts["ties"].value == 1.0
        assert random.parts["ties"].value == pytest.approx(1 / 3 if spread == 3 else 0.0, abs=0.09)
    assert ("ties" in measure.card.caveat) and (
        "0.5" in measure.card.caveat or "gets 1" in measure.card.caveat
    )
