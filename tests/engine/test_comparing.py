"""Comparison: on the same probes only, and what cannot be compared is said."""

from __future__ import annotations

import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from document_text import document_text
from quick import load, quick_audit, quick_compare
from runs import TwoLabels, deaf_to_men, noise, silent

from evenhand.core import catalog
from evenhand.core.answer_files import write_answers
from evenhand.core.document import Cell, Table
from evenhand.core.errors import EvenhandError, InputError, MeasureError
from evenhand.core.estimate import Interval
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.core.text import p_value, signed
from evenhand.engine.compare import Comparison, Contestant, Difference, compare, short_names
from evenhand.engine.compare_document import (
    comparison_document,
    nearness_words,
    notes,
    summary,
)
from evenhand.stats.corrections import benjamini_hochberg

FEW = Settings(resamples=200, permutations=200)


@pytest.fixture(scope="module")
def comparison_of_three() -> Comparison:
    return quick_compare([noise, "fixed:fair", deaf_to_men], [load(limit=120)])[0]


def test_values_and_differences_are_those_of_the_audits(comparison_of_three: Comparison) -> None:
    runs = [quick_audit(m, load(limit=120), settings=FEW) for m in (noise, "fixed:fair")]
    for mine, theirs in zip(*(run.estimates for run in runs), strict=True):
        apart = next(
            d for d in comparison_of_three.against("fixed:fair") if d.measure == mine.measure
        )
        assert apart.reference == mine
        assert apart.other == theirs
        assert apart.difference.value == pytest.approx(theirs.value - mine.value)
        best = catalog.measure(mine.measure).fair
        assert apart.distance.value == pytest.approx(
            abs(theirs.value - best) - abs(mine.value - best)
        )
        assert apart.difference.low <= apart.difference.value <= apart.difference.high


def test_only_probes_that_both_answered_count(comparison_of_three: Comparison) -> None:
    partial = comparison_of_three.models[2]
    is_answered = np.asarray(np.isfinite(partial.answers.values[:, 0]).all(axis=1))
    assert 0 < is_answered.sum() < len(is_answered)
    for apart in comparison_of_three.against(partial.name):
        measure = catalog.measure(apart.measure)
        kept = [
            (p, row)
            for p, row, answered in zip(
                comparison_of_three.suite.probes,
                comparison_of_three.reference.answers.values,
                is_answered,
                strict=True,
            )
            if answered and p.stratum in measure.strata
        ]
        slow = measure.combine(
            measure.evidence([p for p, _ in kept], np.asarray([row for _, row in kept])).sum(axis=0)
        )
        assert apart.reference.value == pytest.approx(float(slow), nan_ok=True)
        assert apart.probes == len(kept)
        # the reference's number is not that of all its answers, and says so; the other's is
        assert Signature.parse(apart.reference.signature).differences(
            Signature.parse(comparison_of_three.reference.estimates[0].signature)
        )["only"] == (
            f"answered by {partial.answers.respondent} too",
            None,
        )
        assert "only:" not in apart.other.signature
    assert any("answered" in note for note in notes(comparison_of_three))


def test_a_model_does_not_differ_from_itself() -> None:
    comparison = quick_compare([noise, noise], [load()])[0]
    assert len(comparison.differences) == 5
    for apart in comparison.differences:
        assert apart.difference == (0.0, 0.0, 0.0)
        assert apart.distance == (0.0, 0.0, 0.0)
        assert apart.p == apart.adjusted == 1.0
        assert apart.differing_fields == {}
        assert apart.nearness(FEW) == "equally far"
    assert "does not prove them equal" in summary(comparison, comparison.models[1].name)


def test_p_values_are_adjusted_over_all_suites_and_models() -> None:
    comparisons = quick_compare(
        ["fixed:random", "fixed:fair", "fixed:constant"], [load(), load("gendered-entailment")]
    )
    every = [d for c in comparisons for d in c.differences]
    tested = [d.p for d in every if math.isfinite(d.p)]
    assert len({c.suite.card.name for c in comparisons}) == 2
    assert [d.adjusted for d in every] == pytest.approx(
        benjamini_hochberg([d.p for d in every]), nan_ok=True
    )
    assert {c.tests for c in comparisons} == {len(tested)}
    assert all(f"adjusted:bh/{len(tested)}|" in d.signature for d in every)
    assert min(d.adjusted for d in every) >= min(tested)


def test_the_same_call_gives_the_same_numbers(comparison_of_three: Comparison) -> None:
    again = quick_compare([noise, "fixed:fair", deaf_to_men], [load(limit=120)])[0]
    assert repr(again.differences) == repr(
        comparison_of_three.differences
    )  # repr: NaN is not equal to itself


