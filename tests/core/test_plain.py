"""The one JSON form: NaN, intervals, paths, arrays, records."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

import numpy as np
import pytest

from evenhand.core.answers import Status
from evenhand.core.estimate import Interval
from evenhand.core.plain import plain, to_json
from evenhand.core.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    name: str
    interval: Interval
    groups: tuple[frozenset[str], ...] = ()


def test_what_is_not_finite_is_null() -> None:
    assert plain([1.5, math.nan, math.inf, -math.inf]) == [1.5, None, None, None]
    assert plain(np.asarray([[1.0, np.nan]])) == [[1.0, None]]
    assert plain(Interval(0.5, math.nan, math.nan)) == {"value": 0.5, "low": None, "high": None}


def test_records_keep_the_order_of_their_fields_and_sets_are_sorted() -> None:
    record = Record(name="x", interval=Interval(1, 0, 2), groups=(frozenset({"b", "a"}),))
    assert plain(record) == {
        "name": "x",
        "interval": {"value": 1, "low": 0, "high": 2},
        "groups": [["a", "b"]],
    }
    assert list(plain(record)) == ["name", "interval", "groups"]


def test_numbers_of_numpy_paths_and_names_are_plain() -> None:
    values = plain((np.int64(3), np.float32(0.5), np.bool_(True), Path("a") / "b", Status.REFUSED))
    assert values == [3, 0.5, True, str(PurePosixPath("a/b")), "refused"]
    assert [type(v) for v in values] == [int, float, bool, str, str]


def test_the_text_is_strict_json() -> None:
    text = to_json({"seed": Settings().seed, "nothing": math.nan, "é": 1})
    assert text == '{\n "seed": 0,\n "nothing": null,\n "é": 1\n}\n'
    json.loads(text, parse_constant=pytest.fail)


def test_what_has_no_plain_form_is_an_error() -> None:
    with pytest.raises(TypeError, match="object has no plain form"):
        plain({"x": object()})
