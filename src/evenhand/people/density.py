"""Density: what people say of sentences against the PB of models, one panel per model.

Figure 4 of Zhu et al. 2024. Sentences are the units of its correlations and intervals.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evenhand.core.chart import Axis, DensityCell, DensityChart, DensityPanel, Key
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.text import counted, number
from evenhand.stats.correlation import pearson

SCALE = (-2.0, 2.0)  # what people may say
STEP = 0.25  # width of a bin on both axes
FEWEST = 10  # sentences that a bin needs to show its mean
LEVEL = 0.95


@dataclass(frozen=True, slots=True, kw_only=True)
class DensitySeries:
    """One model against the people."""

    name: str
    sentences: int
    r: float
    p: float  # of the two-sided test that r is 0
    means: tuple[tuple[float, Interval], ...]  # score of people, mean PB there
    cells: tuple[DensityCell, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Density:
    """Several models against the people on one scale of PB."""

    series: tuple[DensitySeries, ...]
    reach: tuple[float, float]  # of PB; what lies beyond counts in the outermost cells
    beyond: int  # points that do


def correlation(people: Floats, model: Floats) -> tuple[float, float]:
    """Pearson's r of two lists of numbers, and p of the two-sided test that it is 0."""
    r = float(pearson(people, model))
    if len(people) < 3 or not math.isfinite(r):
        return r, math.nan
    return r, float(stats.pearsonr(people, model).pvalue)


def means_by_score(people: Floats, model: Floats) -> list[tuple[float, Interval]]:
    """The mean PB of the sentences in each bin of what people say, with its t interval.

    Bins with too few sentences are left out.
    """
    places = np.rint(people / STEP).astype(np.int64)
    means = []
    for place in np.unique(places):
        inside = model[places == place]
        if len(inside) < FEWEST:
            continue
        error = inside.std(ddof=1) / math.sqrt(len(inside))
        half = float(stats.t.ppf((1 + LEVEL) / 2, len(inside) - 1) * error)
        middle = float(inside.mean())
        means.append((float(place) * STEP, Interval(middle, middle - half, middle + half)))
    return means


def _cells(people: Floats, model: Floats, reach: tuple[float, float]) -> tuple[DensityCell, ...]:
    """How many sentences lie where, as a share of the fullest cell on a log scale."""
    across = np.rint(people / STEP).astype(np.int64)
    up = np.floor(np.clip(model, reach[0], reach[1] - 1e-9) / STEP).astype(np.int64)
    places, counts = np.unique(np.stack([across, up], axis=1), axis=0, return_counts=True)
    most = math.log1p(counts.max(initial=1))
    return tuple(
        DensityCell(
            x=((a - 0.5) * STEP, (a + 0.5) * STEP),
            y=(b * STEP, (b + 1) * STEP),
            weight=math.log1p(count) / most,
        )
        for (a, b), count in zip(places.tolist(), counts.tolist(), strict=True)
    )


def find_density(series: Sequence[tuple[str, Floats, Floats]]) -> Density:
    """The density of each (model, what people say, PB); sentences that lack one are left out.

    Raises EvenhandError where there is no model, or the lengths differ.
    """
    if not series:
        raise EvenhandError("no model to draw; give at least one (name, people, model)")
    known: list[tuple[str, Floats, Floats]] = []
    for name, people, model in series:
        if len(people) != len(model):
            raise EvenhandError(
                f"{name}: {len(people)} scores of people but {len(model)} of the model"
            )
        x, y = np.asarray(people, dtype=np.float64), np.asarray(model, dtype=np.float64)
        is_known = np.isfinite(x) & np.isfinite(y)
        known.append((name, x[is_known], y[is_known]))
    every = np.concatenate([model for *_, model in known])
    ends = np.quantile(every, [0.001, 0.999]) if len(every) else np.asarray([-1.0, 1.0])
    reach = (min(math.floor(ends[0]), -1.0), max(math.ceil(ends[1]), 1.0))
    drawn = []
    for name, people, model in known:
        r, p = correlation(people, model)
        drawn.append(
            DensitySeries(
                name=name,
                sentences=len(people),
                r=r,
                p=p,
                means=tuple(means_by_score(people, model)),
                cells=_cells(people, model, reach),
            )
        )
    beyond = int(((every < reach[0]) | (every > reach[1])).sum())
    return Density(series=tuple(drawn), reach=reach, beyond=beyond)


def _subtitle(series: DensitySeries) -> str:
    r = f"r = {number(series.r)}"
    if not math.isfinite(series.p):
        return r
    return f"{r}, p < 0.001" if series.p < 0.001 else f"{r}, p = {series.p:.3f}"


def density_chart(
    density: Density,
    *,
    name: str = "people",
    title: str = "What models and people expect in the same sentences",
) -> DensityChart:
    """Shaded cells, the mean PB for each score with its interval, and Pearson's r with p."""
    legend: list[Key] = [
        ("density", "sentences, the stronger the colour the more (log scale)"),
        ("mean", f"mean PB at that score, with {LEVEL * 100:g} % interval, sentences as units"),
        ("zero", "0: neither gender"),
    ]
    if density.beyond:
        points = counted(density.beyond, "point")
        legend.append(("plain", f"{points} beyond the axis in its outermost cells"))
    return DensityChart(
        name=name,
        title=title,
        description="; ".join(
            f"{s.name}: {counted(s.sentences, 'sentence')}, {_subtitle(s)}" for s in density.series
        ),
        legend=tuple(legend),
        panels=tuple(
            DensityPanel(title=s.name, subtitle=_subtitle(s), cells=s.cells, means=s.means)
            for s in density.series
        ),
        x=Axis(title="mean score of people, above 0 male", domain=SCALE),
        y=Axis(title="PB of the model, above 0 male", domain=density.reach),
    )
