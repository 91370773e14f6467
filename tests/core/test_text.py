"""Numbers read the same everywhere, and what was not measured is no number."""

from __future__ import annotations

import math

import pytest

from evenhand.core.estimate import NO_INTERVAL, Interval
from evenhand.core.text import (
    bounds,
    counted,
    in_points,
    listed,
    number,
    p_value,
    percent,
    points,
    sentence_case,
    short_number,
    signed,
    with_bounds,
)


@pytest.mark.parametrize(
    ("share", "digits", "text"),
    [
        (0.414, 0, "41 %"),
        (0.414, 1, "41.4 %"),
        (0.0, 1, "0.0 %"),
        (0.0001, 0, "<1 %"),
        (0.9999, 0, ">99 %"),
        (1.0, 0, "100 %"),
        (math.nan, 1, "n/a"),
    ],
)
def test_a_share_in_percent_is_never_rounded_to_nothing_or_all(
    share: float, digits: int, text: str
) -> None:
    assert percent(share, digits) == text


def test_what_was_not_measured_is_not_a_number() -> None:
    assert number(math.nan) == short_number(math.inf) == p_value(math.nan) == points(math.nan)
    assert number(math.nan) == signed(math.nan) == with_bounds(NO_INTERVAL) == "n/a"
    assert bounds(NO_INTERVAL) == "[n/a]"
    assert in_points(Interval(0.5, math.nan, math.nan)) == "50.0 [n/a]"
    assert number(-0.0) == "0.000"
    assert number(-0.0001) == "0.000"


def test_counts_signs_and_points() -> None:
    assert counted(1, "pair") == "1 pair"
    assert counted(1410, "pair") == "1,410 pairs"
    assert signed(0.0131) == "+0.013"
    assert signed(-0.2) == "-0.200"
    assert signed(0.0001) == "0.000"
    assert short_number(0.5) == "0.5"
    assert p_value(0.0004) == "<0.001"
    assert p_value(0.04) == "0.040"
    assert with_bounds(Interval(0.452, 0.4314, 0.4741)) == "0.452 [0.431, 0.474]"
    assert points(-0.0001) == "0.0"
    assert points(0.013, is_signed=True) == "+1.3"
    assert in_points(Interval(-0.123, -0.15, -0.098), is_signed=True) == "-12.3 [-15.0, -9.8]"


def test_lists_and_sentences() -> None:
    assert [listed(names) for names in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == [
        "",
        "a",
        "a and b",
        "a, b and c",
    ]
    assert sentence_case("0 is fair") == "0 is fair"
    assert sentence_case("it Is") == "It Is"
