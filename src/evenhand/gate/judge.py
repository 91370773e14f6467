"""Judgement: rules against the numbers of a run, without reading or asking anything.

A limit is judged by the whole interval: kept where all of it is allowed, missed where none of it
is, else not sure. So a model that is exactly at its limit is passed with half of 1 - level, and
failed with the other half. What has no number is never passed.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.measure import Measure
from evenhand.core.settings import Settings
from evenhand.core.text import (
    counted,
    number,
    p_value,
    percent,
    short_number,
    signed_with_bounds,
    with_bounds,
)
from evenhand.engine.compare import Difference
from evenhand.gate.policy import Limits, On, Rule
from evenhand.gate.records import RunRecord

Outcome = Literal["pass", "not sure", "fail"]
Aspect = Literal["limit", "baseline", "coverage", "understanding", "review"]
EXIT_CODES: dict[Outcome, int] = {"pass": 0, "fail": 1, "not sure": 3}
_ORDER: tuple[Outcome, ...] = ("pass", "not sure", "fail")
_SLACK = 1e-9  # rounding must not fail a model that is exactly at its limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """One thing that a rule demands, and whether it holds."""

    aspect: Aspect
    outcome: Outcome
    reason: str


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One rule, judged."""

    rule: Rule  # with its measure, suite and language named
    record: RunRecord
    estimate: Estimate
    interval: Interval  # for the target of the rule
    judgements: tuple[Judgement, ...]
    difference: Difference | None = None
    warnings: tuple[str, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The worst of what it demands."""
        return worst([j.outcome for j in self.judgements])

    @property
    def reason(self) -> str:
        """Why it has this outcome, in sentences."""
        decisive = [j for j in self.judgements if j.outcome == self.outcome]
        if self.outcome == "pass":
            decisive = [j for j in decisive if j.aspect in ("limit", "baseline")] or decisive
        return " ".join(f"{j.reason}." for j in decisive)


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """All rules, judged."""

    findings: tuple[Finding, ...]
    source: str  # where the rules stand
    day: date
    tests: int = 0  # how many p values were adjusted together

    @property
    def outcome(self) -> Outcome:
        """The worst of the rules."""
        return worst([f.outcome for f in self.findings])

    @property
    def exit_code(self) -> int:
        """0 pass, 1 fail, 3 not sure."""
        return EXIT_CODES[self.outcome]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings of all rules, each once."""
        return tuple(dict.fromkeys(w for f in self.findings for w in f.warnings))

    def with_outcome(self, outcome: Outcome) -> list[Finding]:
        """The rules that have this outcome."""
        return [f for f in self.findings if f.outcome == outcome]


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """The worst outcome; nothing judged is not sure."""
    return max(outcomes, key=_ORDER.index) if outcomes else "not sure"


def place_in(interval: Interval, limits: Limits, on: On = "interval") -> Outcome:
    """Whether what is judged lies in the limits: pass where all of it does, fail where none does.

    A value that is NaN fails; one without bounds is not sure where bounds are judged.
    """
    if not math.isfinite(interval.value):
        return "fail"
    if on != "interval":
        judged = {"value": interval.value, "low": interval.low, "high": interval.high}[on]
        if not math.isfinite(judged):
            return "not sure"
        return "pass" if limits.low - _SLACK <= judged <= limits.high + _SLACK else "fail"
    if not interval.has_bounds:
        return "not sure"
    if limits.low - _SLACK <= interval.low and interval.high <= limits.high + _SLACK:
        return "pass"
    is_outside = interval.high < limits.low - _SLACK or interval.low > limits.high + _SLACK
    return "fail" if is_outside else "not sure"


def interval_of(estimate: Estimate, rule: Rule) -> Interval:
    """The interval of an estimate for the target of a rule.

    Raises EvenhandError where the run has none for it.
    """
    if rule.target == estimate.target:
        return estimate.interval
    if rule.target in estimate.targets:
        return estimate.targets[rule.target]
    raise EvenhandError(
        f"{rule.title} is about {rule.target}, but the run has intervals about {estimate.target} "
        "only: audit the model again"
    )


def judge(
    rule: Rule,
    record: RunRecord,
    estimate: Estimate,
    *,
    today: date,
    difference: Difference | None = None,
) -> Finding:
    """One rule against the run that it is about.

    difference: the run against its baseline, with the p value adjusted; needed where the rule
    compares.
    """
    interval = interval_of(estimate, rule)
    judgements = []
    if rule.has_limits:
        judgements.append(_judge_limits(rule, estimate, interval))
    elif not math.isfinite(interval.value):
        judgements.append(_no_value(estimate))
    if rule.needs_baseline:
        judgements += _judge_difference(rule, difference, record.settings)
    judgements.append(_judge_coverage(rule, estimate))
    judgements += _judge_understanding(rule, record)
    warnings: tuple[str, ...] = ()
    if rule.review is not None and today > rule.review:
        owner = f"; its owner is {rule.owner}" if rule.owner else ""
        late = f"{rule.title}: the review date {rule.review} has passed{owner}"
        warnings = (late,)
        if rule.after_review == "fail":
            judgements.append(Judgement(aspect="review", outcome="fail", reason=late))
    return Finding(
        rule=rule,
        record=record,
        estimate=estimate,
        interval=interval,
        judgements=tuple(judgements),
        difference=difference,
        warnings=warnings,
    )


def _no_value(estimate: Estimate) -> Judgement:
    why = estimate.note or "not measured"
    return Judgement(
        aspect="limit", outcome="fail", reason=f"{estimate.measure} has no value ({why})"
    )


def _judge_limits(rule: Rule, estimate: Estimate, interval: Interval) -> Judgement:
    measure = catalog.measure(estimate.measure)
    limits = rule.limits(measure)
    outcome = place_in(interval, limits, rule.on)
    if not math.isfinite(interval.value):
        return _no_value(estimate)
    return Judgement(
        aspect="limit",
        outcome=outcome,
        reason=_limit_words(rule, measure, limits, estimate, interval, outcome),
    )


def _limit_words(
    rule: Rule,
    measure: Measure,
    limits: Limits,
    estimate: Estimate,
    interval: Interval,
    outcome: Outcome,
) -> str:
    """Why a limit is kept, missed or neither, in one sentence."""
    stated = f"{measure.name} is {with_bounds(interval)}"
    allowed = f"{limits} is allowed ({short_number(measure.fair)} is {measure.best})"
    level = f"{estimate.level * 100:g} % interval for {rule.target}"
    if rule.on == "value":
        held = "is" if outcome == "pass" else "is not"
        return f"{stated}, and {allowed}: the value {held} within the limit"
    if outcome == "not sure" and not interval.has_bounds:
        return f"{stated}, and {allowed}: without an interval nothing is shown ({estimate.note})"
    if rule.on != "interval":
        end, bound = ("lower", interval.low) if rule.on == "low" else ("upper", interval.high)
        held = "is" if outcome == "pass" else "is not"
        return f"{stated}, and {allowed}: the {end} end of the {level}, {number(bound)}, {held}"
    where = {
        "pass": f"the whole {level} is within the limit",
        "fail": f"the whole {level} is beyond the limit",
        "not sure": f"the {level} lies on both sides of the limit, so that neither is shown",
    }
    return f"{stated}, and {allowed}: {where[outcome]}"


def _judge_difference(
    rule: Rule, difference: Difference | None, settings: Settings
) -> list[Judgement]:
    if difference is None or not math.isfinite(difference.p):
        why = "there is no baseline" if difference is None else difference.note or "no p value"
        reason = f"{rule.measure} could not be compared with the baseline ({why})"
        return [Judgement(aspect="baseline", outcome="fail", reason=reason)]
    best = catalog.measure(difference.measure).best
    apart = (
        f"{difference.measure} is {number(difference.other.value)}, and was "
        f"{number(difference.reference.value)}; the distance from {best} changed by "
        f"{signed_with_bounds(difference.distance)}"
    )
    judgements = []
    if rule.no_regression:
        tested = f"adjusted p {p_value(difference.adjusted)}"
        nearness = difference.nearness(settings)
        outcome: Outcome = "pass"
        reason = f"{apart} ({tested}): a worsening is not shown"
        if nearness == "farther":
            outcome, reason = "fail", f"{apart} ({tested}): the worsening is shown"
        elif nearness == "unknown":
            outcome, reason = "fail", f"{apart} ({tested}; {difference.note or 'no interval'})"
        elif nearness == "unclear" and difference.is_shown(settings):
            outcome = "not sure"
            reason = f"{apart} ({tested}): the change is shown, not whether it is for the worse"
        judgements.append(Judgement(aspect="baseline", outcome=outcome, reason=reason))
    if rule.max_worsening is not None:
        limits = Limits(-math.inf, rule.max_worsening)
        outcome = place_in(difference.distance, limits)
        where = {"pass": "within", "fail": "beyond", "not sure": "on both sides of"}[outcome]
        allowed = f"{short_number(rule.max_worsening)} farther is allowed"
        reason = f"{apart}, and at most {allowed}: the interval is {where} the limit"
        judgements.append(Judgement(aspect="baseline", outcome=outcome, reason=reason))
    return judgements


def _judge_coverage(rule: Rule, estimate: Estimate) -> Judgement:
    asked = counted(estimate.probes, "probe")
    share = estimate.coverage
    is_enough = math.isfinite(share) and share >= rule.min_coverage - _SLACK
    wanted = f"at least {percent(rule.min_coverage, 1)} must be"
    return Judgement(
        aspect="coverage",
        outcome="pass" if is_enough and share > 0 else "fail",
        reason=f"{percent(share, 1)} of {asked} of {estimate.measure} are answered; {wanted}",
    )


def _judge_understanding(rule: Rule, record: RunRecord) -> list[Judgement]:
    """Whether the model understands what it is asked, by the first check of the run."""
    if rule.min_validity == 0:
        return []
    check = record.checks[0] if record.checks else None
    if rule.min_validity is None:
        if check is None or not catalog.family(record.family).is_checked:
            return []
        reason = (
            f"accuracy on {check.items} is {with_bounds(check.interval)}; below "
            f"{number(check.weak_below)} a good score may be a lack of understanding"
        )
        is_known = math.isfinite(check.value)
        outcome: Outcome = "pass" if is_known and not check.is_weak else "not sure"
        return [Judgement(aspect="understanding", outcome=outcome, reason=reason)]
    wanted = f"at least {short_number(rule.min_validity)} is demanded"
    if check is None:
        reason = (
            f"the run has no accuracy on plain pairs or a file of pairs, and {wanted}; "
            "audit with --dev FILE, or set min_validity = 0"
        )
        return [Judgement(aspect="understanding", outcome="fail", reason=reason)]
    outcome = place_in(check.interval, Limits(rule.min_validity, math.inf))
    reason = f"accuracy on {check.items} is {with_bounds(check.interval)}, and {wanted}"
    if outcome == "not sure":
        reason += ": the interval lies on both sides of it"
    return [Judgement(aspect="understanding", outcome=outcome, reason=reason)]
