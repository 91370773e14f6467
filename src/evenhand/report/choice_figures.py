"""Which pictures does a run on pairs of sentences deserve? The scores, and the scores by kind of bias."""

from __future__ import annotations

import math

from evenhand.core import catalog
from evenhand.core.estimate import Interval
from evenhand.core.run import Run
from evenhand.report.blank_figures import gutter_of, view_of
from evenhand.report.dots import MARKS, Row, dots
from evenhand.report.estimates import fair, ordered, title
from evenhand.report.numbers import with_bounds
from evenhand.report.picture import Figure, make_figure
from evenhand.report.score_figure import scores

BY = "bias type"
SIDES = ("← other", "stereotypical →")


def by_type(run: Run) -> tuple[list[str], list[tuple[str, int, list[Interval]]]]:
    """Measures, and for each kind of bias its name, its pairs and its scores; the largest kind first."""
    views = {e.measure: v for e in ordered(run) if (v := view_of(run, e.measure, BY)) is not None}
    if not views:
        return [], []
    scored = {m: {g.name: g for g in v.groups} for m, v in views.items()}
    first = next(iter(scored.values()))
    names = sorted(
        (n for n in first if all(n in groups for groups in scored.values())),
        key=lambda n: (-first[n].probes, n),
    )
    return list(scored), [
        (name, first[name].probes, [scored[m][name].interval for m in scored]) for name in names
    ]


def types(run: Run) -> Figure | None:
    """How often is the more stereotypical sentence preferred, by kind of bias?"""
    measures, groups = by_type(run)
    if not groups:
        return None
    marks = [
        next((s for s in sorted(catalog.measure(m).strata) if s in MARKS), "model")
        for m in measures
    ]
    rows = [
        Row(
            label=name if i == (len(measures) - 1) // 2 else "",
            interval=interval,
            mark=marks[i],
            gap=0 if i or not number else 14,
        )
        for number, (name, _, intervals) in enumerate(groups)
        for i, interval in enumerate(intervals)
    ]
    described = "; ".join(
        f"{name}: "
        + ", ".join(f"{title(m)} {with_bounds(v)}" for m, v in zip(measures, values, strict=True))
        for name, _, values in groups
    )
    has_spans = any(math.isfinite(r.interval.low) for r in rows)
    legend = [
        (mark, title(m).rpartition(", ")[2] + (", with interval" if has_spans else ", no interval"))
        for m, mark in zip(measures, marks, strict=True)
    ]
    return make_figure(
        "types",
        "Preference for the more stereotypical sentence by kind of bias",
        described,
        lambda w: dots(
            rows,
            width=w,
            gutter=gutter_of([r.label for r in rows], w),
            domain=(0.0, 1.0),
            base=fair(measures[0]),
            sides=SIDES,
            pitch=15,
        ),
        [*legend, ("fair", "0.5: no preference")],
    )


def draw_choices(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    found = (scores(run), types(run))
    return {figure.name: figure for figure in found if figure is not None}
