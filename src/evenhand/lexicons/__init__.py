"""The words and sentences that evenhand ships: one folder per language, one table per file.

The head of each table states its source and licence.
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
    """Whether the language has this lexicon."""
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
