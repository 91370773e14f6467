"""The Document of a verdict, and the same as plain data for JSON."""

from __future__ import annotations

from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.document import Block, Callout, Column, Document, Prose, Row, Section, Table
from evenhand.core.plain import plain
from evenhand.core.text import counted, listed
from evenhand.gate.judge import Finding, Outcome, Verdict

WORDS: dict[Outcome, str] = {"pass": "pass", "fail": "FAIL", "not sure": "not sure"}


def summary(verdict: Verdict) -> str:
    """How many rules passed, failed and stay open, in one sentence."""
    total = counted(len(verdict.findings), "rule")
    failed, unsure = (len(verdict.with_outcome(o)) for o in ("fail", "not sure"))
    if verdict.outcome == "pass":
        return f"The gate passes: {total} kept."
    parts = [f"{failed} failed"] if failed else []
    parts += [f"{unsure} not sure"] if unsure else []
    head = "The gate fails" if failed else "The gate is not sure"
    return f"{head}: of {total}, {listed(parts)}."


def reason_line(finding: Finding) -> str:
    """The outcome of a rule and why, on one line."""
    rule = finding.rule
    beside = [f"owner: {rule.owner}" if rule.owner else "", rule.why]
    note = "; ".join(filter(None, beside))
    return f"{WORDS[finding.outcome]}: {finding.reason}" + (f" ({note})" if note else "")


def method(verdict: Verdict) -> tuple[str, ...]:
    """How it was judged, in sentences."""
    levels = sorted({f.estimate.level for f in verdict.findings})
    level = listed([f"{value * 100:g} %" for value in levels])
    half = listed([f"{(1 - value) * 50:.2g} %" for value in levels])
    lines = [
        f"Judged by {level} intervals, unless a rule says otherwise: a rule is kept where the "
        "whole interval is allowed, missed where none of it is, and otherwise not sure. A model "
        f"that is exactly at its limit is passed in about {half} of all cases, and failed in as "
        "many. What has no value is never passed.",
    ]
    if verdict.tests:
        lines.append(
            "Compared with the baseline on the same probes, answers swapped at random cluster by "
            f"cluster; p values adjusted (Benjamini-Hochberg) over "
            f"{counted(verdict.tests, 'comparison')}."
        )
    return tuple(lines)


def gate_document(verdict: Verdict) -> Document:
    """The verdict as a document: the rules in a table, then the reason of each."""
    columns = (
        Column(title="rule"),
        Column(title="suite"),
        Column(title="value", form="interval"),
        Column(title="verdict"),
    )
    rows = tuple(
        Row(
            cells=(
                f.rule.title,
                f"{f.record.suite}, {f.record.language}",
                f.interval,
                WORDS[f.outcome],
            ),
            strong=frozenset() if f.outcome == "pass" else frozenset({3}),
        )
        for f in verdict.findings
    )
    blocks: list[Block] = [Callout(text=w, tone="warning") for w in verdict.warnings]
    blocks.append(Table(name="rules", title="Rules", columns=columns, rows=rows))
    blocks.append(Prose(lines=tuple(map(reason_line, verdict.findings)), is_list=True))
    models = listed(list(dict.fromkeys(f.record.model for f in verdict.findings)))
    return Document(
        name="gate",
        title="Gate",
        subtitle=f"{models} by {verdict.source}",
        lead=(summary(verdict),),
        sections=(
            Section(name="rules", title="Rules", blocks=tuple(blocks), is_brief=True),
            Section(
                name="method",
                title="How it was judged",
                blocks=(Prose(lines=method(verdict), is_quiet=True),),
            ),
        ),
    )


def verdict_fields(verdict: Verdict) -> dict[str, Any]:
    """The verdict as plain data, keys in a fixed order."""
    return {
        "evenhand": __version__,
        "outcome": verdict.outcome,
        "exit_code": verdict.exit_code,
        "summary": summary(verdict),
        "policy": verdict.source,
        "day": str(verdict.day),
        "warnings": list(verdict.warnings),
        "rules": [_finding_fields(f) for f in verdict.findings],
    }


def _finding_fields(finding: Finding) -> dict[str, Any]:
    rule, difference = finding.rule, finding.difference
    measure = catalog.measure(rule.measure)
    low, high = rule.limits(measure)
    return {
        "rule": rule.title,
        "outcome": finding.outcome,
        "reason": finding.reason,
        "measure": rule.measure,
        "suite": finding.record.suite,
        "language": finding.record.language,
        "model": finding.record.model,
        "run": None if finding.record.folder is None else str(finding.record.folder),
        **plain(finding.interval),
        "level": finding.estimate.level,
        "target": rule.target,
        "fair": measure.fair,
        "min": plain(low),
        "max": plain(high),
        "on": rule.on,
        "coverage": plain(finding.estimate.coverage),
        "judgements": [plain(j) for j in finding.judgements],
        "baseline": None
        if difference is None
        else {
            "value": plain(difference.reference.value),
            "difference": plain(difference.difference),
            "distance": plain(difference.distance),
            "p": plain(difference.p),
            "adjusted": plain(difference.adjusted),
            "probes": difference.probes,
            "signature": difference.signature,
        },
        "owner": rule.owner,
        "review": None if rule.review is None else str(rule.review),
        "why": rule.why,
        "signature": finding.estimate.signature,
    }
