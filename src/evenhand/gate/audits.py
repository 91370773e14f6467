"""The audits that rules need, where a gate is given a model instead of runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, Progress, answer_names
from evenhand.engine.audit import audit, open_model
from evenhand.engine.audit_document import audit_document
from evenhand.engine.checks import require_dev_kind
from evenhand.engine.estimate import choose_measures
from evenhand.engine.results import run_files
from evenhand.gate.policy import EVERY, HEADLINE, Rule
from evenhand.gate.records import RunRecord, record_of
from evenhand.report.write import write_document

Watch = Callable[[str], AbstractContextManager[Progress | None]]


@dataclass(frozen=True, kw_only=True)
class AuditOptions:
    """How a model is asked what the rules need."""

    opening: RespondentOptions = field(default_factory=RespondentOptions)
    settings: Settings = field(default_factory=Settings)
    cache: bool | Path = True
    dev: Suite | None = None
    watch: Watch | None = None


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
) -> list[RunRecord]:
    """A run on each suite, written to a folder of its own in `folder`.

    suites: each with the measures that rules name; that the model can be asked all of them is
    checked before the first question. Raises MeasureError where it cannot.
    """
    respondents = []
    for suite, measures in suites:
        respondent = open_model(model, suite, options.opening)
        require_dev_kind(respondent, options.dev)
        choose_measures(suite, *answer_names(suite, respondent), measures or None)
        respondents.append(respondent)
    watch = options.watch or (lambda _: nullcontext())
    records = []
    for (suite, _), respondent in zip(suites, respondents, strict=True):
        with watch(f"asking {model}: {suite.card.name}") as progress:
            run = audit(
                respondent,
                suite,
                settings=options.settings,
                asking=Asking(cache=options.cache, progress=progress),
                dev=options.dev,
            )
        records.append(record_of(run, write_run(run, folder / folder_name(suite))))
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
