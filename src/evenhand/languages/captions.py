"""Which captions can become frames? Those that hold exactly one of the two gender words, once, and do not depend on gender otherwise."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.protocols import Language
from evenhand.languages.frames import gender_cues

LONGEST = 160  # characters
SHORTEST = 8
_COLUMNS = ("premise", "sentence1", "caption", "text")


@dataclass(slots=True)
class Mined:
    """The frames that were found, and what became of the other captions."""

    frames: list[str] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)


def read_captions(path: Path) -> list[str]:
    """The captions of a text file (one a line) or the premises of an NLI file, each once, in order."""
    if path.suffix.lower() in {".txt", ""}:
        lines: Iterable[str] = read_text(path).split("\n")
    else:
        rows = read_rows(path)
        column = next((c for c in _COLUMNS if c in rows[0][1]), None)
        if column is None:
            raise InputError(
                path,
                f"has the columns {', '.join(rows[0][1])}; one of {', '.join(_COLUMNS)} is needed",
            )
        lines = (str(row.get(column, "")) for _, row in rows)
    return list(dict.fromkeys(stripped for line in lines if (stripped := line.strip())))


def mine(paths: Sequence[Path], language: Language) -> Mined:
    """The clean frames of all files, each once, in order; the rest counted by reason."""
    found = Mined()
    seen: set[str] = set()
    for path in paths:
        for caption in read_captions(path):
            frame = language.cut(caption)
            if frame is None:
                found.dropped["not exactly one gender word"] += 1
            elif not SHORTEST <= len(caption) <= LONGEST:
                found.dropped["too short or too long"] += 1
            elif gender_cues(language.code, frame):
                found.dropped["depends on gender"] += 1
            elif language.faults(frame):
                found.dropped["reads as broken"] += 1
            elif frame.casefold() in seen:
                found.dropped["duplicate"] += 1
            else:
                seen.add(frame.casefold())
                found.frames.append(frame)
    return found
