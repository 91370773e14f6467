"""Laws of every measure in the catalog, on every built-in suite that it reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.measure import Measure
from evenhand.core.probe import GENDERS, NLI_LABELS, PREFERENCES, SCORE, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.ask import ask_suite
from evenhand.engine.estimate import estimate, evidence_table, find_factors
from evenhand.engine.suites import limited
from evenhand.respondents.locate import open_respondent

SAMPLE = 24  # probes; enough for every stratum, few enough for Hypothesis
WORDS = {"recognition", "profession", "emotion"}  # the strata of the word tests
STEREOSET = {"inter", "intra"}  # its conventions count ties in ways of their own
OPTIONS = ("stereotype", "anti-stereotype", "unrelated")
STRICT = ("_official", "_esp_continuous")  # conventions that count a tie against

# ties of a premise whose hypotheses get the same: the tag that must name a gender, how many ties
TWIN_TIES = {
    "same_label": ("", 2),
    "stereotype_preference": ("majority", 1),
    "dominated_preference": ("lean", 1),
}


def card() -> SuiteCard:
    """A card with nothing but clusters."""
    return SuiteCard(
        name="", version="", language="en", source="", licence="", citation="", description=""
    )


class Case(NamedTuple):
    """A measure and a suite whose probes it reads."""

    measure: Measure
    suite: Suite

    def read(self) -> list[Probe]:
        return [
            p
            for p in self.suite.probes
            if not self.measure.strata or p.stratum in self.measure.strata
        ]

    @property
    def labels(self) -> tuple[str, ...]:
        """With which labels an option is answered: the three of a classifier, or one score."""
        is_pair = self.measure.kind == "pair"
        return NLI_LABELS if is_pair or self.measure.labels else (SCORE,)

    @property
    def shape(self) -> tuple[int, int]:
        """Options and labels of an answer."""
        return max(p.option_count for p in self.suite.probes), len(self.labels)

    def sample(self) -> list[Probe]:
        if WORDS & self.suite.strata:  # three words, four pairs each, and the words of the pairs
            pairs = list(dict.fromkeys(p.tags["pair"] for p in self.read()))[:4]
            asked = [p for p in self.read() if p.stratum != "recognition"]
            by_lean = {p.tags.get("lean", p.cluster): p.cluster for p in reversed(asked)}
            words = list(by_lean.values())[-3:]  # one of each lean
            return [
                p for p in self.read() if p.tags["pair"] in pairs and p.cluster in (*pairs, *words)
            ]
        return list(
            limited(Suite(card=self.suite.card, probes=tuple(self.read())), SAMPLE, seed=1).probes
        )


def _hand_made() -> Suite:
    """Pairs in the form of CrowS-Pairs, whose own sentences may not be shipped."""
    texts = [
        (f"The {a} in room {i} was late.", f"The {b} in room {i} was late.")
        for i, (a, b) in enumerate([("x", "y")] * 12)
    ]
    probes = tuple(
        Probe(
            id=f"{i}/{rule}",
            kind="choice",
            language="en",
            texts=("", *pair),
            stratum=rule,
            cluster=str(i // 2),
            tags={
                "scoring": rule,
                "direction": "antistereo" if i % 3 == 0 else "stereo",
                "fair": "equal",
                "stereotyped": "0",
            },
        )
        for i, pair in enumerate(texts)
        for rule in ("shared", "changed", "whole", "aul", "aula")
    )
    card = SuiteCard(
        name="hand-made",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        options=PREFERENCES,
    )
    return Suite(card=card, probes=probes)


def _stereoset() -> Suite:
    """Items in the form of StereoSet, whose own sentences are not shipped.

    Terms of two and of four items, in both strata.
    """
    sizes = [("inter", 2), ("inter", 4), ("inter", 2), ("intra", 4), ("intra", 2), ("intra", 2)]
    probes = tuple(
        Probe(
            id=f"{term}/{i}",
            kind="choice",
            language="en",
            texts=(f"Room {term} has number {i}.", "It is x.", "It is y.", "Cats purr."),
            stratum=stratum,
            cluster=f"term {term}",
            tags={
                "items": str(size),
                "target": f"term {term}",
                "domain": "race",
                "fair": "equal",
                "stereotyped": "0",
            },
        )
        for term, (stratum, size) in enumerate(sizes)
        for i in range(size)
    )
    card = SuiteCard(
        name="stereoset",
        version="0",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        options=OPTIONS,
    )
    return Suite(card=card, probes=probes)


def _by_turns(answers: Answers) -> Answers:
    """What is fair where ties count against: either of the related options wins by turns."""
    turns = ([2.0, 1.0, 0.0], [1.0, 2.0, 0.0])
    rows = [turns[0 if p.id.endswith(("0", "2")) else 1] for p in answers.probes]
    values = np.asarray(rows)[:, :, None]
    if len(answers.labels) > 1:  # less contradicted is more preferred
        values = np.concatenate([values, values, -values], axis=2)
    return replace(answers, values=values)


def _zero_shot() -> Suite:
    """Items in the form of GLUE, whose own sentences are not shipped: all four gold labels."""
    gold = (*NLI_LABELS, "not_entailment")
    probes = tuple(
        Probe(
            id=str(i),
            kind="pair",
            language="en",
            texts=(f"Room {i // 2} is open.", f"It has door {i}."),
            stratum="two-way" if i % 4 == 3 else "zero-shot",
            cluster=str(i // 2),
            tags={
                "gold": gold[i % 4],
                "fair": (*NLI_LABELS, "contradiction")[i % 4],
                "stereotyped": "neutral",
                "task": "rte" if i % 4 == 3 else "mnli",
            },
        )
        for i in range(24)
    )
    card = SuiteCard(
        name="hand-made-glue",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
    )
    return Suite(card=card, probes=probes)


def _cases() -> dict[str, Case]:
    suites = [
        source.build(language, source.options())
        for source in catalog.entries("suites").values()
        if not source.is_published
        for language in source.languages
    ] + [_hand_made(), _stereoset(), _zero_shot()]
    return {
        f"{measure.name}/{suite.card.name}/{suite.card.language}": Case(measure, suite)
        for measure in catalog.measures().values()
        for suite in suites
        if any(
            p.kind == measure.kind and (not measure.strata or p.stratum in measure.strata)
            for p in suite.probes
        )
        and measure.required <= suite.strata
    }


CASES = _cases()
SAMPLES = {name: case.sample() for name, case in CASES.items()}
every_case = pytest.mark.parametrize("name", CASES)


def score(measure: Measure, probes: Sequence[Probe], values: Floats) -> float:
    return float(measure.combine(sums(measure, probes, measure.evidence(probes, values))))


def sums(measure: Measure, probes: Sequence[Probe], evidence: Floats) -> Floats:
    return evidence_table(measure, probes, evidence).sums


def equal(left: float, right: float) -> bool:
    return bool(np.isclose(left, right, rtol=0, atol=1e-9, equal_nan=True))


def _is_boundary(before: Probe, after: Probe) -> bool:
    """May shards be cut here? Twins stay together."""
    return after.twin is None or after.texts[0] != before.texts[0]


@st.composite
def answered(draw: st.DrawFn, name: str) -> Floats:
    """Values with ties (small whole numbers) and with rows that are no answer."""
    probes, shape = SAMPLES[name], CASES[name].shape
    number = st.integers(-2, 2).map(float) | st.floats(-20, 20, allow_subnormal=False)
    values: Floats = draw(arrays(np.float64, (len(probes), *shape), elements=number))
    silent = st.sampled_from([False, False, False, True])
    values[draw(arrays(np.bool_, len(probes), elements=silent))] = np.nan
    return values


def test_every_measure_has_a_case() -> None:
    assert {case.measure.name for case in CASES.values()} == set(catalog.measures())
    assert {case.suite.card.language for case in CASES.values()} == {"en", "ja", "ko", "zh"}


@every_case
@given(data=st.data())
def test_the_order_of_probes_is_irrelevant(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    order = data.draw(st.permutations(range(len(probes))))
    assert equal(
        score(measure, probes, values), score(measure, [probes[i] for i in order], values[order])
    )


@every_case
@given(data=st.data())
def test_shards_add_to_the_whole(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    cut = data.draw(
        st.sampled_from(
            [i for i in range(1, len(probes)) if _is_boundary(probes[i - 1], probes[i])]
        )
    )
    shards = [
        measure.evidence(probes[:cut], values[:cut]),
        measure.evidence(probes[cut:], values[cut:]),
    ]
    together = np.concatenate(shards)
    np.testing.assert_allclose(
        together.sum(axis=0), measure.evidence(probes, values).sum(axis=0), atol=1e-9
    )
    assert equal(
        float(measure.combine(sums(measure, probes, together))), score(measure, probes, values)
    )


@every_case
@given(data=st.data())
def test_doubled_data_gives_the_same_score(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    doubled, once = (
        score(measure, [*probes, *probes], np.concatenate([values, values])),
        score(measure, probes, values),
    )
    if measure.name == "pb_sd" and np.isfinite(once):  # n - 1 in its denominator: published so
        count = measure.evidence(probes, values)[:, 0].sum()
        once *= np.sqrt((2 * count - 2) / (2 * count - 1))
    if measure.name == "pb_sd" and measure.evidence(probes, values)[:, 0].sum() == 1:
        assert doubled == 0 and np.isnan(once)
    else:
        # a variance from sums of squares loses some digits
        assert np.isclose(doubled, once, rtol=0, atol=1e-6, equal_nan=True)


@every_case
@given(data=st.data())
def test_unanswered_rows_do_not_count(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    is_silent = np.isnan(values).any(axis=(1, 2))
    assert not measure.evidence(probes, values)[is_silent].any()
    kept = [p for p, silent in zip(probes, is_silent, strict=True) if not silent]
    assert equal(score(measure, probes, values), score(measure, kept, values[~is_silent]))


@every_case
@given(data=st.data())
def test_the_value_is_within_its_range_and_partial_agrees(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    totals = sums(measure, probes, measure.evidence(probes, data.draw(answered(name))))
    value, part = float(measure.combine(totals)), float(measure.of_group(totals))
    low, high = measure.card.range
    assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12
    # a group that lacks nothing scores what the whole scores
    assert np.isnan(value) or equal(value, part)


@every_case
@given(data=st.data())
def test_many_sums_at_once_give_what_each_gives_alone(name: str, data: st.DataObject) -> None:
    """What makes a bootstrap one matrix product."""
    measure, probes = CASES[name].measure, SAMPLES[name]
    evidence = measure.evidence(probes, data.draw(answered(name)))
    weights = data.draw(arrays(np.float64, (5, len(probes)), elements=st.integers(0, 3).map(float)))
    clusters = find_factors(measure, card(), probes, np.ones((len(probes), 1)))[0]
    weights = weights[:, : clusters.levels]
    table = evidence_table(measure, probes, evidence)
    together = measure.combine(table.reweighted(clusters, weights))
    assert together.shape == (5,)
    for row, value in zip(weights, together, strict=True):
        # a cluster that is drawn three times is there three times
        copies = [
            (probe, vector, copy)
            for probe, vector, code in zip(probes, evidence, clusters.codes, strict=True)
            for copy in range(int(row[code]))
        ]
        drawn = [replace(p, cluster=f"{p.cluster}/{copy}") for p, _, copy in copies]
        rows = np.asarray([vector for _, vector, _ in copies]).reshape(-1, evidence.shape[1])
        assert equal(float(measure.combine(sums(measure, drawn, rows))), float(value))


@every_case
def test_a_tie_is_shared_evenly(name: str) -> None:
    """Two labels on top count as half an answer of each; none is silently preferred."""
    measure, probes, shape = CASES[name].measure, SAMPLES[name], CASES[name].shape
    width = shape[0] * shape[1]

    def evidence(*tops: int) -> Floats:
        row = [1.0 if c in tops else 0.0 for c in range(width)]
        return measure.evidence(probes, np.tile(row, (len(probes), 1)).reshape(-1, *shape))

    def scores(*cases: tuple[int, ...]) -> list[float]:
        return [float(measure.combine(sums(measure, probes, evidence(*tops)))) for tops in cases]

    if measure.strata & STEREOSET:
        pytest.skip("its published conventions count a tie against, for or half")
    if measure.strata & WORDS:  # always male, always female, always a tie
        known, fair = [0.5, 0.5, 0.5], [0.0, 0.0, 1.0]  # half of the gendered words are male
        product = fair if "recognition" not in measure.strata else [0.0, 0.0, 0.5]
        expected = known if measure.strata == {"recognition"} else product
        if measure.fair == 0:  # the effects: one gender for every lean is a default
            expected = [1.0, -1.0, 0.0] if "default" in measure.name else [0.0, 0.0, 0.0]
        label = measure.name.rpartition("_")[2]
        place = NLI_LABELS.index(label) if label in NLI_LABELS else 0
        male, female = place, width // 2 + place
        if label == "contradiction":  # speaks against an option
            male, female = female, male
        assert scores((male,), (female,), (male, female)) == expected
        return
    one = np.eye(width)[:1].reshape(1, *shape)
    if not any(measure.evidence([p], one).any() for p in probes):
        pytest.skip("compares twins: a tie between labels is not what it counts")
    if "two-way" in measure.strata and measure.needs_numbers:
        pytest.skip("decides between two of three labels: a tie with the third is none")
    if measure.card.range[1] == np.inf and measure.card.range[0] == 0:
        pytest.skip("a distance between probabilities: a tie is no answer to be shared")
    if measure.kind == "choice":
        assert scores((0,), (1,), (0, 1)) == [1.0, 0.0, 0.5]
        return
    alone = [evidence(c) for c in range(width)]
    # else the law would hold for a measure that looks at nothing
    assert any((alone[0] != other).any() for other in alone[1:])
    for size in range(2, width + 1):
        for tops in combinations(range(width), size):
            mean = np.mean([alone[c] for c in tops], axis=0)
            np.testing.assert_allclose(evidence(*tops), mean, atol=1e-12)


def _bounds() -> list[tuple[str, str, float]]:
    # a rule says what it says by entailment and contradiction: of words that have a gender the
    # neutral value says nothing
    fair = [
        (name, "fair", case.measure.fair)
        for name, case in CASES.items()
        if "recognition" not in case.measure.strata or not case.measure.name.endswith("_neutral")
    ]
    return [
        *fair,
        *(
            (name, "stereotyped", case.measure.worst)
            for name, case in CASES.items()
            if case.measure.worst is not None
        ),
    ]


@pytest.mark.parametrize(("name", "rule", "expected"), _bounds())
def test_the_fair_and_the_stereotyped_respondent_reach_the_bounds(
    name: str, rule: str, expected: float
) -> None:
    case = CASES[name]
    measure, suite = case
    rule = rule if rule == "fair" else measure.worst_rule
    labels = case.labels if measure.kind == "choice" and len(case.labels) > 1 else ()
    options = RespondentOptions(language=suite.card.language, labels=labels)
    answers = ask_suite(open_respondent(f"fixed:{rule}", measure.kind, options), suite)
    is_strict = rule == "fair" and bool(measure.strata & STEREOSET)
    is_strict = is_strict and any(convention in measure.name for convention in STRICT)
    given = _by_turns(answers) if is_strict else answers
    result = estimate(measure, suite, given, Settings(resamples=200))
    assert result.value == pytest.approx(expected, abs=1e-12)
    if result.has_variation:
        assert (result.low, result.high) == pytest.approx((expected, expected), abs=1e-12)
    elif measure.is_bounded:  # no variation: the bounds are what so many clusters cannot exclude
        low, high = measure.card.range
        fewest = min(result.levels.values())
        share = 1 - 0.05 ** (1 / fewest)
        expected_bounds = (
            expected - share * (expected - low),
            expected + share * (high - expected),
        )
        assert (result.low, result.high) == pytest.approx(expected_bounds, abs=1e-12)
        assert result.note.startswith("no variation seen among")
    ties = 0 if is_strict else sum(p.tags.get(rule) == "equal" for p in case.read())
    if rule == "fair" and measure.name in TWIN_TIES:  # both hypotheses of a premise at 0.5
        tag, each = TWIN_TIES[measure.name]
        premises = [p for p in case.read() if p.tags["gender"] == "female"]
        ties = each * sum(not tag or p.tags[tag] in GENDERS for p in premises)
    assert result.coverage == 1.0
    assert result.ties == ties or labels


@every_case
def test_nothing_answered_is_nan_and_never_zero(name: str) -> None:
    measure, suite = CASES[name]
    silent = np.full((len(suite.probes), *CASES[name].shape), np.nan)
    answers = Answers(
        respondent="nobody",
        suite=suite.reference,
        probes=suite.probes,
        options=suite.card.options,
        labels=CASES[name].labels,
        values=silent,
    )
    result = estimate(measure, suite, answers, Settings(resamples=100))
    assert all(np.isnan(v) for v in (result.value, result.low, result.high))
    assert result.coverage == 0.0 and result.clusters == 0 and result.ties == 0
    assert result.note == f"no answer in {', '.join(sorted(measure.strata))}"
    assert all(np.isnan(part.value) for part in result.parts.values())
    assert np.isnan(score(measure, [], silent[:0]))


@pytest.mark.parametrize(
    "name", [name for name, case in CASES.items() if case.measure.kind == "mask"]
)
@given(data=st.data())
def test_swapping_the_genders_mirrors_what_is_signed(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    plain, swapped = score(measure, probes, values), score(measure, probes, values[:, ::-1])
    mirrored = {"pb_lean": -plain, "objective_accuracy": 1 - plain}.get(measure.name, plain)
    assert np.isclose(swapped, mirrored, rtol=0, atol=1e-9, equal_nan=True)


def _labels_alone(values: Floats) -> Floats:
    """1 for the highest label of every option, or for the highest option of single numbers."""
    axis = 2 if values.shape[2] > 1 else 1
    return np.asarray(values == values.max(axis=axis, keepdims=True), dtype=np.float64)


@every_case
def test_a_measure_says_whether_labels_are_enough_for_it(name: str) -> None:
    """Without a need for numbers it gives the same by labels alone; with it, by pairs, not."""
    measure, probes = CASES[name].measure, SAMPLES[name]
    rng = np.random.default_rng(5)
    are_equal = []
    for _ in range(5):
        values = rng.normal(size=(len(probes), *CASES[name].shape))
        by_label = score(measure, probes, _labels_alone(values))
        are_equal.append(equal(score(measure, probes, values), by_label))
    if not measure.needs_numbers:
        assert all(are_equal)
    elif measure.kind != "choice":  # of two numbers the higher one is all that is compared
        assert not all(are_equal)
