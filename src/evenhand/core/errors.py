"""Errors that the user can put right; each says what was wrong and what to do next.

The command line prints them without a traceback and leaves with exit code 2.

EvenhandError
├── UnknownNameError   a name that is not in the catalog
├── InputError         a file or a value that cannot be read as what it should be
├── LabelError         the labels of a model cannot be told apart, or do not suffice
├── LoadError          a model or a data set could not be loaded
├── StorageError       the disk refused
└── MeasureError       a measure cannot be computed on what it was given
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class EvenhandError(Exception):
    """Anything that the user can put right."""


class EvenhandWarning(UserWarning):
    """Something that the user should know but that does not stop the work."""


class UnknownNameError(EvenhandError):
    """A name that is not in the catalog."""

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        known = sorted(set(known))
        close = difflib.get_close_matches(name.lower(), known, n=3, cutoff=0.5)
        hint = (
            f"Did you mean {' or '.join(close)}?"
            if close
            else f"Known: {', '.join(known) or 'none'}."
        )
        super().__init__(f"unknown {what} '{name}'. {hint}")


class InputError(EvenhandError):
    """A file or a value that cannot be read as what it should be."""

    def __init__(self, source: str | Path, reason: str, *, row: int | None = None) -> None:
        where = f"{source}, row {row}" if row is not None else f"{source}"
        super().__init__(f"{where}: {reason}")


class LabelError(EvenhandError):
    """The labels of a model cannot be told apart, or do not suffice."""


class LoadError(EvenhandError):
    """A model or a data set could not be loaded."""


class StorageError(EvenhandError):
    """The disk refused: full, read-only or broken."""


class MeasureError(EvenhandError):
    """A measure cannot be computed on what it was given."""
