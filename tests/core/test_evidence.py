"""What measures share: which label was given, and how ties count."""

from __future__ import annotations

import math

import numpy as np

from evenhand.core.evidence import count_ties, label_shares


def test_label_shares_and_ties() -> None:
    values = np.asarray([[1, 1, 0], [0, 2, 1], [1, 1, 1], [math.nan, 1, 1.0]])
    expected = np.asarray([[1 / 2, 1 / 2, 0], [0, 1, 0], [1 / 3, 1 / 3, 1 / 3], [0, 0, 0]])
    np.testing.assert_allclose(label_shares(values), expected)
    assert count_ties(values) == 2
    assert count_ties(np.empty((0, 3))) == 0
