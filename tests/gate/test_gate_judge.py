"""Judgement: every outcome of every demand, and that nothing without a number passes."""

from __future__ import annotations

import math
from datetime import date
from typing import Any

import pytest
from gate_runs import SETTINGS, checked, estimated, nothing, recorded

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.engine.compare import Difference
from evenhand.gate.decide import decide
from evenhand.gate.judge import Finding, Outcome, judge, place_in, worst
from evenhand.gate.policy import Limits, On, Policy, Rule
from evenhand.gate.records import RunRecord

TODAY = date(2026, 11, 18)
NAN = math.nan
AT_MOST = Limits(-math.inf, 0.25)


def judged(rule: Rule, record: RunRecord) -> Finding:
    (finding,) = decide(Policy(rules=(rule,)), [record], today=TODAY).findings
    return finding


@pytest.mark.parametrize(
    ("interval", "on", "outcome"),
    [
        (Interval(0.1, 0.05, 0.2), "interval", "pass"),
        (Interval(0.2, 0.15, 0.25), "interval", "pass"),
        (Interval(0.2, 0.15, 0.26), "interval", "not sure"),
        (Interval(0.3, 0.24, 0.36), "interval", "not sure"),
        (Interval(0.3, 0.26, 0.36), "interval", "fail"),
        (Interval(0.25, 0.25, 0.25), "interval", "pass"),
        (Interval(0.2, 0.15, 0.26), "value", "pass"),
        (Interval(0.3, 0.24, 0.36), "value", "fail"),
        (Interval(0.3, 0.24, 0.36), "low", "pass"),
        (Interval(0.3, 0.26, 0.36), "low", "fail"),
        (Interval(0.2, 0.15, 0.26), "high", "fail"),
        (Interval(0.2, 0.15, 0.24), "high", "pass"),
        (Interval(NAN, NAN, NAN), "interval", "fail"),
        (Interval(NAN, NAN, NAN), "value", "fail"),
        (Interval(NAN, NAN, NAN), "low", "fail"),
        (Interval(0.1, NAN, NAN), "interval", "not sure"),
        (Interval(0.1, NAN, NAN), "high", "not sure"),
        (Interval(0.1, NAN, NAN), "value", "pass"),
    ],
)
def test_where_an_interval_lies(interval: Interval, on: On, outcome: Outcome) -> None:
    assert place_in(interval, AT_MOST, on) == outcome


def test_rounding_fails_no_model_at_its_limit() -> None:
    high = 0.1 + 0.2  # a little more than 0.3
    assert place_in(Interval(0.2, 0.1, high), Limits(-math.inf, 0.3)) == "pass"


def test_the_worst_decides_and_nothing_is_not_sure() -> None:
    assert worst(["pass", "not sure", "pass"]) == "not sure"
    assert worst(["pass", "fail", "not sure"]) == "fail"
    assert worst([]) == "not sure"


def test_a_reason_says_value_limit_and_where_the_interval_lies() -> None:
    record = recorded(estimated("nli_coal", 0.4, 0.37, 0.43))
    finding = judged(Rule(measure="nli_coal", at_most=0.25), record)
    assert finding.outcome == "fail"
    assert finding.reason == (
        "nli_coal is 0.400 [0.370, 0.430], and at most 0.25 is allowed (0 is fair): the whole 95 % "
        "interval for new items is beyond the limit."
    )


def test_the_target_of_the_rule_is_judged() -> None:
    record = recorded(estimated("nli_coal", 0.24, 0.2, 0.28))
    assert judged(Rule(measure="nli_coal", at_most=0.25), record).outcome == "not sure"
    here = Rule(measure="nli_coal", at_most=0.25, target="this set")
    assert judged(here, record).outcome == "pass"
    bare = recorded(estimated("nli_coal", 0.24, 0.2, 0.28, targets={}))
    with pytest.raises(EvenhandError, match="has intervals about new items only"):
        judged(here, bare)


