"""The audits that rules need, where a gate is given a model instead of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.run import Run
from evenhand.core.suite import Suite
from evenhand.engine.ask import Progress
from evenhand.engine.audit_document import audit_document
from evenhand.engine.audit_plan import AuditOptions, AuditPlan
from evenhand.engine.estimate import choose_measures
from evenhand.engine.results import run_files
from evenhand.gate.policy import EVERY, HEADLINE, Rule
from evenhand.gate.records import RunRecord, record_of
from evenhand.report.write import write_document

Watch = Callable[[str], AbstractContextManager[Progress | None]]


def suite_for(rule: Rule) -> str:
    """The suite that a rule is judged on: the one it names, else the first of its family."""
    if rule.suite:
        return rule.suite
    if rule.measure in (HEADLINE, EVERY):
        return catalog.default_suite()
    family = catalog.family(catalog.owners("measures")[rule.measure])
    return family.suites[0].name if family.suites else catalog.default_suite()


def audit_for(
    model: str,
    suites: Sequence[tuple[Suite, Sequence[str]]],
    folder: Path,
    options: AuditOptions,
    watch: Watch | None = None,
) -> list[RunRecord]:
    """A run on each suite, written to a folder of its own in `folder`.

    suites: each with the measures that rules name; that the model can be asked all of them is
    checked before the first question. Raises EvenhandError where it cannot.
    """
    plan = AuditPlan([model], [suite for suite, _ in suites], options)
    for one, (suite, measures) in zip(plan.assignments, suites, strict=True):
        choose_measures(suite, one.options, one.labels, measures or None)
    records: list[RunRecord] = []

    def finish(place: int, run: Run) -> None:
        own = folder / folder_name(suites[place][0])
        records.append(record_of(run, write_run(run, own)))

    plan.carry_out(None if watch is None else lambda _, title: watch(title), finish)
    return records


def write_run(run: Run, folder: Path) -> Path:
    """Write the report and the files of a run as an audit does; returns the folder."""
    document = audit_document(run)
    write_document(document, folder, extra=run_files(run, document))
    return folder


def folder_name(suite: Suite) -> str:
    """`SUITE-LANG`, in characters that every file system accepts."""
    name = f"{suite.card.name}-{suite.card.language}"
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
