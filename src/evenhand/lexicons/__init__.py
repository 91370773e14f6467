"""Words and sentences of the program: data only, a folder per language, a table per file.

Source and licence of a table stand in its head.
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.resources import files


@cache
def table(language: str, name: str) -> tuple[dict[str, str], ...]:
    """The rows of a lexicon: `table("en", "frames")`."""
    text = (files(__name__) / language / f"{name}.tsv").read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return tuple(csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE))


def has_table(language: str, name: str) -> bool:
    """Does the language have this lexicon?"""
    return (files(__name__) / language / f"{name}.tsv").is_file()


def languages_with(name: str) -> tuple[str, ...]:
    """Every language that has this lexicon."""
    return tuple(
        sorted(
            folder.name
            for folder in files(__name__).iterdir()
            if folder.is_dir() and has_table(folder.name, name)
        )
    )
