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


def _print_rows(rows: list[dict[str, str]]) -> None:
    """Print a heading for each row: its name and short fields, and below them its long text."""
    from rich.console import Console
    from rich.padding import Padding
    from rich.text import Text

    console = Console()
    for row in rows:
        (_, name), *facts, (_, text) = row.items()
        line = Text(name, style="bold")
        for title, value in facts:
            if value:
                line.append(f"  {title} ", style="dim not bold").append(value, style="not bold")
        console.print(line)
        console.print(Padding(Text(text), (0, 0, 0, 2)))


def list_section(
    section: Annotated[SectionName, typer.Argument(help="What to list.")],
    as_json: opt.AsJson = False,
) -> None:
    """List families, measures, suites, respondents or languages, including those of plug-ins."""
    rows = _rows(section)
    if as_json:
        print_json(rows)
        return
    _print_rows(rows)
