"""Predictions of a model that was run elsewhere, read as answers to a suite.

A CSV, TSV or JSONL file with `id` and, for pairs, three probabilities, three logits or a label;
for blanks and choices one column of log-probabilities per option, or for two genders their
difference `pb`. A family may read a format of its own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import Answers, Silence, Status, empty_values
from evenhand.core.errors import InputError
from evenhand.core.files import read_rows
from evenhand.core.probe import GENDERS, NLI_LABELS, SCORE, Floats
from evenhand.core.suite import Suite
from evenhand.engine.ask import option_names
from evenhand.respondents.labels import standard_label

TOLERANCE = 1e-3  # of each probability, when their sum is checked: rounding to three decimals
SURE, UNSURE = math.log(0.98), math.log(0.01)  # log-probability of the given label, of others
_LABEL_COLUMNS = ("label", "prediction", "predicted", "answer")
_MISSING = Silence(status=Status.NOT_ASKED, reason="no row in the predictions file")


def _pair_form(path: Path, columns: Sequence[str]) -> str:
    """What the columns hold: `probabilities`, `logits` or `label`."""
    names = ", ".join(columns)
    if "id" not in columns:
        raise InputError(path, f"has the columns {names}; a column 'id' is needed")
    if all(c in columns for c in NLI_LABELS):
        return "probabilities"
    if all(f"logit_{c}" in columns for c in NLI_LABELS):
        return "logits"
    if any(c in columns for c in _LABEL_COLUMNS):
        return "label"
    labels, logits = ", ".join(NLI_LABELS), ", ".join(f"logit_{n}" for n in NLI_LABELS)
    reason = f"has the columns {names}; needed are {labels} (probabilities), or {logits}, or label"
    raise InputError(path, reason)


def _numbers(path: Path, row: Mapping[str, Any], names: Sequence[str], number: int) -> Floats:
    fields = ", ".join(names)
    try:
        values = np.asarray([float(row[n]) for n in names])
    except KeyError as error:
        raise InputError(path, f"the field {error} is missing", row=number) from error
    except (TypeError, ValueError) as error:
        raise InputError(path, f"{fields} should be numbers ({error})", row=number) from error
    if not np.isfinite(values).all():
        printed = ", ".join(f"{v:g}" for v in values)
        raise InputError(path, f"{fields} are {printed}: not finite", row=number)
    return values


def _pair_values(path: Path, row: Mapping[str, Any], form: str, number: int) -> Floats:
    if form == "logits":
        return _numbers(path, row, [f"logit_{n}" for n in NLI_LABELS], number)
    if form == "probabilities":
        values = _numbers(path, row, NLI_LABELS, number)
        total = values.sum()
        if values.min() < 0 or not math.isclose(total, 1, abs_tol=TOLERANCE * len(values)):
            printed = ", ".join(f"{v:g}" for v in values)
            reason = f"probabilities {printed} do not sum to one (sum {total:g})"
            raise InputError(path, reason, row=number)
        return np.asarray(np.log(np.maximum(values, np.finfo(np.float64).tiny)))
    given = next((row[c] for c in _LABEL_COLUMNS if c in row), None)
    label = standard_label(str(given))
    if label not in NLI_LABELS:
        reason = f"label {given!r} is none of {', '.join(NLI_LABELS)}"
        raise InputError(path, reason, row=number)
    return np.asarray([SURE if label == n else UNSURE for n in NLI_LABELS])


def _option_form(path: Path, columns: Sequence[str], options: tuple[str, ...]) -> str:
    """What the columns of probes with candidates or options hold: `options` or `pb`."""
    if "id" in columns and all(c in columns for c in options):
        return "options"
    if "id" in columns and "pb" in columns and options == GENDERS:
        return "pb"
    also = ", or pb (log p_male - log p_female)" if options == GENDERS else ""
    reason = f"needed are id and {', '.join(options)} (log-probabilities){also}"
    raise InputError(path, f"has the columns {', '.join(columns)}; {reason}")


def _own_form(path: Path, suite: Suite) -> Answers | None:
    """The answers of a file in the format of a family; None where no family reads it."""
    for family in catalog.families().values():
        if family.read_predictions is not None:
            answers = family.read_predictions(path, suite)
            if answers is not None:
                return answers
    return None


def read_predictions(path: Path, suite: Suite) -> Answers:
    """The predictions as answers to the suite.

    Missing ids lower the coverage. Raises InputError for unknown ids and unreadable rows.
    """
    if (own := _own_form(path, suite)) is not None:
        return own
    rows = read_rows(path)
    columns, is_pair = list(rows[0][1]), suite.kind == "pair"
    labels = NLI_LABELS if is_pair else (SCORE,)
    values = empty_values(suite.probes, len(labels))
    options = option_names(suite, values.shape[1])
    form = _pair_form(path, columns) if is_pair else _option_form(path, columns, options)
    places = {p.id: i for i, p in enumerate(suite.probes)}
    seen: dict[str, int] = {}
    for number, row in rows:
        name = str(row.get("id", ""))
        if name in seen:
            reason = f"the id '{name}' was already used in row {seen[name]}"
            raise InputError(path, reason, row=number)
        if name not in places:
            like = f"its ids look like '{suite.probes[0].id}'"
            raise InputError(
                path, f"the id '{name}' is not in {suite.card.name} ({like})", row=number
            )
        seen[name] = number
        if is_pair:
            values[places[name], 0] = _pair_values(path, row, form, number)
        elif form == "pb":
            values[places[name], :, 0] = (*_numbers(path, row, ["pb"], number), 0.0)
        else:
            count = suite.probes[places[name]].option_count
            values[places[name], :count, 0] = _numbers(path, row, options[:count], number)
    traits = (
        {"labels": "e0n1c2/file", "scoring": f"argmax of {form}"}
        if is_pair
        else {"scoring": f"{form} as given"}
    )
    return Answers(
        respondent=f"file:{path.name}",
        suite=suite.reference,
        probes=suite.probes,
        options=options,
        labels=labels,
        values=values,
        scale="logits" if form == "logits" else "log-probabilities",
        traits=traits,
        silences={i: _MISSING for i, p in enumerate(suite.probes) if p.id not in seen},
    )
