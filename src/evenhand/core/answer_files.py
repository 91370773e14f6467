"""Answers in a file: Parquet, one row per probe with its texts, tags, status and raw values.

The file carries a digest of all that it says, which is checked when it is read.
"""

from __future__ import annotations

import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenhand.core.answers import ANSWERED, Answers, Readings, Silence, Status
from evenhand.core.checksums import MANIFEST, check_manifest
from evenhand.core.errors import InputError
from evenhand.core.probe import Floats, Probe
from evenhand.core.suite import Suite, SuiteCard

if TYPE_CHECKING:
    import polars as pl

FILE = "answers.parquet"  # in the folder of a run
RESULTS = "results.json"  # beside it, and never without a manifest
OVERVIEW = "overview.json"  # in a folder whose folders are runs
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


def _meaning(answers: Answers) -> dict[str, Any]:
    """What the columns do not say: whose answers these are, to what, and what the numbers are."""
    return {
        "respondent": answers.respondent,
        "suite": answers.suite,
        "options": list(answers.options),
        "labels": list(answers.labels),
        "scale": answers.scale,
        "traits": dict(answers.traits),
        "factors": list(answers.factors),
        "within": answers.within,
        "whole": answers.whole,
        "remarks": list(answers.remarks),
    }


def _digest(answers: Answers) -> str:
    """SHA-256 of everything that an answers file says: meaning, probes, statuses, values."""
    silences = {
        row: (str(status), answers.silences.get(row, ANSWERED).reason)
        for row, status in enumerate(answers.statuses)
        if status != Status.ANSWERED
    }
    state = hashlib.sha256(json.dumps([_meaning(answers), silences], sort_keys=True).encode())
    for probe in answers.probes:
        state.update(json.dumps(probe.to_json()).encode())
    _update(state, answers.values)
    return state.hexdigest()


def _readings_digest(readings: Readings | None) -> str:
    """SHA-256 of the readings; empty where there are none."""
    if readings is None:
        return ""
    conditions = [dict(sorted(c.items())) for c in readings.conditions]
    state = hashlib.sha256(json.dumps([readings.probe.tolist(), conditions]).encode())
    _update(state, readings.values)
    return state.hexdigest()


def _update(state: hashlib._Hash, values: Floats) -> None:
    """Add numbers to a digest; every NaN counts as the same."""
    state.update(str(values.shape).encode())
    state.update(np.where(np.isnan(values), np.nan, values).astype("<f8").tobytes())


