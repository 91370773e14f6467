"""What is a comparison of people and models as plain data, and where does its report go?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core.estimate import Estimate
from evenhand.people.agreement import AgreementReport, Leaning, Pair
from evenhand.people.beside import Beside, Correlation
from evenhand.people.compare import PeopleComparison
from evenhand.report import people_wording as wording
from evenhand.report.json_values import json_interval, json_number
from evenhand.report.people_tables import lists_of
from evenhand.report.results import environment
from evenhand.report.writing import write_files


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        **json_interval(found),
        "sentences": found.probes,
        "coverage": json_number(found.coverage),
        "note": found.note,
        "signature": found.signature,
    }


def _pair(found: Pair) -> dict[str, Any]:
    return {
        "first": found.first,
        "second": found.second,
        "stratum": found.stratum,
        "pearson": json_interval(found.pearson),
        "p_sentences": json_number(found.p),
        "sentences": found.sentences,
        "note": found.note,
    }


def _leaning(found: Leaning) -> dict[str, Any]:
    return {
        "name": found.name,
        "sentences": found.sentences,
        "mean": json_interval(found.mean),
        "shares": {k: json_number(v) for k, v in found.shares.items()},
    }


def agreement_json(found: AgreementReport) -> dict[str, Any]:
    """The agreement of people as plain data; NaN as null, with its reason beside it."""
    return {
        "annotators": list(found.names),
        "seed": found.seed,
        "resamples": found.resamples,
        "level": found.level,
        "unit": found.unit,
        "pairs_interval": "percentile" if found.is_drawn else "fisher",
        "pairs": [_pair(p) for p in found.pairs],
        "others": [_pair(p) for p in found.others],
        "alpha": {
            a.stratum: {**json_interval(a.interval), "sentences": a.sentences, "note": a.note}
            for a in found.alphas
        },
        "everybody": _leaning(found.everybody),
        "leanings": [_leaning(x) for x in found.leanings],
    }


def _correlation(found: Correlation) -> dict[str, Any]:
    return {
        **json_interval(found.interval),
        "p": json_number(found.p),
        "adjusted": json_number(found.adjusted),
        "p_sentences": json_number(found.p_sentences),
        "signature": found.signature,
    }


def _model(found: PeopleComparison, model: Beside) -> dict[str, Any]:
    lists = {
        name: {
            "definition": wording.definitions(found)[name],
            "total": listing.total,
            "sentences": [
                {"id": s.probe.id, "texts": list(s.probe.texts), "people": s.people, "pb": s.odds}
                for s in listing.sentences
            ],
        }
        for name, listing in lists_of(model)
    }
    return {
        "name": model.name,
        "identity": model.answers.respondent,
        "traits": dict(sorted(model.answers.traits.items())),
        "asked": model.asked,
        "both": len(model.people),
        "coverage": json_number(model.coverage),
        "clusters": model.clusters,
        "pearson": _correlation(model.pearson),
        "spearman": _correlation(model.spearman),
        "is_shown": wording.is_shown(found, model),
        "same_side": json_number(model.same_side),
        "accuracy": _estimate(model.accuracy),
        "lists": lists,
        "note": model.note,
    }


def to_json(found: PeopleComparison) -> dict[str, Any]:
    """The comparison as plain data, keys in a fixed order."""
    people, suite, t = found.people, found.people.suite, found.thresholds
    return {
        "evenhand": __version__,
        "seed": found.seed,
        "resamples": found.resamples,
        "level": found.level,
        "unit": found.unit,
        "correction": "benjamini-hochberg",
        "suite": {
            "name": suite.card.name,
            "version": suite.card.version,
            "language": suite.card.language,
            "reference": suite.reference,
            "sentences": {
                name: sum(s == k for s in people.strata) for k, name in wording.STRATA.items()
            },
        },
        "people": {
            "name": people.name,
            "annotators": list(people.annotators),
            "accuracy": _estimate(found.accuracies[0]),
            "accuracies": {
                n: _estimate(e)
                for n, e in zip(people.annotators, found.accuracies[1:], strict=True)
            },
        },
        "agreement": agreement_json(found.agreement) if found.agreement else None,
        "thresholds": {
            "people_lean": t.people_lean,
            "people_near": t.people_near,
            "model_lean": t.model_lean,
            "model_near": t.model_near,
        },
        "models": [_model(found, m) for m in found.models],
        "lead": wording.lead(found),
        "notes": wording.notes(found),
        "environment": environment(),
    }


def people_text(found: PeopleComparison) -> str:
    """The same as text: UTF-8, one space of indent, a line break at the end."""
    return json.dumps(to_json(found), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def write_people(found: PeopleComparison, folder: Path) -> Path:
    """Write people.html, .md, .tex and .json and every figure as .svg and .png, all or none; returns the path of the page to open."""
    from evenhand.report.people_figures import figures
    from evenhand.report.people_page import to_html
    from evenhand.report.people_tables import to_latex, to_markdown

    drawn = figures(found)
    texts = {
        "people.html": to_html(found, drawn),
        "people.md": to_markdown(found),
        "people.tex": to_latex(found),
        "people.json": people_text(found),
    }
    write_files(folder, texts, drawn)
    return folder / "people.html"
