"""The tables and figures of a paper for any models, as a Document and as plain data."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evenhand import __version__
from evenhand.core.chart import SERIES_COUNT, Chart, DotChart, DotRow, Key
from evenhand.core.document import (
    Block,
    Cell,
    Column,
    Document,
    Form,
    Prose,
    Row,
    Section,
    Signatures,
    Table,
    make_section,
)
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.plain import plain
from evenhand.core.text import MISSING, counted, listed, with_bounds
from evenhand.engine.results import environment
from evenhand.reproduce.asking import Asker, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    """A line of a table: who it is about, and a cell for each column; a heading has no cells."""

    labels: tuple[str, ...]
    cells: tuple[Entry | None, ...] = ()  # None: the cell stays empty
    is_heading: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    """A table of a paper with the rows of any models."""

    name: str  # table5
    title: str
    heads: tuple[str, ...]  # what the labels of a row are: model, evaluation set
    columns: tuple[tuple[str, Form], ...]
    rows: tuple[PaperRow, ...]
    note: str = ""

    @property
    def entries(self) -> list[Entry]:
        """Every cell."""
        return [cell for row in self.rows for cell in row.cells if cell is not None]

    def to_table(self) -> Table:
        """The table of a document: `n/a (1)`, and the reasons below it."""
        marks: dict[str, int] = {}
        rows = []
        for row in self.rows:
            if row.is_heading:
                rows.append(Row(cells=row.labels, is_heading=True))
                continue
            cells: list[Cell] = [*row.labels]
            for entry in row.cells:
                cells.append(_cell(entry, marks))
            rows.append(Row(cells=tuple(cells)))
        reasons = [f"({mark}) {reason}" for reason, mark in marks.items()]
        return Table(
            name=self.name,
            title=self.title,
            columns=(
                *(Column(title=head) for head in self.heads),
                *(Column(title=title, form=form) for title, form in self.columns),
            ),
            rows=tuple(rows),
            note=" ".join([*([self.note] if self.note else []), *reasons]),
        )

    def fields(self) -> dict[str, Any]:
        """The table as plain data; a cell without a value has its reason."""
        return {
            "name": self.name,
            "title": self.title,
            "columns": [*self.heads, *(title for title, _ in self.columns)],
            "rows": [
                {"labels": list(row.labels), "cells": [_cell_fields(cell) for cell in row.cells]}
                for row in self.rows
                if not row.is_heading
            ],
            "note": self.note,
        }


def _cell(entry: Entry | None, marks: dict[str, int]) -> Cell:
    if entry is None:
        return ""
    if entry.has_value:
        return entry.interval
    return f"{MISSING} ({marks.setdefault(entry.reason, len(marks) + 1)})"


def _cell_fields(entry: Entry | None) -> dict[str, Any] | None:
    return None if entry is None else {**plain(entry.interval), **_about(entry)}


def _about(entry: Entry) -> dict[str, Any]:
    return {
        "reason": entry.reason,
        "note": entry.note,
        "coverage": plain(entry.coverage),
        "signature": entry.signature,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePart:
    """What a page shows under one title: a table or a figure of the paper, with what is said."""

    name: str
    title: str
    tables: tuple[PaperTable, ...] = ()
    blocks: tuple[Block, ...] = ()  # charts, and tables of other rooms
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TablePage:
    """The tables and figures of a paper, and what of it is left out."""

    title: str
    lead: tuple[str, ...]
    parts: tuple[TablePart, ...]
    left_out: tuple[str, ...] = ()  # `Table 2: needs --ladder DIR`
    remarks: tuple[str, ...] = ()  # how this differs from the paper

    @property
    def tables(self) -> list[PaperTable]:
        """Every table whose cells are known here."""
        return [table for part in self.parts for table in part.tables]


def require_value(page: TablePage) -> None:
    """Raise EvenhandError where not one cell has a value: the first reason is that of all."""
    entries = [entry for table in page.tables for entry in table.entries]
    if entries and not any(entry.has_value for entry in entries):
        reasons = list(dict.fromkeys(entry.reason for entry in entries if entry.reason))
        more = f" ({counted(len(reasons) - 1, 'other reason')})" if len(reasons) > 1 else ""
        raise EvenhandError(f"no cell of the tables has a value. {reasons[0]}{more}")


def page_document(page: TablePage, asker: Asker) -> Document:
    """The page as a document."""
    sections: list[Section | None] = []
    for part in page.parts:
        blocks: list[Block | None] = [table.to_table() for table in part.tables]
        blocks += part.blocks
        if part.remark:
            blocks.append(Prose(lines=(part.remark,), is_quiet=True))
        sections.append(make_section(part.name, part.title, blocks, is_brief=True))
    entries = [entry for table in page.tables for entry in table.entries]
    notes = list(dict.fromkeys(entry.note for entry in entries if entry.note))
    signatures = tuple(dict.fromkeys(e.signature for e in entries if e.signature))
    sections += [
        _list_section("notes", "Beside the numbers", notes, is_brief=False),
        _list_section("left-out", "Left out", page.left_out, is_brief=True),
        _list_section("differences", "How this differs from the paper", page.remarks),
        make_section(
            "signatures",
            "Signatures",
            [Signatures(lines=signatures, is_folded=True) if signatures else None],
        ),
    ]
    return Document(
        name="table",
        title=page.title,
        subtitle=listed([model.name for model in asker.models][:4])
        + (" ..." if len(asker.models) > 4 else ""),
        lead=page.lead,
        sections=tuple(section for section in sections if section is not None),
        facts={"models": ", ".join(asker.identities.values())},
    )


def _list_section(
    name: str, title: str, lines: Sequence[str], *, is_brief: bool = False
) -> Section | None:
    block = Prose(lines=tuple(lines), is_list=True) if lines else None
    return make_section(name, title, [block], is_brief=is_brief)


def page_fields(page: TablePage, asker: Asker, paper: str) -> dict[str, Any]:
    """The page as plain data, keys in a fixed order."""
    charts = [b.name for part in page.parts for b in part.blocks if isinstance(b, Chart)]
    return {
        "evenhand": __version__,
        "paper": paper,
        "title": page.title,
        "lead": list(page.lead),
        "models": [
            {
                "name": model.name,
                "reference": model.reference,
                "identity": asker.identities.get(model.reference),
                "is_stored": model.packed is not None,
            }
            for model in (*asker.models, *asker.after)
        ],
        "tables": [table.fields() for table in page.tables],
        "other_tables": [
            _table_fields(b) for part in page.parts for b in part.blocks if isinstance(b, Table)
        ],
        "figures": charts,
        "left_out": list(page.left_out),
        "remarks": list(page.remarks),
        "settings": plain(asker.request.settings),
        "environment": environment(),
    }


def _table_fields(table: Table) -> dict[str, Any]:
    return {
        "name": table.name,
        "title": table.title,
        "columns": [column.title for column in table.columns],
        "rows": [plain(row.cells) for row in table.rows if not row.is_heading],
        "note": table.note,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The values of one model by group."""

    name: str
    values: dict[str, Interval]


