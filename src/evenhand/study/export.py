"""Export: the answers of people as raw rows, in the form in which models answer, or as an archive.

Raw rows (parquet, csv, jsonl): every answer ever given, changed ones too, beside what was shown, in
which order, when, and how long it took; answers to inventories in a second file. The form
`answers`: the mean fine score of a sentence takes the place of a model's log-ratio, so that
`evenhand measure` and `compare` take people as they are. The form `archive`: a .zip of everything,
which `evenhand annotate import` takes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.core.answer_files import FILE, write_answers
from evenhand.core.errors import InputError, UnknownNameError
from evenhand.core.files import staged, write_atomic
from evenhand.core.suite import Suite
from evenhand.people.quality import flag_answers
from evenhand.people.scores import to_answers
from evenhand.study.archive import write_archive
from evenhand.study.scores import answered_scores
from evenhand.study.store import Store
from evenhand.study.study import Study
from evenhand.study.table_files import RAW, as_bytes

if TYPE_CHECKING:
    import polars as pl

ANSWERS, ARCHIVE = "answers", "archive"
FORMS = (*RAW, ANSWERS, ARCHIVE)


def export(
    store: Store, study: Study, suite: Suite, out: Path, form: str = "parquet"
) -> tuple[Path, ...]:
    """Write what was answered; returns the files written, each of them whole or not there.

    `answers`: one file for all together and one for each person beside it; `out` is a file, or a
    folder that `evenhand compare` takes. `out` named .zip: an archive, with its tables in the form
    named (parquet where that is `archive`).
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
    return (
        _export_answers(store, study, suite, out)
        if form == ANSWERS
        else _export_rows(store, suite, out, form)
    )


def _export_answers(store: Store, study: Study, suite: Suite, out: Path) -> tuple[Path, ...]:
    together, *each = to_answers(answered_scores(store, study, suite))
    is_file = out.suffix.lower() == ".parquet"
    folder, first, stem = (out.parent, out.name, f"{out.stem}-") if is_file else (out, FILE, "")
    by_name = {first: together}
    by_name |= {f"{stem}{one.respondent.rpartition('/')[2]}.parquet": one for one in each}
    with staged(folder) as stage:
        for name, answers in by_name.items():
            write_answers(answers, stage / name)
    return tuple(folder / name for name in by_name)


def flagged_table(store: Store, suite: Suite) -> pl.DataFrame:
    """Every answer ever given; `flags` names what was noticed of the latest one to a question."""
    import polars as pl

    table = store.answers_table()
    flags = flag_answers(store.replies(), suite.card.language)
    rows = zip(table["annotator"], table["question"], table["is_latest"], strict=True)
    words = [" ".join(flags.get((a, q), ())) if is_latest else "" for a, q, is_latest in rows]
    return table.with_columns(pl.Series("flags", words, dtype=pl.String))


def _export_rows(store: Store, suite: Suite, out: Path, form: str) -> tuple[Path, ...]:
    beside = out.with_name(f"{out.stem}-inventories{out.suffix}")
    tables = {out: flagged_table(store, suite), beside: store.inventory_table()}
    written = {path: table for path, table in tables.items() if path == out or not table.is_empty()}
    for path, table in written.items():
        write_atomic(path, as_bytes(table, form))
    return tuple(written)
