"""What a gate reads of a run: its estimates and checks, from its folder or from memory."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core.answer_files import FILE, RESULTS
from evenhand.core.answers import Answers
from evenhand.core.checksums import MANIFEST, check_manifest
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.run import Check, Run
from evenhand.core.settings import Settings

_NUMBERS = ("value", "low", "high", "coverage", "weak_below")  # null in a file: NaN


@dataclass(frozen=True, kw_only=True)
class RunRecord:
    """The numbers of one run on one suite."""

    folder: Path | None  # None: a run that was not written
    family: str
    model: str
    suite: str  # its name, with the variant
    digest: str
    language: str
    estimates: tuple[Estimate, ...]
    checks: tuple[Check, ...]
    settings: Settings
    answers: Answers | None = None  # of a run in memory; else in its folder

    @property
    def place(self) -> str:
        """The folder, or else model and suite."""
        return f"{self.model} on {self.suite}" if self.folder is None else str(self.folder)

    def estimate(self, measure: str) -> Estimate | None:
        """The estimate of one measure; None where the run has none."""
        return next((e for e in self.estimates if e.measure == measure), None)

    def is_of(self, suite: str, lang: str) -> bool:
        """Whether it is a run of this suite in this language; empty names fit any.

        The name of a suite without a variant fits all of its variants.
        """
        is_suite = suite in ("", self.suite, self.suite.partition(":")[0])
        return is_suite and lang in ("", self.language)


def record_of(run: Run, folder: Path | None = None) -> RunRecord:
    """The numbers of a run in memory."""
    return RunRecord(
        folder=folder,
        family=run.family,
        model=run.answers.respondent,
        suite=run.suite.card.name,
        digest=run.suite.digest,
        language=run.suite.card.language,
        estimates=run.estimates,
        checks=run.sanity,
        settings=run.settings,
        answers=run.answers,
    )


def run_folders(path: Path) -> list[Path]:
    """The folders of runs at a path: itself, or those directly in it; empty where it has none.

    A folder counts as a run's if it has any of its files, so that half of a run is seen.
    """
    if not path.is_dir():
        return []
    if _has_run(path):
        return [path]
    inside = (p for p in path.iterdir() if p.is_dir() and not p.name.startswith("."))
    return sorted(p for p in inside if _has_run(p))


def _has_run(folder: Path) -> bool:
    return any((folder / name).is_file() for name in (RESULTS, MANIFEST, FILE))


def read_records(path: Path) -> list[RunRecord]:
    """The runs at a path: the folder of one, or a folder of such folders.

    Raises InputError where there is none, where one is not whole, and where one was made by
    another version of evenhand.
    """
    folders = run_folders(path)
    if not folders:
        raise InputError(path, f"has no run: neither {RESULTS} nor folders that have it")
    return [_read_record(folder) for folder in folders]


def _read_record(folder: Path) -> RunRecord:
    path = folder / RESULTS
    for name in (RESULTS, MANIFEST):
        if not (folder / name).is_file():
            raise InputError(
                folder,
                f"has no {name}: it was not copied whole, or its writing was cut short; audit the "
                "model again",
            )
    check_manifest(folder, RESULTS)
    try:
        listed = json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["sha256"]
        if RESULTS not in listed:
            raise InputError(folder, f"its {MANIFEST} does not list {RESULTS}: audit again")
        row = json.loads(path.read_text(encoding="utf-8"))
        version = row["evenhand"]
        if version != __version__:
            raise InputError(
                folder,
                f"was made by evenhand {version}, and this is {__version__}: two versions may "
                "count differently. Audit the model again, or score its answers again with "
                f"`evenhand measure {folder} --out DIR`",
            )
        return RunRecord(
            folder=folder,
            family=str(row["family"]),
            model=str(row["model"]["identity"]),
            suite=str(row["suite"]["name"]),
            digest=str(row["suite"]["digest"]),
            language=str(row["suite"]["language"]),
            estimates=tuple(Estimate(**_values(Estimate, e)) for e in row["estimates"]),
            checks=tuple(Check(**_values(Check, c)) for c in row["sanity"]),
            settings=Settings(**_values(Settings, row["settings"])),
        )
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, EvenhandError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise InputError(path, f"is not the results of a run ({reason}); audit again") from error


def _values(record: type[Any], row: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of a record that its plain form has, null as NaN."""
    values = {f.name: row[f.name] for f in fields(record) if f.name in row}
    for name in _NUMBERS:
        if name in values:
            values[name] = _number(values[name])
    for name in ("parts", "targets"):
        if name in values:
            values[name] = {key: _interval(part) for key, part in values[name].items()}
    return values


def _interval(row: Mapping[str, Any]) -> Interval:
    return Interval(*(_number(row[name]) for name in Interval._fields))


def _number(value: Any) -> float:
    return math.nan if value is None else float(value)
