"""What does a ladder look like? One HTML file like that of a run: what was found, the figures, the standings, and how it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from evenhand import __version__
from evenhand.meta.ranking import Standing
from evenhand.meta.records import Ladder
from evenhand.report import ladder as told
from evenhand.report.comparison import chance
from evenhand.report.html import language_name, templates
from evenhand.report.ladder_languages import PUBLISHED, coefficient, published
from evenhand.report.ladder_tables import about, facts
from evenhand.report.numbers import bounds, number, percent
from evenhand.report.picture import Figure


def _row(standing: Standing) -> dict[str, Any]:
    r = standing.pearson
    moved = f"p {chance(standing.leak_p)}" if math.isfinite(standing.leak_p) else ""
    return {
        "rank": standing.rank,
        "title": told.title(standing.measure),
        "suite": standing.suite,
        "is_found": standing.finding == "found",
        "pearson": coefficient(standing),
        "bounds": bounds(r.interval) if math.isfinite(r.value) else r.note.partition(":")[0],
        "spearman": number(standing.spearman.value),
        "kendall": number(standing.kendall.value),
        "signal": number(standing.signal),
        "share": percent(standing.share) if math.isfinite(standing.share) else "",
        "noise": number(standing.noise),
        "leak": number(standing.leak),
        "leak_p": moved,
        "is_moved": standing.is_moved,
        "verdict": told.verdict(standing),
        "p": chance(r.p),
        "spearman_bounds": bounds(standing.spearman.interval),
        "kendall_bounds": bounds(standing.kendall.interval),
        "seeds": ", ".join(number(v) for v in r.by_seed.values()),
        "mean_of_seeds": number(r.mean_of_seeds),
        "strength": number(standing.strength.value),
        "leak_pearson": number(standing.leak_pearson.value),
    }


def beside_the_paper(ladder: Ladder, standings: Sequence[Standing]) -> list[tuple[str, str, str]]:
    """Measure, ours, the paper's: where the paper has one of this language."""
    found = []
    for measure in PUBLISHED:
        mine = next((s for s in standings if s.measure == measure), None)
        if mine and (theirs := published(measure, ladder.language)):
            found.append((told.title(measure), coefficient(mine), theirs))
    return found


def to_html(ladder: Ladder, standings: Sequence[Standing], figures: Sequence[Figure]) -> str:
    """The ladder as one HTML page."""
    named = {figure.name: figure for figure in figures}
    page = {
        "version": __version__,
        "about": about(ladder),
        "lang": ladder.language,
        "language": language_name(ladder.language),
        "summary": told.summary(ladder, standings),
        "accuracy": told.accuracy_told(ladder) if told.has_learnt(ladder) else "",
        "scores": named.get("scores"),
        "ranking": named.get("ranking"),
        "suites": [f for f in figures if f.name not in ("scores", "ranking")],
        "rows": [_row(s) for s in standings],
        "paper": beside_the_paper(ladder, standings),
        "facts": facts(ladder),
        "method": told.method(standings),
        "notes": told.notes(standings),
        "level": f"{standings[0].level * 100:g}" if standings else "95",
        "has_suites": len(told.suites_of(standings)) > 1,
    }
    return str(templates().get_template("ladder.html").render(**page))