def test_what_has_no_value_fails_with_its_reason() -> None:
    record = recorded(nothing("nli_coal", "no answer in PS"))
    for rule in (Rule(measure="nli_coal", at_most=0.25), Rule(measure="nli_coal")):
        finding = judged(rule, record)
        assert finding.outcome == "fail"
        assert "nli_coal has no value (no answer in PS)" in finding.reason


def test_what_has_no_interval_is_not_sure() -> None:
    lone = estimated("nli_coal", 0.1, NAN, NAN, note="one occupation only: there is no interval")
    finding = judged(Rule(measure="nli_coal", at_most=0.25), recorded(lone))
    assert finding.outcome == "not sure"
    assert "one occupation only" in finding.reason


@pytest.mark.parametrize(
    ("coverage", "minimum", "outcome"),
    [
        (1.0, 0.9, "pass"),
        (0.9, 0.9, "pass"),
        (0.89, 0.9, "fail"),
        (NAN, 0.0, "fail"),
        (0, 0, "fail"),
    ],
)
def test_too_few_answers_fail(coverage: float, minimum: float, outcome: Outcome) -> None:
    record = recorded(estimated("nli_coal", 0.1, 0.05, 0.15, coverage=coverage))
    rule = Rule(measure="nli_coal", at_most=0.25, min_coverage=minimum)
    assert judged(rule, record).outcome == outcome


@pytest.mark.parametrize(
    ("minimum", "check", "outcome"),
    [
        (None, (0.95, 0.9, 0.99), "pass"),
        (None, (0.4, 0.3, 0.5), "not sure"),
        (None, (NAN, NAN, NAN), "not sure"),
        (0.0, (0.4, 0.3, 0.5), "pass"),
        (0.85, (0.95, 0.9, 0.99), "pass"),
        (0.92, (0.95, 0.9, 0.99), "not sure"),
        (0.995, (0.95, 0.9, 0.99), "fail"),
        (0.5, (NAN, NAN, NAN), "fail"),
    ],
)
def test_a_model_that_does_not_understand_is_not_passed(
    minimum: float | None, check: tuple[float, float, float], outcome: Outcome
) -> None:
    record = recorded(estimated("nli_coal", 0.1, 0.05, 0.15), checks=(checked(*check),))
    rule = Rule(measure="nli_coal", at_most=0.25, min_validity=minimum)
    assert judged(rule, record).outcome == outcome


def test_a_check_that_is_demanded_and_missing_fails() -> None:
    record = recorded(estimated("nli_coal", 0.1, 0.05, 0.15), checks=())
    assert judged(Rule(measure="nli_coal", at_most=0.25), record).outcome == "pass"
    finding = judged(Rule(measure="nli_coal", at_most=0.25, min_validity=0.8), record)
    assert finding.outcome == "fail"
    assert "audit with --dev FILE" in finding.reason


def test_a_review_date_that_has_passed_warns_or_fails() -> None:
    record = recorded(estimated("nli_coal", 0.1, 0.05, 0.15))
    rule = Rule(measure="nli_coal", at_most=0.25, owner="Ada", review=date(2026, 11, 17))
    finding = judged(rule, record)
    assert finding.outcome == "pass"
    assert finding.warnings == (
        "nli_coal at most 0.25: the review date 2026-11-17 has passed; its owner is Ada",
    )
    strict = Rule(measure="nli_coal", at_most=0.25, review=date(2026, 11, 17), after_review="fail")
    assert judged(strict, record).outcome == "fail"
    today = Rule(measure="nli_coal", at_most=0.25, review=TODAY, after_review="fail")
    assert judged(today, record).outcome == "pass" and judged(today, record).warnings == ()


def differing(distance: Interval, p: float, **fields: Any) -> Difference:
    values: dict[str, Any] = {
        "reference": estimated("nli_coal", 0.2, 0.15, 0.25),
        "other": estimated("nli_coal", 0.3, 0.25, 0.35),
        "difference": distance,
        "adjusted": p,
        "probes": 100,
        "clusters": 20,
        **fields,
    }
    return Difference(measure="nli_coal", model="mine", distance=distance, p=p, **values)


