"""What did a model say in the form of StereoSet's own code? One JSON object: `intersentence` and `intrasentence`, lists of {"id": of a sentence, "score": number}.

Higher scores are preferred. The score of a sentence goes to the item whose option it is; an item with a missing sentence is unanswered.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.errors import InputError
from evenhand.core.files import read_text
from evenhand.core.suite import Suite

SECTIONS = ("intersentence", "intrasentence")


def read_sections(path: Path) -> dict[str, Any] | None:
    """The file's lists by name; None where the file is not in this form."""
    if path.suffix.lower() != ".json":
        return None
    try:
        told = json.loads(read_text(path))
    except ValueError:
        return None  # one object a line, or no JSON: the reader of rows says which
    return told if isinstance(told, dict) and any(s in told for s in SECTIONS) else None


def _score(path: Path, where: str, entry: Any) -> tuple[str, float]:
    """A sentence's id and score."""
    if (
        not isinstance(entry, dict)
        or not isinstance(entry.get("id"), str)
        or not entry["id"].strip()
    ):
        raise InputError(
            path,
            f"{where} has no id; expected {{'id': ..., 'score': ...}}, found {str(entry)[:60]}",
        )
    name, told = entry["id"].strip(), entry.get("score")
    try:
        score = math.nan if isinstance(told, bool | str) else float(told)  # type: ignore[arg-type]
    except (TypeError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        raise InputError(path, f"the score of the sentence {name} is {told!r}, not a finite number")
    return name, score


def read_official(path: Path, suite: Suite, sections: dict[str, Any]) -> Answers:
    """The predictions as answers to the suite; unknown and repeated ids are an error, missing ones lower the coverage."""
    strata = sorted({p.stratum for p in suite.probes})
    places = {
        name: (row, place)
        for row, p in enumerate(suite.probes)
        for place, name in enumerate(p.tags.get("ids", "").split())
    }
    if not places:
        raise InputError(
            path,
            f"has scores of StereoSet's sentences, but the suite is {suite.card.name}; use --suite stereoset or stereoset:intra",
        )
    values = np.full((len(suite.probes), len(suite.card.labels)), np.nan)
    seen: set[str] = set()
    for section in (f"{stratum}sentence" for stratum in strata):
        entries = sections.get(section)
        if not isinstance(entries, list) or not entries:
            there = " and ".join(s for s in SECTIONS if sections.get(s)) or "nothing"
            raise InputError(
                path,
                f"has no scores in '{section}' (there is {there}); choose --suite stereoset:inter or stereoset:intra to match",
            )
        for number, entry in enumerate(entries, 1):
            name, score = _score(path, f"entry {number} of {section}", entry)
            if name in seen:
                raise InputError(
                    path,
                    f"entry {number} of {section}: the sentence {name} has a score already; give each one once",
                )
            if name not in places:
                raise InputError(
                    path,
                    f"entry {number} of {section}: the sentence {name} is not in {suite.reference} (its ids look like {next(iter(places))})",
                )
            seen.add(name)
            values[places[name]] = score
    missing = int(np.isnan(values).any(axis=1).sum())
    return Answers(
        respondent=f"file:{path.name}",
        suite=suite.reference,
        labels=suite.card.labels,
        probes=suite.probes,
        values=values,
        scale="scores",
        traits={"scoring": "scores as given"},
        unanswered={
            f"not all of the item's sentences are in the predictions file ({len(places) - len(seen)} sentences missing)": missing
        }
        if missing
        else {},
    )
