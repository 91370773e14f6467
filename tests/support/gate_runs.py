"""Estimates, records and folders of runs for tests of the gate."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.checksums import MANIFEST, manifest_text
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.run import Check, Run
from evenhand.core.settings import Settings
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_files
from evenhand.gate.records import RunRecord

SETTINGS = Settings(resamples=100, permutations=200)
NO_ANSWERS = Answers(  # of runs that are judged by their numbers alone
    respondent="mine@1",
    suite="occupation-nli@0#0",
    probes=(),
    options=(),
    labels=(),
    values=np.empty((0, 0, 0)),
)


def estimated(measure: str, value: float, low: float, high: float, **fields: Any) -> Estimate:
    """An estimate for new items; on exactly these probes its value is certain."""
    values: dict[str, Any] = {
        "level": 0.95,
        "probes": 100,
        "clusters": 20,
        "coverage": 1.0,
        "ties": 0,
        "signature": f"measure:{measure}",
        "targets": {
            "new items": Interval(value, low, high),
            "this set": Interval(value, value, value),
        },
        **fields,
    }
    return Estimate(measure=measure, value=value, low=low, high=high, **values)


def checked(value: float, low: float, high: float, weak_below: float = 0.78) -> Check:
    """The accuracy on plain pairs."""
    whole = estimated("accuracy", value, low, high)
    return Check.of(whole, items="plain pairs", weak_below=weak_below)


def recorded(*estimates: Estimate, **fields: Any) -> RunRecord:
    """A run with these estimates, of a model that understands."""
    values: dict[str, Any] = {
        "folder": None,
        "family": "nli_coal",
        "model": "mine@1",
        "suite": "occupation-nli",
        "digest": "0",
        "language": "en",
        "checks": (checked(0.95, 0.9, 0.99),),
        "settings": SETTINGS,
        "answers": NO_ANSWERS,
        **fields,
    }
    return RunRecord(estimates=estimates, **values)


def nothing(measure: str, note: str) -> Estimate:
    """An estimate without a value."""
    nan = math.nan
    return estimated(measure, nan, nan, nan, coverage=0.0, note=note, targets={})


def write_data(run: Run, folder: Path) -> Path:
    """The data files of a run with their manifest, without the pages, whose charts take time."""
    files = {
        name: data.encode() if isinstance(data, str) else data
        for name, data in run_files(run, audit_document(run)).items()
    }
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
    (folder / MANIFEST).write_text(manifest_text(folder, files), encoding="utf-8")
    return folder
