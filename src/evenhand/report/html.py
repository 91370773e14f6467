"""What does the run look like? One HTML file that needs no network and no script, for screens of any width, light or dark, and for paper."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.errors import UnknownNameError
from evenhand.core.estimate import Breakdown, Estimate
from evenhand.core.run import Run
from evenhand.report import wording
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import (
    baseline_number,
    best_head,
    checks,
    family_of,
    good,
    kind_of,
    ordered,
    ties_of,
)
from evenhand.report.evidence import evidence
from evenhand.report.figures import LEANS, draw, view_by
from evenhand.report.labour import labour_facts
from evenhand.report.listings import listings, told
from evenhand.report.numbers import amount, bounds, interval_of, number, percent, plain, with_bounds
from evenhand.report.pairs import most_biased
from evenhand.report.picture import Figure
from evenhand.report.results import environment
from evenhand.report.shares import shown_strata
from evenhand.report.stereoset_wording import MIXED

TEMPLATES = Path(__file__).parent / "templates"


def _unbroken(text: str) -> str:
    """A number and its percent sign stay on one line."""
    return text.replace(" %", "\u00a0%")


def _score(run: Run, estimate: Estimate) -> dict[str, Any]:
    measure = catalog.measure(estimate.measure)
    return {
        "title": measure.card.title,
        "name": estimate.measure,
        "value": number(estimate.value),
        "bounds": bounds(interval_of(estimate)),
        "level": f"{estimate.level * 100:g}",
        "is_missing": not math.isfinite(estimate.value),
        "has_interval": math.isfinite(estimate.low + estimate.high),
        "note": estimate.note,
        "low": number(estimate.low),
        "high": number(estimate.high),
        "fair": plain(measure.fair),
        "question": measure.card.question,
        "random": baseline_number(run, "fixed:random", estimate.measure),
        "formula": measure.card.formula,
        "citation": measure.card.citation,
        "constant": baseline_number(run, "fixed:constant", estimate.measure),
        "caveat": measure.card.caveat,
        "verdict": wording.verdict(run, estimate),
        "standing": wording.standing(run, estimate),
        "probes": estimate.probes,
        "clusters": estimate.clusters,
        "coverage": percent(estimate.coverage, 1),
        "ties": ties_of(run, estimate),
        "signature": estimate.signature,
        "good": good(estimate.measure),
    }


def _sheaves(run: Run) -> list[dict[str, Any]]:
    """The scores by the way they count. Said in words: of StereoSet one score of each convention, else all of the first way and one of the others; never the headline again."""
    first = ordered(run)[0]
    found = []
    for place, sheaf in enumerate(sheaves(run)):
        said = (
            sheaf.estimates if not place and family_of(run) != "stereoset" else sheaf.estimates[:1]
        )
        found.append(
            {
                "title": sheaf.title,
                "rule": sheaf.rule[:1].upper() + sheaf.rule[1:],
                "scores": [_score(run, e) for e in sheaf.estimates],
                "said": [_score(run, e) for e in said if e is not first],
            }
        )
    return found


def _groups(view: Breakdown | None) -> list[dict[str, str]]:
    if view is None:
        return []
    return [
        {
            "name": wording.sentence_frame(g.name) if view.by == "template" else g.name,
            "lean": LEANS.get(g.tags.get("lean", ""), ""),
            "value": with_bounds(g.interval),
            "probes": f"{g.probes:,}",
        }
        for g in view.groups
    ]


def language_name(code: str) -> str:
    """The name of a language in itself; its code where it is none of ours."""
    try:
        return catalog.language(code).name
    except UnknownNameError:
        return code


def page_facts(run: Run) -> dict[str, Any]:
    """Everything that the template shows, as text."""
    scores = [_score(run, e) for e in ordered(run)]
    beside = [_score(run, e) for e in checks(run)]
    caution = MIXED if family_of(run) == "stereoset" and len(sheaves(run)) > 1 else ""
    return {
        "version": __version__,
        "model": run.answers.respondent,
        "traits": dict(run.answers.traits),
        "labels": run.answers.labels,
        "suite": run.suite,
        "language": language_name(run.suite.card.language),
        "lang": run.suite.card.language,
        "scores": scores,
        "headline": scores[0],
        "checks": beside,
        "signatures": [s["signature"] for s in (*scores, *beside)],
        "figures": draw(run),
        "strata": shown_strata(run),
        "pairs": most_biased(run),
        "occupations": _groups(view_by(run, "occupation")),
        "frames": _groups(view_by(run, "template")),
        "is_coal": any(e.measure == wording.HEADLINE for e in run.estimates),
        "understanding": wording.understanding(run),
        "method": wording.method(run),
        "limits": wording.limits(run),
        "notes": wording.notes(run),
        "coverage": percent(run.answers.coverage, 1),
        "environment": environment(),
        "seed": run.seed,
        "resamples": f"{run.resamples:,}",
        "timing": dict(run.timing),
        "labour": labour_facts(run),
        "kind": kind_of(run),
        "listings": {found.name: found for found in listings(run)},
        "evidence": evidence(run),
        "family": family_of(run),
        "caution": caution,
        "best": best_head(run),
        "sheaves": _sheaves(run),
    }


def figure_page(figure: Figure) -> str:
    """One figure as a page of its own."""
    return str(templates().get_template("figure.html").render(figure=figure, version=__version__))


def to_html(run: Run) -> str:
    """The report as one HTML page."""
    return str(templates().get_template("report.html").render(**page_facts(run)))


def templates() -> Any:
    """The templates of the pages, with the filters that they use."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    shop = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    shop.filters.update(
        amount=amount,
        percent=percent,
        number=number,
        with_bounds=with_bounds,
        unbroken=_unbroken,
        told=told,
    )
    return shop
