"""What a gate reads of a run: its estimates and checks, from its folder or from memory."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from evenhand.core.answer_files import FILE, OVERVIEW, RESULTS, run_folders_in
from evenhand.core.answers import Answers
from evenhand.core.checksums import MANIFEST
from evenhand.core.errors import InputError
from evenhand.core.estimate import Estimate
from evenhand.core.run import Check, Run
from evenhand.core.settings import Settings
from evenhand.engine.read_run import read_run

_FILES = (RESULTS, MANIFEST, FILE)  # any of which makes a folder that of a run


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
    answers: Answers

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
    """The numbers of a run; folder: where it lies, None where it was not written."""
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
    """The folders of runs at a path: itself, or those in it, also below an overview of several.

    Empty where it has none. A folder counts as a run's if it has any of its files, so that half of
    a run is seen.
    """
    if not path.is_dir():
        return []
    if not (path / OVERVIEW).is_file() and any((path / n).is_file() for n in _FILES):
        return [path]
    inside = (p for p in path.iterdir() if (p / OVERVIEW).is_file())
    return sorted([*run_folders_in(path), *(run for p in inside for run in run_folders_in(p))])


def read_records(path: Path) -> list[RunRecord]:
    """The runs at a path: the folder of one, or a folder of such folders.

    Raises InputError where there is none, where one is not whole, and where one was made by
    another version of evenhand.
    """
    folders = run_folders(path)
    if not folders:
        raise InputError(path, f"has no run: neither {RESULTS} nor folders that have it")
    return [record_of(read_run(folder), folder) for folder in folders]
