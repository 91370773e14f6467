"""What measures share: predicted labels, shares from sums, checks of input arrays."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Bools, Floats, Probe

TWO_OR_THREE = (2, 3)  # columns: entailment or not; entailment, neutral, contradiction


def ratio(part: Floats, whole: Floats) -> Floats:
    """part / whole; NaN where the whole is empty."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole > 0, part / np.where(whole > 0, whole, 1.0), np.nan)


def is_highest(table: Floats) -> Bools:
    """Where each row of (n, labels) has its highest value; False throughout a row with NaN."""
    is_known = np.isfinite(table).all(axis=1, keepdims=True)
    return np.asarray((table == table.max(axis=1, keepdims=True)) & is_known)


def label_shares(table: Floats) -> Floats:
    """1 at the label with the highest value of a row, shared evenly between labels that tie.

    All 0 in a row without an answer.
    """
    is_top = is_highest(table)
    count = np.maximum(is_top.sum(axis=1, keepdims=True), 1)
    return np.asarray(is_top / count, dtype=np.float64)


def count_ties(table: Floats) -> int:
    """In how many rows two or more labels share the highest value."""
    return int((is_highest(table).sum(axis=1) > 1).sum()) if table.size else 0


def probabilities(values: Floats) -> Floats:
    """Raw values (..., labels), logits or log-probabilities, as probabilities.

    A row with NaN is NaN throughout.
    """
    with np.errstate(invalid="ignore", over="ignore"):
        powers = np.exp(values - values.max(axis=-1, keepdims=True))
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True), dtype=np.float64)


def pair_table(values: Floats) -> Floats:
    """The values (n, labels) of pairs, which have one option."""
    return values[:, 0, :]


def option_scores(values: Floats) -> Floats:
    """One number per option (n, options); of a classifier, the raw value of its first label."""
    return values[:, :, 0]


def option_labels(values: Floats) -> Floats:
    """The predicted label of each option as a number (n, options).

    Entailment 0, neutral 1, contradiction 2; the mean of labels that tie; NaN without an answer.
    Raises MeasureError unless every option has three numbers.
    """
    if values.shape[2] != len(NLI_LABELS):
        raise MeasureError(
            f"{values.shape[2]} numbers an option; labels need {len(NLI_LABELS)} "
            f"({', '.join(NLI_LABELS)}): ask a classifier with three labels"
        )
    is_known = np.isfinite(values).all(axis=2)
    is_top = values == np.where(is_known, values.max(axis=2), 0.0)[:, :, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        labels = (is_top * np.arange(len(NLI_LABELS))).sum(axis=2) / is_top.sum(axis=2)
    return np.asarray(np.where(is_known, labels, np.nan))


def compared_options(values: Floats, *, is_by_label: bool) -> Floats:
    """What the options of a choice are compared by (n, options): predicted labels or raw scores.

    A row in which any number is missing is NaN throughout.
    """
    is_complete = np.asarray(np.isfinite(values).all(axis=(1, 2)), dtype=bool)
    scores = option_labels(values) if is_by_label else option_scores(values)
    return np.where(is_complete[:, np.newaxis], scores, np.nan)


def stratum_mask(probes: Sequence[Probe], *strata: str) -> Bools:
    """Which probes belong to one of these strata."""
    return np.asarray([p.stratum in strata for p in probes], dtype=bool)


def checked_table(
    probabilities: ArrayLike,
    beside: Sequence[str] | None = None,
    *,
    what: str = "strata",
    columns: tuple[int, ...] = (len(NLI_LABELS),),
) -> Floats:
    """`probabilities` as an array (pairs, labels).

    beside: one entry per row, where the measure takes such a list; what: its name in an error.
    Raises MeasureError where the shape is wrong or the lengths differ.
    """
    try:
        values = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise MeasureError(f"probabilities are no table of numbers ({error})") from error
    if values.ndim != 2 or values.shape[1] not in columns:
        wanted = " or ".join(f"(pairs, {n})" for n in columns)
        labels = ", ".join(NLI_LABELS[: max(columns)])
        raise MeasureError(
            f"probabilities have shape {values.shape}; expected {wanted}, columns {labels}"
        )
    if beside is not None and len(beside) != len(values):
        raise MeasureError(f"{len(values)} rows of probabilities but {len(beside)} {what}")
    return values


def check_names(names: Sequence[str], what: str, known: Sequence[str] = ()) -> None:
    """Raise MeasureError for a name that is not among the known ones, or, without any, is empty.

    what: what a name stands for, in an error: `gold label`.
    """
    for row, name in enumerate(names, 1):
        if known and name not in known:
            raise MeasureError(
                f"{what} {name!r} in row {row}; known are {', '.join(known)}. "
                "Leave out the rows that should not count"
            )
        if not name:
            raise MeasureError(f"{what} {name!r} in row {row}; give one for every row")


def mean_of(totals: Floats) -> Floats:
    """The `combine` of every measure that is a mean: the second column over the first."""
    return ratio(totals[..., 1], totals[..., 0])


def no_parts(totals: Floats) -> Mapping[str, Floats]:
    """The `parts` of a measure that has only its score."""
    return {}


def highest_ties(probes: Sequence[Probe], values: Floats) -> int:
    """Ties as most measures count them: several labels, or options, share the highest value."""
    if not len(values):
        return 0
    return count_ties(pair_table(values) if values.shape[1] == 1 else option_scores(values))


Evidence = Callable[[Sequence[Probe], Floats], Floats]
Combine = Callable[[Floats], Floats]
Parts = Callable[[Floats], Mapping[str, Floats]]
Ties = Callable[[Sequence[Probe], Floats], int]