def answer_bytes(answers: Answers) -> bytes:
    """The content of an answers file."""
    meaning = {
        **_meaning(answers),
        "digest": _digest(answers),
        "readings": _readings_digest(answers.readings),
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


def _read_readings(path: Path, answers: Answers, digest: str) -> Readings | None:
    """The readings behind an answers file; `digest` is the one that it states for them."""
    import polars as pl

    if not digest:
        return None  # a file of that name belongs to other answers
    file = readings_path(path)
    shape = (len(answers.options), len(answers.labels))
    try:
        table = pl.read_parquet(file)
        readings = Readings(
            probe=table["row"].to_numpy().astype(np.intp),
            conditions=tuple(json.loads(text) for text in table["conditions"]),
            values=table.select(answers.columns).to_numpy().astype(np.float64).reshape(-1, *shape),
        )
    except FileNotFoundError as error:
        raise InputError(file, f"is missing; it belongs to {path.name}: copy both") from error
    except _failures() as error:
        raise _damaged(file, error) from error
    if _readings_digest(readings) != digest:
        raise InputError(file, f"does not hold the readings behind {path.name}; copy both again")
    return readings


def _failures() -> tuple[type[BaseException], ...]:
    """What a damaged file raises; polars has two kinds, one for failures of its own code."""
    import polars as pl

    of_polars = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
    return (*of_polars, OSError, KeyError, TypeError, ValueError)


def _damaged(path: Path, error: BaseException | None = None) -> InputError:
    reason = "what it holds does not have the digest that it states"
    if error is not None:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
    return InputError(
        path, f"is damaged or was changed ({reason}); take another copy, or ask the model again"
    )


def run_folders_in(folder: Path) -> list[Path]:
    """The folders directly in one that have a file of a run, by name: half of a run is seen, too.

    A manifest alone makes a run of a folder, unless it is an overview of runs.
    """

    def has_run(path: Path) -> bool:
        names = (RESULTS, FILE) if (path / OVERVIEW).is_file() else (RESULTS, FILE, MANIFEST)
        return any((path / name).is_file() for name in names)

    inside = (p for p in folder.iterdir() if p.is_dir() and not p.name.startswith("."))
    return sorted(p for p in inside if has_run(p))


def refuse_overview(folder: Path) -> None:
    """Raise InputError, which names the runs, where a folder holds several of them."""
    if (folder / OVERVIEW).is_file():
        names = ", ".join(p.name for p in run_folders_in(folder)) or "none that is left"
        raise InputError(folder, f"holds several runs; name the folder of one of them: {names}")


def read_answers(path: Path) -> Answers:
    """The answers of a run: of its folder, or of an answers file that evenhand wrote.

    Raises InputError where the file is not whole, or does not belong to the run that its folder's
    manifest describes.
    """
    import polars as pl

    if path.is_dir():
        refuse_overview(path)
        path = path / FILE
    if path.name == FILE and _lacks_manifest(path.parent):
        raise InputError(
            path.parent,
            f"has {RESULTS} but no {MANIFEST}, so that nothing says whether its files belong "
            "together: it was not copied whole, or its writing was cut short; run it again, or "
            f"copy {FILE} to a folder of its own",
        )
    check_manifest(path.parent, path.name)
    try:
        metadata = pl.read_parquet_metadata(path)
        table = pl.read_parquet(path)
    except FileNotFoundError as error:
        raise InputError(path, "there is no such file") from error
    except _failures() as error:
        reason = f"is not a Parquet file ({str(error).splitlines()[0]})"
        raise InputError(path, reason) from error
    if _KEY not in metadata:
        names = ", ".join(table.columns)
        raise InputError(path, f"was not written by evenhand; its columns are {names}")
    try:
        meaning = json.loads(metadata[_KEY])
        if "digest" not in meaning:
            raise InputError(
                path,
                "was written by an older version of evenhand and has no digest, so that damage "
                "cannot be told; ask the model again",
            )
        answers = _from_table(path, table, meaning)
        is_whole = _digest(answers) == meaning["digest"]
        readings_digest = str(meaning["readings"])
    except _failures() as error:
        raise _damaged(path, error) from error
    if not is_whole:
        raise _damaged(path)
    return replace(answers, readings=_read_readings(path, answers, readings_digest))


def _lacks_manifest(folder: Path) -> bool:
    """Whether a folder has the results of a run but not the manifest that is written with them."""
    return (folder / RESULTS).is_file() and not (folder / MANIFEST).is_file()


def _from_table(path: Path, table: pl.DataFrame, meaning: dict[str, Any]) -> Answers:
    """The answers that a table and its meaning describe, without their readings."""
    empty = Answers(
        respondent=meaning["respondent"],
        suite=meaning["suite"],
        probes=(),
        options=tuple(meaning["options"]),
        labels=tuple(meaning["labels"]),
        values=np.zeros((0, 0, 0)),
        scale=meaning["scale"],
        traits=meaning["traits"],
        factors=tuple(meaning["factors"]),
        within=meaning["within"],
        whole=meaning["whole"],
        remarks=tuple(meaning["remarks"]),
    )
    missing = [
        c for c in (*_PROBE, "texts", "tags", *_STATUS, *empty.columns) if c not in table.columns
    ]
    if missing:
        raise InputError(path, f"lacks the columns {', '.join(missing)}")
    rows = table.select(*_PROBE, "texts", "tags").to_dicts()
    values = table.select(empty.columns).to_numpy().astype(np.float64)
    return replace(
        empty,
        probes=tuple(Probe.from_json({**row, "tags": json.loads(row["tags"])}) for row in rows),
        values=values.reshape(len(rows), len(empty.options), len(empty.labels)),
        silences={
            row: Silence(status=Status(status), reason=reason)
            for row, (status, reason) in enumerate(table.select(*_STATUS).rows())
            # no answer for no stated reason is what a row without a silence means
            if status != Status.ANSWERED and (reason or status != Status.NO_ANSWER)
        },
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
        factors=answers.factors,
        within=answers.within,
    )
    suite = Suite(
        card=card,
        probes=answers.probes,
        limit=int(limit) if limit else None,
        whole=answers.whole,
    )
    if suite.digest != digest:
        reason = (
            f"the probes in the answers file have digest {suite.digest}, "
            f"but were asked as {digest}: the file was changed"
        )
        raise InputError(name, reason)
    return suite
