"""A document as Markdown: for a readme, an issue or a model card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from evenhand.core.chart import Chart
from evenhand.core.document import (
    Block,
    Callout,
    Document,
    Exhibit,
    Facts,
    Finding,
    Front,
    Prose,
    Section,
    Signatures,
    Specimen,
    Table,
)
from evenhand.core.text import sentence_case, with_bounds
from evenhand.report.cells import (
    badge_title,
    is_numeric,
    limited,
    printable,
    row_texts,
    specimen_text,
    uncounted,
)


def escaped(text: str) -> str:
    """The text on one line, escaped so that Markdown prints it unchanged."""
    return re.sub(r"([\\`*_{}\[\]<>|#])", r"\\\1", " ".join(printable(text).split()))


def to_markdown(document: Document) -> str:
    """The document as Markdown: everything but the pictures of its charts."""
    parts = [f"# {escaped(document.title)}", escaped(document.subtitle), *_lead(document)]
    for section in document.sections:
        parts += [f"{'#' * section.level} {escaped(section.title)}", *_section(section)]
    return "\n\n".join(part for part in parts if part) + "\n"


def _lead(document: Document) -> list[str]:
    if (headline := document.headline) is None:
        return [escaped(line) for line in document.lead]
    score = f"**{escaped(headline.title)} {with_bounds(headline.interval)}.**"
    if headline.reasons:
        score += f" {escaped(sentence_case(uncounted(headline.reasons)))}."
    lead = " ".join([score, *(escaped(line) for line in document.lead)])
    return [lead] if document.front is None else [*_front(document.front), lead, *_index(document)]


def _front(front: Front) -> list[str]:
    """The first screen but for its findings."""
    parts = [escaped(front.verdict)]
    if front.direction:
        parts.append(f"**Direction.** {_finding(front.direction)}")
    if front.badge:
        parts.append(f"**{escaped(badge_title(front.badge))}** {escaped(front.badge.reason)}")
    if front.example:
        parts.append(f"**{escaped(front.example.title)}.** {escaped(front.example.note)}")
        parts += [f"- {_specimen(specimen)}" for specimen in front.example.specimens]
    return parts


def _index(document: Document) -> list[str]:
    """The findings, each linked to the heading of its section."""
    headings = {section.name: _anchor(section.title) for section in document.sections}
    findings = document.front.findings if document.front else ()
    lines = [
        _finding(f, f"[{{}}](#{headings[f.section]})" if f.section in headings else "{}")
        for f in findings
    ]
    return ["\n".join(f"- {line}" for line in lines)] if lines else []


def _finding(finding: Finding, form: str = "{}") -> str:
    reasons = f" ({escaped(uncounted(finding.reasons))})" if finding.reasons else ""
    return f"{form.format(escaped(finding.text))}{reasons}"


def _anchor(title: str) -> str:
    """The address that a page of Markdown gives a heading."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(section: Section) -> list[str]:
    parts = []
    has_table = any(isinstance(block, Table) for block in section.blocks)
    for block in section.blocks:
        if isinstance(block, Chart) and has_table:
            continue  # its numbers are in the table
        parts += _block(block, section)
    return parts


def _block(block: Block, section: Section) -> list[str]:
    parts: list[str] = []
    match block:
        case Prose(lines=lines, is_list=is_list):
            parts = [bullets(lines)] if is_list else [escaped(line) for line in lines]
        case Callout(text=text):
            parts = [f"> {escaped(text)}"]
        case Table():
            parts = _table(block, section)
        case Exhibit():
            parts = _exhibit(block, section)
        case Facts(rows=rows):
            parts = [bullets([f"{name}: {value}" for name, value in rows])]
        case Signatures(lines=lines):
            parts = [fenced(lines)] if lines else []
        case Chart():
            parts = [f"*{escaped(block.title)}.* {escaped(block.description)}"]
    return parts


def bullets(lines: Sequence[str]) -> str:
    """Lines as the points of a list."""
    return "\n".join(f"- {escaped(line)}" for line in lines)


def fenced(lines: Sequence[str]) -> str:
    """The lines verbatim, in a code fence that none of them can close."""
    joined = "\n".join(" ".join(printable(line).split()) for line in lines)
    fence = "`" * max([3, *(len(run) + 1 for run in re.findall("`+", joined))])
    return f"{fence}text\n{joined}\n{fence}"


def _head(title: str, section: Section) -> list[str]:
    if not title or title == section.title:
        return []
    return [f"{'#' * (section.level + 1)} {escaped(title)}"]


def _table(table: Table, section: Section) -> list[str]:
    title, rows = limited(table)
    head = _head(title, section)
    if not rows:
        return [*head, escaped(table.note)] if table.note else []
    heads = [escaped(column.title) for column in table.columns]
    rulers = ["---:" if is_numeric(column) else "---" for column in table.columns]
    lines = [heads, rulers]
    for row in rows:
        texts = [
            escaped(text) if i >= len(row.cells) or isinstance(row.cells[i], str) else text
            for i, text in enumerate(row_texts(row, table.columns))
        ]
        if row.is_heading:
            lines.append([f"*{texts[0]}*", *texts[1:]])
        else:
            lines.append([f"**{t}**" if i in row.strong else t for i, t in enumerate(texts)])
    body = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    return [*head, body, escaped(table.note)]


def _exhibit(exhibit: Exhibit, section: Section) -> list[str]:
    items = "\n".join(f"- {_specimen(specimen)}" for specimen in exhibit.specimens)
    return [*_head(exhibit.title, section), escaped(exhibit.note), items or "None."]


def _specimen(specimen: Specimen) -> str:
    tag = f" ({escaped(specimen.tag)})" if specimen.tag else ""
    return f"{escaped(specimen_text(specimen))}{tag}: {escaped(specimen.summary)}"
