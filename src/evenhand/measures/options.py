"""What did a respondent say of each option of a choice? One number, or the label that a classifier gives it; shared by the measures of choices.

A classifier gives every option one number a label, option by option: entailment, neutral, contradiction of the first, then of the second. Everybody else
gives one number an option, the higher the more preferred.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import MeasureError
from evenhand.core.probe import NLI_LABELS, Floats


def is_answered(values: Floats) -> NDArray[np.bool_]:
    """Which rows have a number everywhere?"""
    return np.asarray(np.isfinite(values).all(axis=1), dtype=bool)


def option_scores(values: Floats, options: int) -> Floats:
    """One number an option, (n, options): the raw entailment value of a classifier, else the values themselves."""
    return np.asarray(_by_option(values, options)[:, :, 0])


def option_labels(values: Floats, options: int) -> Floats:
    """The label of each option, (n, options): entailment 0, neutral 1, contradiction 2; the mean of labels that tie, NaN where there is no answer."""
    table = _by_option(values, options)
    if table.shape[2] != len(NLI_LABELS):
        raise MeasureError(
            f"{table.shape[2]} numbers an option; labels need {len(NLI_LABELS)} ({', '.join(NLI_LABELS)}): ask a classifier with three labels"
        )
    is_known = np.isfinite(table).all(axis=2)
    is_top = table == np.where(is_known, table.max(axis=2), 0.0)[:, :, np.newaxis]
    with np.errstate(invalid="ignore", divide="ignore"):
        labels = (is_top * np.arange(len(NLI_LABELS))).sum(axis=2) / is_top.sum(axis=2)
    return np.asarray(np.where(is_known, labels, np.nan))


def _by_option(values: Floats, options: int) -> Floats:
    """The values as (n, options, numbers an option)."""
    if values.ndim != 2 or values.shape[1] % options or not values.shape[1]:
        raise MeasureError(
            f"values of shape {values.shape}; expected a row a probe, as many numbers for each of its {options} options"
        )
    return values.reshape(len(values), options, values.shape[1] // options)
