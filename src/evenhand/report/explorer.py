"""The data of an explorer in a page: JSON, its words in dictionaries, gzip, base64."""

from __future__ import annotations

import base64
import gzip
import json
import math
from collections.abc import Sequence
from typing import Any

from evenhand.core.document import AnswerColumns, Explorer, ProbeTable


def pack(explorer: Explorer) -> str:
    """The tables of an explorer as text that stands in a page as it is.

    The same explorer gives the same text. What explorer.js reads.
    """
    fields = [_table_fields(table) for table in explorer.tables]
    # ASCII, because a half of a surrogate pair has no other form
    raw = json.dumps(fields, separators=(",", ":"), allow_nan=False).encode("ascii")
    return base64.b64encode(gzip.compress(raw, compresslevel=6, mtime=0)).decode("ascii")


def _table_fields(table: ProbeTable) -> dict[str, Any]:
    return {
        "name": table.name,
        "language": table.language,
        "ids": list(table.ids),
        "roles": list(table.roles),
        "texts": [_coded(texts) for texts in table.texts],
        "tags": {name: _coded(values) for name, values in table.tags.items()},
        "answers": [_answer_fields(answers) for answers in table.answers],
        "differences": _numbers(table.differences),
    }


def _answer_fields(answers: AnswerColumns) -> dict[str, Any]:
    return {
        "name": answers.name,
        "columns": list(answers.columns),
        "values": [_numbers(column) for column in answers.values],
        "chosen": _coded(answers.chosen),
        "silences": _coded(answers.silences),
        "whole": answers.whole,
    }


def _coded(values: Sequence[str]) -> dict[str, Any]:
    """A column of words: every word once, and the place of the word of each row."""
    places: dict[str, int] = {}
    codes = [places.setdefault(value, len(places)) for value in values]
    return {"words": list(places), "codes": codes}


def _numbers(values: Sequence[float]) -> list[float | None]:
    """Numbers with all their digits; null for what is none."""
    return [value if math.isfinite(value) else None for value in values]
