"""The document of one or several models against the labour market, and its charts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.account import title
from evenhand.core.chart import Axis, Key, Point, ScatterChart, spanning
from evenhand.core.document import Column, Document, Prose, Row, Section, Table, probe_query
from evenhand.core.estimate import Group, Interval, Relation, without_bounds
from evenhand.core.settings import Settings
from evenhand.core.text import counted, number, with_bounds
from evenhand.families.gendered_entailment.labour import DOMINATION, FIGURES, SHARE, majority

NAMES = {SHARE: "the share of women", DOMINATION: "domination"}  # of a figure, in a sentence
UNITS = {SHARE: "% women", DOMINATION: "points of domination"}
AXES = {
    SHARE: Axis(title="share of women among the workers, percent", domain=(0.0, 100.0)),
    DOMINATION: Axis(title="domination: |share of women - 50|, percent", domain=(0.0, 50.0)),
}
MAJORITIES = {  # of the workers -> its name in a legend
    "female": "more women than men",
    "male": "more men than women",
    "none": "as many women as men",
}
APART = 0.016  # of an axis: marks nearer than this on both axes would hide each other

Place = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRelation:
    """How a measure of one model follows a figure of the labour market."""

    model: str
    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSummary:
    """A ModelRelation without its points, as the command prints it as JSON."""

    model: str
    measure: str
    against: str
    source: str
    occupations: int
    pearson: Interval
    spearman: Interval
    note: str

    @classmethod
    def of(cls, series: ModelRelation) -> RelationSummary:
        """The summary of one series."""
        relation = series.relation
        return cls(
            model=series.model,
            measure=relation.measure,
            against=relation.against,
            source=figure_source(relation),
            occupations=len(relation.points),
            pearson=relation.pearson,
            spearman=relation.spearman,
            note=relation.note,
        )


def figure_source(relation: Relation) -> str:
    """Where the figures come from, as the answers say."""
    sources = sorted({group.tags.get(FIGURES, "") for group in relation.points} - {""})
    return ", ".join(sources) or "source not stated"


def correlations(relation: Relation) -> str:
    """`Pearson 0.512 [0.431, 0.594], Spearman 0.498 [0.412, 0.583]`."""
    pearson, spearman = with_bounds(relation.pearson), with_bounds(relation.spearman)
    return f"Pearson {pearson}, Spearman {spearman}"


def _figure(group: Group, relation: Relation) -> float:
    return float(group.tags[relation.against])


def _fit(relation: Relation) -> tuple[Place, Place] | None:
    """The ends of the line of best fit; None where every occupation has the same figure."""
    x = [_figure(group, relation) for group in relation.points]
    if min(x) == max(x):
        return None
    slope, offset = np.polyfit(x, [group.interval.value for group in relation.points], 1)
    first, last = ((end, float(slope * end + offset)) for end in (min(x), max(x)))
    return first, last


def _moves(places: Sequence[Place], axis: Axis, heights: Place) -> list[float | None]:
    """How far each mark is moved along x, so that none hides another: as little as will do.

    None for a mark that has no free place on the axis.
    """
    assert axis.domain is not None
    low, high = axis.domain
    step, near = APART * (high - low), APART * (heights[1] - heights[0])
    taken: list[Place] = []
    moves: list[float | None] = [None] * len(places)
    for place in sorted(range(len(places)), key=lambda i: places[i]):
        x, y = places[place]
        for turn in range(2 * len(places) + 1):
            move = step * math.ceil(turn / 2) * (1 if turn % 2 else -1)
            is_free = all(abs(x + move - a) >= step or abs(y - b) >= near for a, b in taken)
            if is_free and low <= x + move <= high:
                moves[place] = move
                taken.append((x + move, y))
                break
    return moves


def _moved_in_words(moves: Sequence[float | None]) -> str:
    """What was done to the marks; empty where nothing was."""
    farthest = max((abs(move) for move in moves if move is not None), default=0.0)
    said = f"; marks moved sideways by at most {farthest:.1f}, so that each is seen"
    on_others = sum(move is None for move in moves)
    without_room = f"; no room for {counted(on_others, 'mark')}, which lie on others"
    return (said if farthest else "") + (without_room if on_others else "")


def _in_words(one: ModelRelation) -> str:
    """What the points of a model show."""
    relation = one.relation
    occupations = f"{one.model}: {counted(len(relation.points), 'occupation')}"
    if (ends := _fit(relation)) is None:
        return occupations
    ((x0, y0), (x1, y1)), unit = ends, UNITS[relation.against]
    return (
        f"{occupations}, the line of best fit from {number(y0)} at {x0:g} {unit} "
        f"to {number(y1)} at {x1:g}"
    )


def heights_of(relations: Sequence[Relation]) -> Place:
    """The domain of a vertical axis that several figures share."""
    return spanning(v for relation in relations for g in relation.points for v in g.interval)


def relation_chart(
    one: ModelRelation, language: str = "en", heights: Place | None = None, place: int = 0
) -> ScatterChart:
    """A measure of every occupation against a figure of the labour market.

    The title names model, source and r. heights: the vertical axis, where several figures share
    one; place: the number of the figure among these.
    """
    relation = one.relation
    axis, heights = AXES[relation.against], heights or heights_of([relation])
    places = [(_figure(g, relation), g.interval.value) for g in relation.points]
    moves = _moves(places, axis, heights)
    points = tuple(
        Point(
            label=group.name,
            x=without_bounds(x + (move or 0.0)),
            y=group.interval,
            mark=majority(float(group.tags[SHARE])),
            shows=probe_query({relation.by: group.name}),
        )
        for group, (x, _), move in zip(relation.points, places, moves, strict=True)
    )
    there = {point.mark for point in points}
    legend: list[Key] = [(mark, name) for mark, name in MAJORITIES.items() if mark in there]
    ends = _fit(relation)
    return ScatterChart(
        name=f"labour-{relation.measure}-{relation.against}" + (f"-{place}" if place else ""),
        title=f"{title(relation.measure)} against {NAMES[relation.against]}: {one.model}, "
        f"{figure_source(relation)}, r = {with_bounds(relation.pearson)}",
        description=_in_words(one) + _moved_in_words(moves),
        legend=tuple(legend),
        language=language,
        points=points,
        x=axis,
        y=Axis(title=title(relation.measure), domain=heights),
        fits=(("model", *ends),) if ends else (),
    )


def _correlation_sentence(one: ModelRelation) -> str:
    """How the measure of a model goes with a figure."""
    relation = one.relation
    count = counted(len(relation.points), "occupation")
    return (
        f"{one.model}: over {count}, {title(relation.measure)} and {NAMES[relation.against]} have "
        f"Pearson's r {with_bounds(relation.pearson)}."
    )


def _table(series: Sequence[ModelRelation]) -> Table:
    first = series[0].relation
    rows = []
    for one in series:
        relation = one.relation
        rows.append(
            Row(
                cells=(
                    one.model,
                    figure_source(relation),
                    len(relation.points),
                    relation.pearson,
                    relation.spearman,
                )
            )
        )
    return Table(
        name=f"correlations-{first.measure}-{first.against}",
        title=f"Correlation of {title(first.measure)} with {NAMES[first.against]}",
        columns=(
            Column(title="model"),
            Column(title="figures"),
            Column(title="occupations", form="count"),
            Column(title="Pearson", form="interval"),
            Column(title="Spearman", form="interval"),
        ),
        rows=tuple(rows),
        note=" ".join(f"{one.model}: {one.relation.note}." for one in series if one.relation.note),
    )


def _section(series: Sequence[ModelRelation]) -> Section:
    """One measure against one figure: a chart for each model, all on the same axes."""
    first, heights = series[0].relation, heights_of([one.relation for one in series])
    charts = (relation_chart(one, heights=heights, place=place) for place, one in enumerate(series))
    return Section(
        name=f"labour-{first.measure}-{first.against}",
        title=f"{title(first.measure)} against {NAMES[first.against]}",
        blocks=(*charts, _table(series)),
        is_brief=True,
    )


def labour_document(figures: Sequence[Sequence[ModelRelation]], settings: Settings) -> Document:
    """Everything that is said and shown about models and the labour market.

    figures: for each pair of a measure and a figure of the labour market, every model.
    """
    how = (
        "Pearson and Spearman correlate the value of each occupation with the share of women among "
        "its workers, or with domination, the distance of that share from 50 percent (as figure 1 "
        f"of Sharma et al. does); {settings.level * 100:g} % intervals, occupations drawn with "
        f"replacement, {settings.resamples:,} resamples. Marks that would hide another are moved "
        "sideways; the lines and correlations use the figures themselves."
    )
    method = Section(
        name="method", title="Method", blocks=(Prose(lines=(how,), is_quiet=True),), is_brief=True
    )
    return Document(
        name="labour",
        title="Against the labour market",
        subtitle=counted(len(figures[0]), "model"),
        lead=tuple(_correlation_sentence(one) for series in figures for one in series),
        sections=(*map(_section, figures), method),
    )
