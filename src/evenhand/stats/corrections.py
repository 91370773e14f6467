"""Adjusted p values that control the share of false discoveries.

Benjamini and Hochberg 1995: with p values in ascending order, the i-th of m is multiplied by
m / i; then none may be greater than the next one, or than 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """The adjusted p values, in the order given.

    NaN (no test was made) stays NaN and does not count as a test. Raises EvenhandError for a number
    that is not a probability.
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise EvenhandError(f"p values have shape {p.shape}; give one list of numbers")
    for row, value in enumerate(p):
        if not np.isnan(value) and not 0 <= value <= 1:
            raise EvenhandError(
                f"p value {value} at position {row} is no probability; give numbers between 0 and 1"
            )
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: int(np.isfinite(p).sum())]  # NaN is sorted last
    raised = p[order] * len(order) / np.arange(1, len(order) + 1)
    adjusted[order] = np.minimum(np.minimum.accumulate(raised[::-1])[::-1], 1.0)
    return adjusted
