"""Where does the report of a mitigation go? Into a folder, all files or none."""

from __future__ import annotations

import json
from pathlib import Path

from evenhand.mitigate.records import Mitigation
from evenhand.report.mitigation_values import models
from evenhand.report.mitigation_wording import generality, lead, not_shown, summary
from evenhand.report.writing import write_files


def mitigation_text(found: Mitigation) -> str:
    """The record as JSON text, with what is said about it."""
    words = {
        "lead": lead(found),
        "methods": {m: summary(found, m) for m in models(found)[1:]},
        "generality": generality(found),
        "limits": not_shown(found),
    }
    return (
        json.dumps(
            {**found.to_json(), "words": words}, ensure_ascii=False, indent=1, allow_nan=False
        )
        + "\n"
    )


def write_mitigation(found: Mitigation, folder: Path) -> Path:
    """Write mitigation.html, .md, .tex, .json and the figures, all or none; returns the path of the page to open."""
    from evenhand.report.mitigation_figures import figures
    from evenhand.report.mitigation_page import to_html
    from evenhand.report.mitigation_tables import to_latex, to_markdown
    from evenhand.report.picture import standalone

    drawn = figures(found)
    texts = {
        "mitigation.html": to_html(found, drawn),
        "mitigation.md": to_markdown(found),
        "mitigation.tex": to_latex(found),
        "mitigation.json": mitigation_text(found),
        **{f"{figure.name}.svg": standalone(figure) for figure in drawn},
    }
    write_files(folder, texts)
    return folder / "mitigation.html"
