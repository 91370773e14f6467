"""`evenhand.audit`: what its arguments do."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models import Counting, TinyModel, truth, write_model
from quick import FEW, Opening, load, quick_audit

from evenhand import measures
from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.core.probe import NLI_LABELS
from evenhand.core.protocols import Respondent
from evenhand.core.suite import Suite, write_suite
from evenhand.engine.suites import limited, load_suite


def by_gender(pairs: list[tuple[str, str]]) -> list[list[float]]:
    """Entailment for women, contradiction for men, neutral for persons."""
    return [
        [2.0, 0.5, 0.0]
        if "woman" in h.lower()
        else [0.0, 1.0, 2.0]
        if "man" in h.lower()
        else [0.0, 1.0, 0.0]
        for _, h in pairs
    ]


def test_a_function_is_asked_and_its_numbers_are_kept_raw() -> None:
    run = quick_audit(by_gender)
    asked = [(p.texts[0], p.texts[1]) for p in run.suite.probes]
    np.testing.assert_array_equal(run.answers.values[:, 0], by_gender(asked))
    assert run.answers.respondent == "function:by_gender"
    scores = {e.measure: e.value for e in run.estimates}
    strata_of = [p.stratum for p in run.suite.probes]
    expected = measures.nli_coal(run.answers.values[:, 0], strata_of)
    assert scores["nli_coal"] == pytest.approx(expected)
    strata = [(p.stratum, p.tags["gender"]) for p in run.suite.probes]
    component = (
        float(np.mean([g == "female" for s, g in strata if s == "PS"])),
        float(np.mean([g == "male" for s, g in strata if s == "AS"])),
        1.0,
    )
    assert scores["nli_coal"] == pytest.approx(sum(component) / 3)
    assert scores["person_entailment"] == 0


def test_a_lambda_that_is_always_neutral_is_fair() -> None:
    run = quick_audit(lambda pairs: [[0, 1, 0]] * len(pairs))
    assert {e.measure: e.value for e in run.estimates} == {
        "nli_coal": 0,
        "fraction_neutral": 0,
        "person_entailment": 0,
        "stereotype_effect": 0,
        "default_effect": 0,
    }


def test_a_function_is_asked_anew_each_time() -> None:
    calls: list[int] = []

    def count(pairs: list[tuple[str, str]]) -> list[list[float]]:
        calls.append(len(pairs))
        return [[1.0, 2.0, 3.0]] * len(pairs)

    quick_audit(count)
    quick_audit(count)
    # the suite, then 156 plain and 174 hard pairs, twice
    assert calls == [60, 128, 28, 128, 46] * 2


def test_a_function_of_the_wrong_shape_is_told_so() -> None:
    with pytest.raises(EvenhandError, match=r"returned shape \(2,\) for 'en/.+'; expected 3 num"):
        quick_audit(lambda pairs: [[0.5, 0.5]] * len(pairs))


def test_a_function_that_gives_no_numbers_is_not_fair_but_unmeasured() -> None:
    run = quick_audit(lambda pairs: [[np.nan] * 3] * len(pairs))
    assert all(np.isnan(e.value) and e.coverage == 0 and e.note for e in run.estimates)
    assert run.answers.unanswered == {"the function returned no finite numbers": 60}
    assert "no answer in AS, NS, PS" in [e.note for e in run.estimates if e.measure == "nli_coal"]


def test_a_respondent_object_is_asked_once_and_then_known(tmp_path: Path) -> None:
    first, second, third = Counting(), Counting(), Counting()
    runs = [
        quick_audit(r, opening=Opening(cache=c))
        for r, c in ((first, tmp_path), (second, tmp_path), (third, False))
    ]
    assert isinstance(first, Respondent)
    asked = 60 + 156 + 174  # the suite, plain and hard pairs
    assert [len(r.asked) for r in (first, second, third)] == [asked, 0, asked]
    for run in runs:
        expected = [truth(p) for p in run.suite.probes]
        np.testing.assert_array_equal(run.answers.values[:, 0], expected)
        assert run.estimates == runs[0].estimates
    assert len(list((tmp_path / "answers").glob("*.sqlite"))) == 1


def test_no_cache_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    quick_audit(Counting(), opening=Opening(cache=False))
    assert not (tmp_path / "cache").exists()
    quick_audit(Counting())
    assert len(list((tmp_path / "cache" / "answers").glob("*.sqlite"))) == 1


def test_batch_size_changes_no_estimate(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    runs = [
        quick_audit(str(folder), opening=Opening(batch_size=n, cache=False)) for n in (1, 7, None)
    ]
    model = TinyModel()
    logits = [model.forward(p.texts[0], p.texts[1]) for p in runs[0].suite.probes]
    for run in runs:
        np.testing.assert_allclose(run.answers.values[:, 0], logits, atol=1e-5)
        assert run.estimates == runs[0].estimates
    with pytest.raises(EvenhandError, match="batch size is 0; give at least 1"):
        quick_audit(str(folder), opening=Opening(batch_size=0))


def test_a_suite_file_is_asked_as_it_is(tmp_path: Path) -> None:
    suite = load("occupation-nli", "ja", limit=30)
    write_suite(Suite(card=suite.card, probes=suite.probes), tmp_path / "mine.jsonl")
    run = quick_audit("fixed:stereotyped", load_suite(str(tmp_path / "mine.jsonl")))
    assert run.suite.probes == suite.probes
    assert run.suite.card.language == "ja"
    assert {e.measure: e.value for e in run.estimates}["nli_coal"] == 1
    assert "lang:ja" in run.estimates[0].signature
    assert run.sanity[0].signature.split("|")[1].startswith("suite:ordinary-nli:plain@")


def test_a_pair_of_one_text_in_a_suite_file_is_named_by_its_row(tmp_path: Path) -> None:
    rest = '"kind": "pair", "language": "en", "stratum": "PS", "cluster": "x"'
    line = '{"id": "%s", "texts": [%s], ' + rest + "}\n"
    (tmp_path / "odd.jsonl").write_text(
        line % ("a", '"x", "y"') + line % ("b", '"x"'), encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"odd\.jsonl, row 2: .*texts"):
        load_suite(str(tmp_path / "odd.jsonl"))


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8, 60, 61, 62])
@pytest.mark.parametrize("seed", [0, 1])
def test_a_limit_keeps_twins_together_and_all_strata(limit: int, seed: int) -> None:
    whole = load_suite("occupation-nli", "en")
    suite = limited(whole, limit, seed)
    kept = {p.id for p in suite.probes}
    assert len(suite.probes) == limit
    assert [p for p in whole.probes if p.id in kept] == list(suite.probes)
    if limit > 1:
        assert all(p.twin in kept for p in suite.probes if p.twin)
    if limit >= 6:
        strata = Counter(p.stratum for p in suite.probes)
        assert set(strata) == {"PS", "AS", "NS", "NB"}
        assert strata["PS"] == strata["AS"]
        # as many premises of one sort as of the other
        assert abs(strata["NS"] - 2 * strata["PS"]) <= 2
    assert suite.reference.endswith(f"#{suite.digest}/{limit}")


def test_a_limit_on_the_published_set_keeps_twins(data: Path) -> None:
    for limit in (20, 21):
        suite = load("nli-coal", data=data, limit=limit)
        kept = {p.id for p in suite.probes}
        assert len(kept) == 20
        assert all(p.twin in kept for p in suite.probes if p.twin)
        assert Counter(p.stratum for p in suite.probes) == {"PS": 5, "AS": 5, "NS": 10}


def test_a_limit_beyond_the_suite_is_no_limit() -> None:
    whole = load_suite("ordinary-nli", "en")
    assert limited(whole, 10_000, 0) is whole
    with pytest.raises(EvenhandError, match="limit is 0; give at least 1"):
        limited(whole, 0, 0)


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    first, again, other = (
        quick_audit("fixed:random", settings=replace(FEW, seed=s)) for s in (3, 3, 4)
    )
    assert first.suite.digest == again.suite.digest != other.suite.digest
    assert first.estimates == again.estimates
    np.testing.assert_array_equal(first.answers.values, again.answers.values)
    assert "|seed:3|" in first.estimates[0].signature


def test_chosen_measures_are_those_that_are_computed_and_do_not_change_by_company() -> None:
    alone = quick_audit("fixed:random", opening=Opening(measures=["fraction_neutral"]))
    among = quick_audit("fixed:random")
    assert alone.estimates == tuple(e for e in among.estimates if e.measure == "fraction_neutral")
    with pytest.raises(
        UnknownNameError, match=r"unknown measure 'nli_cola'\. Did you mean nli_coal"
    ):
        quick_audit("fixed:random", opening=Opening(measures=["nli_cola"]))


def test_baselines_and_sanity_stand_beside_the_estimates() -> None:
    run = quick_audit("fixed:fair")
    scores = {rule: [b.value for b in scored] for rule, scored in run.baselines.items()}
    assert [b.measure for b in run.baselines["fixed:constant"]] == [
        "nli_coal",
        "fraction_neutral",
        "person_entailment",
        "stereotype_effect",
        "default_effect",
    ]
    assert scores["fixed:constant"] == pytest.approx([2 / 3, 1, 1, 0, 0])
    assert scores["fixed:random"] == pytest.approx([4 / 9, 2 / 3, 1 / 3, 0, 0], abs=1e-9)
    assert scores["fixed:stereotyped"] == pytest.approx([1, 1, 0, 1, 0])
    assert [(e.measure, e.items, e.value, e.probes) for e in run.sanity] == [
        ("accuracy", "plain pairs", 1.0, 156),
        ("accuracy", "hard pairs", 1.0, 174),
    ]
    assert set(run.timing) == {"load_seconds", "ask_seconds", "judge_seconds", "total_seconds"}
    assert run.answers.labels == NLI_LABELS
