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
    assert [text.points(v) for v in (0.0123, -0.0001, -0.2, NAN)] == ["1.2", "0.0", "-20.0", "n/a"]


@pytest.mark.parametrize(
    ("value", "signed", "points"),
    [
        (0.0123, "+0.012", "+1.2"),
        (-0.2, "-0.200", "-20.0"),
        (0.0004, "+0.0004", "+0.04"),
        (-0.00003, "-0.00003", "-0.003"),
        (0.0005, "+0.001", "+0.1"),
        (0.0, "0.000", "0.0"),
        (-1e-17, "0.000", "0.0"),
        (NAN, "n/a", "n/a"),
    ],
)
def test_only_no_difference_is_printed_as_zero(value: float, signed: str, points: str) -> None:
    assert text.signed(value) == signed
    assert text.points(value, is_signed=True) == points


@pytest.mark.parametrize(
    ("interval", "signed", "points"),
    [
        (Interval(0.013, 0.001, 0.025), "+0.013 [0.001, 0.025]", "+1.3 [0.1, 2.5]"),
        (Interval(-0.0004, -0.0006, -0.0002), "-0.0004 [-0.0006, -0.0002]", "-0.04 [-0.06, -0.02]"),
        (Interval(0.02, 0.0003, 0.04), "+0.0200 [0.0003, 0.0400]", "+2.00 [0.03, 4.00]"),
        (Interval(0.02, 1e-7, 0.04), "+0.020 [0.000, 0.040]", "+2.0 [0.0, 4.0]"),
        (
            Interval(0.5, 0.49998, 0.50002),
            "+0.50000 [0.49998, 0.50002]",
            "+50.000 [49.998, 50.002]",
        ),
        (Interval(0.0, 0.0, 0.0), "0.000 [0.000, 0.000]", "0.0 [0.0, 0.0]"),
        (Interval(0.00004, NAN, NAN), "+0.00004 [n/a]", "+0.004 [n/a]"),
        (Interval(NAN, NAN, NAN), "n/a", "n/a"),
    ],
)
def test_a_difference_has_as_many_digits_as_it_needs(
    interval: Interval, signed: str, points: str
) -> None:
    assert text.signed_with_bounds(interval) == signed
    assert text.in_points(interval, is_signed=True) == points


def test_two_levels_are_told_apart() -> None:
    assert text.levels_in_points(0.421, 0.203) == ("42.1", "20.3")
    assert text.levels_in_points(0.0001, 0.0004) == ("0.01", "0.04")
    assert text.levels_in_points(0.25, 0.25) == ("25.0", "25.0")
    assert text.levels_in_points(0.25, 0.2500001) == ("25.00000", "25.00001")
    assert text.levels_in_points(0.25, NAN) == ("25.0", "n/a")


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
