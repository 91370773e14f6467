"""The Document of several runs: an overview first, then a part for each of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

from evenhand import __version__
from evenhand.core import account, catalog
from evenhand.core.account import RANDOM
from evenhand.core.chart import Chart
from evenhand.core.document import (
    Block,
    Cell,
    Column,
    Document,
    Exhibit,
    Finding,
    Front,
    Headline,
    Prose,
    Row,
    Section,
    Table,
    make_section,
)
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.plain import plain
from evenhand.core.run import Run
from evenhand.core.text import counted, listed, sentence_case, with_bounds
from evenhand.core.validity import discounts
from evenhand.engine.audit_all import RunSet
from evenhand.engine.audit_document import suite_line
from evenhand.engine.compare import short_names
from evenhand.engine.explorer import make_explorer
from evenhand.engine.results import run_fields

MARK = "†"  # beside a number that does not count
NO_RUN = "–"  # a model was not asked this
OVERVIEW, UNCOUNTED, NOT_ASKED = "overview", "uncounted", "not-asked"  # names of sections


def faults(runs: Sequence[Run]) -> list[str]:
    """Why runs have no result, a line for each: nothing was answered, or the headline is NaN."""
    lines = []
    for run in runs:
        first, where = run.headline, f"{run.answers.respondent} on {run.suite.card.name}"
        if run.answers.coverage == 0:
            reasons = listed(list(run.answers.unanswered)) or "no answer"
            lines.append(f"{where}: no probe was answered ({reasons})")
        elif not math.isfinite(first.value):
            reason = first.note or "not defined on these answers"
            lines.append(f"{where}: {account.title(first.measure)} is n/a: {reason}")
    return lines


def overview_document(
    runs: RunSet, documents: Sequence[Document], places: Sequence[str]
) -> Document:
    """Everything that the report of several runs says and shows.

    documents: those of the single runs, in their order. With one model their sections are the parts
    of this one; with several a part has only the findings, and names the folder of the run, in
    `places`, which has a page of its own.
    """
    names = dict(zip(runs.models, short_names(list(runs.models)), strict=True))
    is_one = len(names) == 1
    parts = [
        section
        for run, document, place in zip(runs.runs, documents, places, strict=True)
        for section in (
            _whole_part(run, document, place)
            if is_one
            else [_brief_part(run, document, place, names[run.answers.respondent])]
        )
    ]
    suites = [_by_suite(runs, suite)[0].suite for suite in runs.suites]
    sections = [
        _overview(runs, names),
        *([] if is_one else [_every_measure(runs, names)]),
        _uncounted(runs, names),
        _unasked(runs),
        *parts,
    ]
    return Document(
        name="report",
        title=runs.models[0] if is_one else counted(len(names), "model"),
        subtitle=_subtitle(runs),
        lead=_lead(runs),
        headline=_headline(runs.runs[0], documents[0]) if is_one else None,
        front=_front(runs, documents, places) if is_one else None,
        sections=tuple(section for section in sections if section is not None),
        language=suites[0].card.language,
        facts={"model": ", ".join(runs.models)},
        explorer=make_explorer(
            [
                (
                    suite,
                    [
                        (names[run.answers.respondent], run.answers)
                        for run in _by_suite(runs, suite.card.name)
                    ],
                )
                for suite in suites
            ]
        ),
    )


def short_document(document: Document) -> Document:
    """An overview for the terminal: the table of headlines, what does not count or was not asked.

    Without the column of random answers, for which 80 letters have no room.
    """
    short = []
    for section in document.sections:
        if section.name == OVERVIEW:
            tables = [block for block in section.blocks if isinstance(block, Table)]
            short.append(dataclasses.replace(section, blocks=tuple(map(_without_last, tables))))
        elif section.name in (UNCOUNTED, NOT_ASKED):
            short.append(section)
    return dataclasses.replace(document, sections=tuple(short))


def _without_last(table: Table) -> Table:
    rows = tuple(dataclasses.replace(row, cells=row.cells[:-1]) for row in table.rows)
    return dataclasses.replace(table, columns=table.columns[:-1], rows=rows, note="")


def _by_suite(runs: RunSet, suite: str) -> list[Run]:
    return [run for run in runs.runs if run.suite.card.name == suite]


def _subtitle(runs: RunSet) -> str:
    suites = [_by_suite(runs, suite)[0].suite for suite in runs.suites]
    probes = counted(sum(len(suite.probes) for suite in suites), "probe")
    languages = dict.fromkeys(catalog.language_name(suite.card.language) for suite in suites)
    text = f"{counted(len(suites), 'suite')}, {listed(list(languages))}, {probes}"
    return f"{text} of larger suites" if any(s.limit is not None for s in suites) else text


def _reasons(run: Run) -> list[str]:
    """Why the headline of a run does not count, each reason a clause; empty where it does."""
    return [reservation.text for reservation in discounts(run, run.headline)]


def _lead(runs: RunSet) -> tuple[str, ...]:
    """How many of the headline numbers count."""
    is_good = [not discounts(run, run.headline) for run in runs.runs]
    whole, good = len(is_good), sum(is_good)
    which = "all of them" if good == whole else f"{good} of them" if good else "none of them"
    verb = "counts" if good == 1 and whole > 1 else "count"
    first = (
        f"There {'is one headline number' if whole == 1 else f'are {whole} headline numbers'}, and "
        f"{which} {verb}: a number counts where it was computed, the model understands what it is "
        "asked, and the interval does not hold what random answers get."
    )
    return (first,)


def _headline(run: Run, document: Document) -> Headline | None:
    """The headline of the first suite, with the name of the suite."""
    first = document.headline
    return first and dataclasses.replace(first, title=f"{first.title}, {run.suite.card.name}")


def _front(runs: RunSet, documents: Sequence[Document], places: Sequence[str]) -> Front | None:
    """The first screen: that of the first suite, with what was found on each as its findings."""
    findings = [
        Finding(
            text=f"{run.suite.card.name}: {document.front.verdict}",
            section=place,
            reasons=tuple(reservation.short for reservation in discounts(run, run.headline)),
        )
        for run, document, place in zip(runs.runs, documents, places, strict=True)
        if document.front is not None
    ]
    first = documents[0].front
    ordered = sorted(findings, key=lambda finding: bool(finding.reasons))
    return first and dataclasses.replace(first, findings=tuple(ordered))


def _value(run: Run, estimate: Estimate) -> Cell:
    """A value with its bounds; what does not count is marked."""
    if not discounts(run, estimate):
        return estimate.interval
    return f"{with_bounds(estimate.interval)} {MARK}"


def _guess(run: Run, measure: str) -> Cell:
    guess = run.baseline(RANDOM, measure)
    return guess.value if guess is not None else NO_RUN


def _columns(runs: RunSet, names: Mapping[str, str], *, first: str) -> tuple[Column, ...]:
    interval = f"{runs.runs[0].settings.level * 100:g} % interval"
    heads = [interval] if len(names) == 1 else list(names.values())
    return (
        Column(title=first),
        Column(title="measure"),
        *(Column(title=head, form="interval") for head in heads),
        Column(title="best", form="short"),
        Column(title="random", form="number"),
    )


def _row(runs: RunSet, names: Mapping[str, str], suite: str, measure: str, name: str) -> Row:
    """The values of all models by one measure on one suite."""
    own = [run for run in _by_suite(runs, suite) if run.estimate(measure) is not None]
    cells: list[Cell] = []
    for model in names:
        run = next((r for r in own if r.answers.respondent == model), None)
        estimate = None if run is None else run.estimate(measure)
        cells.append(NO_RUN if run is None or estimate is None else _value(run, estimate))
    is_headline = any(run.headline.measure == measure for run in own)
    counted_cells = {2 + place for place, cell in enumerate(cells) if isinstance(cell, Interval)}
    definition = catalog.measure(measure)
    return Row(
        cells=(
            name,
            definition.card.title,
            *cells,
            definition.fair,
            _guess(own[0], measure),
        ),
        strong=frozenset(counted_cells) if is_headline else frozenset(),
        is_quiet=not counted_cells,
    )


def _note(runs: RunSet) -> str:
    level = f"{runs.runs[0].settings.level * 100:g} %"
    is_marked = any(discounts(r, e) for r in runs.runs for e in r.estimates)
    text = (
        f"Values with {level} intervals. best: the value that is fair, or right. random: what "
        "random answers are expected to get."
    )
    return f"{text} {MARK} does not count: the reason is below." if is_marked else text


def _overview(runs: RunSet, names: Mapping[str, str]) -> Section:
    """The headline of every suite, for every model."""
    rows = [
        _row(runs, names, suite, measure, suite)
        for suite in runs.suites
        for measure in dict.fromkeys(run.headline.measure for run in _by_suite(runs, suite))
    ]
    table = Table(
        name=OVERVIEW,
        title="Overview",
        columns=_columns(runs, names, first="suite"),
        rows=tuple(rows),
        note=_note(runs),
    )
    return Section(
        name=OVERVIEW,
        title="Overview",
        blocks=(table,),
        is_brief=True,
    )


def _every_measure(runs: RunSet, names: Mapping[str, str]) -> Section:
    """Every measure of every suite, for every model."""
    rows = []
    for suite in runs.suites:
        measures = dict.fromkeys(e.measure for run in _by_suite(runs, suite) for e in run.estimates)
        rows.append(Row(cells=(suite,), is_heading=True))
        rows += [_row(runs, names, suite, m, catalog.measure(m).card.title) for m in measures]
    columns = _columns(runs, names, first="measure")
    table = Table(
        name="every-measure",
        title="Every measure",
        columns=(columns[0], *columns[2:]),
        rows=tuple(
            row
            if row.is_heading
            else dataclasses.replace(
                row,
                cells=(row.cells[0], *row.cells[2:]),
                strong=frozenset(place - 1 for place in row.strong),
            )
            for row in rows
        ),
        note=_note(runs),
    )
    return Section(name="every-measure", title="Every measure", blocks=(table,))


def _uncounted(runs: RunSet, names: Mapping[str, str]) -> Section | None:
    """Why headline numbers do not count, each reason once with the numbers that it is about."""
    numbers: dict[str, list[str]] = {}
    for run in runs.runs:
        who = "" if len(names) == 1 else f"{names[run.answers.respondent]} on "
        for reason in _reasons(run):
            numbers.setdefault(reason, []).append(f"{who}{run.suite.card.name}")
    lines = tuple(f"{listed(which)}: {reason}." for reason, which in numbers.items())
    blocks = [Prose(lines=lines, is_list=True)] if lines else []
    return make_section(UNCOUNTED, "What does not count", blocks, is_brief=True)


def _unasked(runs: RunSet) -> Section | None:
    lines = unasked_lines(runs)
    blocks = [Prose(lines=tuple(lines), is_list=True, is_quiet=True)] if lines else []
    return make_section(NOT_ASKED, "Not asked", blocks, is_brief=True)


def unasked_lines(runs: RunSet) -> list[str]:
    """What was not asked and why, a line for each."""
    has_models = len({one.model for one in runs.not_asked} | set(runs.models)) > 1
    is_one = len(runs.models) == 1 and len({one.model for one in runs.not_asked}) <= 1
    return [
        f"{one.suite}: {one.reason}."
        if is_one or not has_models
        else f"{one.suite}, {one.model}: {one.reason}."
        for one in runs.not_asked
    ]


def _named(block: Block, place: str) -> Block:
    """The block with a name that no other part has."""
    if isinstance(block, Table | Chart | Exhibit):
        return dataclasses.replace(block, name=f"{place}-{block.name}")
    return block


def _whole_part(run: Run, document: Document, place: str) -> list[Section]:
    """The sections of one run, below a section that says what it is about."""
    head = Section(
        name=place,
        title=sentence_case(run.suite.card.name.replace("-", " ")),
        blocks=(
            Prose(lines=(f"{suite_line(run.suite)}. Its files are in {place}/.",), is_quiet=True),
            Prose(lines=document.lead),
        ),
    )
    return [
        head,
        *(
            dataclasses.replace(
                section,
                name=f"{place}-{section.name}",
                level=3,
                blocks=tuple(_named(block, place) for block in section.blocks),
            )
            for section in document.sections
        ),
    ]


def _brief_part(run: Run, document: Document, place: str, name: str) -> Section:
    """The findings of one run, and where the rest of it is."""
    return Section(
        name=place,
        title=f"{name}, {run.suite.card.name}",
        blocks=(
            Prose(lines=document.lead),
            Prose(
                lines=(f"{suite_line(run.suite)}. Its own page is {place}/{document.name}.html.",),
                is_quiet=True,
            ),
        ),
    )


def overview_fields(runs: RunSet, document: Document, places: Sequence[str]) -> dict[str, Any]:
    """The content of overview.json: the headline of every run and what was not asked."""
    return {
        "evenhand": __version__,
        "lead": list(document.lead),
        "runs": [
            {
                "folder": place,
                "model": run.answers.respondent,
                "suite": run.suite.reference,
                "language": run.suite.card.language,
                "measure": run.headline.measure,
                **plain(run.headline.interval),
                "fair": catalog.measure(run.headline.measure).fair,
                "note": run.headline.note,
                "why_not_counted": _reasons(run),
            }
            for run, place in zip(runs.runs, places, strict=True)
        ],
        "not_asked": [plain(one) for one in runs.not_asked],
    }


def all_fields(runs: RunSet, documents: Sequence[Document]) -> dict[str, Any]:
    """Every run as plain data, and what was not asked."""
    return {
        "evenhand": __version__,
        "runs": [run_fields(r, d) for r, d in zip(runs.runs, documents, strict=True)],
        "not_asked": [plain(one) for one in runs.not_asked],
    }
