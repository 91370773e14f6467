"""What do NLI training files say? Premise, hypothesis and one of three labels, one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.records import NLI_LABELS
from evenhand.core.storage import read_rows


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair."""

    premise: str
    hypothesis: str
    label: str


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """The pairs of all files; an error names the row that has none."""
    pairs = []
    for path in paths:
        for number, row in read_rows(path):
            try:
                pair = Pair(str(row["premise"]), str(row["hypothesis"]), str(row["label"]))
            except KeyError as error:
                raise InputError(path, f"the field {error} is missing", row=number) from error
            if pair.label not in NLI_LABELS:
                raise InputError(path, f"label {pair.label!r} is none of {', '.join(NLI_LABELS)}", row=number)
            if not pair.premise.strip() or not pair.hypothesis.strip():
                raise InputError(path, "premise or hypothesis is empty", row=number)
            pairs.append(pair)
    return pairs
