"""How do exported answers come back? As the same table, checked, with an error that names what is wrong with the file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.annotate.scoring import Scored
from evenhand.annotate.tables import FAILED
from evenhand.annotate.views import COLUMNS, schema
from evenhand.core.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def import_answers(path: Path) -> pl.DataFrame:
    """The rows of a .parquet, .csv or .jsonl that `export` wrote, exactly as `Store.answers_table` gave them."""
    import polars as pl

    form = path.suffix.lower().lstrip(".")
    if form not in ("parquet", "csv", "jsonl"):
        raise InputError(path, f"'{path.suffix}' is no form of exported answers; use .parquet, .csv or .jsonl")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror}); name a file that evenhand annotate export wrote") from error
    try:
        table = _read(raw, form)
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        raise InputError(path, f"is not what evenhand annotate export wrote ({str(error).splitlines()[0]}); export it again") from error
    return _checked(path, table)


def _read(raw: bytes, form: str) -> pl.DataFrame:
    import polars as pl

    if form == "parquet":
        return pl.read_parquet(io.BytesIO(raw))
    if form == "csv":
        # the types are set after the columns were found by name: a file with other columns is then told so
        return pl.read_csv(io.BytesIO(raw), infer_schema=False)
    return (
        pl.read_ndjson(io.BytesIO(raw), schema_overrides=schema(COLUMNS), infer_schema_length=None)
        if raw.strip()
        else pl.DataFrame(schema=schema(COLUMNS))
    )


def _checked(path: Path, table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    if missing := [name for name in COLUMNS if name not in table.columns]:
        raise InputError(path, f"lacks the columns {', '.join(missing)}; export the answers again")
    table = table.select(*COLUMNS)
    try:
        if table["is_latest"].dtype == pl.String:
            table = table.with_columns(pl.col("is_latest").replace_strict({"true": True, "false": False}, return_dtype=pl.Boolean))
        table = table.cast(schema(COLUMNS))
    except pl.exceptions.PolarsError as error:
        raise InputError(path, f"holds a value of the wrong kind ({str(error).splitlines()[0]}); export the answers again") from error
    for name in COLUMNS:
        if (row := table[name].is_null().arg_max()) is not None and table[name].null_count():
            raise InputError(path, f"{name} is missing; export the answers again", row=row + 1)
    for names in (("id",), ("annotator", "key")):
        if (is_double := table.select(names).is_duplicated()).any():
            raise InputError(path, f"the same {' and '.join(names)} twice; an answer is there once", row=int(is_double.arg_max() or 0) + 1)
    return table


def scored_of(table: pl.DataFrame) -> list[Scored]:
    """The answers that count, as `evenhand.annotate.scoring` takes them: the latest to each question, but not of parts to be done again."""
    import polars as pl

    counted = table.filter(pl.col("is_latest") & (pl.col("part_state") != FAILED)).select(Scored._fields)
    return [Scored(*row) for row in counted.iter_rows()]
