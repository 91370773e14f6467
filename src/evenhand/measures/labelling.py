"""Which label does a respondent give? Shared by the measures that count labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Floats

TWO_OR_THREE = (2, 3)  # entailment or not; entailment, neutral, contradiction


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


def checked(
    probabilities: ArrayLike,
    beside: Sequence[str] | None = None,
    *,
    what: str = "strata",
    columns: tuple[int, ...] = (len(NLI_LABELS),),
) -> Floats:
    """`probabilities` as an array of the right shape, `beside` it one stratum (gold label) a row, or an error that says what is wrong."""
    try:
        values = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"probabilities are no table of numbers ({error})") from error
    if values.ndim != 2 or values.shape[1] not in columns:
        wanted = " or ".join(f"(pairs, {n})" for n in columns)
        raise MeasureError(
            f"probabilities have shape {values.shape}; expected {wanted}, columns {', '.join(NLI_LABELS[: max(columns)])}"
        )
    if beside is not None and len(beside) != len(values):
        raise MeasureError(f"{len(values)} rows of probabilities but {len(beside)} {what}")
    return values


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole, NaN where the whole is empty."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)
