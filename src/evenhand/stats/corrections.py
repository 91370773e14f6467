"""Adjusted p values that hold the share of false findings among all findings.

Benjamini and Hochberg 1995: p values in ascending order, the i-th of m times m / i, then none
greater than the one after it and none above 1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats


def benjamini_hochberg(p_values: ArrayLike) -> Floats:
    """The adjusted p values, in the order given.

    NaN (no test was made) stays NaN and is not counted as a test.
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
