"""The document of one or several models against the labour market, and its chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import catalog
from evenhand.core.account import title
from evenhand.core.chart import SERIES_COUNT, Axis, Key, Point, ScatterChart
from evenhand.core.document import Column, Document, Prose, Row, Section, Table
from evenhand.core.estimate import Group, Interval, Relation, without_bounds
from evenhand.core.settings import Settings
from evenhand.core.text import counted, number, with_bounds

DOMINATED = {  # lean -> its name in a legend
    "female": "female-dominated",
    "male": "male-dominated",
    "none": "neither dominates",
}
SHARE_AXIS = Axis(title="share of women among the workers, percent", domain=(0.0, 100.0))

Fit = tuple[str, tuple[float, float], tuple[float, float]]  # mark, ends


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRelation:
    """How a measure of one model follows the share of women."""

    model: str
    relation: Relation


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationSummary:
    """A ModelRelation without its points, as the command prints it as JSON."""

    model: str
    measure: str
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
            occupations=len(relation.points),
            pearson=relation.pearson,
            spearman=relation.spearman,
            note=relation.note,
        )


def correlations(relation: Relation) -> str:
    """`Pearson 0.512 [0.431, 0.594], Spearman 0.498 [0.412, 0.583]`."""
    pearson, spearman = with_bounds(relation.pearson), with_bounds(relation.spearman)
    return f"Pearson {pearson}, Spearman {spearman}"


def _share(group: Group, relation: Relation) -> float:
    return float(group.tags[relation.against])


def _fit(relation: Relation, mark: str) -> tuple[Fit, ...]:
    """The line of best fit; none where every occupation has the same share."""
    x = [_share(group, relation) for group in relation.points]
    if min(x) == max(x):
        return ()
    slope, offset = np.polyfit(x, [group.interval.value for group in relation.points], 1)
    first, last = ((end, float(slope * end + offset)) for end in (min(x), max(x)))
    return ((mark, first, last),)


def _points(relation: Relation, mark: str) -> tuple[Point, ...]:
    """The occupations with one mark; without a mark, by lean and with their intervals."""
    return tuple(
        Point(
            label=group.name,
            x=without_bounds(_share(group, relation)),
            y=without_bounds(group.interval.value) if mark else group.interval,
            mark=mark or group.tags.get("lean", "none"),
        )
        for group in relation.points
    )


def _in_words(one: ModelRelation) -> str:
    """What the points of a model show."""
    occupations = f"{one.model}: {counted(len(one.relation.points), 'occupation')}"
    lines = [
        f"{occupations}, the line of best fit from {number(y0)} at {x0:g} % women "
        f"to {number(y1)} at {x1:g} %"
        for _, (x0, y0), (x1, y1) in _fit(one.relation, "")
    ]
    return lines[0] if lines else occupations


def relation_chart(series: Sequence[ModelRelation], language: str = "en") -> ScatterChart:
    """A measure of every occupation against its share of women.

    A single model has marks by lean, intervals and names; several models have one mark each.
    """
    is_one = len(series) == 1
    marks = [""] if is_one else [f"series-{i % SERIES_COUNT}" for i in range(len(series))]
    marked = list(zip(marks, series, strict=True))
    points = [point for mark, one in marked for point in _points(one.relation, mark)]
    fits = [fit for mark, one in marked for fit in _fit(one.relation, mark or "model")]
    legend: list[Key] = [(mark, one.model) for mark, one in marked]
    if is_one:
        there = {point.mark for point in points}
        legend = [(lean, name) for lean, name in DOMINATED.items() if lean in there]
    measure = series[0].relation.measure
    return ScatterChart(
        name=f"labour-{measure}",
        title=f"{title(measure)} of every occupation against its share of women",
        description="; ".join(_in_words(one) for one in series),
        legend=tuple(legend),
        language=language,
        points=tuple(points),
        x=SHARE_AXIS,
        y=Axis(title=title(measure)),
        fits=tuple(fits),
        has_names=is_one,
    )


def _correlation_sentence(one: ModelRelation) -> str:
    """How the measure of a model goes with the share of women."""
    relation = one.relation
    count = counted(len(relation.points), "occupation")
    return (
        f"{one.model}: over {count}, {title(relation.measure)} and the share of women have "
        f"Pearson's r {with_bounds(relation.pearson)}."
    )


def _table(series: Sequence[ModelRelation]) -> Table:
    rows = []
    for one in series:
        relation = one.relation
        cells = (one.model, len(relation.points), relation.pearson, relation.spearman)
        rows.append(Row(cells=cells))
    return Table(
        name="correlations",
        title="Correlation with the share of women",
        columns=(
            Column(title="model"),
            Column(title="occupations", form="count"),
            Column(title="Pearson", form="interval"),
            Column(title="Spearman", form="interval"),
        ),
        rows=tuple(rows),
        note=" ".join(f"{one.model}: {one.relation.note}." for one in series if one.relation.note),
    )


def labour_document(series: Sequence[ModelRelation], settings: Settings) -> Document:
    """Everything that is said and shown about models and the share of women."""
    measure = catalog.measure(series[0].relation.measure)
    resamples = f"{settings.resamples:,} resamples"
    how = (
        f"Pearson and Spearman correlate the value of each occupation with the share of women "
        f"among its workers; {settings.level * 100:g} % intervals, occupations drawn with "
        f"replacement, {resamples}."
    )
    section = Section(
        name="labour",
        title="Against the labour market",
        blocks=(relation_chart(series), _table(series), Prose(lines=(how,), is_quiet=True)),
        is_brief=True,
    )
    return Document(
        name="labour",
        title=f"{measure.card.title} against the share of women",
        subtitle=counted(len(series), "model"),
        lead=tuple(_correlation_sentence(one) for one in series),
        sections=(section,),
    )
