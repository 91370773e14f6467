"""`evenhand list SECTION`: the families, measures, suites, respondents and languages there are."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from evenhand.cli import options as opt
from evenhand.cli.show_document import print_json


class SectionName(StrEnum):
    """A section of the catalog."""

    families = "families"
    measures = "measures"
    suites = "suites"
    respondents = "respondents"
    languages = "languages"


def _rows(section: SectionName) -> list[dict[str, str]]:
    from evenhand.core import catalog

    entries = catalog.entries(section.value).values()
    if section is SectionName.families:
        return [
            {
                "name": f.name,
                "suites": " ".join(s.name for s in f.suites),
                "measures": " ".join(m.name for m in f.measures),
                "title": f.title,
            }
            for f in entries
        ]
    if section is SectionName.measures:
        return [
            {"name": m.name, "kind": m.kind, "fair": f"{m.fair:g}", "question": m.card.question}
            for m in entries
        ]
    if section is SectionName.suites:
        return [
            {
                "name": s.name,
                "version": s.version,
                "languages": " ".join(s.languages),
                "variants": " ".join(s.variants),
                "description": s.description,
            }
            for s in entries
        ]
    if section is SectionName.respondents:
        return [
            {
                "name": r.name,
                "kinds": " ".join(sorted(r.kinds)),
                "examples": " ".join(r.examples),
                "description": r.description,
            }
            for r in entries
        ]
    return [
        {"code": lang.code, "name": lang.name, "words": " / ".join(lang.subjects.values())}
        for lang in entries
    ]


def list_section(
    section: Annotated[SectionName, typer.Argument(help="What to list.")],
    as_json: opt.AsJson = False,
) -> None:
    """List families, measures, suites, respondents or languages, including those of plug-ins."""
    rows = _rows(section)
    if as_json:
        print_json(rows)
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in rows[0]:
        table.add_column(column, overflow="fold", no_wrap=column in {"name", "code"})
    for row in rows:
        table.add_row(*row.values())
    Console().print(table)
