"""Pages that are written from the catalog when the documentation is built: measures and suites."""

from __future__ import annotations

import math
from importlib.resources import files
from typing import Any

from evenhand.core import catalog
from evenhand.core.measure import Measure
from evenhand.core.protocols import SuiteSource

WRITTEN = "Written from the catalog; `evenhand show NAME` prints the same."


def _table(rows: dict[str, str]) -> list[str]:
    """Names and values as a table without a head."""
    return ["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows.items()), ""]


def _measure(measure: Measure) -> list[str]:
    card = measure.card
    low, high = card.range
    worst = "unbounded" if math.isinf(high) else "says nothing about bias"
    rule = measure.worst_rule.replace("-", " ")  # who reaches the worst value
    rows = {
        "range": f"{low:g} to {high:g}",
        f"{measure.best} value": f"{measure.fair:g}",
        "fully stereotyped" if rule == "stereotyped" else rule: worst
        if measure.worst is None
        else f"{measure.worst:g}",
        "strata": ", ".join(sorted(measure.strata)) or "all",
        "labels it needs": ", ".join(sorted(measure.labels)) or "any",
        "caveat": card.caveat,
        "source": card.citation,
    }
    return [
        f"### {card.title} {{ #{measure.name} }}",
        "",
        f"`{measure.name}`: {card.question}",
        "",
        "```text",
        f"{measure.name} = {card.formula}",
        "```",
        "",
        *_table(rows),
    ]


def measures_page() -> str:
    """Every measure with its definition, family by family."""
    lines = ["# Measures", "", WRITTEN, ""]
    for family in catalog.families().values():
        lines += [f"## {family.title}", "", f"Intervals are over {family.unit}.", ""]
        lines += [line for measure in family.measures for line in _measure(measure)]
    return "\n".join(lines)


def _suite(suite: SuiteSource) -> list[str]:
    from evenhand.cli.options import own_fields

    fetched = "published data: fetched with a pinned digest, or named with `--data`"
    rows = {
        "version": suite.version,
        "kind of probe": suite.kind,
        "languages": ", ".join(suite.languages),
        "variants": ", ".join(f"`{v}`" for v in suite.variants),
        "comes from": fetched if suite.is_published else "built from the lexicons, offline",
        "licence": suite.licence,
        "source": suite.citation,
    }
    own = {
        f"`{flag}`": str(field.metadata.get("help", ""))
        for flag, field in own_fields(suite.options).items()
    }
    return [f"### {suite.name}", "", suite.description, "", *_table({**rows, **own})]


def suites_page() -> str:
    """Every suite with its source, licence and options, family by family."""
    lines = ["# Suites", "", WRITTEN, ""]
    for family in catalog.families().values():
        lines += [f"## {family.title}", ""]
        lines += [line for suite in family.suites for line in _suite(suite)]
    return "\n".join(lines)


def model_page() -> str:
    """The card that the embedded model carries with it."""
    return (files("evenhand") / "models" / "default" / "MODEL_CARD.md").read_text(encoding="utf-8")


PAGES = {"measures.md": measures_page, "suites.md": suites_page, "default-model.md": model_page}


def on_files(files: Any, config: Any) -> Any:
    """Add the written pages to the others; mkdocs calls this."""
    from mkdocs.structure.files import File

    for name, write in PAGES.items():
        files.append(File.generated(config, name, content=write()))
    return files
