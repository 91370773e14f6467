"""`evenhand show NAME`: what a measure, suite, family, respondent or language is."""

from __future__ import annotations

from math import isinf
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as opt
from evenhand.cli.show_document import print_json

if TYPE_CHECKING:
    from evenhand.core.family import Family
    from evenhand.core.measure import Measure
    from evenhand.core.protocols import Language, RespondentSource, SuiteSource


def _measure(measure: Measure) -> dict[str, str]:
    card = measure.card
    low, high = card.range
    worst = "unbounded" if isinf(high) else "says nothing about bias"
    if measure.worst is not None:
        worst = f"{measure.worst:g}"
    rule = measure.worst_rule.replace("-", " ")
    return {
        "measure": f"{measure.name} ({card.title})",
        "question": card.question,
        "formula": card.formula,
        "range": f"{low:g} to {high:g}",
        f"{measure.best} value": f"{measure.fair:g}",
        "fully stereotyped" if rule == "stereotyped" else rule: worst,
        "strata": ", ".join(sorted(measure.strata)) or "all",
        "needs labels": ", ".join(sorted(measure.labels)) or "any",
        "caveat": card.caveat,
        "citation": card.citation,
    }


def _suite(suite: SuiteSource) -> dict[str, str]:
    published = "published data, fetched or named with --data"
    own = {
        flag: str(field.metadata.get("help", ""))
        for flag, field in opt.own_fields(suite.options).items()
    }
    return {
        "suite": suite.name,
        "version": suite.version,
        "about": suite.description,
        "languages": ", ".join(suite.languages),
        "variants": ", ".join(suite.variants),
        "kind": suite.kind,
        "comes from": published if suite.is_published else "words and frames that come with it",
        "licence": suite.licence,
        "citation": suite.citation,
        **own,
    }


def _family(family: Family) -> dict[str, str]:
    return {
        "family": f"{family.name} ({family.title})",
        "suites": ", ".join(s.name for s in family.suites) or "none",
        "measures": ", ".join(m.name for m in family.measures) or "none",
        "intervals over": family.unit,
    }


def _respondent(source: RespondentSource) -> dict[str, str]:
    return {
        "respondent": source.name,
        "about": source.description,
        "answers": ", ".join(sorted(source.kinds)),
        "examples": ", ".join(source.examples),
    }


def _language(language: Language) -> dict[str, str]:
    return {
        "language": f"{language.code} ({language.name})",
        "gender words": ", ".join(f"{k}: {v}" for k, v in language.subjects.items()),
    }


_FIELDS: dict[str, Any] = {
    "families": _family,
    "measures": _measure,
    "suites": _suite,
    "respondents": _respondent,
    "languages": _language,
}


def show(
    name: Annotated[
        str, typer.Argument(help="Name of a measure, suite, family, respondent or language.")
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Show what a name stands for: definition, fair value, options, citation and licence."""
    from evenhand.core import catalog
    from evenhand.core.errors import UnknownNameError

    # a suite or measure that shares the name of its family is the likelier meaning, so it is first
    order: list[catalog.Section] = ["measures", "suites", "families", "respondents", "languages"]
    known: list[str] = []
    for section in order:
        entries = catalog.entries(section)
        known += entries
        if name in entries:
            fields = _FIELDS[section](entries[name])
            if section in ("measures", "suites"):
                fields["family"] = catalog.owners(section)[name]
            break
    else:
        raise UnknownNameError("name", name, known)
    if as_json:
        print_json(fields)
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for key, value in fields.items():
        table.add_row(Text(key), Text(value))  # `[default: 10]` is not markup
    Console().print(table)
