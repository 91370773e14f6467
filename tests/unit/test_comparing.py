"""Are two models compared on the same probes only, and is what cannot be compared said?"""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_report import TwoLabels, deaf_to_men, noise, silent

import evenhand as eh
from evenhand.core import catalog
from evenhand.core.answer_files import suite_of, write_answers
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, MeasureError
from evenhand.core.probe import Probe
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import audit, load_suite
from evenhand.engine.comparing import compare, short_names
from evenhand.engine.differing import Comparison, answered_by
from evenhand.report.comparison import chance, nearness, notes, signed, summary
from evenhand.stats.corrections import benjamini_hochberg

FEW: dict[str, Any] = {"resamples": 200, "permutations": 200}


@pytest.fixture(scope="module")
def found() -> Comparison:
    return compare([noise, "fixed:fair", deaf_to_men], limit=120, resamples=200, permutations=200)[
        0
    ]


def test_values_and_differences_are_those_of_the_audits(found: Comparison) -> None:
    runs = [eh.audit(model, limit=120, resamples=200) for model in (noise, "fixed:fair")]
    for mine, theirs in zip(*(run.estimates for run in runs), strict=True):
        apart = next(d for d in found.against("fixed:fair") if d.measure == mine.measure)
        assert apart.reference == mine
        assert apart.other == theirs
        assert apart.difference.value == pytest.approx(theirs.value - mine.value)
        best = catalog.measure(mine.measure).fair
        assert apart.distance.value == pytest.approx(
            abs(theirs.value - best) - abs(mine.value - best)
        )
        assert apart.difference.low <= apart.difference.value <= apart.difference.high


