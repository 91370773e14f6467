"""Which label does a respondent give? Shared by the measures that count labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import MeasureError
from evenhand.core.records import NLI_LABELS, Floats


def _is_top(values: Floats) -> NDArray[np.bool_]:
    is_answered = np.isfinite(values).all(axis=1, keepdims=True)
    return np.asarray((values == values.max(axis=1, keepdims=True)) & is_answered)


def label_shares(values: Floats) -> Floats:
    """One row per probe: 1 at the label with the highest value, shared evenly between labels that tie, all 0 where there is no answer."""
    is_top = _is_top(values)
    return np.asarray(is_top / np.maximum(is_top.sum(axis=1, keepdims=True), 1), dtype=np.float64)


def count_ties(values: Floats) -> int:
    """In how many answers do two or more labels share the highest value?"""
    if not values.size:
        return 0
    return int((_is_top(values).sum(axis=1) > 1).sum())


def checked(probabilities: ArrayLike, strata: Sequence[str] | None = None, *, columns: int = len(NLI_LABELS)) -> Floats:
    """`probabilities` as an array of the right shape, or an error that says what is wrong with it."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != columns:
        raise MeasureError(
            f"probabilities have shape {values.shape}; expected (pairs, {columns}), columns {', '.join(NLI_LABELS[:columns])}"
        )
    if strata is not None and len(strata) != len(values):
        raise MeasureError(f"{len(values)} rows of probabilities but {len(strata)} strata")
    return values


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where the whole is empty."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
