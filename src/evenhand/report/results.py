"""What did the run find, as plain data? Everything but the key `timing` is the same whenever the same run is made again."""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.estimate import Breakdown, Estimate, Relation
from evenhand.core.run import Run
from evenhand.report.blanks import NEAR, leaning_of, measuring
from evenhand.report.choices import tally
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import family_of, kind_of, ties_of
from evenhand.report.evidence import evidence
from evenhand.report.json_values import json_interval, json_number
from evenhand.report.shares import StratumShares, strata_of
from evenhand.report.tasks import golds
from evenhand.report.word_sides import words_of
from evenhand.report.wording import NAMED, unanswered_ids

PACKAGES = ("numpy", "onnxruntime", "tokenizers")


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "measure": found.measure,
        "value": json_number(found.value),
        "low": json_number(found.low),
        "high": json_number(found.high),
        "level": found.level,
        "probes": found.probes,
        "clusters": found.clusters,
        "coverage": json_number(found.coverage),
        "ties": found.ties,
        "note": found.note,
        "fair": catalog.measure(found.measure).fair,
        "signature": found.signature,
        "parts": {k: json_interval(v) for k, v in found.parts.items()},
    }


def _breakdown(view: Breakdown) -> dict[str, Any]:
    groups = [
        {
            "name": g.name,
            "tags": dict(sorted(g.tags.items())),
            **json_interval(g.interval),
            "probes": g.probes,
            "note": "" if math.isfinite(g.interval.value) else "no answer in this group",
        }
        for g in view.groups
    ]
    return {"measure": view.measure, "by": view.by, "unit": view.unit, "groups": groups}


def _relation(relation: Relation) -> dict[str, Any]:
    return {
        "measure": relation.measure,
        "by": relation.by,
        "against": relation.against,
        "groups": len(relation.points),
        "pearson": json_interval(relation.pearson),
        "spearman": json_interval(relation.spearman),
        "note": relation.note,
    }


def _stratum(row: StratumShares) -> dict[str, Any]:
    return {
        "title": row.title,
        "probes": row.probes,
        "answered": row.answered,
        "shares": {k: json_number(v) for k, v in row.shares.items()},
        "counted": list(row.counted),
        "component": json_interval(row.component),
        "note": row.note,
    }


def _other_kinds(run: Run) -> dict[str, Any]:
    """What only other families of runs than pairs have: which way the answers go, and the ids of the probes that show it best."""
    if family_of(run) == "pair":
        return {}
    shown = {found.name: [item.probe.id for item in found.items] for found in evidence(run)}
    if kind_of(run) == "mask":
        found = leaning_of(measuring(run)[1])
        shares = {
            "male": json_number(found.male),
            "near": json_number(found.near),
            "female": json_number(found.female),
        }
        return {
            "leaning": {"sentences": found.sentences, "near_below": NEAR, **shares},
            "evidence": shown,
        }
    if family_of(run) == "words":
        words = {
            s.name: {
                "tags": _sorted({k: s.tags[k] for k in ("lean", "emotion", "sort") if k in s.tags}),
                "comparisons": s.comparisons,
                **json_interval(s.interval),
            }
            for s in words_of(run)
        }
        return {"male_share": _sorted(words), "evidence": shown}
    if family_of(run) == "task":
        labels = {
            g.label: {
                "items": g.items,
                "shares": {k: json_number(v) for k, v in g.shares.items()},
                "recall": json_interval(g.recall),
            }
            for g in golds(run)
        }
        return {"gold_labels": labels, "evidence": shown}
    if family_of(run) == "stereoset":
        return {
            "conventions": {s.title: [e.measure for e in s.estimates] for s in sheaves(run)},
            "evidence": shown,
        }
    counts = {
        e.measure: {"pairs": t.pairs, "stereotypical": t.first, "ties": t.ties, "other": t.second}
        for e in run.estimates
        if (t := tally(run, e)) is not None
    }
    return {"preferences": counts, "evidence": shown}


def environment() -> dict[str, str]:
    """What did it run on?"""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _sorted(things: Mapping[str, Any]) -> dict[str, Any]:
    return dict(sorted(things.items()))


def to_json(run: Run) -> dict[str, Any]:
    """The run as plain data, keys in a fixed order."""
    suite, answers = run.suite, run.answers
    return {
        "evenhand": __version__,
        "model": {
            "identity": answers.respondent,
            "labels": list(answers.labels),
            "scale": answers.scale,
            "traits": _sorted(answers.traits),
        },
        "suite": {
            **asdict(suite.card),
            "labels": list(suite.card.labels),
            "digest": suite.digest,
            "probes": len(suite.probes),
            "limit": suite.limit,
        },
        "estimates": [{**_estimate(e), "ties": ties_of(run, e)} for e in run.estimates],
        "baselines": {name: [_estimate(e) for e in found] for name, found in run.baselines.items()},
        "sanity": [_estimate(e) for e in run.sanity],
        "label_shares": {row.stratum: _stratum(row) for row in strata_of(run)},
        "coverage": json_number(answers.coverage),
        "unanswered": _sorted(answers.unanswered),
        "unanswered_first": unanswered_ids(run)[:NAMED],
        **_other_kinds(run),
        "breakdowns": [_breakdown(b) for b in run.breakdowns],
        "relations": [_relation(r) for r in run.relations],
        "seed": run.seed,
        "resamples": run.resamples,
        "environment": environment(),
        "timing": dict(run.timing),
    }


def results_text(run: Run) -> str:
    """The same as text: UTF-8, one space of indent, a line break at the end."""
    return json.dumps(to_json(run), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