@pytest.mark.parametrize(
    ("distance", "p", "worsening", "outcomes"),
    [
        (Interval(0.1, 0.05, 0.15), 0.01, None, ("fail",)),
        (Interval(0.1, 0.05, 0.15), 0.2, None, ("pass",)),
        (Interval(-0.1, -0.15, -0.05), 0.01, None, ("pass",)),
        (Interval(0.01, -0.05, 0.06), 0.01, None, ("not sure",)),
        (Interval(0.0, 0.0, 0.0), 1.0, None, ("pass",)),
        (Interval(NAN, NAN, NAN), 0.01, None, ("fail",)),
        (Interval(NAN, NAN, NAN), NAN, 0.2, ("fail",)),
        (Interval(0.1, 0.05, 0.15), 0.2, 0.2, ("pass", "pass")),
        (Interval(0.1, 0.05, 0.15), 0.2, 0.1, ("pass", "not sure")),
        (Interval(0.1, 0.05, 0.15), 0.01, 0.02, ("fail", "fail")),
    ],
)
def test_a_worsening_fails_where_it_is_shown(
    distance: Interval, p: float, worsening: float | None, outcomes: tuple[Outcome, ...]
) -> None:
    rule = Rule(measure="nli_coal", no_regression=True, max_worsening=worsening)
    estimate = estimated("nli_coal", 0.3, 0.25, 0.35)
    finding = judge(
        rule,
        recorded(estimate, settings=SETTINGS),
        estimate,
        today=TODAY,
        difference=differing(distance, p),
    )
    assert tuple(j.outcome for j in finding.judgements if j.aspect == "baseline") == outcomes


def test_a_rule_that_compares_without_a_baseline_is_not_passed() -> None:
    estimate = estimated("nli_coal", 0.3, 0.25, 0.35)
    rule = Rule(measure="nli_coal", no_regression=True)
    assert judge(rule, recorded(estimate), estimate, today=TODAY).outcome == "fail"
    with pytest.raises(EvenhandError, match="there is no baseline on occupation-nli"):
        judged(rule, recorded(estimate))


def test_a_rule_finds_its_run() -> None:
    coal = estimated("nli_coal", 0.1, 0.05, 0.15)
    english = recorded(coal)
    japanese = recorded(coal, language="ja")
    policy = Policy(rules=(Rule(measure="nli_coal", at_most=0.25, lang="ja"),))
    (finding,) = decide(policy, [english, japanese], today=TODAY).findings
    assert (finding.record, finding.rule.lang) == (japanese, "ja")
    headline = Policy(rules=(Rule(within=0.2),))
    findings = decide(headline, [english, japanese], today=TODAY).findings
    assert [f.rule.measure for f in findings] == ["nli_coal", "nli_coal"]
    cases = {
        "measured on occupation-nli \\(en\\), occupation-nli \\(ja\\): say which": Rule(
            measure="nli_coal", at_most=0.25
        ),
        "same_label was not measured in mine@1 on occupation-nli": Rule(
            measure="same_label", at_least=0.9, lang="en"
        ),
        "no run on gendered-entailment; there are occupation-nli": Rule(
            measure="same_label", at_least=0.9, suite="gendered-entailment"
        ),
        "unknown suite 'occupation-nil'. Did you mean occupation-nli": Rule(
            measure="nli_coal", at_most=0.25, suite="occupation-nil"
        ),
        "wrong side": Rule(measure="nli_coal", at_least=0.25, lang="en"),
    }
    for reason, rule in cases.items():
        with pytest.raises(EvenhandError, match=reason):
            decide(Policy(rules=(rule,)), [english, japanese], today=TODAY)


def test_a_policy_of_another_level_is_refused() -> None:
    record = recorded(estimated("nli_coal", 0.1, 0.05, 0.15))
    policy = Policy(rules=(Rule(measure="nli_coal", at_most=0.25),), level=0.99)
    with pytest.raises(EvenhandError, match=r"level 0\.95, and the command line demands 0\.99"):
        decide(policy, [record], today=TODAY)
