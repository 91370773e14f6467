"""Predictions of a model that was run elsewhere, read as answers to a suite.

A CSV, TSV or JSONL file. A row names its probe by `id` or by the probe's texts, and has, for pairs,
three probabilities, three logits or a label; for blanks and choices one column of
log-probabilities per option, or for two genders their difference `pb`. A family may read a format
of its own.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import LABELS_ONLY, Answers, Silence, Status, empty_values
from evenhand.core.errors import InputError
from evenhand.core.files import read_rows
from evenhand.core.probe import GENDERS, NLI_LABELS, SCORE, Floats, Kind, Probe
from evenhand.core.suite import Suite
from evenhand.core.text import counted, listed
from evenhand.engine.ask import option_names
from evenhand.respondents.labels import LabelOrder, example_map, from_user, standard_label

Form = Literal["probabilities", "logits", "label", "options", "pb"]
Row = tuple[int, Mapping[str, Any]]  # its number in the file, its fields

TOLERANCE = 0.01  # of the sum of three probabilities: they may be rounded to two decimals
NEGLIGIBLE = 1e-4  # a sum nearer to 1 than this is a matter of floating point, not of rounding
ROWS_SHOWN = 5  # how many bad rows an error names
_LABEL_COLUMNS = ("label", "prediction", "predicted", "answer")
_TEXT_COLUMNS: Mapping[Kind, tuple[tuple[str, ...], ...]] = {
    "pair": (("premise", "hypothesis"), ("sentence1", "sentence2")),
    "mask": (("sentence",),),
    "choice": (("context",),),
}
STRATUM = "stratum"  # a column that tells probes of the same texts apart
_SCALES: Mapping[Form, str] = {"label": LABELS_ONLY, "logits": "logits"}
_GIVEN: Mapping[Form, str] = {"label": "labels only", "options": "log-probabilities"}
_NO_NUMBERED_LABELS = "has no labels that are numbers; leave --label-map out"
_MISSING = Silence(status=Status.NOT_ASKED, reason="no row in the predictions file")
_FILE_ORDER = LabelOrder(NLI_LABELS, tuple(range(len(NLI_LABELS))), "file")


def _pair_form(path: Path, columns: Sequence[str]) -> Form:
    """What the columns of pairs hold. Raises InputError where that cannot be told."""
    if all(c in columns for c in NLI_LABELS):
        return "probabilities"
    if all(f"logit_{c}" in columns for c in NLI_LABELS):
        return "logits"
    given = [c for c in _LABEL_COLUMNS if c in columns]
    if len(given) > 1:
        raise InputError(
            path, f"has the columns {listed(given)}; keep the one that holds the model's labels"
        )
    if given:
        return "label"
    labels, logits = ", ".join(NLI_LABELS), ", ".join(f"logit_{n}" for n in NLI_LABELS)
    needed = f"needed are {labels} (probabilities), or {logits}, or label"
    raise InputError(path, f"has the columns {', '.join(columns)}; {needed}")


def _option_form(path: Path, columns: Sequence[str], options: tuple[str, ...]) -> Form:
    """What the columns of probes with candidates or options hold."""
    if all(c in columns for c in options):
        return "options"
    if "pb" in columns and options == GENDERS:
        return "pb"
    also = ", or pb (log p_male - log p_female)" if options == GENDERS else ""
    needed = f"needed are {', '.join(options)} (log-probabilities){also}"
    raise InputError(path, f"has the columns {', '.join(columns)}; {needed}")


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


def _probabilities(path: Path, row: Mapping[str, Any], number: int) -> Floats:
    """The three probabilities as given. Raises InputError where they do not sum to one."""
    values = _numbers(path, row, NLI_LABELS, number)
    total = values.sum()
    if values.min() < 0 or not math.isclose(total, 1, rel_tol=0, abs_tol=TOLERANCE + 1e-9):
        printed = ", ".join(f"{v:g}" for v in values)
        reason = f"probabilities {printed} do not sum to one (sum {total:g})"
        raise InputError(path, reason, row=number)
    return values


def _label(path: Path, row: Mapping[str, Any], order: LabelOrder, number: int) -> Floats:
    """1 for the label given, 0 for the others. Raises InputError where it is no label."""
    given = next((row[c] for c in _LABEL_COLUMNS if c in row), None)
    label, code = standard_label(str(given)), _label_number(given)
    known = ", ".join(NLI_LABELS)
    if code is not None:
        if order.how != "user":
            raise InputError(
                path,
                f"label {given!r} is a number; say what the numbers mean with "
                f"--label-map {example_map(NLI_LABELS)}",
                row=number,
            )
        if code not in order.columns:
            raise InputError(path, f"label {given!r} is not in the label map", row=number)
        label = NLI_LABELS[order.columns.index(code)]
    if label not in NLI_LABELS:
        raise InputError(path, f"label {given!r} is none of {known}", row=number)
    return np.asarray([float(label == n) for n in NLI_LABELS])


def _label_number(given: object) -> int | None:
    """The number of a label such as 2, `2`, `2.0` or `LABEL_2`; None for a word."""
    match = re.fullmatch(r"(?:label[_ ]?)?(\d+)(?:\.0*)?", str(given).strip(), re.IGNORECASE)
    return int(match.group(1)) if match else None


def _label_order(
    path: Path, rows: Sequence[Row], form: Form, label_map: Mapping[str, int] | None
) -> LabelOrder:
    """What the numbers of labels mean. Raises InputError where a label map has no use."""
    if label_map is None:
        return _FILE_ORDER
    names = [c for c in _LABEL_COLUMNS if c in rows[0][1]]
    labels = (row.get(name) for _, row in rows for name in names[:1])
    if form != "label" or all(_label_number(label) is None for label in labels):
        raise InputError(path, _NO_NUMBERED_LABELS)
    return from_user(label_map, len(NLI_LABELS))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """The columns by which a row names its probe: `id`, or columns with the probe's texts."""

    columns: tuple[str, ...]
    positions: tuple[int, ...] = ()  # of the texts in these columns; empty: the column is `id`

    def of_row(self, row: Mapping[str, Any]) -> tuple[str, ...]:
        """What a row has in these columns."""
        texts = (str(row.get(column, "")) for column in self.columns)
        return tuple(map(_squeezed, texts)) if self.positions else tuple(texts)

    def of_probe(self, probe: Probe) -> tuple[str, ...]:
        """What a row about this probe must have in these columns."""
        if not self.positions:
            return (probe.id,)
        texts = [_squeezed(probe.texts[i]) for i in self.positions]
        return (*texts, probe.stratum) if STRATUM in self.columns else tuple(texts)