def series_chart(name: str, title: str, series: Sequence[Series], axis: str) -> DotChart:
    """A line per group; the first model with its interval, up to four others as marks.

    The groups stand in the order of the first model that has them. axis: what the numbers are.
    """
    shown = list(series)[:SERIES_COUNT]
    groups = list(dict.fromkeys(group for one in shown for group in one.values))
    rows = []
    for group in groups:
        first, *rest = (one.values.get(group) for one in shown)
        rows.append(
            DotRow(
                label=group,
                interval=first or Interval(math.nan, math.nan, math.nan),
                mark="series-0",
                others=tuple(
                    (one.value, f"series-{place}")
                    for place, one in enumerate(rest, 1)
                    if one is not None and math.isfinite(one.value)
                ),
            )
        )
    legend: list[Key] = [(f"series-{i}", one.name) for i, one in enumerate(shown)]
    words = [
        f"{one.name}: " + ", ".join(f"{g} {with_bounds(v)}" for g, v in one.values.items())
        for one in shown
    ]
    if len(series) > len(shown):
        left = listed([one.name for one in series[SERIES_COUNT:]])
        words.append(f"not drawn: {left}")
    return DotChart(
        name=name,
        title=title,
        description="; ".join(words),
        legend=tuple(legend),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        is_dense=True,
        axis=axis,
    )
