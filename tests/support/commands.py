"""How is the program run from a test? Through the entry point that the user's shell calls, with its
exit code and both of its streams.
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from evenhand.cli.main import run

QUICK = ("--limit", "60", "--resamples", "100")
ONE_SUITE = ("--suite", "occupation-nli", *QUICK)  # a quick audit of one suite


class Outcome(NamedTuple):
    """What a command left."""

    code: int
    out: str
    err: str


def evenhand(*words: object, columns: int = 200) -> Outcome:
    """`evenhand WORDS`, in this process; anything but an orderly exit is an error of the test.

    columns: the width of the terminal.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", ["evenhand", *map(str, words)]),
        mock.patch.object(warnings, "showwarning", warnings.showwarning),
        mock.patch.dict(os.environ, {"COLUMNS": str(columns), "NO_COLOR": "1"}),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        try:
            run()
            code = 0
        except SystemExit as leave:
            code = leave.code if isinstance(leave.code, int) else 0 if leave.code is None else 1
    return Outcome(code, out.getvalue(), err.getvalue())


def files_in(folder: Path) -> list[str]:
    """Every file and folder below, hidden ones too."""
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*"))
