"""Everything that a Document says, as one text: what every form of a report is made from."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.core.chart import Chart
from evenhand.core.document import (
    Block,
    Callout,
    Document,
    Exhibit,
    Facts,
    Prose,
    Section,
    Signatures,
    Table,
)
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.cells import row_texts

# words of NLI that the report of a language model must not use
NLI_WORDS = re.compile(
    r"entail|contradict|hypothes|premise|occupation|ordinary pair|neutral", re.IGNORECASE
)


def _lines(block: Block) -> Iterator[str]:
    match block:
        case Prose() | Signatures():
            yield from block.lines
        case Callout():
            yield block.text
        case Table():
            yield block.title
            yield " ".join(column.title for column in block.columns)
            for row in block.rows:
                yield f"{' '.join(row_texts(row, block.columns))} {row.note}"
            yield block.note
        case Exhibit():
            yield f"{block.title}. {block.note}"
            for item in block.specimens:
                yield " ".join((item.tag, *item.lines, item.summary))
                yield " ".join(answer.text for answer in item.answers)
        case Facts():
            yield from (f"{name} {value}" for name, value in block.rows)
        case Chart():
            yield f"{block.title}: {block.description}"
            yield from (meaning for _, meaning in block.legend)


def section_text(section: Section) -> str:
    """Everything that a section says."""
    lines = (line for block in section.blocks for line in _lines(block))
    return "\n".join((section.title, *lines))


def document_text(document: Document) -> str:
    """Everything that a document says."""
    head = (document.title, document.subtitle, *document.lead)
    return "\n".join((*head, *map(section_text, document.sections)))


def table(document: Document, name: str) -> Table:
    """The table of this name."""
    return next(b for b in document.blocks(Table) if isinstance(b, Table) and b.name == name)


def table_rows(document: Document, name: str) -> list[list[str]]:
    """The rows of a table as texts."""
    block = table(document, name)
    return [row_texts(row, block.columns) for row in block.rows]


def exhibit(document: Document, name: str) -> Exhibit:
    """The exhibit of this name."""
    return next(b for b in document.blocks(Exhibit) if isinstance(b, Exhibit) and b.name == name)


def chart_texts(document: Document) -> dict[str, str]:
    """By name, what each chart says in words."""
    return {chart.name: chart.description for chart in document.charts}


def estimate_of(run: Run, measure: str) -> Estimate:
    """The estimate of a measure that the run must have."""
    estimate = run.estimate(measure)
    assert estimate is not None, measure
    return estimate
