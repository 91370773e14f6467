"""Which pictures does a run on StereoSet deserve? Scores by convention, the domains, and the targets farthest from no preference."""

from __future__ import annotations

import math

from evenhand.core.estimate import Group, Interval
from evenhand.core.run import Run
from evenhand.report.blank_figures import gutter_of, view_of
from evenhand.report.conventions import convention_of
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import ordered, short_title
from evenhand.report.numbers import with_bounds
from evenhand.report.picture import Figure, make_figure
from evenhand.report.score_figure import scores

TARGETS = 15
FEW = 5  # items below which a target is not ranked: one answer more or less would move it to the end of the list
DOMAIN = "domain"
SERIES = ("ss", "lms")
MARKS = {"ss": "shared", "lms": "changed"}


def names(run: Run) -> dict[str, str]:
    """SS and LMS of the convention that the report is about, as measures."""
    way = convention_of(ordered(run)[0].measure)
    return {quantity: f"{quantity}_{way}" for quantity in ("ss", "lms", "icat")}


def directions(run: Run) -> tuple[str, str]:
    """What lies below and above one half? The conventions count opposite sides."""
    found = ("← anti-stereotype", "stereotype →")
    return (
        found
        if convention_of(ordered(run)[0].measure) == "official"
        else ("← stereotype", "anti-stereotype →")
    )


def groups_by(run: Run, by: str) -> dict[str, dict[str, Group]]:
    """For each quantity that was measured its groups by name."""
    views = {q: view_of(run, m, by) for q, m in names(run).items()}
    return {
        q: {g.name: g for g in v.groups if math.isfinite(g.interval.value)}
        for q, v in views.items()
        if v is not None
    }


def lean_of(interval: Interval) -> str:
    """On which side of one half does an interval lie?"""
    return "male" if interval.low > 0.5 else "female" if interval.high < 0.5 else "none"


def domains(run: Run) -> Figure | None:
    """How far does each domain lean, and is it understood?"""
    found = {q: g for q, g in groups_by(run, DOMAIN).items() if q in SERIES}
    if not found:
        return None
    known = sorted(set.intersection(*(set(g) for g in found.values())))
    rows = [
        Row(
            label=name if not i else "",
            interval=found[q][name].interval,
            mark=MARKS[q],
            gap=0 if i or not number else 12,
        )
        for number, name in enumerate(known)
        for i, q in enumerate(q for q in SERIES if q in found)
    ]
    if not rows:
        return None
    told = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{short_title(names(run)[q])} {with_bounds(g[name].interval)}"
            for q, g in found.items()
        )
        for name in known
    )
    legend = [
        (MARKS[q], f"{short_title(names(run)[q])}" + (", 1 is right" if q == "lms" else ""))
        for q in found
    ]
    return make_figure(
        "domains",
        "Preference (SS) and understanding (LMS) by domain",
        told,
        lambda w: dots(
            rows,
            width=w,
            gutter=gutter_of([r.label for r in rows], w),
            domain=(0.0, 1.0),
            base=0.5,
            sides=directions(run),
            pitch=18,
        ),
        [*legend, ("fair", "0.5: SS without a preference")],
    )


def targets(run: Run) -> Figure | None:
    """Which targets are farthest from no preference?"""
    view = view_of(run, names(run)["ss"], "target")
    known = [g for g in view.groups if math.isfinite(g.interval.value)] if view else []
    groups = ([g for g in known if g.probes >= FEW] or known)[:TARGETS]
    if view is None or not groups:
        return None
    groups.sort(key=lambda g: -g.interval.value)
    rows = [
        Row(label=f"{g.name} ({g.probes})", interval=g.interval, mark=lean_of(g.interval))
        for g in groups
    ]
    sides = directions(run)
    below, above = (side.strip("←→ ") for side in sides)
    meanings = {
        "male": f"{above}: the interval lies above 0.5",
        "female": f"{below}: the interval lies below 0.5",
        "none": "the interval holds 0.5, or there is none",
    }
    small = sum(g.probes < FEW for g in known) if groups[0].probes >= FEW else 0
    of = (
        f", of {len(known) - small:,}" + (f" with at least {FEW} items" if small else "")
        if len(known) > len(groups)
        else ""
    )
    return make_figure(
        "targets",
        f"SS of the {len(rows)} targets farthest from 0.5{of}; in brackets their items",
        "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows),
        lambda w: dots(
            rows,
            width=w,
            gutter=gutter_of([r.label for r in rows], w),
            domain=(0.0, 1.0),
            base=0.5,
            sides=sides,
            pitch=20,
        ),
        [(m, meaning) for m, meaning in meanings.items() if any(r.mark == m for r in rows)]
        + [("fair", "0.5: no preference")],
    )


def draw_stereoset(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    found = (scores(run), domains(run), targets(run))
    return {figure.name: figure for figure in found if figure is not None}
