"""What does a comparison look like? One HTML file like that of a run: the differences model by model, then every model measure by measure."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.estimate import Interval
from evenhand.engine.differing import Comparison, Difference
from evenhand.report import comparison as told
from evenhand.report.canvas import spanning, width_of
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import fair, title
from evenhand.report.html import language_name, templates
from evenhand.report.numbers import bounds, interval_of, number, percent, with_bounds
from evenhand.report.picture import NARROW, WIDE, Figure, make_figure

# of the models in their order; from the sixth on all alike: their names stand beside them
MARKS = ("model", "changed", "whole", "female", "male", "none")


def _gutter(width: int, labels: Sequence[str]) -> int:
    """Room for the labels at the left of a wide picture; none in a narrow one, where they stand above their lines."""
    return 0 if width == NARROW else min(int(max(map(width_of, labels))) + 24, WIDE * 2 // 5)


def _drawn(rows: Sequence[Row], width: int, **settings: Any) -> Any:
    gutter = _gutter(width, [r.label for r in rows])
    # beside the labels there is no room for the numbers: they are in the table below
    shown = [
        Row(
            label=r.label,
            interval=r.interval,
            mark=r.mark,
            note="" if gutter else r.note,
            others=r.others,
        )
        for r in rows
    ]
    return dots(shown, width=width, gutter=gutter, **settings)


def _signed_bounds(found: Interval) -> str:
    return (
        f"{told.signed(found.value)} {bounds(found)}"
        if math.isfinite(found.value)
        else with_bounds(found)
    )


def _apart(rows: Sequence[Row], heading: str, legend: Sequence[tuple[str, str]]) -> Figure:
    far = spanning([abs(v) for r in rows for v in r.interval])[1]
    words = "; ".join(f"{r.label} {_signed_bounds(r.interval)}" for r in rows)
    return make_figure(
        "differences",
        heading,
        words,
        lambda w: _drawn(rows, w, domain=(-far, far), base=0.0, sides=("lower", "higher")),
        legend,
    )


def difference_figures(comparison: Comparison, name: str) -> list[Figure]:
    """Other minus reference by measure: those within bounds on one axis, those without on another."""
    found = [d for d in told.ordered(comparison, name) if math.isfinite(d.difference.value)]
    is_bounded = {
        d.measure: all(map(math.isfinite, catalog.measure(d.measure).card.range)) for d in found
    }
    legend = [
        ("model", f"{name} minus {comparison.reference.name}, with interval"),
        ("fair", "no difference"),
    ]
    kinds = list(dict.fromkeys(is_bounded.values()))
    figures = []
    for kind in kinds:
        # no notes: the line of no difference would run through them, and the table below has the numbers
        rows = [
            Row(label=title(d.measure), interval=d.difference)
            for d in found
            if is_bounded[d.measure] == kind
        ]
        heading = f"{name} minus {comparison.reference.name}, measure by measure"
        figures.append(_apart(rows, heading, legend if kind == kinds[-1] else ()))
    return figures


def value_figure(comparison: Comparison, measure: str) -> Figure:
    """Every model by one measure."""
    best, limits = fair(measure), catalog.measure(measure).card.range
    rows = []
    for place, model in enumerate(comparison.models):
        found = next((e for e in model.estimates if e.measure == measure), None)
        interval = interval_of(found) if found else Interval(math.nan, math.nan, math.nan)
        mark = MARKS[min(place, len(MARKS) - 1)]
        rows.append(
            Row(
                label=model.name,
                interval=interval,
                mark=mark,
                note=with_bounds(interval),
                others=((best, "fair"),),
            )
        )
    domain = (
        limits
        if all(map(math.isfinite, limits))
        else spanning([v for r in rows for v in (*r.interval, best)], low=limits[0])
    )
    words = "; ".join(f"{r.label} {r.note}" for r in rows) + f"; {told.best_of(measure)}"
    legend = [("fair", told.best_of(measure))]  # the models have their names beside them
    return make_figure(
        "values",
        f"{title(measure)} of every model, with intervals",
        words,
        lambda w: _drawn(rows, w, domain=domain),
        legend,
    )


def _breakable(name: str) -> str:
    """The name with places where a narrow column may break it."""
    return re.sub(r"([:/_@-])", "\\1\u200b", name)


def _row(comparison: Comparison, found: Difference) -> dict[str, Any]:
    return {
        "title": title(found.measure),
        "is_shown": told.is_shown(comparison, found),
        "difference": told.signed(found.difference.value),
        "bounds": bounds(found.difference),
        "p": told.chance(found.p),
        "adjusted": told.chance(found.adjusted),
        "nearness": told.nearness(found),
        "distance": _signed_bounds(found.distance),
        "probes": f"{found.probes:,}",
        "clusters": f"{found.clusters:,}",
        "note": found.note,
        "values": [
            (number(e.value), bounds(interval_of(e))) for e in (found.reference, found.other)
        ],
    }


def _facts(comparison: Comparison) -> dict[str, Any]:
    others = comparison.models[1:]
    return {
        "suite": comparison.suite,
        "language": language_name(comparison.suite.card.language),
        "lang": comparison.suite.card.language,
        "pairs": [
            {
                "name": c.name,
                "heads": [_breakable(n) for n in (comparison.reference.name, c.name)],
                "summary": told.summary(comparison, c.name),
                "figures": difference_figures(comparison, c.name),
                "rows": [_row(comparison, d) for d in told.ordered(comparison, c.name)],
                "differing": told.differing(comparison, c.name),
            }
            for c in others
        ],
        "measures": [
            {
                "title": title(m),
                "question": catalog.measure(m).card.question,
                "figure": value_figure(comparison, m),
            }
            for m in told.measures_of(comparison)
        ],
        "models": [
            {
                "name": c.name,
                "identity": c.answers.respondent,
                "coverage": percent(c.answers.coverage, 1),
                "accuracy": told.accuracy(c),
                "traits": ", ".join(f"{k} {v}" for k, v in c.answers.traits.items()),
            }
            for c in comparison.models
        ],
        "method": told.method(comparison),
        "notes": told.notes(comparison),
        "signatures": told.signatures(comparison),
    }


def to_html(comparisons: Sequence[Comparison]) -> str:
    """The comparisons as one HTML page."""
    first = comparisons[0]
    facts = {
        "version": __version__,
        "reference": first.reference.name,
        "others": [c.name for c in first.models[1:]],
        "level": f"{first.level * 100:g}",
        "suites": [_facts(c) for c in comparisons],
        "seed": first.seed,
        "tests": first.tests,
    }
    return str(templates().get_template("comparison.html").render(**facts))
