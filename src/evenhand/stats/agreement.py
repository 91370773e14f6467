"""Krippendorff's alpha, with the reason where it is not defined."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from evenhand.core.probe import Floats

Scale = Literal["nominal", "ordinal", "interval"]


class Agreement(NamedTuple):
    """Alpha; where it is NaN, the note says why."""

    alpha: float
    note: str = ""


def krippendorff_alpha(scores: Floats, scale: Scale = "nominal") -> Agreement:
    """Alpha of a table of raters (rows) by units (columns); NaN is a missing answer."""
    import krippendorff

    counts = np.isfinite(scores).sum(axis=0)
    if not (counts > 1).any():
        return Agreement(float("nan"), "no unit was judged by two people")
    values = scores[:, counts > 1]
    if len(np.unique(values[np.isfinite(values)])) < 2:
        return Agreement(
            float("nan"), "everybody always said the same one thing: alpha is not defined"
        )
    return Agreement(float(krippendorff.alpha(reliability_data=values, level_of_measurement=scale)))
