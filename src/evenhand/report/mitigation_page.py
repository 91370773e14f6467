"""What does a mitigation look like? One HTML file: what changed in words, the trade-off, the tables, before and after, and what is not shown."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand import __version__
from evenhand.mitigate.records import NONE, Mitigation
from evenhand.report import mitigation_values as told
from evenhand.report import mitigation_wording as wording
from evenhand.report.html import language_name, templates
from evenhand.report.mitigation_tables import TRAINED, grids, trained_rows
from evenhand.report.picture import Figure


def to_html(found: Mitigation, figures: Sequence[Figure]) -> str:
    """The mitigation as one HTML page."""
    facts = {
        "version": __version__,
        "model": found.model,
        "identity": found.identity,
        "language": language_name(found.language),
        "lang": found.language,
        "lead": wording.lead(found),
        "count": len(told.methods(found)),
        "has_control": NONE in told.models(found),
        "level": f"{found.level * 100:g}",
        "alpha": f"{1 - found.level:.2g}",
        "methods": [
            {
                "name": t.method,
                "description": t.description,
                "said": wording.summary(found, t.method),
            }
            for t in found.trained
        ],
        "trades": [f for f in figures if f.name.startswith("trade-off")],
        "levels": [f for f in figures if f.name.startswith("levels")],
        "grids": list(grids(found)),
        "generality": wording.generality(found),
        "limits": wording.not_shown(found),
        "method": wording.method(found),
        "trained": {"heads": TRAINED, "rows": trained_rows(found)},
        "occupations": found.occupations,
        "tests": found.tests,
        "seed": found.settings["seed"],
        "signatures": list(dict.fromkeys(s.signature for s in found.scores if s.signature)),
        "identities": [(t.method, t.identity) for t in found.trained],
        "files": [
            (part, f["file"], f["pairs"], f["sha256"][:12])
            for part in ("train", "dev")
            for f in found.settings[part]
        ],
    }
    return str(templates().get_template("mitigation.html").render(**facts))
