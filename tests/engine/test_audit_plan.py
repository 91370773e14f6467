"""What fits a model is known before the first question, and is asked of a model opened once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from quick import FEW, load

import evenhand
from evenhand.core.answers import Replies
from evenhand.core.errors import EvenhandError, LoadError, MeasureError
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.audit import audit
from evenhand.engine.audit_plan import (
    PROBES,
    AuditOptions,
    AuditPlan,
    bias_suites,
    plan_everything,
    suites_in,
)
from evenhand.engine.opened import OpenedModel
from evenhand.respondents import locate

BUILT_IN = {
    "occupation-nli",
    "contextualised",
    "gendered-entailment",
    "gender-recognition",
    "profession",
    "emotion",
}
QUICKLY = AuditOptions(settings=FEW, cache=False)


class Masks:
    """A respondent that answers blanks and refuses when it is asked, where that is wished."""

    kinds: frozenset[Kind] = frozenset({"mask"})
    is_cacheable = False
    reads_tags = False

    def __init__(self, identity: str = "masks@1", refusal: str = "") -> None:
        self.identity, self.refusal, self.asked = identity, refusal, 0
        self.traits: Mapping[str, str] = {"scoring": "none"}

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        return ("score",)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        if self.refusal:
            raise LoadError(self.refusal)
        self.asked += len(probes)
        return Replies(values=np.tile([[0.5], [0.0]], (len(probes), 1, 1)))


def neutral(pairs: list[tuple[str, str]]) -> Any:
    """Always neutral."""
    return np.tile([0.0, 1.0, 0.0], (len(pairs), 1))


def test_every_suite_about_bias_that_needs_no_data_the_default_one_first() -> None:
    names = [source.name for source in bias_suites()]
    assert names[0] == "occupation-nli" and {*names} == BUILT_IN
    known, reasons = suites_in("ko")
    assert known == ["contextualised"]
    assert reasons["emotion"] == "is not in 'ko', only in en, ja and zh"


def test_what_does_not_fit_is_listed_with_its_reason() -> None:
    plan = plan_everything([neutral], "en", QUICKLY, limit=20)
    assert [one.suite.card.name for one in plan.assignments] == [
        "occupation-nli",
        "gendered-entailment",
    ]
    assert {one.suite: one.reason for one in plan.not_asked} == {
        name: f"asks {kind} probes, and the model answers pair probes"
        for name, kind in (
            ("contextualised", "mask"),
            ("gender-recognition", "choice"),
            ("profession", "choice"),
            ("emotion", "choice"),
        )
    }
    assert all(len(one.suite.probes) <= 20 for one in plan.assignments)


def test_suites_are_cut_to_a_size_unless_told_otherwise() -> None:
    plan = plan_everything([neutral], "en", QUICKLY)
    first, *others = (len(one.suite.probes) for one in plan.assignments)
    assert (first, {*others}) == (4230, {PROBES})
    whole = plan_everything([neutral], "en", QUICKLY, is_whole=True)
    assert [len(one.suite.probes) for one in whole.assignments][1] > PROBES


def test_a_named_suite_that_does_not_fit_is_refused_with_those_that_do() -> None:
    masks = Masks()
    suites = [load("contextualised", limit=10), load(limit=20)]
    with pytest.raises(LoadError) as refusal:
        AuditPlan([masks], suites, QUICKLY)
    assert str(refusal.value) == (
        "masks@1 answers mask probes, and occupation-nli asks pair probes. "
        "Suites that fit this model: contextualised"
    )
    assert masks.asked == 0
    with pytest.raises(LoadError, match="Suites that fit this model: occupation-nli, "):
        AuditPlan(["default"], [load("contextualised", limit=10)], QUICKLY)


def test_a_measure_goes_to_the_suites_that_have_it() -> None:
    options = AuditOptions(settings=FEW, cache=False, measures=("entailment_gap",))
    plan = plan_everything([neutral], "en", options, limit=20)
    assert [(one.suite.card.name, one.measures) for one in plan.assignments] == [
        ("gendered-entailment", ("entailment_gap",))
    ]
    nowhere = AuditOptions(settings=FEW, measures=("pb_bias",))
    with pytest.raises(MeasureError, match="pb_bias does not apply to occupation-nli"):
        plan_everything([neutral], "en", nowhere, limit=20)


def test_a_model_that_refuses_when_it_is_asked_is_listed_or_named() -> None:
    masks = Masks(refusal="another script")
    plan = plan_everything([masks, "fixed:fair"], "ko", QUICKLY, limit=12)
    (run,) = plan.carry_out()
    assert run.answers.respondent == "fixed:fair"
    refused = [(one.model, one.reason) for one in plan.not_asked if one.suite == "contextualised"]
    assert refused == [("masks@1", "another script")]
    with pytest.raises(LoadError, match="another script"):
        plan_everything([masks], "ko", QUICKLY, limit=12).carry_out()
    with pytest.raises(LoadError, match="another script"):
        AuditPlan([masks], [load("contextualised", limit=10)], QUICKLY).carry_out()


def test_a_model_is_opened_once_for_all_kinds_that_it_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[tuple[str, str]] = []
    really = locate.open_respondent

    def count(reference: str, kind: Kind, options: RespondentOptions) -> Any:
        calls.append((reference, kind))
        return really(reference, kind, options)

    monkeypatch.setattr("evenhand.engine.opened.open_respondent", count)
    plan = plan_everything(["fixed:fair"], "en", QUICKLY, limit=12)
    titles: list[str] = []

    def finish(place: int, run: Any) -> None:
        titles.append(plan.assignments[place].suite.card.name)
        assert run.suite.card.name == titles[-1]

    plan.carry_out(finish=finish)
    assert len(titles) == 6 and calls == [("fixed:fair", "pair")]
    model = OpenedModel("default")
    for _ in range(2):
        with pytest.raises(LoadError, match="cannot answer mask probes"):
            model.respondent("mask", "en")
    assert len(calls) == 2  # a refusal is remembered


def test_several_runs_are_those_of_single_audits() -> None:
    suites = [load(limit=30), load("gendered-entailment", limit=20)]
    found = evenhand.audit_all(["fixed:random", "fixed:fair"], suites, settings=FEW)
    assert found.models == ("fixed:random@0", "fixed:fair")
    assert found.suites == ("occupation-nli", "gendered-entailment")
    assert found.not_asked == ()
    for run in found.runs:
        name = run.answers.respondent.partition("@")[0]
        alone = audit(name, run.suite, settings=FEW)
        assert run.estimates == alone.estimates
        assert [repr(check) for check in run.sanity] == [repr(check) for check in alone.sanity]
    assert found.of("fixed:fair", "gendered-entailment") is found.runs[3]
    assert found.of("fixed:fair", "emotion") is None


def test_nothing_to_ask_is_an_error() -> None:
    with pytest.raises(EvenhandError, match="there is nothing to ask"):
        AuditPlan(["fixed:fair"], [], QUICKLY)
    with pytest.raises(EvenhandError, match="no built-in suite about bias is in 'fr'"):
        plan_everything(["fixed:fair"], "fr", QUICKLY)
    with pytest.raises(LoadError, match="unknown model 'nobody:x'"):
        plan_everything(["fixed:fair", "nobody:x"], "en", QUICKLY)
