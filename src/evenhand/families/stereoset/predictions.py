"""The reader of StereoSet's own prediction files.

One JSON object with the lists `intersentence` and `intrasentence` of {"id": of a sentence,
"score": number}. Higher scores are preferred. The score of a sentence goes to the item whose
option it is; an item with a missing sentence is unanswered.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.errors import InputError
from evenhand.core.files import read_text
from evenhand.core.probe import SCORE
from evenhand.core.suite import Suite

SECTIONS = ("intersentence", "intrasentence")


def _read_sections(path: Path) -> dict[str, Any] | None:
    """The file's lists by name; None where the file is not in this format."""
    if path.suffix.lower() != ".json":
        return None
    try:
        content = json.loads(read_text(path))
    except ValueError:
        return None  # one object per line, or not JSON: left to the reader of rows
    is_known = isinstance(content, dict) and any(s in content for s in SECTIONS)
    return content if is_known else None


def _read_score(path: Path, where: str, entry: Any) -> tuple[str, float]:
    """A sentence's id and score."""
    name = entry.get("id") if isinstance(entry, dict) else None
    if not isinstance(name, str) or not name.strip():
        expected = "expected {'id': ..., 'score': ...}"
        raise InputError(path, f"{where} has no id; {expected}, found {str(entry)[:60]}")
    name, given = name.strip(), entry.get("score")
    try:
        score = math.nan if isinstance(given, bool | str) else float(given)
    except (TypeError, OverflowError):
        score = math.nan
    if not math.isfinite(score):
        reason = f"the score of the sentence {name} is {given!r}, not a finite number"
        raise InputError(path, reason)
    return name, score


def _section_entries(path: Path, sections: dict[str, Any], section: str) -> list[Any]:
    """The entries of one list. Raises InputError where there are none."""
    entries = sections.get(section)
    if isinstance(entries, list) and entries:
        return entries
    there = " and ".join(s for s in SECTIONS if sections.get(s)) or "nothing"
    reason = (
        f"has no scores in '{section}' (there is {there}); "
        "choose --suite stereoset:inter or stereoset:intra to match"
    )
    raise InputError(path, reason)


def read_predictions(path: Path, suite: Suite) -> Answers | None:
    """The predictions as answers to the suite; None where the file is not in this format.

    Missing sentences lower the coverage. Raises InputError for ids that are unknown or repeated,
    scores that are not numbers, and a suite that is not StereoSet.
    """
    sections = _read_sections(path)
    if sections is None:
        return None
    places = {
        name: (row, place)
        for row, p in enumerate(suite.probes)
        for place, name in enumerate(p.tags.get("ids", "").split())
    }
    if not places:
        reason = (
            f"has scores of StereoSet's sentences, but the suite is {suite.card.name}; "
            "use --suite stereoset or stereoset:intra"
        )
        raise InputError(path, reason)
    values = np.full((len(suite.probes), len(suite.card.options), 1), np.nan)
    seen: set[str] = set()
    for section in (f"{stratum}sentence" for stratum in sorted(suite.strata)):
        for number, entry in enumerate(_section_entries(path, sections, section), 1):
            where = f"entry {number} of {section}"
            name, score = _read_score(path, where, entry)
            if name in seen:
                reason = f"{where}: the sentence {name} has a score already; give each one once"
                raise InputError(path, reason)
            if name not in places:
                example = next(iter(places))
                reason = (
                    f"{where}: the sentence {name} is not in {suite.reference} "
                    f"(its ids look like {example})"
                )
                raise InputError(path, reason)
            seen.add(name)
            values[places[name]] = score
    silence = Silence(
        status=Status.NOT_ASKED,
        reason="not all of the item's sentences are in the predictions file "
        f"({len(places) - len(seen)} sentences missing)",
    )
    missing = np.flatnonzero(np.isnan(values).any(axis=(1, 2)))
    return Answers(
        respondent=f"file:{path.name}",
        suite=suite.reference,
        factors=suite.card.factors,
        within=suite.card.within,
        whole=suite.whole,
        probes=suite.probes,
        options=suite.card.options,
        labels=(SCORE,),
        values=values,
        scale="scores",
        traits={"scoring": "scores as given"},
        silences={int(row): silence for row in missing},
    )
