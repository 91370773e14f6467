"""Ladder: models that differ in one known respect, what every measure says of them, and its file.

What was not measured is null in the file and NaN in the program.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from evenhand import __version__
from evenhand.core.errors import InputError
from evenhand.core.files import read_text, write_atomic
from evenhand.core.plain import plain, to_json
from evenhand.meta.forms import SUITE_FORM

LadderName = Literal["rate", "errors"]
LADDERS: tuple[LadderName, ...] = ("rate", "errors")
FILE = "ladder.json"  # of the report
READINGS = "readings.json"  # the ladder without its standings


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One model: the bias that it is trained to have, and its seed."""

    ladder: LadderName
    rate: float  # share of the stereotyped words that it answers with the stereotype
    errors: float = 1.0  # share of the other stereotyped words that it gets wrong without bias
    seed: int = 0

    @property
    def step(self) -> float:
        """What varies along the ladder, to six decimals: 0.1 + 0.2 is the rung 0.3."""
        return round(self.rate if self.ladder == "rate" else self.errors, 6)

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"rate-{self.rate:.2f}-errors-{self.errors:.2f}-seed-{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one measure says of one model on one suite; NaN with a note where it says nothing."""

    rung: Rung
    suite: str  # name of the suite, with its variant
    measure: str
    value: float
    low: float
    high: float
    coverage: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """All that was measured, and how it was made.

    held_out is empty where the occupations that are asked about are those trained on.
    """

    language: str
    encoder: str
    words: Mapping[str, tuple[str, ...]]  # lean -> occupations trained on
    form: str = SUITE_FORM.name  # the kind of sentences that the bias is planted in
    held_out: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # lean -> asked about
    settings: Mapping[str, Any] = field(default_factory=dict)  # sizes, recipe, seeds, versions
    readings: tuple[Reading, ...] = ()
    checks: tuple[Reading, ...] = ()  # on the form's own pairs: was the bias learnt?
    accuracy: Mapping[str, float] = field(default_factory=dict)  # rung -> on its own dev set
    seconds: float = 0.0  # of training and asking, all models together


def ladder_fields(ladder: Ladder) -> dict[str, Any]:
    """The ladder as plain data, keys in a fixed order."""
    return {
        "evenhand": __version__,
        "language": ladder.language,
        "form": ladder.form,
        "encoder": ladder.encoder,
        "words": plain(ladder.words),
        "held_out": plain(ladder.held_out),
        "settings": plain(ladder.settings),
        "accuracy": plain(ladder.accuracy),
        "seconds": plain(ladder.seconds),
        "checks": [_reading_fields(r) for r in ladder.checks],
        "readings": [_reading_fields(r) for r in ladder.readings],
    }


def _reading_fields(reading: Reading) -> dict[str, Any]:
    fields = plain(reading)
    return {**fields.pop("rung"), **fields}


def write_ladder(ladder: Ladder, path: Path) -> Path:
    """Write the ladder, whole or not at all; returns the path."""
    write_atomic(path, to_json(ladder_fields(ladder)))
    return path


def read_ladder(path: Path) -> Ladder:
    """The ladder in a file (readings.json, or ladder.json of a report) or in a report's folder.

    Raises InputError where it holds none.
    """
    if path.is_dir():
        path = path / FILE
    try:
        row = json.loads(read_text(path))
        return Ladder(
            language=str(row["language"]),
            encoder=str(row["encoder"]),
            words={k: tuple(v) for k, v in row["words"].items()},
            # a ladder of an earlier version has one form, and no words that are held out
            form=str(row.get("form", SUITE_FORM.name)),
            held_out={k: tuple(v) for k, v in row.get("held_out", {}).items()},
            checks=tuple(map(_read_reading, row.get("checks", ()))),
            settings=row["settings"],
            readings=tuple(map(_read_reading, row["readings"])),
            accuracy={k: _number(v) for k, v in row["accuracy"].items()},
            seconds=_number(row["seconds"]),
        )
    except json.JSONDecodeError as error:
        raise InputError(
            path,
            f"not JSON ({error.msg} at line {error.lineno}); `evenhand meta run` writes it anew",
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(path, f"not a ladder: {what}; `evenhand meta run` writes one") from error


def _read_reading(row: Mapping[str, Any]) -> Reading:
    if row["ladder"] not in LADDERS:
        raise ValueError(f"ladder is {row['ladder']!r}, not one of {', '.join(LADDERS)}")
    return Reading(
        rung=Rung(
            ladder=row["ladder"],
            rate=float(row["rate"]),
            errors=float(row["errors"]),
            seed=int(row["seed"]),
        ),
        suite=str(row["suite"]),
        measure=str(row["measure"]),
        value=_number(row["value"]),
        low=_number(row["low"]),
        high=_number(row["high"]),
        coverage=_number(row["coverage"]),
        note=str(row.get("note", "")),
    )


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)
