"""Where does each score stand between fair, random and constant?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.blanks import is_people
from evenhand.report.canvas import spanning
from evenhand.report.conventions import sheaves
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import (
    BASELINE_TITLES,
    always,
    bare_title,
    baseline,
    best_head,
    family_of,
    ordered,
    title,
)
from evenhand.report.numbers import interval_of, number, with_bounds
from evenhand.report.picture import Figure, make_figure

CONSTANT = {
    "pair": "always the first label",
    "mask": "male word e times as likely",
    "choice": "both sentences alike",
}


def score_row(run: Run, estimate: Estimate, label: str = "") -> Row:
    """An estimate with the fair value and the rules beside it."""
    found = (
        (baseline(run, name, estimate.measure), mark) for name, mark in BASELINE_TITLES.items()
    )
    others = (
        (catalog.measure(estimate.measure).fair, "fair"),
        *((e.value, mark) for e, mark in found if e),
    )
    return Row(
        label=label or title(estimate.measure),
        interval=interval_of(estimate),
        note=with_bounds(interval_of(estimate)),
        others=others,
    )


def score_legend(run: Run) -> list[tuple[str, str]]:
    """What do the marks mean?"""
    return [
        ("model", f"{'these people' if is_people(run) else 'this model'}, with interval"),
        ("fair", "fair value" if best_head(run) == "fair" else "best value"),
        ("random", "random answers"),
        ("constant", CONSTANT.get(family_of(run)) or always(run)),
    ]


def told(rows: Sequence[Row], best: str = "fair") -> str:
    """The figure in words; the best value of a measure is not always called fair."""
    return "; ".join(
        f"{r.label} {r.note}, "
        + ", ".join(f"{best if mark == 'fair' else mark} {number(x)}" for x, mark in r.others)
        for r in rows
    )


def scores(run: Run, estimates: Sequence[Estimate] = ()) -> Figure:
    """The scores (all, or the chosen ones) on one axis: the range of the measures, or of the data where a measure has no bounds."""
    chosen = estimates or ordered(run)
    heads = {
        s.estimates[0].measure for s in sheaves(run)[1:]
    }  # room above the first score of each way of counting
    rows = [
        score_row(
            run,
            e,
            title(e.measure).rpartition(", ")[2]
            if family_of(run) == "choice"
            else bare_title(e.measure),
        )
        for e in chosen
    ]
    rows = [
        replace(row, gap=18 if e.measure in heads else 0)
        for row, e in zip(rows, chosen, strict=True)
    ]
    ranges = [catalog.measure(e.measure).card.range for e in chosen]
    domain = (min(r[0] for r in ranges), max(r[1] for r in ranges))
    if not all(map(math.isfinite, domain)):
        domain = spanning(
            [v for r in rows for v in (*r.interval, *(x for x, _ in r.others))], low=domain[0]
        )
    return make_figure(
        "scores",
        f"Scores with intervals against {best_head(run)}, random and constant answers",
        told(rows, best_head(run)),
        lambda w: dots(rows, width=w, domain=domain),
        score_legend(run),
    )
