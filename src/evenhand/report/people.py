"""Do a model and people lean the same way in the same sentences? Figure 4 of Zhu et al. 2024: PB against what people say, a panel for each model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.report.numbers import amount, number
from evenhand.report.panels import Panel, panels
from evenhand.report.picture import NARROW, Figure, make_figure
from evenhand.stats.correlation import pearson

SCALE = (-2.0, 2.0)  # what people may say
STEP = 0.25  # width of a bin on both axes
FEWEST = 10  # sentences from which a bin shows its mean
COLUMNS = 3
LEVEL = 0.95


def _shown(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def correlation(people: Floats, model: Floats) -> tuple[float, float]:
    """Pearson's r of two lists of numbers, and p of the two-sided test that it is 0; sentences are the units."""
    r = float(pearson(people, model))
    if len(people) < 3 or not math.isfinite(r):
        return r, math.nan
    return r, float(stats.pearsonr(people, model).pvalue)


def means_by(people: Floats, model: Floats) -> list[tuple[float, Interval]]:
    """The mean PB of the sentences in each bin of what people say, with its t interval; bins with too few sentences are left out."""
    places = np.rint(people / STEP).astype(np.int64)
    found = []
    for place in np.unique(places):
        inside = model[places == place]
        if len(inside) < FEWEST:
            continue
        half = float(
            stats.t.ppf((1 + LEVEL) / 2, len(inside) - 1)
            * inside.std(ddof=1)
            / math.sqrt(len(inside))
        )
        middle = float(inside.mean())
        found.append((float(place) * STEP, Interval(middle, middle - half, middle + half)))
    return found


def _cells(
    people: Floats, model: Floats, reach: tuple[float, float]
) -> list[tuple[float, float, float, float, float]]:
    """How many sentences lie where, as a share of the fullest cell on a log scale; what lies beyond the axis counts in its outermost cell."""
    across = np.rint(people / STEP).astype(np.int64)
    up = np.floor(np.clip(model, reach[0], reach[1] - 1e-9) / STEP).astype(np.int64)
    places, counts = np.unique(np.stack([across, up], axis=1), axis=0, return_counts=True)
    most = math.log1p(counts.max(initial=1))
    return [
        ((a - 0.5) * STEP, (a + 0.5) * STEP, b * STEP, (b + 1) * STEP, math.log1p(count) / most)
        for (a, b), count in zip(places.tolist(), counts.tolist(), strict=True)
    ]


def people_figure(
    series: Sequence[tuple[str, Floats, Floats]], *, name: str = "people", heading: str = ""
) -> Figure:
    """One panel for each (model, what people say, PB): shaded cells, the mean PB for each score with its interval, and Pearson's r with p."""
    if not series:
        raise EvenhandError("no model to draw; give at least one (name, people, model)")
    known: list[tuple[str, Floats, Floats]] = []
    for label, people, model in series:
        if len(people) != len(model):
            raise EvenhandError(
                f"{label}: {len(people)} scores of people but {len(model)} of the model"
            )
        is_there = np.isfinite(people) & np.isfinite(model)
        known.append(
            (
                label,
                np.asarray(people, dtype=np.float64)[is_there],
                np.asarray(model, dtype=np.float64)[is_there],
            )
        )
    every = np.concatenate([model for *_, model in known])
    ends = np.quantile(every, [0.001, 0.999]) if len(every) else np.asarray([-1.0, 1.0])
    reach = (min(math.floor(ends[0]), -1.0), max(math.ceil(ends[1]), 1.0))
    drawn, told = [], []
    for label, people, model in known:
        r, p = correlation(people, model)
        under = f"r = {number(r)}, {_shown(p)}" if math.isfinite(p) else f"r = {number(r)}"
        means = means_by(people, model)
        drawn.append(
            Panel(
                title=label,
                under=under,
                cells=tuple(_cells(people, model, reach)),
                means=tuple(means),
            )
        )
        told.append(f"{label}: {amount(len(people), 'sentence')}, {under}")
    beyond = int(((every < reach[0]) | (every > reach[1])).sum())
    ticks = (
        range(math.ceil(SCALE[0]), math.floor(SCALE[1]) + 1),
        range(int(reach[0]), int(reach[1]) + 1, 1 if reach[1] - reach[0] <= 10 else 5),
    )
    legend = [
        ("density", "sentences, the stronger the colour the more (log scale)"),
        ("mean", f"mean PB at that score, with {LEVEL * 100:g} % interval, sentences as units"),
        ("zero", "0: neither gender"),
    ]
    if beyond:
        legend.append(
            ("plain", f"{amount(beyond, 'point')} beyond the axis in its outermost cells")
        )
    return make_figure(
        name,
        heading or "What models and people expect in the same sentences",
        "; ".join(told),
        lambda w: panels(
            drawn,
            width=w,
            columns=min(COLUMNS, len(drawn)) if w > NARROW else 1,
            x=SCALE,
            y=reach,
            ticks=ticks,
            titles=("mean score of people, above 0 male", "PB of the model, above 0 male"),
        ),
        legend,
    )
