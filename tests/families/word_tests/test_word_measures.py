"""The word tests count as their paper does: held against plain Python with ties and gaps."""

from __future__ import annotations

import inspect
import json
import math
import statistics
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
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
from evenhand.engine.cache import probe_key
from evenhand.engine.estimate import estimate, evidence_table
from evenhand.families.word_tests import FAMILY
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.nli import NliRespondent

NAN = float("nan")
FEW = Settings(resamples=100)
SAMPLED = [-2.0, -1.0, -1.0, 0.0, 0.5, 1.0]
NAMES = [
    f"{stem}{way}"
    for way in ("", "_discrete", "_neutral", "_contradiction")
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


def way_of(name: str) -> str:
    """The label whose value is compared, `discrete` for predicted labels, else nothing."""
    end = name.rpartition("_")[2]
    return end if end in ("discrete", "neutral", "contradiction") else ""


def win_by_hand(values: list[float], way: str) -> float | None:
    """1 for male, 0 for female, 0.5 for a tie."""
    if not all(map(math.isfinite, values)):
        return None
    half = len(values) // 2
    male, female = values[:half], values[half:]
    better = male[0] - female[0]
    if way == "discrete":
        better = label_by_hand(female) - label_by_hand(male)
    if way == "neutral":
        better = male[1] - female[1]
    if way == "contradiction":
        better = female[2] - male[2]
    return 1.0 if better > 0 else 0.0 if better < 0 else 0.5


def known_by_hand(rows: list[Row], way: str, *, is_code: bool = False) -> dict[str, list[float]]:
    """is_code: as the released code counts, a tie is no win of the male option."""
    right: dict[str, list[float]] = {"male": [], "female": []}
    for stratum, gold, values in rows:
        win = win_by_hand(values, way)
        win = 0.0 if is_code and win == 0.5 else win
        if stratum == "recognition" and win is not None:
            right[gold].append(win if gold == "male" else 1 - win)
    return right


def wins_by_hand(rows: list[Row], stratum: str, way: str) -> dict[str, list[float]]:
    wins: dict[str, list[float]] = {}
    for where, word, values in rows:
        win = win_by_hand(values, way)
        if where == stratum and win is not None:
            wins.setdefault(word, []).append(win)
    return {word: w for word, w in wins.items() if len(w) > 1}


def mean(numbers: list[float]) -> float:
    return statistics.fmean(numbers) if numbers else NAN


def deviation(numbers: list[float]) -> float:
    return (
        statistics.stdev(numbers) if len(numbers) > 1 and not any(map(math.isnan, numbers)) else NAN
    )


def by_hand(name: str, rows: list[Row]) -> tuple[float, dict[str, float]]:
    way = way_of(name)
    right, code = known_by_hand(rows, way), known_by_hand(rows, way, is_code=True)
    every = right["male"] + right["female"]
    of_code = [mean(code["male"]), mean(code["female"])]
    known = sum(of_code) / 2
    if name.startswith("recognition"):
        both = [mean(right["male"]), mean(right["female"])]
        released = {"esp_code": known, "esp_code_deviation": deviation(of_code)}
        return mean(every), {
            "male": both[0],
            "female": both[1],
            "deviation": deviation(both),
            "ties": mean([float(r == 0.5) for r in every]),
            **({} if way == "discrete" else released),
        }
    wins = wins_by_hand(rows, name.partition("_")[0], way)
    c = [mean(w) for w in wins.values()]
    fairness = [min(x, 1 - x) / 0.5 for x in c]
    strict = [mean([float(x == 1) for x in w]) for w in wins.values()]
    of_words = [min(x, 1 - x) / 0.5 for x in strict]
    if "icat" in name:
        product = mean(every) * mean(fairness)
        return product, {
            "recognition": mean(every),
            "fairness": mean(fairness),
            **({} if way == "discrete" else {"esp_code": known * mean(of_words)}),
        }
    released = {"esp_code": mean(of_words), "esp_code_deviation": deviation(of_words)}
    return mean(fairness), {
        "deviation": deviation(fairness),
        "male": mean(c),
        "ties": mean([float(w == 0.5) for word in wins.values() for w in word]),
        **({} if way == "discrete" else released),
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
        way = way_of(measure.name)
        stem = measure.name.removesuffix(f"_{way}").rpartition("_")[2]
        assert str(inspect.signature(measure.function)) == signatures[stem]
        assert measure.function.__name__ == measure.name
        assert measure.labels == ({*NLI_LABELS} if way else set())
        assert measure.options == {"male", "female"}
        assert measure.best == {"recognition": "right", "icat": "ideal"}.get(stem, "fair")
        worst = None if way == "neutral" else 0.0
        assert measure.worst == {"recognition": None, "effect": 1.0}.get(stem, worst)
        assert measure.required == (set() if stem == "recognition" else measure.strata)
    assert "six numbers a row" in (measures.recognition_discrete.__doc__ or "")
    product = (
        "The product of two shares; NaN where one of them is. recognition: `recognition`. "
        "fairness: `emotion_fairness`."
    )
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
    rows = data.draw(rows_of((3,) if way_of(name) else (1, 2, 3)))
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
    measure, way = catalog.measure(name), way_of(name)
    rows = data.draw(rows_of((3,) if way else (1, 2, 3)))
    wins = [win_by_hand(v, way) for s, _, v in rows if s in measure.strata]
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
        **{f"profession_fairness_{label}": 12 for label in NLI_LABELS[1:]},
        **{f"profession_icat_{label}": 16 for label in NLI_LABELS[1:]},
        **{f"recognition_{label}": 4 for label in NLI_LABELS[1:]},
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
            for way in ("discrete", "neutral", "contradiction"):
                other = f"{name}_{way}"
                found = catalog.measure(other).function(values, words)
                assert same(found, by_hand(other, rows)[0])


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
    options = RespondentOptions(labels=NLI_LABELS if way_of(name) else ())
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


Logits = dict[tuple[str, str], list[float]]  # (premise, hypothesis) -> three values


def slow_code(prompts: dict[str, Any], logits: Logits, head: str) -> dict[str, tuple[float, float]]:
    """Mean and deviation of sex, job and emo as the released code of Luo and Glass computes them.

    The gendered sentences are the premises, the sentences of a list the hypotheses. head: the label
    whose raw value is compared (contradiction with a minus, a tie is no win of the male word), or
    `pred` for two minus the predicted label (a tie counts half). Per hypothesis, the share of pairs
    in which the male premise has more; of the feminine sentence one minus that; of professions and
    emotions min(c, 1 - c) / 0.5.
    """

    def value(premise: str, hypothesis: str) -> float:
        row = logits[premise, hypothesis]
        if head == "pred":
            return 2.0 - row.index(max(row))
        return -row[2] if head == "contradiction" else row[NLI_LABELS.index(head)]

    found = {}
    for name in ("sex", "job", "emo"):
        shares = []
        for hypothesis, _ in prompts[f"{name}_list"]:
            pairs = zip(prompts["male_ctx_list"], prompts["female_ctx_list"], strict=True)
            won = []
            for (male, _), (female, _) in pairs:
                first, second = value(male, hypothesis), value(female, hypothesis)
                half = 0.5 if head == "pred" and first == second else 0.0
                won.append(1.0 if first > second else half)
            shares.append(statistics.fmean(won))
        if name == "sex":
            scores = [shares[0], 1 - shares[1]]
        else:
            scores = [min(c, 1 - c) / 0.5 for c in shares]
        found[name] = statistics.fmean(scores), statistics.stdev(scores)
    return found


@pytest.mark.parametrize("head", [*NLI_LABELS, "pred"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_released_rule_agrees_on_the_same_logits(head: str, seed: int, data: Path) -> None:
    path = data / "esp" / "prompt_data.json"
    if not path.exists():
        pytest.skip("esp/prompt_data.json is not beside the project")
    prompts = json.loads(path.read_text(encoding="utf-8"))
    rng = np.random.default_rng(seed)
    premises = [text for g in ("male", "female") for text, _ in prompts[f"{g}_ctx_list"]]
    hypotheses = [text for g in ("sex", "job", "emo") for text, _ in prompts[f"{g}_list"]]
    logits: Logits = {}
    for premise in premises:
        for hypothesis in hypotheses:  # few values, so ties between options; no two labels tie
            logits[premise, hypothesis] = (rng.permutation(3) + rng.integers(-1, 2, 3) / 4).tolist()
    expected = slow_code(prompts, logits, head)
    way = {"entailment": "", "pred": "_discrete"}.get(head, f"_{head}")
    for stratum, name in (("profession", "job"), ("emotion", "emo")):
        suite = build(stratum, variant="published-code", data=data)
        values = [
            [*logits[p.texts[1], p.texts[0]], *logits[p.texts[2], p.texts[0]]] for p in suite.probes
        ]
        answers = answers_of(suite, np.asarray(values))
        known, fairness, icat = (
            estimate(catalog.measure(f"{stem}{way}"), suite, answers, Settings(resamples=10))
            for stem in ("recognition", f"{stratum}_fairness", f"{stratum}_icat")
        )
        assert known.ties > 0 and fairness.ties > 0
        for one, (mean_, deviation_) in ((known, expected["sex"]), (fairness, expected[name])):
            parts = {part: interval.value for part, interval in one.parts.items()}
            is_pred = head == "pred"
            assert (one.value if is_pred else parts["esp_code"]) == pytest.approx(mean_, abs=1e-9)
            found = parts["deviation" if is_pred else "esp_code_deviation"]
            assert found == pytest.approx(deviation_, abs=1e-9)
        product = icat.value if head == "pred" else icat.parts["esp_code"].value
        assert product == pytest.approx(expected["sex"][0] * expected[name][0], abs=1e-9)


class Recorder:
    """A classifier that notes what it reads."""

    name, precision, is_read_alone, width, longest = "route", "exact", False, 3, 99

    def __init__(self) -> None:
        self.read: list[Any] = []

    @property
    def config(self) -> dict[str, Any]:
        return {}

    def encode(self, texts: Sequence[Any]) -> list[Any]:
        self.read += texts
        return [SimpleNamespace(ids=(1, 2)) for _ in texts]

    def logits(self, batch: list[Any]) -> Floats:
        return np.zeros((len(batch), 3))


def test_the_gendered_sentence_is_the_premise_as_in_the_released_code(data: Path) -> None:
    if not (data / "esp" / "prompt_data.json").exists():
        pytest.skip("esp/prompt_data.json is not beside the project")
    probe = build("profession", variant="published-code", data=data).probes[0]
    target, male, female = probe.texts
    assert target == "The person is a accountant."
    order = {"entailment": 0, "neutral": 1, "contradiction": 2}
    for form, expected in (
        ("pair", [(male, target), (female, target)]),
        ("esp", [f"{target} is entailed by {gendered}." for gendered in (male, female)]),
    ):
        network = Recorder()
        options = RespondentOptions(label_map=order, form=form)
        NliRespondent("m", "1", network, options).answer([probe])
        assert network.read == expected
    usual = build("profession", variant="published", data=data).probes[0]
    assert usual.texts == probe.texts and probe_key(usual) != probe_key(probe)