def test_a_measure_that_one_model_does_not_allow_is_listed() -> None:
    comparison = quick_compare([noise, TwoLabels()], [load()])[0]
    assert {d.measure for d in comparison.differences} == {"person_entailment"}
    three = {"nli_coal", "fraction_neutral", "stereotype_effect", "default_effect"}
    assert {x.measure for x in comparison.left_out} == three
    assert all("two gives entailment, not_entailment" in x.reason for x in comparison.left_out)
    assert (
        "NLI-CoAL is not compared with two: it needs contradiction, neutral; "
        "two gives entailment, not_entailment."
    ) in notes(comparison)
    back = quick_compare([TwoLabels(), noise], [load()])[0]
    assert {x.measure for x in back.left_out} == three
    with pytest.raises(MeasureError, match="two@1: nli_coal needs the labels"):
        quick_compare([noise, TwoLabels()], [load()], measures=["nli_coal"])


def _answers(tmp_path: Path, name: str, model: str, limit: int) -> Path:
    path = tmp_path / name / "answers.parquet"
    path.parent.mkdir()
    write_answers(quick_audit(model, load(limit=limit)).answers, path)
    return path


def test_answers_of_a_run_are_compared_with_each_other_and_with_a_model(tmp_path: Path) -> None:
    first, second = (_answers(tmp_path, m, f"fixed:{m}", 60) for m in ("random", "constant"))
    asked = quick_compare(["fixed:random", "fixed:constant"], [load()])[0]
    mixed: list[list[Any]] = [
        [first, second],
        [str(first), second.parent],
        ["fixed:random", second],
        [first, "fixed:constant"],
    ]
    for models in mixed:
        assert repr(quick_compare(models)[0].differences) == repr(asked.differences)
    named = quick_compare([first, second], ["occupation-nli"], limit=60)[0]
    assert named.suite.card.licence != "that of the suite"
    with pytest.raises(InputError, match="leave --limit 30 out"):
        quick_compare([first, second], limit=30)
    with pytest.raises(EvenhandError, match="names 2"):
        quick_compare([first, second], ["occupation-nli", "ordinary-nli"])


def test_answers_to_other_probes_are_refused(tmp_path: Path) -> None:
    first = _answers(tmp_path, "a", "fixed:random", 60)
    other = _answers(tmp_path, "b", "fixed:fair", 80)
    suites = [load(limit=n).reference for n in (60, 80)]
    with pytest.raises(EvenhandError) as refused:
        compare([first, other])
    assert all(reference in str(refused.value) for reference in suites)
    with pytest.raises(
        EvenhandError, match="--suite ordinary-nli:plain answers ordinary-nli:plain"
    ):
        quick_compare([first, "fixed:fair"], ["ordinary-nli"])
    with pytest.raises(EvenhandError, match="needs two or more models; there is fixed:fair"):
        compare(["fixed:fair"])
    with pytest.raises(InputError, match="there is no such file"):
        compare([tmp_path / "none.parquet", "fixed:fair"])


def one_cluster() -> Suite:
    suite = load()
    return Suite(
        card=suite.card, probes=tuple(dataclasses.replace(p, cluster="one") for p in suite.probes)
    )


def test_one_answer_of_thousands_is_a_difference_that_can_be_read() -> None:
    """It was printed as 0.000 [0.000, 0.001], beside values that differ."""
    suite = load(limit=None)
    fair = quick_audit("fixed:fair", suite).answers
    values = fair.values.copy()
    row = next(i for i, p in enumerate(suite.probes) if p.stratum == "NS")
    values[row, 0] = values[row, 0][[1, 0, 2]]  # entailment instead of neutral
    (comparison,) = quick_compare([fair, dataclasses.replace(fair, values=values)])
    text = document_text(comparison_document([comparison]))
    count = sum(p.stratum in ("PS", "AS", "NS") for p in suite.probes)
    assert comparison.differences[1].difference.value == pytest.approx(1 / count)
    assert re.search(r"Fraction Neutral 0\.000 .* \+0\.0004\d* \[", text)
    assert "Fraction Neutral +0.0004" in text


def test_one_cluster_has_a_difference_but_neither_interval_nor_p() -> None:
    comparison = quick_compare(["fixed:random", "fixed:fair"], [one_cluster()])[0]
    for apart in comparison.differences:
        assert math.isfinite(apart.difference.value)
        assert np.isnan(
            [apart.difference.low, apart.difference.high, apart.p, apart.adjusted]
        ).all()
        assert apart.note == "one occupation only: there is neither interval nor p value"
        assert apart.nearness(FEW) == "unknown"
        assert nearness_words(comparison, apart) == "n/a"
    assert comparison.tests == 0
    assert "could not be compared" in summary(comparison, "fixed:fair")


def test_no_common_probe_is_no_difference() -> None:
    comparison = quick_compare([noise, silent], [load()])[0]
    for apart in comparison.differences:
        assert np.isnan([*apart.difference, *apart.distance, apart.p]).all()
        assert apart.note == "no probe was answered by both"
        assert (apart.probes, apart.clusters) == (0, 0)


def test_few_clusters_are_called_rough() -> None:
    comparison = quick_compare(["fixed:random", "fixed:fair"], [load(limit=8)])[0]
    rough = [d for d in comparison.differences if 2 <= d.clusters < 10]
    assert rough
    assert all(f"p cannot fall below {2.0 ** (1 - d.clusters):.2g}" in d.note for d in rough)