def _squeezed(text: str) -> str:
    """The text with every white space as one blank, in one Unicode form."""
    return unicodedata.normalize("NFC", " ".join(text.split()))


def _find_key(path: Path, suite: Suite, columns: Sequence[str]) -> _Key:
    """By which columns the rows name their probes. Raises InputError where none does."""
    if "id" in columns:
        return _Key(columns=("id",))
    several = _TEXT_COLUMNS[suite.kind]
    first = next((names for names in several if all(c in columns for c in names)), ())
    named = () if suite.kind == "pair" else tuple(f"text_{o}" for o in suite.card.options)
    options = named if all(c in columns for c in named) else ()
    if not first and not options:
        also = f", or {', '.join(named)}" if named else ""
        raise InputError(
            path,
            f"has the columns {', '.join(columns)}; a column 'id' is needed, or "
            f"{listed(several[0])}{also} with the texts of the probes",
        )
    stratum = (STRATUM,) if STRATUM in columns else ()
    return _Key(
        columns=(*first, *options, *stratum),
        positions=(*range(len(first)), *range(1, 1 + len(options))),
    )


def _find_places(path: Path, suite: Suite, rows: Sequence[Row], key: _Key) -> list[int]:
    """Which probe each row is about.

    Raises InputError that names the rows that are about none, several, or one that another row is
    about.
    """
    probes_of: dict[tuple[str, ...], list[int]] = {}
    for place, probe in enumerate(suite.probes):
        probes_of.setdefault(key.of_probe(probe), []).append(place)
    unknown = [row for row in rows if key.of_row(row[1]) not in probes_of]
    if unknown:
        number, row = unknown[0]
        first = suite.probes[0]
        like = f"its texts look like {_in_words(key, key.of_probe(first))}"
        if not key.positions:
            like = f"its ids look like '{first.id}'"
        raise InputError(
            path,
            f"{_in_words(key, key.of_row(row))} is not in {suite.card.name} ({like})"
            f"{_and_others(unknown)}",
            row=number,
        )
    ambiguous = [row for row in rows if len(probes_of[key.of_row(row[1])]) > 1]
    if ambiguous:
        number, row = ambiguous[0]
        places = probes_of[key.of_row(row)]
        ids = ", ".join(suite.probes[i].id for i in places[:ROWS_SHOWN])
        raise InputError(
            path,
            f"{_in_words(key, key.of_row(row))} fits {len(places)} probes of {suite.card.name} "
            f"({ids}); add a column 'id' that tells them apart{_and_others(ambiguous)}",
            row=number,
        )
    seen: dict[int, int] = {}
    for number, row in rows:
        (place,) = probes_of[key.of_row(row)]
        if place in seen:
            what = _in_words(key, key.of_row(row))
            raise InputError(path, f"{what} was already used in row {seen[place]}", row=number)
        seen[place] = number
    return list(seen)


