"""Which pictures does a run on blanks deserve? Scores, word pairs, topics, the spread of PB, and what is right where the sentence settles it."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core.estimate import Breakdown, Group
from evenhand.core.run import Run
from evenhand.report.blanks import NEAR, leaning_of, measuring
from evenhand.report.canvas import spanning, width_of
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import estimate_of, ordered
from evenhand.report.histogram import bars_of, histogram
from evenhand.report.numbers import amount, number, percent, with_bounds
from evenhand.report.picture import NARROW, Figure, make_figure
from evenhand.report.score_figure import score_legend, score_row, scores, told

GROUPS = 25
SIDES = ("← female", "male →")
NOUNS = {"pair": "word pair", "topic": "topic"}
MARKS = {
    "male": "leans male",
    "female": "leans female",
    "none": "the interval holds 0, or there is none",
}


def view_of(run: Run, measure: str, by: str) -> Breakdown | None:
    """One measure by one tag, where it was measured and has groups."""
    return next(
        (b for b in run.breakdowns if b.measure == measure and b.by == by and b.groups), None
    )


def side_of(group: Group) -> str:
    """To which side does a group lean for certain?"""
    return "male" if group.interval.low > 0 else "female" if group.interval.high < 0 else "none"


def farthest(view: Breakdown, count: int = GROUPS) -> list[Group]:
    """The groups farthest from 0, from the most male to the most female."""
    known = [g for g in view.groups if math.isfinite(g.interval.value)][:count]
    return sorted(known, key=lambda g: -g.interval.value)


def gutter_of(labels: Sequence[str], width: int) -> int:
    """Room for the longest label, within reason."""
    return min(int(max(map(width_of, labels), default=0)) + 26, 230 if width > NARROW else 190)


def leans_by(run: Run, by: str) -> Figure | None:
    """To which side does each word pair (topic) lean?"""
    view, whole = view_of(run, "pb_lean", by), estimate_of(run, "pb_lean")
    groups = farthest(view) if view else []
    if view is None or whole is None or not groups:
        return None
    rows = [Row(label=g.name, interval=g.interval, mark=side_of(g)) for g in groups]
    domain = spanning([v for g in groups for v in g.interval])
    of = (
        ""
        if len(groups) == len(view.groups)
        else f": the {len(groups)} farthest from 0, of {len(view.groups):,}"
    )
    legend = [
        (mark, meaning) for mark, meaning in MARKS.items() if any(r.mark == mark for r in rows)
    ]
    return make_figure(
        f"lean-{by}",
        f"PB lean by {NOUNS[by]}{of}",
        "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows),
        lambda w: dots(
            rows,
            width=w,
            gutter=gutter_of([r.label for r in rows], w),
            domain=domain,
            base=0.0,
            sides=SIDES,
            reference=whole.value,
        ),
        [
            *legend,
            ("fair", "0: both words equally likely"),
            ("reference", "PB lean of the whole suite"),
        ],
    )


def spread(run: Run) -> Figure | None:
    """How are the measuring sentences spread around 0?"""
    odds = measuring(run)[1]
    if not len(odds):
        return None
    found, bars = leaning_of(odds), bars_of(odds, NEAR)
    heads = (
        f"female {percent(found.female)}",
        f"within {NEAR:g} of 0: {percent(found.near)}",
        f"male {percent(found.male)}",
    )
    beyond = int((abs(odds) > bars[-1].high).sum())
    ends = (
        f"; {amount(beyond, 'sentence')} beyond the axis counted in the outermost bars"
        if beyond
        else ""
    )
    described = f"{amount(len(odds), 'sentence')}, PB from {number(float(odds.min()))} to {number(float(odds.max()))}; {', '.join(heads)}{ends}"
    legend = [
        ("bar-female", "leans female"),
        ("bar-none", f"|PB| below {NEAR:g}"),
        ("bar-male", "leans male"),
    ]
    if beyond:
        legend.append(
            ("plain", f"{amount(beyond, 'sentence')} beyond the axis in the outermost bars")
        )
    return make_figure(
        "spread",
        "PB of the measuring sentences",
        described,
        lambda w: histogram(bars, heads, width=w),
        legend,
    )


def settled(run: Run) -> Figure | None:
    """How often is the model right where the sentence settles the gender, and by what does the sentence settle it?"""
    whole, view = estimate_of(run, "objective_accuracy"), view_of(run, "objective_accuracy", "type")
    if whole is None or not math.isfinite(whole.value):
        return None
    rows = [score_row(run, whole, "all objective sentences")]
    for g in sorted(view.groups if view else (), key=lambda g: g.name):
        rows.append(
            Row(
                label=f"{g.name}, n = {g.probes:,}",
                interval=g.interval,
                note=with_bounds(g.interval),
            )
        )
    described = told(rows[:1]) + "".join(f"; {r.label} {r.note}" for r in rows[1:])
    legend = [
        (mark, "1: always right" if mark == "fair" else meaning)
        for mark, meaning in score_legend(run)
    ]
    return make_figure(
        "settled",
        "Share of right words" + (", by what settles the gender" if view else ""),
        described,
        lambda w: dots(rows, width=w, domain=(0.0, 1.0), reference=0.5),
        [*legend, ("reference", "0.5: guessing")],
    )


def draw_blanks(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    leans = [e for e in ordered(run) if e.measure != "objective_accuracy"]
    found = (
        scores(run, leans),
        leans_by(run, "pair"),
        leans_by(run, "topic"),
        spread(run),
        settled(run),
    )
    return {figure.name: figure for figure in found if figure is not None}
