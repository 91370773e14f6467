"""Baselines are expected values: the mean of what random respondents score, exact for rules."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from document_text import table
from quick import Opening, load, quick_audit
from runs import TwoLabels, noise, silent, two_labels
from stereoset_items import answers_of, probes_of, suite_of
from word_tests import answers_of as word_answers
from word_tests import build

from evenhand.core import account, catalog
from evenhand.core.answers import Answers
from evenhand.core.document import Table
from evenhand.core.estimate import Baseline, Interval
from evenhand.core.measure import Measure
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.engine.ask import ask_suite
from evenhand.engine.audit import judge
from evenhand.engine.audit_document import audit_document
from evenhand.engine.baselines import NO_PROBE, NO_SCALE, NO_VALUE
from evenhand.engine.estimate import evidence_table, read_mask
from evenhand.respondents.fixed import FixedRespondent, random_draws

FEW = Settings(resamples=50)


def scored(run: Run, rule: str) -> dict[str, Baseline]:
    return {b.measure: b for b in run.baselines[f"fixed:{rule}"]}


def values(run: Run, rule: str) -> dict[str, float]:
    return {name: b.value for name, b in scored(run, rule).items()}


def test_a_share_has_exactly_its_expected_value() -> None:
    """One draw gave 0.400 here and 0.433 for B; each label is expected in a third of answers."""
    coal = values(quick_audit(noise), "random")
    assert coal == pytest.approx(
        {
            "nli_coal": 4 / 9,
            "fraction_neutral": 2 / 3,
            "person_entailment": 1 / 3,
            "stereotype_effect": 0,
            "default_effect": 0,
        },
        abs=1e-9,
    )
    gendered = values(quick_audit(noise, load("gendered-entailment")), "random")
    for name in ("same_label", "stereotype_preference", "dominated_preference"):
        assert gendered[name] == pytest.approx(0.5, abs=1e-9)
    assert gendered["neutral_share"] == pytest.approx(1 / 3, abs=1e-9)
    assert gendered["signed_gap"] == pytest.approx(0, abs=1e-9)
    assert gendered["entailment_gap"] == pytest.approx(1 / 3, abs=0.015)  # E|U - V|


def test_60_items_of_stereoset_have_an_lms_of_one_half() -> None:
    """One draw got 0.667 on 60 items, and a model with 0.6 was said not to beat guessing."""
    suite = suite_of(probes_of([f"t{i % 20}" for i in range(60)]))
    rng = np.random.default_rng(0)
    run = judge(suite, answers_of(suite, rng.normal(size=(60, 3))), FEW)
    random = scored(run, "random")
    for name in ("lms_official", "ss_official", "ss_esp_continuous"):
        assert random[name].value == pytest.approx(0.5, abs=1e-9)
    assert random["lms_esp_continuous"].value == pytest.approx(2 / 3, abs=1e-9)
    assert 0.35 < random["lms_official"].low < 0.42 and 0.58 < random["lms_official"].high < 0.65
    assert values(run, "constant")["icat_official"] == 0.0
    assert values(run, "stereotyped")["ss_official"] == 1.0


def score(measure: Measure, answers: Answers) -> float:
    """The measure of all answers, without an interval."""
    is_read = read_mask(measure, answers.probes)
    probes = [p for p, read in zip(answers.probes, is_read, strict=True) if read]
    evidence = measure.evidence(probes, answers.values[is_read])
    return float(measure.combine(evidence_table(measure, probes, evidence).sums))


@pytest.mark.parametrize("name", ["occupation-nli", "gendered-entailment", "profession"])
def test_the_range_holds_single_random_respondents(name: str) -> None:
    """Of `fixed:random` under many seeds, about 95 % lie in the range, around the mean."""
    suite = load(name, limit=150)
    answers = [ask_suite(FixedRespondent("random", seed), suite) for seed in range(120)]
    run = judge(suite, answers[0], FEW)
    for baseline in run.baselines["fixed:random"]:
        measure = catalog.measure(baseline.measure)
        alone = np.asarray([score(measure, a) for a in answers])
        known = alone[np.isfinite(alone)]
        error = known.std() / math.sqrt(len(known))
        assert baseline.value == pytest.approx(known.mean(), abs=4 * error + 0.004)
        is_inside = (known >= baseline.low - 1e-9) & (known <= baseline.high + 1e-9)
        assert is_inside.mean() > 0.88
        assert (baseline.draws, baseline.note) == (480, "")


def test_the_draws_are_seeded_and_do_not_depend_on_the_other_measures() -> None:
    first, again = quick_audit(noise), quick_audit(noise)
    assert first.baselines["fixed:random"] == again.baselines["fixed:random"]
    alone = quick_audit(noise, opening=Opening(measures=["fraction_neutral"]))
    assert alone.baselines["fixed:random"][0] == scored(first, "random")["fraction_neutral"]
    other = quick_audit(noise, load(seed=0), settings=replace(FEW, seed=5))
    assert scored(other, "random")["nli_coal"].value == pytest.approx(4 / 9, abs=1e-9)


def test_log_odds_have_no_random_baseline_and_no_mark() -> None:
    """Dirichlet odds have a mean |PB| of 1.386, which says nothing about any model."""
    run = quick_audit("fixed:fair", load("contextualised"))
    random = scored(run, "random")
    for name in ("pb_bias", "pb_lean", "pb_sd"):
        assert math.isnan(random[name].value) and random[name].note == NO_SCALE
    assert random["objective_accuracy"].value == pytest.approx(0.5, abs=1e-9)
    assert values(run, "constant")["pb_bias"] == 1.0  # its odds are stated
    chart = account.score_chart(run)
    assert {mark for row in chart.rows for _, mark in row.others} == {"fair", "constant"}
    assert "random" not in chart.description and "random" not in chart.title
    assert "random" not in account.standing(run, run.headline)
    (cells,) = (
        row.cells[4:] for row in score_table(run).rows if str(row.cells[0]).startswith("PB bias")
    )
    assert math.isnan(float(str(cells[0]))) and NO_SCALE in score_table(run).note


def score_table(run: Run) -> Table:
    return table(audit_document(run), "scores")


def test_a_model_with_two_labels_has_baselines_with_two_labels() -> None:
    """They used to answer with three, and a note said that they are not on one footing."""
    run = two_labels()
    assert values(run, "random")["person_entailment"] == pytest.approx(0.5, abs=1e-9)
    assert not any("footing" in note for note in account.notes(run))
    gendered = quick_audit(TwoLabels(), load("gendered-entailment"))
    assert values(gendered, "male-default")["default_effect_probability"] == pytest.approx(1.0)
    assert values(gendered, "female-default")["default_effect_probability"] == pytest.approx(-1.0)
    assert values(gendered, "stereotyped")["stereotype_effect_probability"] == pytest.approx(1.0)


def test_only_answered_probes_count() -> None:
    """Beside two pairs a word a random respondent is less even than beside 60."""
    suite = build("profession")
    pairs = list(dict.fromkeys(p.tags["pair"] for p in suite.probes))
    numbers = np.random.default_rng(0).normal(size=(len(suite.probes), 2))
    whole = judge(suite, word_answers(suite, numbers), FEW, measures=["profession_fairness"])
    is_kept = np.asarray([p.tags["pair"] in pairs[:2] for p in suite.probes])
    few = word_answers(suite, np.where(is_kept[:, None], numbers, np.nan))
    part = judge(suite, few, FEW, measures=["profession_fairness"])
    even = 1 - math.sqrt(2 / (math.pi * 60))
    assert values(whole, "random")["profession_fairness"] == pytest.approx(even, abs=0.01)
    assert values(part, "random")["profession_fairness"] == pytest.approx(0.5, abs=0.04)
    assert values(part, "male-default")["profession_fairness"] == 0.0


def test_where_nothing_was_answered_no_rule_has_a_score() -> None:
    run = quick_audit(silent)
    for scores in run.baselines.values():
        assert all(math.isnan(b.value) and b.note == NO_PROBE for b in scores)
    assert account.standing(run, run.headline) == "0 is fair."


def test_a_rule_that_the_probes_do_not_tell_has_no_score() -> None:
    male = scored(quick_audit(noise), "male-default")
    assert math.isnan(male["person_entailment"].value)  # a person is neither man nor woman
    assert male["person_entailment"].note == NO_VALUE
    assert (male["stereotype_effect"].value, male["default_effect"].value) == (0.0, 1.0)


def test_the_report_shows_every_rule_with_the_range_of_random_ones() -> None:
    run = quick_audit(noise)
    block = table(audit_document(run), "baselines")
    assert [column.title for column in block.columns] == [
        "measure",
        "random",
        "the middle 95 %",
        "constant",
        "male default",
        "female default",
        "stereotyped",
    ]
    first = scored(run, "random")["nli_coal"]
    coal = block.rows[0].cells
    assert coal[1:3] == (first.value, Interval(first.value, first.low, first.high))
    assert coal[3] == pytest.approx(2 / 3) and coal[6] == 1.0
    assert "Random: the mean of 480 random respondents and the range of the middle 95 %" in (
        block.note
    )
    assert f"N/a: male default, Person entailment: {NO_VALUE}" in block.note


def test_draws_are_random_answers_of_the_right_shape() -> None:
    rng = np.random.default_rng(0)
    probes = load(limit=30).probes
    draws = list(random_draws(probes, 3, 24, rng))
    assert all(d.shape == (30, 1, 3) for d in draws)
    np.testing.assert_allclose(np.exp(draws[0]).sum(axis=2), 1.0)
    labels = np.stack([d[:, 0].argmax(axis=1) for d in draws])
    counts = np.stack([(labels == label).sum(axis=0) for label in range(3)])
    assert (counts == 8).all()  # every label equally often, for every probe
    choice = Probe(id="c", kind="choice", language="en", texts=("x", "a", "b", "c"))
    mixed = Probe(id="d", kind="choice", language="en", texts=("x", "a", "b"))
    for values in random_draws([choice, mixed, choice], 1, 6, rng):
        assert values.shape == (3, 3, 1) and np.isnan(values[1, 2]).all()
        np.testing.assert_array_equal(values[0], values[2])  # equal texts, equal numbers
        np.testing.assert_allclose(np.nansum(np.exp(values), axis=1), 1.0)
    (classified,) = random_draws([mixed], len(NLI_LABELS), 1, rng)
    assert classified.shape == (1, 2, 3)
    np.testing.assert_allclose(np.exp(classified).sum(axis=2), 1.0)
