"""From a policy and runs to a verdict: which run a rule is about, and the paired comparison."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import date

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.estimate import Estimate
from evenhand.engine.compare import (
    Comparison,
    ComparisonOptions,
    Difference,
    adjust,
    compare,
)
from evenhand.gate.judge import Verdict, judge
from evenhand.gate.policy import EVERY, HEADLINE, Policy, Rule, check_rule
from evenhand.gate.records import RunRecord


@dataclasses.dataclass(frozen=True, kw_only=True)
class Matched:
    """A rule whose measure, suite and language are named, and the run that it is about."""

    rule: Rule
    record: RunRecord
    estimate: Estimate


def decide(
    policy: Policy,
    records: Sequence[RunRecord],
    baselines: Sequence[RunRecord] = (),
    *,
    today: date,
) -> Verdict:
    """Every rule of a policy against the runs.

    baselines: earlier runs on the same probes. Raises EvenhandError where a rule is about a suite
    or a measure that the runs do not have, and where a baseline is missing or has other probes.
    """
    _check_level(policy, records)
    matched = [m for rule in policy.rules for m in match(rule, records)]
    if not matched:
        raise EvenhandError(f"{policy.source} has no rule that can be judged")
    differences, tests = compare_with_baselines(matched, baselines)
    return Verdict(
        findings=tuple(
            judge(
                m.rule,
                m.record,
                m.estimate,
                today=today,
                difference=differences.get((m.record.place, m.rule.measure))
                if m.rule.needs_baseline
                else None,
            )
            for m in matched
        ),
        source=policy.source,
        day=today,
        tests=tests,
    )


def _check_level(policy: Policy, records: Sequence[RunRecord]) -> None:
    for record in records:
        if policy.level is not None and record.settings.level != policy.level:
            raise EvenhandError(
                f"{record.place} has intervals of level {record.settings.level:g}, and "
                f"{policy.source} demands {policy.level:g}; audit with --level {policy.level:g}"
            )


def match(rule: Rule, records: Sequence[RunRecord]) -> list[Matched]:
    """The rule for every run and measure that it is about.

    Raises EvenhandError where there is none, or where several runs have a named measure.
    """
    own = [r for r in records if r.is_of(rule.suite, rule.lang)]
    if not own:
        raise _no_run(rule, records)
    if rule.measure == HEADLINE:
        return [_matched(rule, r, r.estimates[0]) for r in own if r.estimates]
    if rule.measure == EVERY:
        return [_matched(rule, r, e) for r in own for e in r.estimates if _is_about_bias(e)]
    with_it = [(r, e) for r in own if (e := r.estimate(rule.measure)) is not None]
    if not with_it:
        known = sorted({e.measure for r in own for e in r.estimates})
        raise EvenhandError(
            f"{rule.measure} was not measured in {', '.join(r.place for r in own)}, which has "
            f"{', '.join(known) or 'no measure'}. Name the folder of a run that has it"
        )
    if len(with_it) > 1:
        places = ", ".join(f"{r.suite} ({r.language})" for r, _ in with_it)
        raise EvenhandError(
            f"{rule.measure} was measured on {places}: say which, by suite and lang in a policy "
            "or by --suite and --lang"
        )
    return [_matched(rule, *with_it[0])]


def _is_about_bias(estimate: Estimate) -> bool:
    return catalog.measure(estimate.measure).worst is not None


def _matched(rule: Rule, record: RunRecord, estimate: Estimate) -> Matched:
    named = dataclasses.replace(
        rule, measure=estimate.measure, suite=record.suite, lang=record.language
    )
    check_rule(named)
    return Matched(rule=named, record=record, estimate=estimate)


def _no_run(rule: Rule, records: Sequence[RunRecord]) -> EvenhandError:
    here = ", ".join(f"{r.suite} ({r.language})" for r in records) or "none"
    known = {*catalog.entries("suites"), *(r.suite for r in records)}
    if rule.suite and rule.suite.partition(":")[0] not in known:
        return UnknownNameError("suite", rule.suite, known)
    wanted = " ".join(filter(None, (rule.suite or "any suite", rule.lang)))
    return EvenhandError(f"{rule.title}: there is no run on {wanted}; there are {here}")


def compare_with_baselines(
    matched: Sequence[Matched], baselines: Sequence[RunRecord]
) -> tuple[dict[tuple[str, str], Difference], int]:
    """By place of the run and measure, how it differs from its baseline; and how many tests.

    The p values are adjusted over all rules that compare.
    """
    measures: dict[str, list[str]] = {}
    records: dict[str, RunRecord] = {}
    for m in matched:
        if m.rule.needs_baseline:
            records[m.record.place] = m.record
            names = measures.setdefault(m.record.place, [])
            if m.rule.measure not in names:
                names.append(m.rule.measure)
    comparisons: dict[str, Comparison] = {}
    for place, record in records.items():
        baseline = _baseline_of(record, baselines)
        options = ComparisonOptions(measures=measures[place])
        settings = dataclasses.replace(record.settings, target="new items")
        (comparisons[place],) = compare([baseline.answers, record.answers], options, settings)
    adjusted = dict(zip(comparisons, adjust(tuple(comparisons.values())), strict=True))
    differences = {(p, d.measure): d for p, c in adjusted.items() for d in c.differences}
    return differences, max((c.tests for c in adjusted.values()), default=0)


def _baseline_of(record: RunRecord, baselines: Sequence[RunRecord]) -> RunRecord:
    """The earlier run on the suite of this one."""
    own = [b for b in baselines if b.is_of(record.suite, record.language)]
    if len(own) == 1:
        return own[0]
    here = ", ".join(f"{b.suite} ({b.language}) in {b.place}" for b in baselines) or "none"
    many = "no" if not own else "more than one"
    raise EvenhandError(
        f"there is {many} baseline on {record.suite} ({record.language}); there are: {here}"
    )
