"""Tables as published files have them, written for a test."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path


def write_table(
    folder: Path, name: str, head: str, rows: Sequence[Sequence[str]], mark: str = ""
) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / name).open("w", encoding="utf-8", newline="") as out:
        out.write(mark + head + "\n")
        csv.writer(out, lineterminator="\n").writerows(rows)
    return folder


def altered(row: Sequence[str], column: int, value: str) -> list[str]:
    return [*row[:column], value, *row[column + 1 :]]
