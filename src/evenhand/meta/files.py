"""How is a ladder kept? As one JSON file; what was not measured is null in it and NaN in the program."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core.errors import InputError
from evenhand.core.files import read_text, write_atomic
from evenhand.meta.records import LADDERS, Ladder, Reading, Rung

_NUMBERS = ("value", "low", "high", "coverage")


def plain_number(value: float | None) -> float | None:
    """NaN and infinity have no form in JSON: null."""
    return float(value) if value is not None and math.isfinite(value) else None


def _plain(thing: Any) -> Any:
    """Settings as JSON has them: lists, texts, numbers."""
    if isinstance(thing, Mapping):
        return {str(k): _plain(v) for k, v in thing.items()}
    if isinstance(thing, list | tuple | set | frozenset):
        return [_plain(v) for v in (sorted(thing) if isinstance(thing, set | frozenset) else thing)]
    if isinstance(thing, float):
        return plain_number(thing)
    return thing if thing is None or isinstance(thing, str | int | bool) else str(thing)


def _reading(found: Reading) -> dict[str, Any]:
    rung = found.rung
    return {
        "ladder": rung.ladder,
        "rate": rung.rate,
        "errors": rung.errors,
        "seed": rung.seed,
        "suite": found.suite,
        "measure": found.measure,
        **{name: plain_number(getattr(found, name)) for name in _NUMBERS},
        "note": found.note,
    }


def ladder_json(ladder: Ladder) -> dict[str, Any]:
    """The ladder as plain data, keys in a fixed order."""
    return {
        "evenhand": __version__,
        "language": ladder.language,
        "encoder": ladder.encoder,
        "words": {k: list(v) for k, v in ladder.words.items()},
        "settings": _plain(ladder.settings),
        "accuracy": {k: plain_number(v) for k, v in ladder.accuracy.items()},
        "seconds": plain_number(ladder.seconds),
        "readings": [_reading(r) for r in ladder.readings],
    }


def write_ladder(ladder: Ladder, path: Path) -> Path:
    """Write the ladder, whole or not at all; returns the path."""
    write_atomic(
        path, json.dumps(ladder_json(ladder), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
    )
    return path


def _known(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _read_reading(row: Mapping[str, Any]) -> Reading:
    if row["ladder"] not in LADDERS:
        raise ValueError(f"ladder is {row['ladder']!r}, not one of {', '.join(LADDERS)}")
    rung = Rung(
        ladder=row["ladder"],
        rate=float(row["rate"]),
        errors=float(row["errors"]),
        seed=int(row["seed"]),
    )
    numbers = {name: _known(row[name]) for name in _NUMBERS}
    return Reading(
        rung=rung,
        suite=str(row["suite"]),
        measure=str(row["measure"]),
        note=str(row.get("note", "")),
        **numbers,
    )


def read_ladder(path: Path) -> Ladder:
    """The ladder of a file (ladder.json of a report too), or of the folder that has it."""
    if path.is_dir():
        path = path / "ladder.json"
    try:
        found = json.loads(read_text(path))
        return Ladder(
            language=str(found["language"]),
            encoder=str(found["encoder"]),
            words={k: tuple(v) for k, v in found["words"].items()},
            settings=found["settings"],
            readings=tuple(map(_read_reading, found["readings"])),
            accuracy={k: _known(v) for k, v in found["accuracy"].items()},
            seconds=_known(found["seconds"]),
        )
    except json.JSONDecodeError as error:
        raise InputError(
            path,
            f"not JSON ({error.msg} at line {error.lineno}); `evenhand meta run` writes it anew",
        ) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        what = f"the field {error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(path, f"not a ladder: {what}; `evenhand meta run` writes one") from error
