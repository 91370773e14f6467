"""A folder of runs as one HTML page that refreshes itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.report.html import breakable, open_templates


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLine:
    """One line of the page: a run, a run that is being asked, or a folder that is no run."""

    title: str  # the model, or the name of the folder
    suite: str = ""
    headline: str = ""  # the score with its interval
    date: str = ""
    address: str = ""  # of its report; empty where there is none to open
    place: str = ""  # its folder
    note: str = ""  # what is wrong, or must be known
    is_faulty: bool = False
    done: int = 0  # probes that were answered, of a run that is being asked
    total: int = 0


def to_run_list(lines: Sequence[RunLine], folder: str) -> str:
    """The page with these lines, in their order. folder: the name of the folder of runs."""
    environment = open_templates()
    environment.filters["breakable"] = breakable
    return str(environment.get_template("runs.html").render(lines=lines, folder=folder))
