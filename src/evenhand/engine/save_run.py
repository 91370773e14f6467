"""A run as the folder that `evenhand audit` writes: `Run.save`."""

from __future__ import annotations

from pathlib import Path

from evenhand.core.answer_files import RESULTS
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.run import Run
from evenhand.engine.audit_document import audit_document
from evenhand.engine.read_run import read_run
from evenhand.engine.results import run_files
from evenhand.report.plot import Plot, find_plot
from evenhand.report.write import write_document


def save_run(run: Run, folder: str | Path, *, overwrite: bool = False) -> Path:
    """Write the report, the numbers, the probes and every answer; returns the page to open.

    The same run may be saved again. Raises EvenhandError where the folder holds another one, unless
    `overwrite` is set.
    """
    place = Path(folder).expanduser()
    if not overwrite and (place / RESULTS).exists() and not _is_same(run, place):
        raise EvenhandError(
            f"{place} holds another run; name another folder, or set overwrite=True to replace it"
        )
    document = audit_document(run)
    return write_document(document, place, extra=run_files(run, document))


def _is_same(run: Run, folder: Path) -> bool:
    """Whether a folder holds the run, by the signatures of its estimates."""
    try:
        kept = read_run(folder)
    except InputError:
        return False
    return [e.signature for e in kept.estimates] == [e.signature for e in run.estimates]


def plot_run(run: Run, name: str) -> Plot:
    """The chart of this name in the report of a run. Raises UnknownNameError for another name."""
    return find_plot(audit_document(run).charts, name)
