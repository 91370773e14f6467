"""How do the answers of people leave the store? As raw rows that can be read back without loss, in the form in which models answer, or with all of the study.

Raw rows (parquet, csv, jsonl): every answer ever given, changed ones too, beside what was shown, in which order, when, and how long it took; answers to
inventories in a second file.
The form `answers`: the mean fine score of a sentence takes the place of a model's log-ratio, so that `evenhand measure` and `compare` take people as they are.
The form `archive`: a .zip of everything, which `evenhand annotate import` takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.people.agreement import final_scores
from evenhand.study.archive import as_bytes, write_archive
from evenhand.study.importing import RAW
from evenhand.study.study import Study
from evenhand.study.tally import tally
from evenhand.core.answer_files import write_answers
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.core.files import staged, write_atomic
from evenhand.core.probe import GENDERS, Floats
from evenhand.core.suite import Suite
from evenhand.engine.comparing import FILE

if TYPE_CHECKING:
    from evenhand.study.store import Store

ANSWERS, ARCHIVE = "answers", "archive"
FORMS = (*RAW, ANSWERS, ARCHIVE)
SCALE = "fine scores"
TRAITS = {"scoring": "fine score", "precision": "as answered"}


def export(
    store: Store, study: Study, suite: Suite, out: Path, form: str = "parquet"
) -> tuple[Path, ...]:
    """Write what was answered; returns the files written, each of them whole or not there.

    `answers`: one file for all together and one for each person beside it; `out` is a file, or a folder that `evenhand compare` takes.
    `out` named .zip: an archive, with its tables in the form named (parquet where that is `archive`).
    """
    if form not in FORMS:
        raise UnknownNameError("form of export", form, FORMS)
    is_zip = out.suffix.lower() == ".zip"
    if form == ARCHIVE and not is_zip:
        raise InputError(out, "an archive is a .zip; name one, as in study.zip")
    if form == ANSWERS and is_zip:
        raise InputError(
            out, "a .zip is an archive; name a folder or a .parquet file for the form answers"
        )
    if is_zip:
        return (write_archive(store, out, RAW[0] if form == ARCHIVE else form),)
    if form != ANSWERS:
        return _export_rows(store, out, form)
    together, *each = answers_of_people(store, study, suite)
    is_file = out.suffix.lower() == ".parquet"
    folder, first, stem = (out.parent, out.name, f"{out.stem}-") if is_file else (out, FILE, "")
    named = {first: together} | {
        f"{stem}{one.respondent.rpartition('/')[2]}.parquet": one for one in each
    }
    with staged(folder) as stage:
        for name, answers in named.items():
            write_answers(answers, stage / name)
    return tuple(folder / name for name in named)


def _export_rows(store: Store, out: Path, form: str) -> tuple[Path, ...]:
    tables = {
        out: store.answers_table(),
        out.with_name(f"{out.stem}-inventories{out.suffix}"): store.inventory_table(),
    }
    written = {path: table for path, table in tables.items() if path == out or not table.is_empty()}
    for path, table in written.items():
        write_atomic(path, as_bytes(table, form))
    return tuple(written)


def answers_of_people(store: Store, study: Study, suite: Suite) -> list[Answers]:
    """What all said together (the mean over people), then what each said; parts that were to be done again do not count."""
    held = tally(store, suite)
    if not held.names:
        raise EvenhandError(
            f"nobody has answered anything in '{study.name}' yet; export again when somebody has"
        )
    everybody = f"people:{study.name}"
    told = [
        (everybody, final_scores(held.fine)),
        *((f"{everybody}/{name}", row) for name, row in zip(held.names, held.fine, strict=True)),
    ]
    return [_answers(name, scores, held.probes, suite) for name, scores in told]


def _answers(respondent: str, scores: Floats, probes: Sequence[str], suite: Suite) -> Answers:
    known = dict(zip(probes, scores, strict=True))
    fine = np.asarray([known.get(probe.id, np.nan) for probe in suite.probes])
    # only the difference of the two columns is known: it is the score
    values = np.column_stack([fine, np.where(np.isnan(fine), np.nan, 0.0)])
    silent = int(np.isnan(fine).sum())
    return Answers(
        respondent=respondent,
        suite=suite.reference,
        labels=GENDERS,
        probes=suite.probes,
        values=values,
        scale=SCALE,
        traits=TRAITS,
        unanswered={"not answered yet": silent} if silent else {},
    )
