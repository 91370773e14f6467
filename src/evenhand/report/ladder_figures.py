"""Which pictures does a ladder deserve? The paper's Figure 4 beside the ladder of errors, the ranking, and every measure suite by suite."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand.core import catalog
from evenhand.meta.climb import Climb
from evenhand.meta.ranking import Standing
from evenhand.meta.records import Ladder
from evenhand.report.canvas import spanning
from evenhand.report.ladder import slug, suites_of, title
from evenhand.report.ladder_dots import ranking
from evenhand.report.ladder_panels import Line, LinePanel, line_panels
from evenhand.report.numbers import number, with_bounds
from evenhand.report.picture import NARROW, Figure, make_figure

LINES = 5  # scores in the first figure: so many colours with a shape of their own
PAPER = ("nli_coal", "fraction_neutral")  # the two that the paper compares
RATES, ERRORS = 0, 1  # colour and shape of the two ladders where they share a panel


def _scale(measure: str, climbs: Sequence[Climb]) -> tuple[tuple[float, float], float]:
    """The range of a measure, or of its scores where that has no end or is not known; and its fair value."""
    known = catalog.measures().get(measure)
    limits = known.card.range if known else (-math.inf, math.inf)
    if all(map(math.isfinite, limits)):
        return limits, known.fair if known else math.nan
    values = [float(v) for climb in climbs for v in climb.values.ravel()]
    return spanning(
        [*values, known.fair if known else 0.0], low=limits[0]
    ), known.fair if known else math.nan


def first_scores(standings: Sequence[Standing]) -> list[Standing]:
    """The scores of the first figure: of the suite that the paper's two measures stand on, those on the same scale; else of the suite of the best."""
    if not standings:
        return []
    head = next((s for s in standings if s.measure == PAPER[0]), standings[0])
    same = [
        s
        for s in standings
        if s.suite == head.suite
        and _scale(s.measure, [s.rates])[0] == _scale(head.measure, [head.rates])[0]
    ]
    return sorted(
        same, key=lambda s: (PAPER.index(s.measure) if s.measure in PAPER else len(PAPER), s.rank)
    )[:LINES]


def fixed_rate(ladder: Ladder) -> str:
    """`bias rate 0.5`: at which the errors vary."""
    rates = sorted({r.rung.rate for r in ladder.readings if r.rung.ladder == "errors"})
    return f"bias rate {', '.join(f'{r:g}' for r in rates)}"


def lines_figure(ladder: Ladder, standings: Sequence[Standing]) -> Figure | None:
    """The paper's Figure 4, and beside it the same scores along the ladder of errors."""
    chosen = first_scores(standings)
    if not chosen:
        return None
    domain, fair = _scale(chosen[0].measure, [c for s in chosen for c in (s.rates, s.errors)])
    if any(_scale(s.measure, [s.rates])[1] != fair for s in chosen):
        fair = math.nan
    found = [
        LinePanel(
            title="As the bias rate rises",
            under=f"{len(chosen[0].rates.steps)} rates, {_seeds(chosen[0].rates)}",
            domain=domain,
            fair=fair,
            lines=tuple(Line(place=i, climb=s.rates) for i, s in enumerate(chosen)),
        )
    ]
    if any(s.errors.seeds for s in chosen):
        under = f"{fixed_rate(ladder)}, {_seeds(chosen[0].errors)}"
        found.append(
            LinePanel(
                title="As the share of mere errors rises",
                under=under,
                lines=tuple(Line(place=i, climb=s.errors) for i, s in enumerate(chosen)),
                domain=domain,
                fair=fair,
            )
        )
    told = "; ".join(
        f"{title(s.measure)}: Pearson {with_bounds(s.pearson.interval)}, moved by errors {number(s.leak)}"
        for s in chosen
    )
    legend = [(f"series-{i}", f"{title(s.measure)}, {_r(s)}") for i, s in enumerate(chosen)]
    if math.isfinite(fair):
        legend.append(("fair", "fair value"))
    return make_figure(
        "scores",
        f"Scores on {chosen[0].suite} along the ladder",
        told,
        lambda w: line_panels(
            found,
            width=w,
            columns=1 if w == NARROW else 2,
            entries=legend,
            tall=0.5 if len(found) == 1 and w > NARROW else 0.8,
            is_shared=True,
        ),
    )


def _seeds(climb: Climb) -> str:
    return f"{len(climb.seeds)} {'seed' if len(climb.seeds) == 1 else 'seeds'}"


def _r(standing: Standing) -> str:
    return (
        f"r = {number(standing.pearson.value)}" if not standing.pearson.note else "no correlation"
    )


def suite_figure(suite: str, standings: Sequence[Standing], name: str) -> Figure:
    """Every measure of one suite, both ladders in one panel on one scale."""
    mine = [s for s in standings if s.suite == suite]
    found = []
    for s in mine:
        domain, fair = _scale(s.measure, [s.rates, s.errors])
        lines = (Line(place=ERRORS, climb=s.errors), Line(place=RATES, climb=s.rates))
        under = "constant score" if s.signal == 0 else _r(s)
        found.append(
            LinePanel(
                title=title(s.measure).removeprefix("StereoSet "),
                under=under,
                lines=lines,
                domain=domain,
                fair=fair,
            )
        )
    told = "; ".join(
        f"{title(s.measure)}: Pearson {with_bounds(s.pearson.interval)}, by errors {number(s.leak)}"
        for s in mine
    )
    legend = [("series-0", "as the bias rate rises")]
    legend += (
        [("series-1", "as the share of mere errors rises")]
        if any(s.errors.seeds for s in mine)
        else []
    )
    legend.append(("fair", "fair value"))
    columns = {NARROW: 2}
    return make_figure(
        name,
        f"Every measure on {suite}",
        told,
        lambda w: line_panels(found, width=w, columns=columns.get(w, 3), entries=legend),
    )


def draw(ladder: Ladder, standings: Sequence[Standing]) -> list[Figure]:
    """Every figure that this ladder allows: `scores`, `ranking`, `suite-...`."""
    first = lines_figure(ladder, standings)
    if first is None:
        return []
    names = {suite: f"suite-{slug(suite)}" for suite in suites_of(standings)}
    if len(set(names.values())) < len(names):  # two names that differ in signs only
        names = {suite: f"{name}-{i}" for i, (suite, name) in enumerate(names.items(), 1)}
    return [
        first,
        ranking(standings),
        *(suite_figure(suite, standings, name) for suite, name in names.items()),
    ]
