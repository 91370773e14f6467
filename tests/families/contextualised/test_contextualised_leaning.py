"""Ratios, shares by side, bars and axes of the reports on blanks."""

from __future__ import annotations

import math

import numpy as np
import pytest

from evenhand.core.chart import spanning
from evenhand.families.contextualised.leaning import bins_of, leaning_of, times


@pytest.mark.parametrize(
    ("odds", "text"),
    [
        (0.0, "1.00"),
        (0.1, "1.11"),
        (-0.54, "1.7"),
        (3.0, "20"),
        (-8.39, "4,403"),
        (2000.0, "1.0e+304"),
    ],
)
def test_a_ratio_has_as_many_digits_as_it_needs(odds: float, text: str) -> None:
    assert times(odds) == text


def test_bars_hold_every_value_once() -> None:
    values = np.asarray([-9.0, -0.1, -0.05, 0.0, 0.05, 0.1, 0.3, 2.0])
    bars = bins_of(values, 0.1)
    assert sum(share for b in bars for _, share in b.shares) == pytest.approx(1)
    assert sum(dict(b.shares)["none"] for b in bars) == pytest.approx(3 / 8)
    lean = leaning_of(values)
    assert (lean.female, lean.near, lean.male) == (2 / 8, 3 / 8, 3 / 8)
    wide = bins_of(np.linspace(-30, 30, 100), 0.1)
    assert len(wide) < 64
    assert {round(b.high - b.low, 9) for b in wide} == {round(wide[0].high - wide[0].low, 9)}


def test_no_answer_has_no_shares() -> None:
    lean = leaning_of(np.zeros(0))
    assert lean.sentences == 0
    assert math.isnan(lean.male) and math.isnan(lean.near) and math.isnan(lean.female)


def test_an_axis_from_data_has_zero_on_it() -> None:
    assert spanning([0.5, math.nan, math.inf, 2.0])[0] < 0
    assert spanning([0.5, 2.0], low=0.0)[0] == 0
    low, high = spanning([-3.0, -1.0])
    assert low < -3
    assert high > 0
