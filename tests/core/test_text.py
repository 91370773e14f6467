"""How numbers and lists read in a sentence."""

from __future__ import annotations

import math

import pytest

from evenhand.core import text
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.settings import Settings

NAN = math.nan


def test_numbers_never_look_like_what_they_are_not() -> None:
    assert [text.number(v) for v in (0.12345, -0.0001, 0.0, NAN)] == [
        "0.123",
        "0.000",
        "0.000",
        "n/a",
    ]
    assert [text.short_number(v) for v in (0.0, 0.5, 1.0, NAN)] == ["0", "0.5", "1", "n/a"]
    assert [text.points(v, is_signed=True) for v in (0.0123, -0.0001, -0.2, NAN)] == [
        "+1.2",
        "0.0",
        "-20.0",
        "n/a",
    ]


def test_not_quite_nothing_is_not_rounded_to_it() -> None:
    assert [text.percent(v) for v in (0.0, 0.004, 0.5, 0.996, 1.0, NAN)] == [
        "0 %",
        "<1 %",
        "50 %",
        ">99 %",
        "100 %",
        "n/a",
    ]
    assert text.percent(0.9996, 1) == ">99.9 %"


def test_intervals() -> None:
    assert text.with_bounds(Interval(0.4521, 0.431, 0.474)) == "0.452 [0.431, 0.474]"
    assert text.with_bounds(Interval(0.4521, NAN, NAN)) == "0.452 [n/a]"
    assert text.with_bounds(Interval(NAN, NAN, NAN)) == "n/a"
    assert text.in_points(Interval(0.43, 0.401, 0.462)) == "43.0 [40.1, 46.2]"
    assert text.in_points(Interval(0.43, 0.401, 0.462), is_signed=True) == "+43.0 [40.1, 46.2]"
    assert text.in_points(Interval(0.43, NAN, NAN)) == "43.0 [n/a]"


def test_counts_and_lists() -> None:
    assert [text.counted(n, "pair") for n in (0, 1, 1410)] == ["0 pairs", "1 pair", "1,410 pairs"]
    assert [text.listed(list("abc")[:n]) for n in range(4)] == ["", "a", "a and b", "a, b and c"]
    assert text.sentence_case("nearer to fair") == "Nearer to fair"


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"level": 95}, "level is 95; give a share between 0 and 1"),
        ({"method": "normal"}, "'normal' is not an interval method; use percentile or bca"),
        ({"resamples": 0}, "resamples is 0; give at least 1"),
        ({"permutations": 0}, "permutations is 0; give at least 1"),
    ],
)
def test_settings_that_make_no_sense_are_refused(fields: dict[str, object], reason: str) -> None:
    with pytest.raises(EvenhandError, match=reason):
        Settings(**fields)  # type: ignore[arg-type]
