"""How are answers kept? A Parquet file: one row per probe with its texts, tags and raw values, so that each number has its meaning beside it."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from evenhand.core.errors import InputError
from evenhand.core.records import Answers, Probe, Suite, SuiteCard

if TYPE_CHECKING:
    import polars as pl

_KEY = "evenhand"
_PROBE = ("id", "kind", "language", "stratum", "cluster", "twin")


def to_table(answers: Answers) -> pl.DataFrame:
    """The answers as a data frame: probe, texts, tags, one raw value a label, and the label given."""
    import polars as pl

    probes = answers.probes
    columns: dict[str, object] = {name: [getattr(p, name) for p in probes] for name in _PROBE}
    columns["texts"] = [list(p.texts) for p in probes]
    columns["tags"] = [json.dumps(dict(sorted(p.tags.items())), ensure_ascii=False) for p in probes]
    is_answered = np.isfinite(answers.values).all(axis=1)
    best = np.where(is_answered, np.nan_to_num(answers.values, nan=-np.inf).argmax(axis=1), -1)
    columns["answer"] = [answers.labels[b] if b >= 0 else None for b in best]
    for position, label in enumerate(answers.labels):
        columns[label] = answers.values[:, position]
    text = dict.fromkeys((*_PROBE, "tags", "answer"), pl.String)
    return pl.DataFrame(columns, schema_overrides={**text, "texts": pl.List(pl.String)})


def write_answers(answers: Answers, path: Path) -> None:
    """Write the answers to `path`."""
    meaning = {
        "respondent": answers.respondent, "suite": answers.suite, "labels": list(answers.labels), "scale": answers.scale,
        "traits": dict(answers.traits), "unanswered": dict(answers.unanswered),
    }  # fmt: skip
    raw = io.BytesIO()  # and not the path: polars has its own error for a full disk
    to_table(answers).write_parquet(raw, metadata={_KEY: json.dumps(meaning, ensure_ascii=False)})
    path.write_bytes(raw.getvalue())


def read_answers(path: Path) -> Answers:
    """The answers in a file that evenhand wrote."""
    import polars as pl

    try:
        told = pl.read_parquet_metadata(path)
        table = pl.read_parquet(path)
    except FileNotFoundError as error:
        raise InputError(path, "there is no such file") from error
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(path, f"is not a Parquet file ({str(error).splitlines()[0]})") from error
    if _KEY not in told:
        raise InputError(path, f"was not written by evenhand; its columns are {', '.join(table.columns)}")
    meaning = json.loads(told[_KEY])
    labels = tuple(meaning["labels"])
    missing = [c for c in (*_PROBE, "texts", "tags", *labels) if c not in table.columns]
    if missing:
        raise InputError(path, f"lacks the columns {', '.join(missing)}")
    probes = tuple(Probe.from_json({**row, "tags": json.loads(row["tags"])}) for row in table.select(*_PROBE, "texts", "tags").to_dicts())
    values = table.select(labels).to_numpy().astype(np.float64) if labels else np.zeros((len(probes), 0))
    return Answers(
        respondent=meaning["respondent"], suite=meaning["suite"], labels=labels, probes=probes, values=values, scale=meaning["scale"],
        traits=meaning["traits"], unanswered=meaning["unanswered"],
    )  # fmt: skip


def suite_of(answers: Answers) -> Suite:
    """The suite that the answers carry with them, checked against the digest it had when it was asked."""
    name, _, rest = answers.suite.partition("@")
    version, _, rest = rest.rpartition("#")
    digest, _, limit = rest.partition("/")
    card = SuiteCard(
        name=name, version=version, language=answers.probes[0].language if answers.probes else "", source="answers file", licence="that of the suite",
        citation="that of the suite", description="read from an answers file",
        labels=tuple(dict.fromkeys(label.partition(":")[0] for label in answers.labels)),  # a classifier's are OPTION:LABEL
    )  # fmt: skip
    suite = Suite(card=card, probes=answers.probes, limit=int(limit) if limit else None)
    if suite.digest != digest:
        raise InputError(
            name, f"the probes in the answers file have digest {suite.digest}, but were asked as {digest}: the file was changed"
        )
    return suite
