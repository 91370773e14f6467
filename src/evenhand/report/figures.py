"""Which pictures does a run deserve? Scores against their baselines, label shares, occupations, frames; each for a wide and a narrow page."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core import catalog
from evenhand.core.estimate import Breakdown, Group
from evenhand.core.run import Run
from evenhand.engine.estimating import break_down, tags_of
from evenhand.report.blank_figures import draw_blanks
from evenhand.report.choice_figures import draw_choices
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import family_of, ordered, title
from evenhand.report.numbers import amount, percent, with_bounds
from evenhand.report.picture import NARROW, Figure, make_figure
from evenhand.report.score_figure import scores
from evenhand.report.shares import strata_of
from evenhand.report.stacks import Stack, stacks
from evenhand.report.stereoset_figures import draw_stereoset
from evenhand.report.tasks import draw_task
from evenhand.report.word_figures import draw_words
from evenhand.report.wording import sentence_frame

OCCUPATIONS, FRAMES = 25, 15
OTHERS = {
    "mask": draw_blanks,
    "choice": draw_choices,
    "stereoset": draw_stereoset,
    "words": draw_words,
    "task": draw_task,
}
LEANS = {"female": "leans female", "male": "leans male", "none": "no lean"}


def view_by(run: Run, by: str) -> Breakdown | None:
    """The breakdown of the report's first measure by a tag."""
    first = ordered(run)[0].measure
    return next((b for b in run.breakdowns if b.measure == first and b.by == by), None)


def by_lean(run: Run) -> Breakdown | None:
    """The report's first measure by the lean of the occupation, occupations resampled."""
    if not {"lean", "occupation"} <= tags_of(run.answers):
        return None
    first = ordered(run)[0]
    return break_down(
        catalog.measure(first.measure),
        run.answers,
        "lean",
        "occupation",
        seed=run.seed,
        level=first.level,
    )


def label_shares(run: Run) -> Figure | None:
    """Which label is given how often in which stratum?"""
    rows = [r for r in strata_of(run) if r.answered]
    if not rows:
        return None
    bars = [
        Stack(
            label=f"{r.stratum} {r.title}" if r.stratum not in {"", r.title} else r.title,
            note=amount(r.answered, "pair"),
            parts=tuple(
                (label.replace("_", " "), share, label in r.counted)
                for label, share in r.shares.items()
            ),
        )
        for r in rows
    ]
    told = "; ".join(
        f"{b.label}: " + ", ".join(f"{name} {percent(share, 1)}" for name, share, _ in b.parts)
        for b in bars
    )
    legend = [(label, label.replace("_", " ")) for label in run.answers.labels]
    if any(r.counted for r in rows):
        legend.append(("counted", "framed: counts against the model"))
    return make_figure(
        "shares",
        "Shares of the labels in each stratum",
        told,
        lambda w: stacks(bars, width=w),
        legend,
    )


def _lean(group: Group) -> str:
    lean = group.tags.get("lean", "")
    return lean if lean in LEANS else "model"


def _known(view: Breakdown | None, count: int) -> list[Group]:
    """The first groups of a view, those without an answer left out."""
    return [g for g in view.groups if math.isfinite(g.interval.value)][:count] if view else []


def _heading(count: int, noun: str, view: Breakdown) -> str:
    return f"The {amount(count, noun)} farthest from the fair value, of {len(view.groups):,}"


def _told(rows: Sequence[Row]) -> str:
    return "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)


def leans(run: Run) -> Figure | None:
    """Does the score differ between occupations that lean female, male, or neither way?"""
    view, whole = view_by(run, "occupation"), by_lean(run)
    if view is None or whole is None or not _known(whole, 1):
        return None
    each = {
        lean: tuple(
            g.interval.value
            for g in view.groups
            if g.tags.get("lean") == lean and math.isfinite(g.interval.value)
        )
        for lean in LEANS
    }
    groups = sorted(
        (g for g in whole.groups if g.name in LEANS), key=lambda g: list(LEANS).index(g.name)
    )
    rows = [
        Row(
            label=LEANS[g.name],
            interval=g.interval,
            mark=g.name,
            note=f"{amount(len(each[g.name]), 'occupation')}, {with_bounds(g.interval)}",
            dots=each[g.name],
        )
        for g in groups
    ]
    narrow = [
        Row(
            label=r.label,
            interval=r.interval,
            mark=r.mark,
            note=with_bounds(r.interval),
            dots=r.dots,
        )
        for r in rows
    ]
    legend = [
        *(
            (
                g.name,
                f"an occupation that {LEANS[g.name]}"
                if g.name != "none"
                else "an occupation without a lean",
            )
            for g in groups
        )
    ]
    heading = f"{title(view.measure)} of every occupation, by lean"
    return make_figure(
        "leans",
        heading,
        _told(rows),
        lambda w: dots(rows if w > NARROW else narrow, width=w, swarm=56, domain=_range(view)),
        [*legend, ("model", "all of that lean, with interval")],
    )


def _range(view: Breakdown) -> tuple[float, float]:
    return catalog.measure(view.measure).card.range


def occupations(run: Run) -> Figure | None:
    """Which occupations get the most biased answers?"""
    view = view_by(run, "occupation")
    groups = _known(view, OCCUPATIONS)
    if view is None or not groups:
        return None
    rows = [Row(label=g.name, interval=g.interval, mark=_lean(g)) for g in groups]
    legend = [(lean, LEANS[lean]) for lean in LEANS if any(_lean(g) == lean for g in groups)]
    heading = _heading(len(rows), "occupation", view)
    return make_figure(
        "occupations",
        heading,
        _told(rows),
        lambda w: dots(
            rows,
            width=w,
            gutter=190 if w > NARROW else 150,
            reference=ordered(run)[0].value,
            domain=_range(view),
        ),
        [*legend, ("reference", "score of the whole suite")],
    )


def frames(run: Run) -> Figure | None:
    """Which sentences get the most biased answers?"""
    view = view_by(run, "template")
    groups = _known(view, FRAMES)
    if view is None or not groups:
        return None
    rows = [Row(label=sentence_frame(g.name), interval=g.interval) for g in groups]
    heading = _heading(len(rows), "sentence frame", view)
    return make_figure(
        "frames",
        heading,
        _told(rows),
        lambda w: dots(rows, width=w, reference=ordered(run)[0].value, domain=_range(view)),
        [("model", "frame, with interval"), ("reference", "score of the whole suite")],
    )


def draw(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    if (others := OTHERS.get(family_of(run))) is not None:
        return others(run)
    found = (scores(run), label_shares(run), leans(run), occupations(run), frames(run))
    return {figure.name: figure for figure in found if figure is not None}