def test_only_probes_that_both_answered_count(found: Comparison) -> None:
    partial = found.models[2]
    is_answered = np.asarray(np.isfinite(partial.answers.values).all(axis=1))
    assert 0 < is_answered.sum() < len(is_answered)
    for apart in found.against(partial.name):
        measure = catalog.measure(apart.measure)
        kept = [
            (p, row)
            for p, row, answered in zip(
                found.suite.probes, found.reference.answers.values, is_answered, strict=True
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
            Signature.parse(found.reference.estimates[0].signature)
        )["only"] == (
            f"answered by {partial.answers.respondent} too",
            None,
        )
        assert "only:" not in apart.other.signature
    assert any("answered" in note for note in notes(found))


def test_a_model_does_not_differ_from_itself() -> None:
    comparison = compare([noise, noise], limit=60, **FEW)[0]
    assert len(comparison.differences) == 3
    for apart in comparison.differences:
        assert apart.difference == (0.0, 0.0, 0.0)
        assert apart.distance == (0.0, 0.0, 0.0)
        assert apart.p == apart.adjusted == 1.0
        assert apart.differing_fields == {}
        assert nearness(apart) == "equally far"
    assert "does not prove them equal" in summary(comparison, comparison.models[1].name)


def test_p_values_are_adjusted_over_all_suites_and_models() -> None:
    comparisons = compare(
        ["fixed:random", "fixed:fair", "fixed:constant"],
        suites=["occupation-nli", "gendered-entailment"],
        limit=60,
        **FEW,
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


def test_the_same_call_gives_the_same_numbers(found: Comparison) -> None:
    again = compare([noise, "fixed:fair", deaf_to_men], limit=120, resamples=200, permutations=200)[
        0
    ]
    assert repr(again.differences) == repr(found.differences)  # repr: NaN is not equal to itself


def test_a_measure_that_one_model_does_not_allow_is_listed() -> None:
    comparison = compare([noise, TwoLabels()], limit=60, **FEW)[0]
    assert {d.measure for d in comparison.differences} == {"person_entailment"}
    assert {x.measure for x in comparison.left_out} == {"nli_coal", "fraction_neutral"}
    assert all("two gives entailment, not_entailment" in x.reason for x in comparison.left_out)
    told = " ".join(notes(comparison))
    assert (
        "NLI-CoAL is not compared with two: it needs contradiction, neutral; two gives entailment, not_entailment."
        in told
    )
    back = compare([TwoLabels(), noise], limit=60, **FEW)[0]
    assert {x.measure for x in back.left_out} == {"nli_coal", "fraction_neutral"}
    with pytest.raises(MeasureError, match="two@1: nli_coal needs the labels"):
        compare([noise, TwoLabels()], limit=60, measures=["nli_coal"])


def _answers(tmp_path: Path, name: str, model: str, **settings: Any) -> Path:
    path = tmp_path / name / "answers.parquet"
    path.parent.mkdir()
    write_answers(audit(model, resamples=50, **settings).answers, path)
    return path


def test_answers_of_a_run_are_compared_with_each_other_and_with_a_model(tmp_path: Path) -> None:
    first, second = (_answers(tmp_path, m, f"fixed:{m}", limit=60) for m in ("random", "constant"))
    asked = compare(["fixed:random", "fixed:constant"], limit=60, **FEW)[0]
    mixed: list[list[Any]] = [
        [first, second],
        [str(first), second.parent],
        ["fixed:random", second],
        [first, "fixed:constant"],
    ]
    for models in mixed:
        assert repr(compare(models, **FEW)[0].differences) == repr(asked.differences)
    named = compare([first, second], suites=["occupation-nli"], limit=60, **FEW)[0]
    assert named.suite.card.licence != "that of the suite"
    with pytest.raises(InputError, match="leave --limit 30 out"):
        compare([first, second], limit=30)
    with pytest.raises(EvenhandError, match="names 2"):
        compare([first, second], suites=["occupation-nli", "ordinary-nli"])


def test_answers_to_other_probes_are_refused(tmp_path: Path) -> None:
    first = _answers(tmp_path, "a", "fixed:random", limit=60)
    other = _answers(tmp_path, "b", "fixed:fair", limit=80)
    suites = [load_suite("occupation-nli", "en", limit=n).reference for n in (60, 80)]
    with pytest.raises(EvenhandError) as told:
        compare([first, other])
    assert all(reference in str(told.value) for reference in suites)
    with pytest.raises(EvenhandError, match="--suite ordinary-nli answers ordinary-nli"):
        compare([first, "fixed:fair"], suites=["ordinary-nli"])
    with pytest.raises(EvenhandError, match="needs two or more models; there is fixed:fair"):
        compare(["fixed:fair"])
    with pytest.raises(InputError, match="there is no such file"):
        compare([tmp_path / "none.parquet", "fixed:fair"])


def one_cluster() -> Suite:
    suite = load_suite("occupation-nli", "en", limit=60)
    return Suite(
        card=suite.card, probes=tuple(dataclasses.replace(p, cluster="one") for p in suite.probes)
    )


def test_one_cluster_has_a_difference_but_neither_interval_nor_p() -> None:
    comparison = compare(["fixed:random", "fixed:fair"], suites=[one_cluster()], **FEW)[0]
    for apart in comparison.differences:
        assert math.isfinite(apart.difference.value)
        assert np.isnan(
            [apart.difference.low, apart.difference.high, apart.p, apart.adjusted]
        ).all()
        assert apart.note == "one cluster only: there is neither interval nor p value"
        assert nearness(apart) == "n/a"
    assert comparison.tests == 0
    assert "could not be compared" in summary(comparison, "fixed:fair")


def test_no_common_probe_is_no_difference() -> None:
    comparison = compare([noise, silent], limit=60, **FEW)[0]
    for apart in comparison.differences:
        assert np.isnan([*apart.difference, *apart.distance, apart.p]).all()
        assert apart.note == "no probe was answered by both"
        assert (apart.probes, apart.clusters) == (0, 0)


def test_few_clusters_are_called_rough() -> None:
    comparison = compare(["fixed:random", "fixed:fair"], limit=8, **FEW)[0]
    rough = [d for d in comparison.differences if 2 <= d.clusters < 10]
    assert rough
    assert all(f"p cannot fall below {2.0 ** (1 - d.clusters):.2g}" in d.note for d in rough)


def _choice(widths: tuple[int, ...], spread: int) -> Answers:
    probes = tuple(
        Probe(id=f"{i}", kind="choice", language="en", texts=("c", *(f"o{j}" for j in range(w))))
        for i, w in enumerate(widths)
    )
    values = np.full((len(widths), max(widths) * spread), np.nan)
    for row, width in zip(values, widths, strict=True):
        row[: width * spread] = 1.0
    return Answers(respondent="m", suite="s@1#0", labels=(), probes=probes, values=values)


@pytest.mark.parametrize("spread", [1, 3])
def test_a_probe_with_fewer_options_is_answered(spread: int) -> None:
    answers = _choice((3, 2, 3), spread)
    assert answered_by(answers).tolist() == [True, True, True]
    answers.values[1, 0] = np.nan
    answers.values[2, -1] = np.nan
    assert answered_by(answers).tolist() == [True, False, False]


def test_the_options_of_a_classifier_are_named_as_the_suite_names_them() -> None:
    probes = tuple(
        Probe(id=f"{i}", kind="choice", language="en", texts=("c", "a", "b"), cluster=f"{i}")
        for i in range(2)
    )
    card = SuiteCard(
        name="s",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        labels=("one", "two"),
    )
    labels = tuple(
        f"{o}:{x}" for o in card.labels for x in ("entailment", "neutral", "contradiction")
    )
    answers = Answers(
        respondent="m",
        suite=Suite(card=card, probes=probes).reference,
        labels=labels,
        probes=probes,
        values=np.zeros((2, 6)),
    )
    assert suite_of(answers).card.labels == ("one", "two")


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
        "0.000",
        "0.000",
        "n/a",
    ]
    assert [chance(p) for p in (0.0001, 0.001, 0.25, 1.0, float("nan"))] == [
        "<0.001",
        "0.001",
        "0.250",
        "1.000",
        "n/a",
    ]
