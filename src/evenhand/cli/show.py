"""`evenhand show NAME`: what a measure, suite, respondent or language is."""

from __future__ import annotations

import json
from math import isinf
from typing import Annotated, Any

import typer

from evenhand.cli import options as opt


def _fields(section: str, thing: Any) -> dict[str, str]:
    if section == "measures":
        card = thing.card
        low, high = card.range
        worst = "unbounded" if isinf(high) else "says nothing about bias"
        return {
            "measure": f"{thing.name} ({card.title})",
            "question": card.question,
            "formula": card.formula,
            "range": f"{low:g} to {high:g}",
            "fair value": f"{thing.fair:g}",
            "fully stereotyped": worst if thing.worst is None else f"{thing.worst:g}",
            "strata": ", ".join(sorted(thing.strata)) or "all",
            "needs labels": ", ".join(sorted(thing.labels)),
            "caveat": card.caveat,
            "citation": card.citation,
        }
    if section == "suites":
        return {
            "suite": thing.name,
            "version": thing.version,
            "about": thing.description,
            "languages": ", ".join(thing.languages),
            "variants": ", ".join(thing.variants),
            "kind": thing.kind,
            "comes from": "published data, fetched or named with --data"
            if thing.is_published
            else "the lexicons of evenhand",
            "licence": thing.licence,
            "citation": thing.citation,
        }
    if section == "respondents":
        return {
            "respondent": thing.name,
            "about": thing.description,
            "answers": ", ".join(sorted(thing.kinds)),
            "examples": ", ".join(thing.examples),
        }
    return {
        "language": f"{thing.code} ({thing.name})",
        "gender words": ", ".join(f"{k}: {v}" for k, v in thing.subjects.items()),
    }


def show(
    name: Annotated[str, typer.Argument(help="Name of a measure, suite, respondent or language.")],
    as_json: opt.AsJson = False,
) -> None:
    """Show a definition with its fair value, citation and licence."""
    from evenhand.core import catalog
    from evenhand.core.errors import UnknownNameError

    known: list[str] = []
    for section in catalog.SECTIONS:
        found = catalog.entries(section)
        known += found
        if name in found:
            fields = _fields(section, found[name])
            break
    else:
        raise UnknownNameError("name", name, known)
    if as_json:
        print(json.dumps(fields, ensure_ascii=False, indent=1))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in fields.items():
        table.add_row(key, value)
    Console().print(table)