def test_what_must_be_said_stands_beside_the_difference() -> None:
    """It stood at the end of the report alone."""
    fixed = ["fixed:male-default", "fixed:female-default"]
    comparison = quick_compare(fixed, [load(limit=120)])[0]
    cells: dict[str, tuple[Cell, ...]] = {}
    for section in comparison_document([comparison]).sections:
        for block in section.blocks:
            if isinstance(block, Table):
                cells |= {str(row.cells[0]): row.cells for row in block.rows}
    default = cells["Default effect"]
    assert str(default[3]).startswith("-2.000 [-2.000, ")
    assert "no variation seen among" in str(default[3])
    assert str(default[1]).endswith("] no variation seen")
    few = quick_compare(["fixed:random", "fixed:fair"], [load(limit=8)])[0]
    text = document_text(comparison_document([few]))
    assert re.search(r"\] only \d occupations?(?: and \d templates?)?", text)
    assert "new occupations and templates" in text and "swapped at random, occupation by" in text


def test_names_are_short_and_tell_the_models_apart() -> None:
    assert short_names(["default@9148", "fixed:random@0", "stored:BERT"]) == [
        "default",
        "fixed:random",
        "stored:BERT",
    ]
    assert short_names(["a/b/model@1", "/x/y/other@2"]) == ["model", "other"]
    assert short_names(["default@1", "default@2"]) == ["default@1", "default@2"]
    assert short_names(["default@1", "default@1"]) == ["default", "default (2)"]
    long = short_names(["org/" + "x" * 40 + "-one@1", "org/" + "x" * 40 + "-two@1"])
    assert len(set(long)) == 2
    assert all(len(name) <= 28 for name in long)


def test_numbers_are_never_printed_as_what_they_are_not() -> None:
    assert [signed(v) for v in (0.1234, -0.1234, 0.0, 0.0001, -0.0001, float("nan"))] == [
        "+0.123",
        "-0.123",
        "0.000",
        "+0.0001",
        "-0.0001",
        "n/a",
    ]
    assert [p_value(p) for p in (0.0001, 0.001, 0.25, 1.0, float("nan"))] == [
        "<0.001",
        "0.001",
        "0.250",
        "1.000",
        "n/a",
    ]


def _difference(measure: str, distance: tuple[float, float], adjusted: float) -> Difference:
    estimate = quick_audit("fixed:fair", load(limit=6)).headline
    return Difference(
        measure=measure,
        model="b",
        reference=estimate,
        other=estimate,
        difference=Interval(0.1, 0.05, 0.15),
        distance=Interval(sum(distance) / 2, *distance),
        p=adjusted,
        adjusted=adjusted,
        probes=10,
        clusters=10,
    )


def test_only_a_difference_that_is_shown_makes_one_nearer() -> None:
    """The words once said "nearer to fair" beside an adjusted p of 0.059."""
    settings = Settings()
    assert _difference("nli_coal", (-0.2, -0.1), 0.059).nearness(settings) == "unclear"
    assert _difference("nli_coal", (-0.2, -0.1), 0.05).nearness(settings) == "nearer"
    assert _difference("nli_coal", (0.1, 0.2), 0.01).nearness(settings) == "farther"
    assert _difference("nli_coal", (-0.1, 0.2), 0.01).nearness(settings) == "unclear"


def test_every_difference_that_is_counted_is_named() -> None:
    """iCAT's best value is called ideal: the summary once counted it and did not name it."""
    models = tuple(
        Contestant(name=n, answers=quick_audit("fixed:fair", load(limit=6)).answers, estimates=())
        for n in ("a", "b")
    )
    differences = (
        _difference("nli_coal", (-0.2, -0.1), 0.01),
        _difference("icat_official", (-0.2, -0.1), 0.01),
        _difference("lms_official", (0.1, 0.2), 0.01),
        _difference("ss_official", (-0.1, 0.2), 0.01),
        _difference("fs_official", (-0.1, 0.2), 0.5),
    )
    comparison = Comparison(
        suite=load(limit=6),
        models=models,
        differences=differences,
        left_out=(),
        tests=5,
        settings=Settings(),
    )
    assert summary(comparison, "b") == (
        "b differs from a in 4 of 5 measures (adjusted p at most 0.05). "
        "It is nearer to fair in NLI-CoAL (+0.100). "
        "It is nearer to ideal in StereoSet iCAT, official (+0.100). "
        "It is farther from right in StereoSet LMS, official (+0.100). "
        "Which of the two is nearer stays open in StereoSet SS, official (+0.100)."
    )
    assert [nearness_words(comparison, d) for d in differences][-2:] == ["no clear difference"] * 2


def test_a_comparison_asks_and_estimates_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Baselines and breakdowns of every model were once computed and thrown away."""
    from evenhand.engine import audit

    def refuse(*_: object) -> None:
        raise AssertionError("a comparison judges nobody")

    for name in ("judge", "score_rules", "_breakdowns"):
        monkeypatch.setattr(audit, name, refuse)
    comparison = quick_compare([noise, "fixed:fair"], [load()])[0]
    assert [len(m.estimates) for m in comparison.models] == [5, 5]
