"""How do the answers of people leave the store? As raw rows that can be read back without loss, or in the form in which models answer.

Raw rows (parquet, csv, jsonl): every answer ever given, changed ones too, beside what was shown, in which order, when, and how long it took.
The form `answers`: the mean fine score of a sentence takes the place of a model's log-ratio, so that `evenhand measure` and `compare` take people as they are.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.annotate.agreement import final_scores
from evenhand.annotate.study import Study
from evenhand.annotate.tally import tally
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.records import GENDERS, Answers, Floats, Suite
from evenhand.core.storage import staged, write_atomic
from evenhand.engine.answers import write_answers
from evenhand.engine.comparing import FILE

if TYPE_CHECKING:
    import polars as pl

    from evenhand.annotate.store import Store

ANSWERS = "answers"
FORMS = ("parquet", "csv", "jsonl", ANSWERS)
SCALE = "fine scores"
TRAITS = {"scoring": "fine score", "precision": "as answered"}


def export(store: Store, study: Study, suite: Suite, out: Path, form: str = "parquet") -> tuple[Path, ...]:
    """Write what was answered; returns the files written, each of them whole or not there.

    `answers`: one file for all together and one for each person beside it; `out` is a file, or a folder that `evenhand compare` takes.
    """
    if form not in FORMS:
        raise UnknownNameError("form of export", form, FORMS)
    if form != ANSWERS:
        write_atomic(out, as_bytes(store.answers_table(), form))
        return (out,)
    together, *each = answers_of_people(store, study, suite)
    is_file = out.suffix.lower() == ".parquet"
    folder, first, stem = (out.parent, out.name, f"{out.stem}-") if is_file else (out, FILE, "")
    named = {first: together} | {f"{stem}{one.respondent.rpartition('/')[2]}.parquet": one for one in each}
    with staged(folder) as stage:
        for name, answers in named.items():
            write_answers(answers, stage / name)
    return tuple(folder / name for name in named)


def as_bytes(table: pl.DataFrame, form: str) -> bytes:
    """A table as a file's content. Text is always quoted in csv: an empty text and none at all are not the same."""
    out = io.BytesIO()
    if form == "parquet":
        table.write_parquet(out)
    elif form == "csv":
        table.write_csv(out, quote_style="non_numeric")
    else:
        table.write_ndjson(out)
    return out.getvalue()


def answers_of_people(store: Store, study: Study, suite: Suite) -> list[Answers]:
    """What all said together (the mean over people), then what each said; parts that were to be done again do not count."""
    held = tally(store, suite)
    if not held.names:
        raise EvenhandError(f"nobody has answered anything in '{study.name}' yet; export again when somebody has")
    everybody = f"people:{study.name}"
    told = [(everybody, final_scores(held.fine)), *((f"{everybody}/{name}", row) for name, row in zip(held.names, held.fine, strict=True))]
    return [_answers(name, scores, held.probes, suite) for name, scores in told]


def _answers(respondent: str, scores: Floats, probes: Sequence[str], suite: Suite) -> Answers:
    known = dict(zip(probes, scores, strict=True))
    fine = np.asarray([known.get(probe.id, np.nan) for probe in suite.probes])
    # only the difference of the two columns is known: it is the score
    values = np.column_stack([fine, np.where(np.isnan(fine), np.nan, 0.0)])
    silent = int(np.isnan(fine).sum())
    return Answers(
        respondent=respondent, suite=suite.reference, labels=GENDERS, probes=suite.probes, values=values, scale=SCALE, traits=TRAITS,
        unanswered={"not answered yet": silent} if silent else {},
    )  # fmt: skip