def _in_words(key: _Key, content: Sequence[str]) -> str:
    """`the id 'x'`, or `premise 'x', hypothesis 'y'`."""
    if not key.positions:
        return f"the id '{content[0]}'"
    return ", ".join(f"{c} '{text}'" for c, text in zip(key.columns, content, strict=True))


def _and_others(rows: Sequence[Row]) -> str:
    """`; the same holds for 3 other rows: 5, 7, 9`; empty for one row."""
    if len(rows) == 1:
        return ""
    rest = [str(number) for number, _ in rows[1:]]
    shown = ", ".join(rest[:ROWS_SHOWN]) + (" ..." if len(rest) > ROWS_SHOWN else "")
    return f"; the same holds for {counted(len(rest), 'other row')}: {shown}"


def _own_form(path: Path, suite: Suite) -> Answers | None:
    """The answers of a file in the format of a family; None where no family reads it."""
    for family in catalog.families().values():
        if family.read_predictions is not None:
            answers = family.read_predictions(path, suite)
            if answers is not None:
                return answers
    return None


def _row_values(
    path: Path, numbered: Row, form: Form, options: Sequence[str], order: LabelOrder
) -> Floats:
    """The values (option, label) of one row. Raises InputError where it cannot be read."""
    number, row = numbered
    if form == "probabilities":
        chances = _probabilities(path, row, number)
        tiny = np.finfo(np.float64).tiny
        return np.asarray(np.log(np.maximum(chances / chances.sum(), tiny)))[np.newaxis]
    if form == "logits":
        return _numbers(path, row, [f"logit_{n}" for n in NLI_LABELS], number)[np.newaxis]
    if form == "label":
        return _label(path, row, order, number)[np.newaxis]
    if form == "pb":
        return np.asarray([[*_numbers(path, row, ["pb"], number)], [0.0]])
    return _numbers(path, row, options, number)[:, np.newaxis]


def _remarks(rows: Sequence[Row], form: Form) -> tuple[str, ...]:
    """What a report must say about the numbers in the file."""
    if form == "label":
        return ("Only labels were given: what reads probabilities cannot be computed from them.",)
    if form != "probabilities":
        return ()
    table = np.asarray([[float(row[n]) for n in NLI_LABELS] for _, row in rows])
    rounded = int((np.abs(table.sum(axis=1) - 1) > NEGLIGIBLE).sum())
    empty = int(((table == 0).sum(axis=1) > 1).sum())
    lines = []
    if rounded:
        lines.append(
            f"The probabilities of {rounded:,} of {counted(len(rows), 'row')} do not sum to "
            "exactly 1, as after rounding; they were divided by their sum."
        )
    if empty:
        lines.append(
            f"In {empty:,} of {counted(len(rows), 'row')} two probabilities are 0; a measure that "
            "compares the two takes them as equal."
        )
    return tuple(lines)


def read_predictions(
    path: Path, suite: Suite, label_map: Mapping[str, int] | None = None
) -> Answers:
    """The predictions as answers to the suite.

    label_map: which number means which label, where the labels are numbers. Missing rows lower the
    coverage. Raises InputError for unknown or repeated probes and unreadable rows.
    """
    if (own := _own_form(path, suite)) is not None:
        if label_map is not None:
            raise InputError(path, _NO_NUMBERED_LABELS)
        return own
    rows: Sequence[Row] = read_rows(path)
    columns, is_pair = list(rows[0][1]), suite.kind == "pair"
    labels = NLI_LABELS if is_pair else (SCORE,)
    values = empty_values(suite.probes, len(labels))
    options = option_names(suite, values.shape[1])
    key = _find_key(path, suite, columns)
    form = _pair_form(path, columns) if is_pair else _option_form(path, columns, options)
    order = _label_order(path, rows, form, label_map)
    places = _find_places(path, suite, rows, key)
    for place, row in zip(places, rows, strict=True):
        count = suite.probes[place].option_count
        values[place, :count] = _row_values(path, row, form, options[:count], order)
    given = {"labels": f"{order}/{order.how}", "scoring": "argmax"}
    return Answers(
        respondent=f"file:{path.name}",
        suite=suite.reference,
        probes=suite.probes,
        options=options,
        labels=labels,
        values=values,
        scale=_SCALES.get(form, "log-probabilities"),
        traits={**(given if is_pair else {"scoring": "as given"}), "given": _GIVEN.get(form, form)},
        silences=dict.fromkeys(sorted({*range(len(values))} - {*places}), _MISSING),
        factors=suite.card.factors,
        within=suite.card.within,
        whole=suite.whole,
        remarks=_remarks(rows, form),
    )
