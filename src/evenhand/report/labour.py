"""What does gendered entailment look like in the shape of the paper, and against the labour market?

Tables 5 and 6 of Sharma, Dey and Sinha 2021 (S, dP, B overall and by the gender that dominates), and the correlation of the gap with the share of women.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenhand.core import catalog
from evenhand.core.estimate import Interval, Relation
from evenhand.core.run import Run
from evenhand.report.estimates import title
from evenhand.report.numbers import interval_of, with_bounds
from evenhand.report.picture import NARROW, WIDE, Figure
from evenhand.report.scatter import LEANS, SERIES, scatter
from evenhand.report.svg import render

COLUMNS = (
    "same_label",
    "entailment_gap",
    "stereotype_preference",
    "neutral_share",
)  # S, dP, B, and what the paper leaves out
GROUPS = (
    ("majority", "male", "male majority"),
    ("majority", "female", "female majority"),
    ("lean", "male", "male-dominated"),
    ("lean", "female", "female-dominated"),
    ("lean", "none", "neither dominates"),
)


def is_gendered(run: Run) -> bool:
    """Was gendered entailment measured?"""
    return any(e.measure == "entailment_gap" for e in run.estimates)


def paper_table(run: Run) -> tuple[list[str], list[tuple[str, list[Interval]]]]:
    """Heads and rows: overall, then by majority and by dominance."""
    measures = [e.measure for name in COLUMNS for e in run.estimates if e.measure == name]
    if not is_gendered(run):
        return [], []
    whole = {e.measure: interval_of(e) for e in run.estimates}
    rows = [("all occupations", [whole[m] for m in measures])]
    views = {(v.measure, v.by): {g.name: g.interval for g in v.groups} for v in run.breakdowns}
    for by, name, label in GROUPS:
        found = [views.get((m, by), {}).get(name) for m in measures]
        if all(f is not None for f in found):
            rows.append((label, [f for f in found if f is not None]))
    for name in sorted(views.get(("entailment_gap", "hypothesis"), {})):
        rows.append((f"“{name}”", [views[m, "hypothesis"][name] for m in measures]))
    return [title(m).split(",")[0] for m in measures], rows


def in_percent(interval: Interval) -> str:
    """`43.0 [40.1, 46.2]`, as the paper prints shares."""
    value, low, high = (f"{v * 100:.1f}" if v == v else "n/a" for v in interval)  # noqa: PLR0124
    return f"{value} [{low}, {high}]"


def relation_figure(series: Sequence[tuple[str, Relation]]) -> Figure:
    """The scatter of one measure, one or several models, in two widths."""
    first = series[0][1]
    name = title(first.measure)
    heading = f"{name} of every occupation against its share of women"
    told = "; ".join(
        f"{label}: Pearson {with_bounds(r.pearson)}, Spearman {with_bounds(r.spearman)}"
        for label, r in series
    )
    wide, narrow = (
        render(
            scatter(series, width=width, title=name), heading=heading, description=told, kind=kind
        )
        for width, kind in ((WIDE, "wide"), (NARROW, "narrow"))
    )
    if len(series) == 1:
        words = {
            "female": "female-dominated",
            "male": "male-dominated",
            "none": "neither dominates",
        }
        there = {g.tags.get("lean", "none") for g in first.points}
        legend = [(lean, words[lean]) for lean in LEANS if lean in there]
    else:
        legend = [(f"series-{i % len(SERIES)}", label) for i, (label, _) in enumerate(series)]
    return Figure(
        name=f"labour-{first.measure}",
        heading=heading,
        wide=wide,
        narrow=narrow,
        legend=tuple(legend),
    )


def labour_facts(run: Run) -> dict[str, Any]:
    """What the page shows about gendered entailment; empty where it was not measured."""
    heads, rows = paper_table(run)
    return {
        "heads": heads,
        "rows": [(label, [in_percent(i) for i in values]) for label, values in rows],
        "relations": [
            {
                "figure": relation_figure([(run.answers.respondent, r)]),
                "title": title(r.measure),
                "pearson": with_bounds(r.pearson),
                "spearman": with_bounds(r.spearman),
                "occupations": len(r.points),
                "note": r.note,
                "question": catalog.measure(r.measure).card.question,
            }
            for r in run.relations
        ],
    }
