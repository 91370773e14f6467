"""The JSON form of records: the only place that turns NaN, intervals and paths into JSON."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np

from evenhand.core.estimate import Interval


def plain(value: Any) -> Any:
    """Records, intervals, arrays, paths and mappings as JSON types.

    A number that is not finite becomes null; the record's note says why. Fields of a record
    keep their order; a set is sorted. Raises TypeError for what has no plain form.
    """
    if isinstance(value, Interval):
        return {name: plain(number) for name, number in value._asdict().items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(plain(item) for item in value)
    if isinstance(value, list | tuple | np.ndarray):
        return [plain(item) for item in value]
    return _plain_scalar(value)


def _plain_scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str | PurePath):
        return str(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    raise TypeError(f"{type(value).__name__} has no plain form")


def to_json(value: Any) -> str:
    """The plain form as text: UTF-8, one space of indent, a line break at the end."""
    return json.dumps(plain(value), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
