"""Frames cut from captions that have one gender word and do not depend on gender otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.protocols import Language
from evenhand.languages.frames import gender_cues

SHORTEST, LONGEST = 8, 160  # characters of a caption
_COLUMNS = ("premise", "sentence1", "caption", "text")


@dataclass(slots=True)
class Mined:
    """The frames, and how many other captions were dropped for which reason."""

    frames: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def read_captions(path: Path) -> list[str]:
    """The captions of a text file (one per line) or the premises of an NLI file.

    Each once, in order. Raises InputError where no column of a table holds captions.
    """
    if path.suffix.lower() in {".txt", ""}:
        lines: Iterable[str] = read_text(path).split("\n")
    else:
        rows = read_rows(path)
        column = next((c for c in _COLUMNS if c in rows[0][1]), None)
        if column is None:
            names, known = ", ".join(rows[0][1]), ", ".join(_COLUMNS)
            raise InputError(path, f"has the columns {names}; one of {known} is needed")
        lines = (str(row.get(column, "")) for _, row in rows)
    return list(dict.fromkeys(text for line in lines if (text := _unquoted(line.strip()))))


def _unquoted(text: str) -> str:
    """A caption without the quotes of a table that it once was a cell of."""
    is_cell = text.startswith('"') and text.endswith('"') and '""' in text[1:-1]
    return text[1:-1].replace('""', '"').strip() if is_cell else text


def mine(paths: Sequence[Path], language: Language) -> Mined:
    """The clean frames of all files, each once, in order; the other captions counted by reason."""
    mined = Mined()
    seen: set[str] = set()
    for path in paths:
        for caption in read_captions(path):
            frame = language.cut(caption)
            if frame is None:
                mined.dropped["not exactly one gender word"] += 1
            elif not SHORTEST <= len(caption) <= LONGEST:
                mined.dropped["too short or too long"] += 1
            elif gender_cues(language.code, frame):
                mined.dropped["depends on gender"] += 1
            elif language.faults(frame):
                mined.dropped["reads as broken"] += 1
            elif frame.casefold() in seen:
                mined.dropped["duplicate"] += 1
            else:
                seen.add(frame.casefold())
                mined.frames.append(frame)
    return mined
