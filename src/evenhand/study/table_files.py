"""Tables of a study in files: Parquet, CSV or JSON lines, written and read back without loss."""

from __future__ import annotations

import io
import json
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.core.errors import InputError
from evenhand.people.plan import TRIAL
from evenhand.people.scoring import Scored
from evenhand.study.queries import COLUMNS, INVENTORY_COLUMNS, schema
from evenhand.study.tables import PASSED

if TYPE_CHECKING:
    import polars as pl

RAW = ("parquet", "csv", "jsonl")  # the forms of a table as it was stored
EXPORTED: Mapping[str, str] = {**COLUMNS, "flags": "text"}  # the columns of exported answers


def as_bytes(table: pl.DataFrame, form: str) -> bytes:
    """A table as a file's content.

    Text is always quoted in csv, so that an empty text differs from a missing one.
    """
    out = io.BytesIO()
    if form == "parquet":
        table.write_parquet(out)
    elif form == "csv":
        table.write_csv(out, quote_style="non_numeric")
    else:
        table.write_ndjson(out)
    return out.getvalue()


def import_answers(path: Path) -> pl.DataFrame:
    """The rows of an exported .parquet, .csv or .jsonl, as `export` wrote them."""
    return _import(path, EXPORTED)


def import_inventories(path: Path) -> pl.DataFrame:
    """The exported answers to inventories, as `Store.inventory_table` has them."""
    return _import(path, INVENTORY_COLUMNS)


def _import(path: Path, columns: Mapping[str, str]) -> pl.DataFrame:
    form = path.suffix.lower().lstrip(".")
    if form not in RAW:
        reason = f"'{path.suffix}' is no form of exported answers; use .parquet, .csv or .jsonl"
        raise InputError(path, reason)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(
            path,
            f"cannot be read ({error.strerror}); name a file that evenhand annotate export wrote",
        ) from error
    table = read_table(path, raw, form, columns)
    for names in (("id",), ("annotator", "key")):
        if (is_double := table.select(names).is_duplicated()).any():
            reason = f"the same {' and '.join(names)} twice; an answer is there once"
            raise InputError(path, reason, row=int(is_double.arg_max() or 0) + 1)
    return table


def read_table(
    source: str | Path,
    raw: bytes,
    form: str,
    columns: Mapping[str, str],
    *,
    optional: Collection[str] = (),
    most: int | None = None,
) -> pl.DataFrame:
    """The table in a file's content, with these columns and no others.

    optional: the columns that may hold nothing. most: rows after which to stop; a few bytes of
    Parquet can claim any number of them. Raises InputError that says what is wrong.
    """
    import polars as pl

    # ValueError: bad JSON, bad UTF-8; a file that was made to harm can make polars panic
    broken = (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        ValueError,
        TypeError,
        OverflowError,
        RecursionError,
    )
    try:
        table = _parse(raw, form, columns, most)
    except broken as error:
        raise InputError(
            source,
            f"is not what evenhand annotate export wrote ({_first_line(error)}); export it again",
        ) from error
    if missing := [name for name in columns if name not in table.columns]:
        raise InputError(source, f"lacks the columns {', '.join(missing)}; export it again")
    if unknown := [name for name in table.columns if name not in columns]:
        names = ", ".join(unknown)[:200]
        raise InputError(
            source, f"has unknown columns ({names}); take them out, or export it again"
        )
    try:
        if "bool" in columns.values() and form == "csv":
            truth = pl.col(*(name for name, kind in columns.items() if kind == "bool"))
            table = table.with_columns(
                truth.replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean)
            )
        table = table.select(*columns).cast(schema(columns))
    except pl.exceptions.PolarsError as error:
        raise InputError(
            source, f"holds a value of the wrong kind ({_first_line(error)}); export it again"
        ) from error
    for name in columns:
        if name not in optional and table[name].null_count():
            row = int(table[name].is_null().arg_max() or 0) + 1
            raise InputError(source, f"{name} is missing; export it again", row=row)
    return table


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]


def _parse(raw: bytes, form: str, columns: Mapping[str, str], most: int | None) -> pl.DataFrame:
    import polars as pl

    if form == "parquet":
        return pl.read_parquet(io.BytesIO(raw), n_rows=most)
    if form == "csv":
        # the types are set after the columns were checked by name, which gives a clearer error
        return pl.read_csv(io.BytesIO(raw), infer_schema=False)
    # polars fills in what a line lacks and cuts 1.5 to 1; nothing is guessed here
    rows = [json.loads(line) for line in raw.split(b"\n") if line.strip()]
    names = list(rows[0]) if rows and isinstance(rows[0], dict) else list(columns)
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or row.keys() != set(names):
            raise ValueError(f"line {number} does not hold {', '.join(names)[:200]}")
    kinds = schema(columns)
    return pl.DataFrame(
        [
            pl.Series(name, [row[name] for row in rows], dtype=kinds.get(name), strict=True)
            for name in names
        ]
    )


def scored_of(table: pl.DataFrame) -> list[Scored]:
    """The answers that count, as `evenhand.people.scoring` takes them.

    The latest to each question of a batch that was finished and accepted.
    """
    import polars as pl

    is_counted = pl.col("is_latest") & (pl.col("part_state") == PASSED) & (pl.col("part") != TRIAL)
    return [Scored(*row) for row in table.filter(is_counted).select(Scored._fields).iter_rows()]
