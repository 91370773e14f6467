"""Answers in a file: Parquet, one row per probe with its texts, tags, status and raw values."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.answers import ANSWERED, Answers, Readings, Silence, Status
from evenhand.core.errors import InputError
from evenhand.core.probe import Probe
from evenhand.core.suite import Suite, SuiteCard

if TYPE_CHECKING:
    import polars as pl

FILE = "answers.parquet"  # in the folder of a run
_KEY = "evenhand"
_PROBE = ("id", "kind", "language", "stratum", "cluster", "twin")
_STATUS = ("status", "reason")


def to_table(answers: Answers) -> pl.DataFrame:
    """The answers as a data frame: probe, texts, tags, answer, status, one column per value."""
    import polars as pl

    probes = answers.probes
    columns: dict[str, object] = {name: [getattr(p, name) for p in probes] for name in _PROBE}
    columns["texts"] = [list(p.texts) for p in probes]
    columns["tags"] = [_tags(p) for p in probes]
    flat = answers.values.reshape(len(probes), -1)
    best = np.nan_to_num(flat, nan=-np.inf).argmax(axis=1) if flat.size else np.zeros(len(probes))
    names = answers.columns
    columns["answer"] = [
        names[int(b)] if ok else None for b, ok in zip(best, answers.is_answered, strict=True)
    ]
    columns["status"] = [str(status) for status in answers.statuses]
    columns["reason"] = [answers.silences.get(i, ANSWERED).reason for i in range(len(probes))]
    for position, name in enumerate(names):
        columns[name] = flat[:, position]
    text = dict.fromkeys((*_PROBE, "tags", "answer", *_STATUS), pl.String)
    return pl.DataFrame(columns, schema_overrides={**text, "texts": pl.List(pl.String)})


def _tags(probe: Probe) -> str:
    return json.dumps(dict(sorted(probe.tags.items())), ensure_ascii=False)


def answer_bytes(answers: Answers) -> bytes:
    """The content of an answers file."""
    meaning = {
        "respondent": answers.respondent,
        "suite": answers.suite,
        "options": list(answers.options),
        "labels": list(answers.labels),
        "scale": answers.scale,
        "traits": dict(answers.traits),
    }
    raw = io.BytesIO()  # not a path, because polars raises its own error when the disk is full
    metadata = {_KEY: json.dumps(meaning, ensure_ascii=False)}
    to_table(answers).write_parquet(raw, metadata=metadata)
    return raw.getvalue()


def answer_files(answers: Answers) -> dict[str, bytes]:
    """The files of answers by name: answers.parquet, and a second one if there are readings."""
    files = {FILE: answer_bytes(answers)}
    if answers.readings is not None:
        files[readings_path(Path(FILE)).name] = _readings_bytes(answers, answers.readings)
    return files


def write_answers(answers: Answers, path: Path) -> None:
    """Write the answers to `path`, and the readings, if there are any, to a file next to it."""
    path.write_bytes(answer_bytes(answers))
    if answers.readings is not None:
        readings_path(path).write_bytes(_readings_bytes(answers, answers.readings))


def readings_path(path: Path) -> Path:
    """Where the readings behind an answers file lie: `x.parquet` -> `x.readings.parquet`."""
    return path.with_suffix(".readings.parquet")


def _readings_bytes(answers: Answers, readings: Readings) -> bytes:
    import polars as pl

    flat = readings.values.reshape(len(readings.probe), -1)
    columns: dict[str, object] = {
        "row": readings.probe.tolist(),
        "id": [answers.probes[int(i)].id for i in readings.probe],
        "conditions": [json.dumps(dict(c), ensure_ascii=False) for c in readings.conditions],
    }
    columns |= {name: flat[:, place] for place, name in enumerate(answers.columns)}
    raw = io.BytesIO()
    pl.DataFrame(columns).write_parquet(raw)
    return raw.getvalue()


def _read_readings(path: Path, shape: tuple[int, int], names: tuple[str, ...]) -> Readings | None:
    import polars as pl

    if not readings_path(path).exists():
        return None
    table = pl.read_parquet(readings_path(path))
    return Readings(
        probe=table["row"].to_numpy().astype(np.intp),
        conditions=tuple(json.loads(text) for text in table["conditions"]),
        values=table.select(names).to_numpy().astype(np.float64).reshape(-1, *shape),
    )


def read_answers(path: Path) -> Answers:
    """The answers in a file that evenhand wrote."""
    import polars as pl

    try:
        metadata = pl.read_parquet_metadata(path)
        table = pl.read_parquet(path)
    except FileNotFoundError as error:
        raise InputError(path, "there is no such file") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        reason = f"is not a Parquet file ({str(error).splitlines()[0]})"
        raise InputError(path, reason) from error
    if _KEY not in metadata:
        names = ", ".join(table.columns)
        raise InputError(path, f"was not written by evenhand; its columns are {names}")
    meaning = json.loads(metadata[_KEY])
    if "options" not in meaning:
        reason = "was written by an older version of evenhand; ask the model again"
        raise InputError(path, reason)
    empty = Answers(
        respondent=meaning["respondent"],
        suite=meaning["suite"],
        probes=(),
        options=tuple(meaning["options"]),
        labels=tuple(meaning["labels"]),
        values=np.zeros((0, 0, 0)),
    )
    missing = [
        c for c in (*_PROBE, "texts", "tags", *_STATUS, *empty.columns) if c not in table.columns
    ]
    if missing:
        raise InputError(path, f"lacks the columns {', '.join(missing)}")
    rows = table.select(*_PROBE, "texts", "tags").to_dicts()
    probes = tuple(Probe.from_json({**row, "tags": json.loads(row["tags"])}) for row in rows)
    shape = (len(empty.options), len(empty.labels))
    values = table.select(empty.columns).to_numpy().astype(np.float64)
    silences = {
        row: Silence(status=Status(status), reason=reason)
        for row, (status, reason) in enumerate(table.select(*_STATUS).rows())
        if status != Status.ANSWERED
    }
    return Answers(
        respondent=empty.respondent,
        suite=empty.suite,
        probes=probes,
        options=empty.options,
        labels=empty.labels,
        values=values.reshape(len(probes), *shape),
        scale=meaning["scale"],
        traits=meaning["traits"],
        silences=silences,
        readings=_read_readings(path, shape, empty.columns),
    )


def suite_of(answers: Answers) -> Suite:
    """The suite that the answers carry with them, checked against the digest it had when asked."""
    name, _, rest = answers.suite.partition("@")
    version, _, rest = rest.rpartition("#")
    digest, _, limit = rest.partition("/")
    card = SuiteCard(
        name=name,
        version=version,
        language=answers.probes[0].language if answers.probes else "",
        source="answers file",
        licence="that of the suite",
        citation="that of the suite",
        description="read from an answers file",
        options=answers.options,
    )
    suite = Suite(card=card, probes=answers.probes, limit=int(limit) if limit else None)
    if suite.digest != digest:
        reason = (
            f"the probes in the answers file have digest {suite.digest}, "
            f"but were asked as {digest}: the file was changed"
        )
        raise InputError(name, reason)
    return suite
