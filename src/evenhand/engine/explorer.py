"""The explorer of a report: every probe with what was answered, as columns of data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenhand.core.answer_files import FILE
from evenhand.core.answers import Answers, Status
from evenhand.core.document import AnswerColumns, Explorer, ProbeTable
from evenhand.core.evidence import probabilities
from evenhand.core.probe import Floats, Probe
from evenhand.core.suite import Suite

MOST = 100_000  # probes of one page
TIE = "tie"
SAME, DIFFERENT = "same answer", "different answers"
Named = tuple[str, Answers]  # a respondent by the name that the page calls it


def make_explorer(parts: Sequence[tuple[Suite, Sequence[Named]]]) -> Explorer | None:
    """The probes of each suite with the answers of its respondents; None where there is none.

    Of more probes than a page can hold, the first are taken, and the note says so.
    """
    total = sum(len(suite.probes) for suite, _ in parts)
    room, tables = MOST, []
    for suite, models in parts:
        probes = suite.probes[:room]
        room -= len(probes)
        if probes:
            tables.append(_table(suite, probes, models))
    if not tables:
        return None
    note = f"The first {MOST:,} of {total:,} probes; all are in {FILE}." if total > MOST else ""
    return Explorer(tables=tuple(tables), note=note)


def _table(suite: Suite, probes: Sequence[Probe], models: Sequence[Named]) -> ProbeTable:
    answers = tuple(_columns(name, _aligned(given, probes)) for name, given in models)
    slots = max(len(probe.texts) for probe in probes)
    options = models[0][1].options if models else suite.card.options
    names = ("", "") if suite.kind == "pair" else ("", *options)
    return ProbeTable(
        name=suite.card.name,
        language=suite.card.language,
        ids=tuple(probe.id for probe in probes),
        roles=(*names, *[""] * slots)[:slots],
        texts=tuple(
            tuple(p.texts[slot] if slot < len(p.texts) else "" for p in probes)
            for slot in range(slots)
        ),
        tags=_tags(suite, probes, answers),
        answers=answers,
        differences=_differences(answers),
    )


def _aligned(answers: Answers, probes: Sequence[Probe]) -> tuple[Answers, NDArray[np.intp]]:
    """The answers, and the row of each probe in them; -1 for a probe that was not asked."""
    rows = {probe.id: row for row, probe in enumerate(answers.probes)}
    return answers, np.asarray([rows.get(probe.id, -1) for probe in probes], dtype=np.intp)


def _columns(name: str, aligned: tuple[Answers, NDArray[np.intp]]) -> AnswerColumns:
    answers, rows = aligned
    is_there = rows >= 0
    values = np.where(is_there[:, None, None], answers.values[rows], np.nan)
    is_answered = answers.is_answered[rows] & is_there
    shown = values if answers.is_labels_only or not answers.is_classifier else probabilities(values)
    flat = shown.reshape(len(rows), -1)
    return AnswerColumns(
        name=name,
        columns=answers.columns,
        values=tuple(tuple(column) for column in flat.T.tolist()),
        chosen=_chosen(answers, values, is_answered),
        silences=tuple(
            "" if answered else _silence(answers, int(row))
            for row, answered in zip(rows, is_answered, strict=True)
        ),
        whole=len(answers.labels) if answers.is_classifier else 0,
    )


def _silence(answers: Answers, row: int) -> str:
    """Why a probe has no answer."""
    if row < 0:
        return str(Status.NOT_ASKED)
    status = str(answers.statuses[row])
    reason = answers.silences[row].reason if row in answers.silences else ""
    return f"{status}: {reason}" if reason else status


def _chosen(answers: Answers, values: Floats, is_answered: NDArray[np.bool_]) -> tuple[str, ...]:
    """The label of every option, or of single scores the highest option; empty without an answer.

    Labels of several options are joined by a slash; what shares the highest value is a tie.
    """
    if answers.is_classifier:
        words = [_highest(values[:, place], answers.labels) for place in range(values.shape[1])]
    else:
        words = [_highest(values[:, :, 0], answers.options)]
    rows = zip(zip(*words, strict=True), is_answered, strict=True)
    return tuple(" / ".join(filter(None, given)) if known else "" for given, known in rows)


def _highest(table: Floats, names: Sequence[str]) -> list[str]:
    """The name of the highest column of each row; empty where a row has no number."""
    known = np.where(np.isnan(table), -np.inf, table)
    top = known.max(axis=1, keepdims=True)
    counts, first = (known == top).sum(axis=1), known.argmax(axis=1)
    return [
        "" if empty else TIE if count > 1 else names[place]
        for empty, count, place in zip(np.isneginf(top[:, 0]), counts, first, strict=True)
    ]


def _tags(
    suite: Suite, probes: Sequence[Probe], answers: Sequence[AnswerColumns]
) -> Mapping[str, tuple[str, ...]]:
    """The tags of the suite; beside them suite, stratum, cluster, and what was answered."""
    tags = {
        name: tuple(str(probe.tags.get(name, "")) for probe in probes)
        for name in sorted({name for probe in probes for name in probe.tags})
    }
    further = {
        "suite": (suite.card.name,) * len(probes),
        "stratum": tuple(probe.stratum for probe in probes),
        suite.card.factors[0]: tuple(probe.cluster for probe in probes),
    }
    if len(answers) == 1:
        further["answer"] = answers[0].chosen
    else:
        further |= {f"answer of {one.name}": one.chosen for one in answers}
        further["agreement"] = _agreement(answers)
    further["no answer"] = tuple(
        next(filter(None, whys), "") for whys in zip(*(a.silences for a in answers), strict=True)
    )
    return {**{k: v for k, v in further.items() if any(v)}, **tags}


def _agreement(answers: Sequence[AnswerColumns]) -> tuple[str, ...]:
    """Whether all respondents gave the same answer; empty where one gave none."""
    return tuple(
        "" if not all(given) else SAME if len(set(given)) == 1 else DIFFERENT
        for given in zip(*(one.chosen for one in answers), strict=True)
    )


def _differences(answers: Sequence[AnswerColumns]) -> tuple[float, ...]:
    """How far the numbers of the first respondent and of the others lie apart, at most."""
    if len(answers) < 2:
        return ()
    first, *rest = answers
    own = np.asarray(first.values)
    apart = np.full(own.shape[1], np.nan)
    for other in rest:
        if other.columns == first.columns:
            gaps = np.abs(np.asarray(other.values) - own)
            apart = np.fmax(apart, np.where(np.isnan(gaps).all(axis=0), np.nan, _most(gaps)))
    return tuple(apart.tolist())


def _most(gaps: Floats) -> Floats:
    """The largest gap of each probe; numbers that a probe does not have are left out."""
    return np.asarray(np.where(np.isnan(gaps), -np.inf, gaps).max(axis=0))
