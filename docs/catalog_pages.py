"""How do the pages about measures and suites stay true? They are written from the catalog when the documentation is built."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from evenhand.core import catalog


def measures_page() -> str:
    """Every measure with its definition."""
    lines = [
        "# Measures",
        "",
        "Written from the catalog; `evenhand show NAME` prints the same.",
        "",
    ]
    for measure in catalog.measures().values():
        card = measure.card
        low, high = card.range
        worst = "says nothing about bias" if measure.worst is None else f"{measure.worst:g}"
        lines += [
            f"## {card.title} {{ #{measure.name} }}", "", f"`{measure.name}` — {card.question}", "", "```text", f"{measure.name} = {card.formula}", "```", "",
            "| | |", "|---|---|", f"| range | {low:g} to {high:g} |", f"| fair value | {measure.fair:g} |", f"| fully stereotyped | {worst} |",
            f"| strata | {', '.join(sorted(measure.strata)) or 'all'} |", f"| labels it needs | {', '.join(sorted(measure.labels))} |",
            f"| caveat | {card.caveat} |", f"| source | {card.citation} |", "",
        ]  # fmt: skip
    return "\n".join(lines)


def suites_page() -> str:
    """Every suite with its source and licence."""
    lines = ["# Suites", "", "Written from the catalog; `evenhand show NAME` prints the same.", ""]
    for suite in catalog.entries("suites").values():
        origin = (
            "published data: fetched with a pinned digest, or named with `--data`"
            if suite.is_published
            else "built from the lexicons, offline"
        )
        lines += [
            f"## {suite.name}", "", suite.description, "", "| | |", "|---|---|", f"| version | {suite.version} |", f"| languages | {', '.join(suite.languages)} |",
            f"| variants | {', '.join(f'`{v}`' for v in suite.variants)} |", f"| comes from | {origin} |", f"| licence | {suite.licence} |",
            f"| source | {suite.citation} |", "",
        ]  # fmt: skip
    return "\n".join(lines)


def model_page() -> str:
    """The card that the embedded model carries with it."""
    return (files("evenhand") / "models" / "default" / "MODEL_CARD.md").read_text(encoding="utf-8")


PAGES = {"measures.md": measures_page, "suites.md": suites_page, "default-model.md": model_page}


def on_files(files: Any, config: Any) -> Any:
    """mkdocs calls this; the generated pages join the written ones."""
    from mkdocs.structure.files import File

    for name, write in PAGES.items():
        files.append(File.generated(config, name, content=write()))
    return files
