"""How does a model do at a task asked as entailment? What it says where what is right, the picture of that, and the clearest mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.core.estimate import Interval
from evenhand.core.probe import NOT_ENTAILMENT, Probe
from evenhand.core.run import Run
from evenhand.measures.labelling import label_shares
from evenhand.measures.understanding import CLASSES, MEASURE
from evenhand.report.dots import Row, dots
from evenhand.report.estimates import estimate_of
from evenhand.report.numbers import with_bounds
from evenhand.report.pairs import probabilities_of
from evenhand.report.picture import Figure, make_figure
from evenhand.report.score_figure import score_legend, score_row, scores
from evenhand.report.shares import NOWHERE


@dataclass(frozen=True, slots=True, kw_only=True)
class Gold:
    """The answered items with one gold label, and which labels they get."""

    label: str
    items: int
    shares: Mapping[str, float]
    recall: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A wrong answer and the probability of each label."""

    probe: Probe
    given: str
    chances: Mapping[str, float]


def golds(run: Run) -> list[Gold]:
    """One row a gold label that the task has."""
    answers, whole = run.answers, estimate_of(run, MEASURE.name)
    given = label_shares(answers.values)
    found = []
    for label in CLASSES:
        rows = [
            i
            for i, p in enumerate(answers.probes)
            if p.tags.get("gold") == label and given[i].any()
        ]
        if rows:
            shares = dict(zip(answers.labels, map(float, given[rows].mean(axis=0)), strict=True))
            recall = whole.parts.get(f"recall.{label}", NOWHERE) if whole else NOWHERE
            found.append(Gold(label=label, items=len(rows), shares=shares, recall=recall))
    return found


def mistakes(run: Run, count: int = 10) -> list[Mistake]:
    """The wrong answers with the highest probability of what is wrong."""
    answers = run.answers
    hits = MEASURE.evidence(answers.probes, answers.values)
    chances = probabilities_of(answers.values)
    wrong = [i for i in range(len(answers.probes)) if hits[i, 0] > 0 and hits[i, 1] == 0]
    order = sorted(wrong, key=lambda i: -float(np.max(chances[i])))[:count]
    return [
        Mistake(
            probe=answers.probes[i],
            given=answers.labels[int(np.argmax(answers.values[i]))],
            chances=dict(zip(answers.labels, map(float, chances[i]), strict=True)),
        )
        for i in order
    ]


def told_label(label: str) -> str:
    """`not entailment`."""
    return label.replace("_", " ") if label == NOT_ENTAILMENT else label


def recalls(run: Run) -> Figure | None:
    """Which share of the items of each gold label is right?"""
    whole = estimate_of(run, MEASURE.name)
    if whole is None or not golds(run):
        return None
    rows = [score_row(run, whole, "all items")]
    rows += [
        Row(
            label=f"{told_label(g.label)}, n = {g.items:,}",
            interval=g.recall,
            note=with_bounds(g.recall),
        )
        for g in golds(run)
    ]
    legend = [
        (mark, "1: always right" if mark == "fair" else meaning)
        for mark, meaning in score_legend(run)
    ]
    return make_figure(
        "recalls",
        "Share of right answers by gold label",
        "; ".join(f"{r.label} {r.note}" for r in rows),
        lambda w: dots(rows, width=w, domain=(0.0, 1.0)),
        legend,
    )


def draw_task(run: Run) -> dict[str, Figure]:
    """Every figure that this run allows, by name."""
    found = (scores(run), recalls(run))
    return {figure.name: figure for figure in found if figure is not None}
