"""What holds for every measure of the catalog, on every built-in suite that it reads? A new measure takes part by being there."""

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
from evenhand.core.probe import NLI_LABELS, PREFERENCES, Floats, Probe
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import limited, question
from evenhand.engine.estimating import estimate
from evenhand.measures.continuous_comparisons import Continuous
from evenhand.measures.official_comparisons import Official
from evenhand.measures.stereoset_scores import OPTIONS, StereoSetScore
from evenhand.respondents.opening import open_respondent

SAMPLE = 24  # probes; enough for every stratum, few enough for Hypothesis
WORDS = {"recognition", "profession", "emotion"}  # the strata of the word tests


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
    def spread(self) -> int:
        """How many numbers an option has: one, or where the measure reads labels of options one a label."""
        return len(NLI_LABELS) if any(":" in label for label in self.measure.labels) else 1

    @property
    def width(self) -> int:
        return max(p.width for p in self.suite.probes) * self.spread

    def sample(self) -> list[Probe]:
        if WORDS & {
            p.stratum for p in self.suite.probes
        }:  # three words with four pairs each, and the words of these pairs
            pairs = list(dict.fromkeys(p.tags["pair"] for p in self.read()))[:4]
            words = [*dict.fromkeys(p.cluster for p in self.read() if p.stratum != "recognition")][
                :3
            ]
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
        for rule in ("shared", "changed", "whole")
    )
    card = SuiteCard(
        name="hand-made",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        labels=PREFERENCES,
    )
    return Suite(card=card, probes=probes)


def _stereoset() -> Suite:
    """Items in the form of StereoSet, whose own sentences are not shipped: terms of two and of four items, in both strata."""
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
        labels=OPTIONS,
    )
    return Suite(card=card, probes=probes)


def _by_turns(answers: Answers) -> Answers:
    """What is fair where ties count against: stereotype and anti-stereotype win by turns, both before the unrelated option."""
    return replace(
        answers,
        values=np.asarray(
            [
                [2.0, 1.0, 0.0] if p.id.endswith(("0", "2")) else [1.0, 2.0, 0.0]
                for p in answers.probes
            ]
        ),
    )


