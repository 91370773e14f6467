"""Several runs as one table for a paper: models by measures, with notes below."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from evenhand.core import account, catalog
from evenhand.core.document import Cell, Column, Document, Row, Section, Signatures, Table
from evenhand.core.errors import EvenhandError
from evenhand.core.plain import plain
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.text import MISSING, counted, listed, with_bounds
from evenhand.core.validity import reservation_texts
from evenhand.engine.audit_document import suite_line
from evenhand.engine.compare import short_names


def by_suite(runs: Sequence[Run]) -> list[list[Run]]:
    """The runs that asked the same probes, together; numbers of others do not compare.

    Raises EvenhandError where one run is there twice.
    """
    groups: dict[str, list[Run]] = {}
    for run in runs:
        same = groups.setdefault(run.suite.reference, [])
        if any(other.headline.signature == run.headline.signature for other in same):
            raise EvenhandError(
                f"two of the runs are the same: {run.answers.respondent} on {run.suite.reference}; "
                "name it once"
            )
        same.append(run)
    return list(groups.values())


def chosen_measures(runs: Sequence[Run], measures: Sequence[str]) -> list[str]:
    """The measures of the table in the order of a report; all that any of the runs has by default.

    Raises EvenhandError for one that none of the runs has.
    """
    present = list(dict.fromkeys(e.measure for run in runs for e in run.estimates))
    if unknown := [name for name in measures if name not in present]:
        raise EvenhandError(f"none of the runs has '{unknown[0]}'; they have {', '.join(present)}")
    return [name for name in present if not measures or name in measures]


def models_document(runs: Sequence[Run], measures: Sequence[str] = ()) -> Document:
    """A table for each suite that was asked: a row for each model, a column for each measure."""
    wanted = chosen_measures(runs, measures)
    groups = by_suite(runs)
    sections = []
    for place, same in enumerate(groups):
        table = _table(same, [m for m in wanted if any(run.estimate(m) for run in same)], place)
        if len(table.columns) > 1:
            sections.append(
                Section(
                    name=table.name, title=suite_line(same[0].suite), blocks=(table,), is_brief=True
                )
            )
    signatures = [e.signature for run in runs for e in run.estimates if e.measure in wanted]
    names = list(dict.fromkeys(run.answers.respondent for run in runs))
    return Document(
        name="models",
        title="Models by measures",
        subtitle="",
        lead=(),
        sections=(
            *sections,
            Section(
                name="signatures", title="Signatures", blocks=(Signatures(lines=(*signatures,)),)
            ),
        ),
        facts={"models": ", ".join(names)},
    )


def _table(runs: Sequence[Run], measures: Sequence[str], place: int) -> Table:
    marks: dict[str, int] = {}
    names = short_names([run.answers.respondent for run in runs])
    rows = [
        Row(cells=(name, *(_cell(run, measure, marks) for measure in measures)))
        for name, run in zip(names, runs, strict=True)
    ]
    levels = listed(sorted({f"{run.settings.level * 100:g} %" for run in runs}))
    targets = listed(sorted({run.settings.target for run in runs}))
    notes = [
        f"In brackets the {levels} interval about {targets}.",
        *_differences(runs),
        *(f"({number}) {reason}." for reason, number in marks.items()),
    ]
    columns = (
        Column(title=f"{catalog.measure(m).card.short} ({account.best_value(m)})", form="interval")
        for m in measures
    )
    return Table(
        name=f"models-{place + 1}",
        title=f"{counted(len(runs), 'model')} on {suite_line(runs[0].suite)}",
        columns=(Column(title="model"), *columns),
        rows=tuple(rows),
        note=" ".join(notes),
    )


def _cell(run: Run, measure: str, marks: dict[str, int]) -> Cell:
    """The number with the marks of its notes."""
    estimate = run.estimate(measure)
    if estimate is None:
        reasons = ["the model gives other labels than the measure needs, or it was not asked for"]
        text = MISSING
    else:
        reasons, text = reservation_texts(run, estimate), with_bounds(estimate.interval)
    if not reasons and estimate is not None:
        return estimate.interval
    numbers = "".join(f"({marks.setdefault(reason, len(marks) + 1)})" for reason in reasons)
    return f"{text} {numbers}"


def _differences(runs: Sequence[Run]) -> list[str]:
    """In which settings the runs differ, where they do."""
    names = [
        f.name
        for f in dataclasses.fields(Settings)
        if len({str(plain(run.settings)[f.name]) for run in runs}) > 1
    ]
    return [f"The runs differ in {listed(names)}."] if names else []


def table_fields(document: Document) -> list[dict[str, Any]]:
    """The tables as plain data: a cell without a note has its interval."""
    return [
        {
            "name": table.name,
            "title": table.title,
            "columns": [column.title for column in table.columns],
            "rows": [plain(row.cells) for row in table.rows],
            "note": table.note,
        }
        for table in document.blocks(Table)
        if isinstance(table, Table)
    ]
