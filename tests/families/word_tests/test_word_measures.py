"""The word tests count as their paper does: held against plain Python with ties and gaps."""

from __future__ import annotations

import inspect
import math
import statistics
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from word_tests import answers_of, build, hand_made

from evenhand import measures
from evenhand.core import catalog
from evenhand.core.errors import MeasureError
from evenhand.core.measure import MeasureCard
from evenhand.core.probe import NLI_LABELS, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import estimate_all
from evenhand.engine.estimate import estimate, evidence_table
from evenhand.families.word_tests import FAMILY
from evenhand.respondents.locate import open_respondent

NAN = float("nan")
FEW = Settings(resamples=100)
SAMPLED = [-2.0, -1.0, -1.0, 0.0, 0.5, 1.0]
NAMES = [
    f"{stem}{way}"
    for way in ("", "_discrete")
    for stem in (
        "profession_fairness",
        "profession_icat",
        "emotion_fairness",
        "emotion_icat",
        "recognition",
    )
]
Row = tuple[str, str, list[float]]  # stratum, word (gold gender in recognition), values


@st.composite
def rows_of(draw: st.DrawFn, label_counts: tuple[int, ...]) -> list[Row]:
    count = 2 * draw(st.sampled_from(label_counts))
    number = st.floats(-5, 5)
    if draw(st.booleans()):
        number = st.sampled_from([NAN, math.inf, *SAMPLED, *SAMPLED, *SAMPLED])
    words = st.sampled_from(["nurse", "pilot", "judge", "angry"])
    gold = st.tuples(st.just("recognition"), st.sampled_from(["male", "female"]))
    kind = gold | st.tuples(st.sampled_from(["profession", "emotion"]), words)
    row = st.tuples(kind, st.lists(number, min_size=count, max_size=count))
    return [(stratum, word, values) for (stratum, word), values in draw(st.lists(row, max_size=40))]


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
    table = np.asarray([values for *_, values in rows]) if rows else np.empty((0, 6))
    return probes, table.reshape(len(rows), 2, table.shape[1] // 2)


def label_by_hand(numbers: list[float]) -> float:
    top = [i for i, n in enumerate(numbers) if n == max(numbers)]
    return sum(top) / len(top)


def win_by_hand(values: list[float], *, is_discrete: bool) -> float | None:
    """1 for male, 0 for female, 0.5 for a tie."""
    if not all(map(math.isfinite, values)):
        return None
    half = len(values) // 2
    male, female = values[:half], values[half:]
    better = male[0] - female[0]
    if is_discrete:
        better = label_by_hand(female) - label_by_hand(male)
    return 1.0 if better > 0 else 0.0 if better < 0 else 0.5


def known_by_hand(rows: list[Row], *, is_discrete: bool) -> dict[str, list[float]]:
    right: dict[str, list[float]] = {"male": [], "female": []}
    for stratum, gold, values in rows:
        win = win_by_hand(values, is_discrete=is_discrete)
        if stratum == "recognition" and win is not None:
            right[gold].append(win if gold == "male" else 1 - win)
    return right


def wins_by_hand(rows: list[Row], stratum: str, *, is_discrete: bool) -> dict[str, list[float]]:
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
        return mean(every), {
            "male": both[0],
            "female": both[1],
            "deviation": statistics.stdev(both) if right["male"] and right["female"] else NAN,
            "ties": mean([float(r == 0.5) for r in every]),
        }
    wins = wins_by_hand(rows, name.partition("_")[0], is_discrete=is_discrete)
    c = [mean(w) for w in wins.values()]
    fairness = [min(x, 1 - x) / 0.5 for x in c]
    if "icat" in name:
        product = mean(every) * mean(fairness)
        return product, {"recognition": mean(every), "fairness": mean(fairness)}
    return mean(fairness), {
        "deviation": statistics.stdev(fairness) if len(fairness) > 1 else NAN,
        "male": mean(c),
        "ties": mean([float(w == 0.5) for word in wins.values() for w in word]),
    }


def same(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == pytest.approx(expected, abs=1e-6)


def test_the_order_of_a_report_and_the_functions() -> None:
    effects = [
        f"profession_{effect}_effect{way}"
        for way in ("", "_discrete")
        for effect in ("stereotype", "default")
    ]
    assert [m.name for m in FAMILY.measures] == [*NAMES, *effects]
    signatures = {
        "recognition": "(values: 'ArrayLike', gold: 'Sequence[str]') -> 'float'",
        "fairness": "(values: 'ArrayLike', words: 'Sequence[str]') -> 'float'",
        "icat": "(recognition: 'float', fairness: 'float') -> 'float'",
        "effect": "(values: 'ArrayLike', leans: 'Sequence[str]') -> 'float'",
    }
    for measure in FAMILY.measures:
        stem = measure.name.removesuffix("_discrete").rpartition("_")[2]
        assert str(inspect.signature(measure.function)) == signatures[stem]
        assert measure.function.__name__ == measure.name
        is_discrete = measure.name.endswith("_discrete")
        assert measure.labels == ({*NLI_LABELS} if is_discrete else set())
        assert measure.options == {"male", "female"}
        assert measure.best == {"recognition": "right", "icat": "ideal"}.get(stem, "fair")
        assert measure.worst == {"recognition": None, "effect": 1.0}.get(stem, 0.0)
        assert measure.required == (set() if stem == "recognition" else measure.strata)
    assert "six numbers a row" in (measures.recognition_discrete.__doc__ or "")
    product = "The product of two shares, `recognition` and `emotion_fairness`"
    assert (measures.emotion_icat.__doc__ or "").startswith(product)


def test_a_card_says_what_is_counted() -> None:
    card = catalog.measure("emotion_fairness_discrete").card
    assert card == MeasureCard(
        title="Emotion fairness, discrete",
        short="Fairness, discrete",
        question="Does the model go with one gender where a feeling is all that it is told?",
        formula="mean over states and situations of min(c, 1 - c) / 0.5, c = share of pairs whose "
        "male word has the lower label, ties half",
        range=(0.0, 1.0),
        citation="Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates "
        "Stereotypical Sentence Reasoning. EACL.",
        caveat="A respondent that always says the same gets 1, all of it by ties, and a random "
        "one about 0.9: read it beside recognition and the part `ties`.",
    )
    assert catalog.measure("profession_icat").card.formula == "recognition * profession_fairness"
    titles = [m.card.title for m in FAMILY.measures[:5]]
    assert titles == [
        "Profession fairness",
        "Profession iCAT",
        "Emotion fairness",
        "Emotion iCAT",
        "Gender recognition",
    ]


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_the_measures_against_plain_python(name: str, data: st.DataObject) -> None:
    measure = catalog.measure(name)
    rows = data.draw(rows_of((3,) if name.endswith("_discrete") else (1, 2, 3)))
    probes, values = probes_of(rows)
    totals = evidence_table(measure, probes, measure.evidence(probes, values)).sums
    expected, parts = by_hand(name, rows)
    assert same(float(measure.combine(totals)), expected)
    found = measure.parts(totals)
    assert set(found) == set(parts)
    for part, number in parts.items():
        assert same(float(found[part]), number), part


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_ties_are_the_comparisons_in_which_neither_wins(name: str, data: st.DataObject) -> None:
    measure, is_discrete = catalog.measure(name), name.endswith("_discrete")
    rows = data.draw(rows_of((3,) if is_discrete else (1, 2, 3)))
    wins = [win_by_hand(v, is_discrete=is_discrete) for s, _, v in rows if s in measure.strata]
    assert measure.ties(*probes_of(rows)) == wins.count(0.5)


def test_ties_by_label_are_not_those_of_the_numbers() -> None:
    """An estimate used to count equal values of entailment here too: 1, 2 and 1 by label."""
    suite, scores = hand_made()
    # every option entailed, by more or less: the same label everywhere
    values = np.stack([scores + 10, scores * 0, scores * 0], axis=2).reshape(len(scores), 6)
    ties = {e.measure: e.ties for e in estimate_all(suite, answers_of(suite, values), FEW)}
    assert ties == {
        "profession_fairness": 1,
        "profession_icat": 2,
        "recognition": 1,
        "profession_fairness_discrete": 12,
        "profession_icat_discrete": 16,
        "recognition_discrete": 4,
        "profession_stereotype_effect": 1,
        "profession_default_effect": 1,
        "profession_stereotype_effect_discrete": 12,
        "profession_default_effect_discrete": 12,
    }


@given(rows=rows_of((1, 2, 3)))
def test_the_functions_are_the_measures(rows: list[Row]) -> None:
    names = {
        "recognition": "recognition",
        "profession": "profession_fairness",
        "emotion": "emotion_fairness",
    }
    for stratum, name in names.items():
        kept = [(word, values) for where, word, values in rows if where == stratum]
        if not kept:
            continue
        words, values = [word for word, _ in kept], [v for _, v in kept]
        assert same(catalog.measure(name).function(values, words), by_hand(name, rows)[0])
        if len(values[0]) == 6:
            discrete = f"{name}_discrete"
            found = catalog.measure(discrete).function(values, words)
            assert same(found, by_hand(discrete, rows)[0])


def test_a_word_with_one_pair_answered_says_nothing() -> None:
    fairness = measures.profession_fairness
    assert math.isnan(fairness([[1.0, 0.0]], ["nurse"]))
    words = ["nurse", "nurse", "pilot"]
    assert fairness([[1.0, 0.0], [0.0, 1.0], [5.0, 0.0]], words) == 1.0
    assert math.isnan(fairness([[1.0, 0.0], [NAN, 1.0]], ["nurse", "nurse"]))


def test_a_label_decides_where_the_numbers_do_not_and_the_other_way_round() -> None:
    both_entailed = [[3.0, 1.0, 0.0, 5.0, 1.0, 0.0]] * 2  # the female option by more
    assert measures.recognition(both_entailed, ["female"] * 2) == 1.0
    assert measures.recognition_discrete(both_entailed, ["female"] * 2) == 0.5
    # male neutral, female contradiction, though its entailment is higher
    neutral_or_not = [[1.0, 2.0, 0.0, 1.5, 0.0, 9.0]] * 2
    assert measures.recognition(neutral_or_not, ["male"] * 2) == 0.0
    assert measures.recognition_discrete(neutral_or_not, ["male"] * 2) == 1.0


def test_bad_input_is_named() -> None:
    widths = r"\(comparisons, 2\) or \(comparisons, 4\) or \(comparisons, 6\)"
    with pytest.raises(MeasureError, match=rf"shape \(2, 3\); expected {widths}"):
        measures.recognition([[1, 2, 3]] * 2, ["male"] * 2)
    with pytest.raises(MeasureError, match=r"shape \(1, 2\); expected \(comparisons, 6\)"):
        measures.emotion_fairness_discrete([[1, 2]], ["angry"])
    with pytest.raises(MeasureError, match="2 rows of values but 1 words"):
        measures.emotion_fairness([[1, 2]] * 2, ["angry"])
    with pytest.raises(MeasureError, match="no table of numbers"):
        measures.recognition([["a", "b"]], ["male"])
    with pytest.raises(MeasureError, match="fairness is 91; give a share from 0 to 1"):
        measures.emotion_icat(0.5, 91)
    assert math.isnan(measures.profession_icat(NAN, 0.5))
    assert measures.profession_icat_discrete(0.5, 0.9) == pytest.approx(0.45)
    assert measures.emotion_icat_discrete(0.9, 0.5) == pytest.approx(0.45)


def test_the_printed_table_keeps_the_identities(golden: Callable[[str], dict[str, Any]]) -> None:
    """Table 4 of Luo and Glass: iCAT is the product.

    The deviation of recognition is that of the male and the female share of 71 words each.
    """
    table = golden("esp_table4")
    assert len(table["rows"]) == 13
    functions = {"prof": measures.profession_icat, "emo": measures.emotion_icat}
    for row in table["rows"]:
        for stem, function in functions.items():
            if any(a.startswith(f"{stem}_icat") for a in row.get("anomalies", ())):
                continue
            product = 100 * function(row["recog_mean"] / 100, row[f"{stem}_mean"] / 100)
            printed = pytest.approx(row[f"{stem}_icat"], abs=table["tolerance"])
            assert product == printed, (row["model"], stem)
    bert = table["rows"][0]
    # 58 of 71 male words right, 33 of 71 female ones
    sides = [[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
    rows = np.repeat(sides, [58, 13, 33, 38], axis=0).tolist()
    gold = ["male"] * 71 + ["female"] * 71
    pairs = zip(gold, rows, strict=True)
    probes, values = probes_of([("recognition", g, row) for g, row in pairs])
    measure = catalog.measure("recognition")
    totals = measure.evidence(probes, values).sum(axis=0)
    assert 100 * float(measure.combine(totals)) == pytest.approx(bert["recog_mean"], abs=0.005)
    deviation = 100 * float(measure.parts(totals)["deviation"])
    assert deviation == pytest.approx(bert["recog_std"], abs=0.005)


@pytest.mark.parametrize("name", NAMES)
def test_what_the_caveats_say_of_constant_and_random_respondents(name: str) -> None:
    measure, is_discrete = catalog.measure(name), name.endswith("_discrete")
    is_recognition = name.startswith("recognition")
    suite = build("gender-recognition" if is_recognition else name.partition("_")[0])
    options = RespondentOptions(labels=NLI_LABELS if is_discrete else ())
    constant, random = (
        estimate(measure, suite, ask_suite(open_respondent(rule, "choice", options), suite), FEW)
        for rule in ("fixed:constant", "fixed:random")
    )
    assert constant.value == (1.0 if "fairness" in name else 0.5)
    expected = 0.91 if "fairness" in name else 0.46 if "icat" in name else 0.5
    assert random.value == pytest.approx(expected, abs=0.09)
    if "ties" in constant.parts:
        assert constant.parts["ties"].value == 1.0
        ties = pytest.approx(1 / 3 if is_discrete else 0.0, abs=0.09)
        assert random.parts["ties"].value == ties
    caveat = measure.card.caveat
    assert "ties" in caveat and ("0.5" in caveat or "gets 1" in caveat)
