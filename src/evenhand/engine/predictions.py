"""What did a model say that was run elsewhere? A CSV, TSV or JSONL file with `id` and either three probabilities or a label.

For blanks: `id`, and the log-probabilities `male` and `female` or their difference `pb`; for choices a column for each option, or the file of
StereoSet's own code.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.errors import InputError
from evenhand.core.files import read_rows
from evenhand.core.probe import GENDERS, NLI_LABELS, Floats
from evenhand.core.suite import Suite
from evenhand.families.stereoset.predictions import read_official, read_sections
from evenhand.respondents.labels import plain

TOLERANCE = 1e-3  # how far probabilities may be from a sum of one: rounding to three decimals
_LABEL_COLUMNS = ("label", "prediction", "predicted", "answer")


def _form(path: Path, columns: list[str]) -> str:
    """probabilities, logits or label: by the columns that are there."""
    if "id" not in columns:
        raise InputError(path, f"has the columns {', '.join(columns)}; a column 'id' is needed")
    if all(c in columns for c in NLI_LABELS):
        return "probabilities"
    if all(f"logit_{c}" in columns for c in NLI_LABELS):
        return "logits"
    if any(c in columns for c in _LABEL_COLUMNS):
        return "label"
    raise InputError(
        path,
        f"has the columns {', '.join(columns)}; needed are {', '.join(NLI_LABELS)} (probabilities), or logit_{', logit_'.join(NLI_LABELS)}, or label",
    )


def _numbers(path: Path, row: Mapping[str, Any], names: list[str], number: int) -> Floats:
    try:
        values = np.asarray([float(row[n]) for n in names])
    except KeyError as error:
        raise InputError(path, f"the field {error} is missing", row=number) from error
    except (TypeError, ValueError) as error:
        raise InputError(
            path, f"{', '.join(names)} should be numbers ({error})", row=number
        ) from error
    if not np.isfinite(values).all():
        raise InputError(
            path,
            f"{', '.join(names)} are {', '.join(f'{v:g}' for v in values)}: not finite",
            row=number,
        )
    return values


def _values(path: Path, row: Mapping[str, Any], form: str, number: int) -> Floats:
    if form == "logits":
        return _numbers(path, row, [f"logit_{n}" for n in NLI_LABELS], number)
    if form == "probabilities":
        values = _numbers(path, row, list(NLI_LABELS), number)
        if values.min() < 0 or not math.isclose(values.sum(), 1, abs_tol=TOLERANCE * len(values)):
            raise InputError(
                path,
                f"probabilities {', '.join(f'{v:g}' for v in values)} do not sum to one (sum {values.sum():g})",
                row=number,
            )
        return np.asarray(np.log(np.maximum(values, np.finfo(np.float64).tiny)))
    told = next((row[c] for c in _LABEL_COLUMNS if c in row), None)
    label = plain(str(told))
    if label not in NLI_LABELS:
        raise InputError(path, f"label {told!r} is none of {', '.join(NLI_LABELS)}", row=number)
    return np.asarray([math.log(0.98) if label == n else math.log(0.01) for n in NLI_LABELS])


def _option_form(path: Path, columns: list[str], labels: tuple[str, ...]) -> str:
    """options or pb, for probes with candidates or options."""
    if "id" in columns and all(c in columns for c in labels):
        return "options"
    if "id" in columns and "pb" in columns and labels == GENDERS:
        return "pb"
    also = ", or pb (log p_male - log p_female)" if labels == GENDERS else ""
    raise InputError(
        path,
        f"has the columns {', '.join(columns)}; needed are id and {', '.join(labels)} (log-probabilities){also}",
    )


def _option_values(
    path: Path, row: Mapping[str, Any], form: str, labels: tuple[str, ...], number: int
) -> Floats:
    return (
        np.append(_numbers(path, row, ["pb"], number), 0.0)
        if form == "pb"
        else _numbers(path, row, list(labels), number)
    )


def read_predictions(path: Path, suite: Suite) -> Answers:
    """The predictions as answers to the suite; unknown ids are an error, missing ids lower the coverage."""
    if (sections := read_sections(path)) is not None:
        return read_official(path, suite, sections)
    rows = read_rows(path)
    is_pairs = all(p.kind == "pair" for p in suite.probes)
    labels = NLI_LABELS if is_pairs else suite.card.labels
    form = (
        _form(path, list(rows[0][1])) if is_pairs else _option_form(path, list(rows[0][1]), labels)
    )
    known = {p.id: i for i, p in enumerate(suite.probes)}
    values = np.full((len(suite.probes), len(labels)), np.nan)
    seen: dict[str, int] = {}
    for number, row in rows:
        name = str(row.get("id", ""))
        if name in seen:
            raise InputError(
                path, f"the id '{name}' was already used in row {seen[name]}", row=number
            )
        if name not in known:
            raise InputError(
                path,
                f"the id '{name}' is not in {suite.card.name} (its ids look like '{suite.probes[0].id}')",
                row=number,
            )
        seen[name] = number
        values[known[name]] = (
            _values(path, row, form, number)
            if is_pairs
            else _option_values(path, row, form, labels, number)
        )
    missing = len(suite.probes) - len(seen)
    return Answers(
        respondent=f"file:{path.name}",
        suite=suite.reference,
        labels=labels,
        probes=suite.probes,
        values=values,
        scale="logits" if form == "logits" else "log-probabilities",
        traits={"labels": "e0n1c2/file", "scoring": f"argmax of {form}"}
        if is_pairs
        else {"scoring": f"{form} as given"},
        unanswered={"no row in the predictions file": missing} if missing else {},
    )