def _zero_shot() -> Suite:
    """Items in the form of GLUE, whose own sentences are not shipped: three gold labels, and the one of tasks that have two."""
    gold = (*NLI_LABELS, "not_entailment")
    probes = tuple(
        Probe(
            id=str(i),
            kind="pair",
            language="en",
            texts=(f"Room {i // 2} is open.", f"It has door {i}."),
            stratum="zero-shot",
            cluster=str(i // 2),
            tags={
                "gold": gold[i % 4],
                "fair": (*NLI_LABELS, "neutral")[i % 4],
                "stereotyped": "neutral",
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
        source.build(language, SuiteOptions())
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
        and getattr(measure, "required", frozenset()) <= {p.stratum for p in suite.probes}
    }


CASES = _cases()
SAMPLES = {name: case.sample() for name, case in CASES.items()}
every_case = pytest.mark.parametrize("name", CASES)


def score(measure: Measure, probes: Sequence[Probe], values: Floats) -> float:
    return float(measure.combine(measure.evidence(probes, values).sum(axis=0)))


def equal(left: float, right: float) -> bool:
    return bool(np.isclose(left, right, rtol=0, atol=1e-9, equal_nan=True))


def _is_boundary(before: Probe, after: Probe) -> bool:
    """May shards be cut here? Twins stay together, and so does a word with its pairs."""
    if after.stratum in WORDS:
        return after.cluster != before.cluster
    return after.twin is None or after.texts[0] != before.texts[0]


@st.composite
def answered(draw: st.DrawFn, name: str) -> Floats:
    """A table of values with ties (small whole numbers) and with rows that are no answer."""
    probes, width = SAMPLES[name], CASES[name].width
    number = st.integers(-2, 2).map(float) | st.floats(-20, 20, allow_subnormal=False)
    values: Floats = draw(arrays(np.float64, (len(probes), width), elements=number))
    values[
        draw(arrays(np.bool_, len(probes), elements=st.sampled_from([False, False, False, True])))
    ] = np.nan
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
        measure.evidence(probes[:cut], values[:cut]).sum(axis=0),
        measure.evidence(probes[cut:], values[cut:]).sum(axis=0),
    ]
    np.testing.assert_allclose(
        shards[0] + shards[1], measure.evidence(probes, values).sum(axis=0), atol=1e-9
    )
    assert equal(float(measure.combine(shards[0] + shards[1])), score(measure, probes, values))


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
        assert np.isclose(
            doubled, once, rtol=0, atol=1e-6, equal_nan=True
        )  # a variance from sums of squares loses some digits


@every_case
@given(data=st.data())
def test_unanswered_rows_do_not_count(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    values = data.draw(answered(name))
    is_silent = np.isnan(values).any(axis=1)
    assert not measure.evidence(probes, values)[is_silent].any()
    kept = [p for p, silent in zip(probes, is_silent, strict=True) if not silent]
    assert equal(score(measure, probes, values), score(measure, kept, values[~is_silent]))


@every_case
@given(data=st.data())
def test_the_value_is_within_its_range_and_partial_agrees(name: str, data: st.DataObject) -> None:
    measure, probes = CASES[name].measure, SAMPLES[name]
    totals = measure.evidence(probes, data.draw(answered(name))).sum(axis=0)
    value, part = float(measure.combine(totals)), float(measure.partial(totals))
    low, high = measure.card.range
    assert np.isnan(value) or low - 1e-12 <= value <= high + 1e-12
    assert np.isnan(value) or equal(
        value, part
    )  # a group that lacks nothing scores what the whole scores


@every_case
@given(data=st.data())
def test_many_sums_at_once_give_what_each_gives_alone(name: str, data: st.DataObject) -> None:
    """What makes a bootstrap one matrix product."""
    measure, probes = CASES[name].measure, SAMPLES[name]
    evidence = measure.evidence(probes, data.draw(answered(name)))
    weights = data.draw(arrays(np.float64, (5, len(probes)), elements=st.integers(0, 3).map(float)))
    together = measure.combine(weights @ evidence)
    assert together.shape == (5,)
    for row, value in zip(weights, together, strict=True):
        assert equal(float(measure.combine(row @ evidence)), float(value))


@every_case
def test_a_tie_is_shared_evenly(name: str) -> None:
    """Two labels on top count as half an answer of each, three as a third; none is silently preferred."""
    measure, probes, width = CASES[name].measure, SAMPLES[name], CASES[name].width

    def evidence(*tops: int) -> Floats:
        return measure.evidence(
            probes, np.tile([1.0 if c in tops else 0.0 for c in range(width)], (len(probes), 1))
        )

    if isinstance(measure, StereoSetScore):
        pytest.skip(
            "its published conventions count a tie against, for or half: see test_stereoset_scores.py"
        )
    if measure.strata & WORDS:  # always male, always female, always a tie
        scores = [
            float(measure.combine(evidence(*tops).sum(axis=0)))
            for tops in ((0,), (width // 2,), (0, width // 2))
        ]
        known, fair = [0.5, 0.5, 0.5], [0.0, 0.0, 1.0]  # half of the gendered words are male
        assert scores == (
            known
            if measure.worst is None
            else fair
            if "recognition" not in measure.strata
            else [0.0, 0.0, 0.5]
        )
        return
    if not any(measure.evidence([p], np.eye(width)[:1]).any() for p in probes):
        pytest.skip("compares twins: a tie between labels is not what it counts")
    if measure.card.range[1] == np.inf and measure.card.range[0] == 0:
        pytest.skip("a distance between probabilities: a tie is no answer to be shared")
    if measure.kind == "choice":
        scores = [
            float(measure.combine(evidence(*tops).sum(axis=0))) for tops in ((0,), (1,), (0, 1))
        ]
        assert scores == [1.0, 0.0, 0.5]
        return
    alone = [evidence(c) for c in range(width)]
    assert any(
        (alone[0] != other).any() for other in alone[1:]
    )  # else the law would hold for a measure that looks at nothing
    for size in range(2, width + 1):
        for tops in combinations(range(width), size):
            np.testing.assert_allclose(
                evidence(*tops), np.mean([alone[c] for c in tops], axis=0), atol=1e-12
            )


def _bounds() -> list[tuple[str, str, float]]:
    fair = [(name, "fair", case.measure.fair) for name, case in CASES.items()]
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
    measure, suite = CASES[name]
    spread = CASES[name].spread
    respondent = open_respondent(
        f"fixed:{rule}",
        measure.kind,
        RespondentOptions(language=suite.card.language, spread=spread),
    )
    said = question(respondent, suite, cache=False)
    is_strict = isinstance(measure, Official | Continuous) and rule == "fair"
    found = estimate(measure, suite, _by_turns(said) if is_strict else said, resamples=200)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert (found.low, found.high) == pytest.approx((expected, expected), abs=1e-12)
    ties = 0 if is_strict else sum(p.tags[rule] == "equal" for p in CASES[name].read())
    assert (
        found.coverage == 1.0
        and (found.ties == ties or spread > 1)
        and found.note in ("", f"only {found.clusters} clusters: the interval is rough")
    )


@every_case
def test_nothing_answered_is_nan_and_never_zero(name: str) -> None:
    measure, suite = CASES[name]
    silent = np.full((len(suite.probes), CASES[name].width), np.nan)
    answers = Answers(
        respondent="nobody",
        suite=suite.reference,
        labels=suite.card.labels,
        probes=suite.probes,
        values=silent,
    )
    found = estimate(measure, suite, answers, resamples=100)
    assert all(np.isnan(v) for v in (found.value, found.low, found.high))
    assert found.coverage == 0.0 and found.clusters == 0
    assert found.note == f"no answer in {', '.join(sorted(measure.strata))}"
    assert all(np.isnan(part.value) for part in found.parts.values())
    assert np.isnan(score(measure, [], np.empty((0, silent.shape[1]))))


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
