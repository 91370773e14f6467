"""Small runs of fixed models, and their folders, for what is published."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from runs import few, noise, silent

from evenhand.core.run import Run
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.opened import Model
from evenhand.engine.results import run_files
from evenhand.engine.suites import load_suite
from evenhand.report.write import write_document

MODELS: dict[str, Model] = {
    "stereotyped": "fixed:stereotyped",
    "fair": "fixed:fair",
    "random": "fixed:random",
    "noise": noise,
    "silent": silent,
}


@cache
def run_of(model: str, suite: str = "occupation-nli", limit: int = 120) -> Run:
    """The run of one of MODELS on a cut suite."""
    return audit(MODELS[model], load_suite(suite, limit=limit), settings=few(60))


def written(run: Run, folder: Path) -> Path:
    """The folder of a run, as `evenhand audit` writes it."""
    document = audit_document(run)
    write_document(document, folder, extra=run_files(run, document))
    return folder
