"""The results of a run as plain data: the content of results.json.

Everything but the key `timing` is the same whenever the same run is made again.
"""

from __future__ import annotations

import dataclasses
import math
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.account import IDS_SHOWN, unanswered_ids
from evenhand.core.answer_files import RESULTS, answer_files
from evenhand.core.document import Document, Exhibit
from evenhand.core.estimate import Breakdown, Estimate, Relation
from evenhand.core.plain import plain, to_json
from evenhand.core.run import Run
from evenhand.core.suite import card_path, card_text, probe_lines
from evenhand.core.validity import reservation_texts

SUITE = "suite.jsonl"  # in the folder of a run
PACKAGES = ("numpy", "onnxruntime", "tokenizers")


def environment() -> dict[str, str]:
    """The versions of Python and packages, and the platform."""
    facts = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            facts[package] = "not installed"
    return facts


def estimate_fields(estimate: Estimate) -> dict[str, Any]:
    """An estimate with the fair value of its measure."""
    return {**plain(estimate), "fair": catalog.measure(estimate.measure).fair}


def _breakdown(run: Run, view: Breakdown) -> dict[str, Any]:
    why = "no answer in this group"
    whole = run.estimate(view.measure)
    if whole is not None and not math.isfinite(whole.value):
        why = whole.note
    groups = [
        {
            "name": g.name,
            "tags": dict(sorted(g.tags.items())),
            **plain(g.interval),
            "probes": g.probes,
            "levels": dict(g.levels),
            "has_variation": g.has_variation,
            "note": "" if math.isfinite(g.interval.value) else why,
        }
        for g in view.groups
    ]
    return {"measure": view.measure, "by": view.by, "unit": view.unit, "groups": groups}


def _relation(relation: Relation) -> dict[str, Any]:
    return {**plain(dataclasses.replace(relation, points=())), "points": len(relation.points)}


def run_fields(run: Run, document: Document) -> dict[str, Any]:
    """The run as plain data, keys in a fixed order."""
    suite, answers = run.suite, run.answers
    exhibits = [b for s in document.sections for b in s.blocks if isinstance(b, Exhibit)]
    return {
        "evenhand": __version__,
        "family": run.family,
        "model": {
            "identity": answers.respondent,
            "options": list(answers.options),
            "labels": list(answers.labels),
            "scale": answers.scale,
            "traits": dict(sorted(answers.traits.items())),
            "remarks": list(answers.remarks),
        },
        "suite": {
            **plain(suite.card),
            "digest": suite.digest,
            "probes": len(suite.probes),
            "limit": suite.limit,
        },
        "estimates": [
            {**estimate_fields(e), "reservations": reservation_texts(run, e)} for e in run.estimates
        ],
        "baselines": {k: [plain(b) for b in v] for k, v in run.baselines.items()},
        "sanity": [
            {**estimate_fields(e), "reservations": reservation_texts(run, e)} for e in run.sanity
        ],
        "coverage": plain(answers.coverage),
        "unanswered": dict(sorted(answers.unanswered.items())),
        "unanswered_first": unanswered_ids(run)[:IDS_SHOWN],
        "breakdowns": [_breakdown(run, b) for b in run.breakdowns],
        "relations": [_relation(r) for r in run.relations],
        "evidence": {e.name: [s.id for s in e.specimens] for e in exhibits},
        "lead": list(document.lead),
        "settings": plain(run.settings),
        "environment": environment(),
        "timing": dict(run.timing),
    }


def run_files(run: Run, document: Document) -> dict[str, str | bytes]:
    """The files next to the report of a run: the numbers, the probes and every answer."""
    return {
        RESULTS: to_json(run_fields(run, document)),
        SUITE: probe_lines(run.suite),
        card_path(Path(SUITE)).name: card_text(run.suite),
        **answer_files(run.answers),
    }
