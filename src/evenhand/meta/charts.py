"""Charts of a ladder: scores along its steps, suite by suite, and the ranking of measures."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from evenhand.core import catalog
from evenhand.core.chart import DotChart, DotRow, Key, Line, LineChart, LinePanel, spanning
from evenhand.core.estimate import Interval
from evenhand.core.text import number, with_bounds
from evenhand.families.nli_coal.measures import DEFAULT_EFFECT, STEREOTYPE_EFFECT
from evenhand.meta import wording
from evenhand.meta.ladder import Ladder
from evenhand.meta.ranking import FOUND, MOVED, Series, Standing
from evenhand.meta.table2 import PAPER
from evenhand.meta.wording import title

LINES = 5  # scores in the first chart: as many as there are colours with a shape of their own
RATE_MARK, ERRORS_MARK = "series-0", "series-1"  # the two ladders where they share a panel
SEEDS_MARK = "random"
RATE_AXIS = "bias rate, a share of the words"
ERRORS_AXIS = "errors, a share of the words"
EFFECTS = (STEREOTYPE_EFFECT.name, DEFAULT_EFFECT.name)


def first_scores(standings: Sequence[Standing]) -> list[Standing]:
    """The scores of the first chart, all on one suite and on the same scale.

    The suite is that of the paper's first measure, else that of the best measure.
    """
    if not standings:
        return []
    head = next((s for s in standings if s.measure == PAPER[0]), standings[0])
    scale, _ = _scale(head.measure, [head.rates])
    same = [
        s for s in standings if s.suite == head.suite and _scale(s.measure, [s.rates])[0] == scale
    ]
    order = {measure: place for place, measure in enumerate(PAPER)}
    return sorted(same, key=lambda s: (order.get(s.measure, len(PAPER)), s.rank))[:LINES]


def _scale(measure: str, several: Sequence[Series]) -> tuple[tuple[float, float], float]:
    """The range of a measure and its fair value.

    Where the measure is unbounded or not known, the range of its scores.
    """
    known = catalog.measures().get(measure)
    if known is not None and known.is_bounded:
        return known.card.range, known.fair
    values = [float(v) for series in several for v in series.values.ravel()]
    if known is None:
        return spanning([*values, 0.0]), math.nan
    return spanning([*values, known.fair], low=known.card.range[0]), known.fair


def _line(mark: str, series: Series) -> Line:
    """The means, and the seeds where there are several."""
    means = [(x, float(y)) for x, y in zip(series.steps, series.means, strict=True)]
    singles = [
        (x, float(y)) for row in series.values for x, y in zip(series.steps, row, strict=True)
    ]
    return Line(
        mark=mark,
        means=tuple(p for p in means if math.isfinite(p[1])),
        singles=tuple(p for p in singles if math.isfinite(p[1])) if len(series.seeds) > 1 else (),
    )


def effect_scores(standings: Sequence[Standing]) -> list[Standing]:
    """The stereotype and the default effect on the suite of the first chart."""
    first = first_scores(standings)
    by_measure = {s.measure: s for s in standings if first and s.suite == first[0].suite}
    return [by_measure[measure] for measure in EFFECTS if measure in by_measure]


def scores_chart(ladder: Ladder, standings: Sequence[Standing]) -> LineChart:
    """The paper's Figure 4, and beside it the same scores along the ladder of errors."""
    return _ladder_chart(ladder, first_scores(standings), "scores", "Scores")


def effects_chart(ladder: Ladder, standings: Sequence[Standing]) -> LineChart | None:
    """Both effects along both ladders; None where they were not measured."""
    chosen = effect_scores(standings)
    if not chosen:
        return None
    return _ladder_chart(ladder, chosen, "effects", "Stereotype and default effect")


def _ladder_chart(ladder: Ladder, chosen: Sequence[Standing], name: str, what: str) -> LineChart:
    """Scores of one suite on one scale along the bias rates, and along errors where there are."""
    first = chosen[0]
    every = [series for s in chosen for series in (s.rates, s.errors)]
    domain, fair = _scale(first.measure, every)
    if any(_scale(s.measure, [s.rates])[1] != fair for s in chosen):
        fair = math.nan
    panels = [
        LinePanel(
            title="As the bias rate rises",
            subtitle=f"{len(first.rates.steps)} rates, {_seeds(first.rates)}",
            lines=tuple(_line(f"series-{i}", s.rates) for i, s in enumerate(chosen)),
            domain=domain,
            fair=fair,
            x=RATE_AXIS,
        )
    ]
    if any(s.errors.seeds for s in chosen):
        panels.append(
            LinePanel(
                title="As the share of mere errors rises",
                subtitle=f"{fixed_rate(ladder)}, {_seeds(first.errors)}",
                lines=tuple(_line(f"series-{i}", s.errors) for i, s in enumerate(chosen)),
                domain=domain,
                fair=fair,
                x=ERRORS_AXIS,
            )
        )
    legend: list[Key] = [
        (f"series-{i}", f"{title(s.measure)}, {_r_text(s)}") for i, s in enumerate(chosen)
    ]
    if math.isfinite(fair):
        legend.append(("fair", "fair value"))
    words = "; ".join(
        f"{title(s.measure)}: Pearson {with_bounds(s.pearson.interval)}, "
        f"moved by errors {number(s.leak)}"
        for s in chosen
    )
    return LineChart(
        name=name,
        title=f"{what} on {first.suite} along the ladder",
        description=words,
        legend=tuple(legend),
        panels=tuple(panels),
        x=RATE_AXIS,
        y=f"score, from {domain[0]:.3g} to {domain[1]:.3g}",
        columns=2,
        has_shared_axis=True,
    )


def fixed_rate(ladder: Ladder) -> str:
    """`bias rate 0.5`: the fixed rate of the ladder of errors."""
    rates = sorted({r.rung.rate for r in ladder.readings if r.rung.ladder == "errors"})
    return f"bias rate {', '.join(f'{rate:g}' for rate in rates)}"


def _seeds(series: Series) -> str:
    return f"{len(series.seeds)} {'seed' if len(series.seeds) == 1 else 'seeds'}"


def _r_text(standing: Standing) -> str:
    if standing.pearson.note:
        return "no correlation"
    return f"r = {number(standing.pearson.value)}"


def suite_charts(standings: Sequence[Standing]) -> list[LineChart]:
    """Every measure suite by suite, both ladders in one panel on one scale."""
    suites = wording.suite_names(standings)
    names = [f"suite-{slug(suite)}" for suite in suites]
    if len(set(names)) < len(names):  # two names that differ in punctuation only
        names = [f"{name}-{i}" for i, name in enumerate(names, 1)]
    return [
        _suite_chart(suite, [s for s in standings if s.suite == suite], name)
        for suite, name in zip(suites, names, strict=True)
    ]


def _suite_chart(suite: str, standings: Sequence[Standing], name: str) -> LineChart:
    panels = []
    for s in standings:
        domain, fair = _scale(s.measure, [s.rates, s.errors])
        panels.append(
            LinePanel(
                title=_title_within(s.measure),
                subtitle=_why(s) if s.signal == 0 else _r_text(s),
                lines=(_line(RATE_MARK, s.rates), _line(ERRORS_MARK, s.errors)),
                domain=domain,
                fair=fair,
            )
        )
    words = "; ".join(
        f"{title(s.measure)}: Pearson {with_bounds(s.pearson.interval)}, by errors {number(s.leak)}"
        for s in standings
    )
    legend: list[Key] = [(RATE_MARK, "as the bias rate rises")]
    has_errors = any(s.errors.seeds for s in standings)
    if has_errors:
        legend.append((ERRORS_MARK, "as the share of mere errors rises"))
    legend.append(("fair", "fair value"))
    return LineChart(
        name=name,
        title=f"Every measure on {suite}",
        description=words,
        legend=tuple(legend),
        panels=tuple(panels),
        x="bias rate or errors (share)" if has_errors else RATE_AXIS,
        y="measured score",
    )


def _title_within(measure: str) -> str:
    """The title of a measure without its family's, which the suite's name already says."""
    for family in catalog.families().values():
        if any(m.name == measure for m in family.measures):
            return title(measure).removeprefix(f"{family.title} ")
    return measure


def slug(text: str) -> str:
    """A text as part of the name of a file."""
    return re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")


def _row_label(standing: Standing, standings: Sequence[Standing]) -> str:
    where = f", {standing.suite}" if len(wording.suite_names(standings)) > 1 else ""
    return f"{standing.rank} {title(standing.measure)}{where}"


def _why(standing: Standing) -> str:
    return "constant score" if standing.signal == 0 else "no correlation"


def ranking_chart(standings: Sequence[Standing]) -> DotChart:
    """Pearson's r of every measure with its interval, best first."""
    rows = tuple(
        DotRow(
            label=_row_label(s, standings),
            interval=s.pearson.interval,
            note=with_bounds(s.pearson.interval) if math.isfinite(s.pearson.value) else _why(s),
        )
        for s in standings
    )
    words = "; ".join(
        f"{s.rank} {title(s.measure)} on {s.suite}: Pearson {with_bounds(s.pearson.interval)}"
        for s in standings
    )
    return DotChart(
        name="ranking",
        title="Pearson's r with the bias rate",
        description=words,
        legend=(
            ("model", "correlation, with interval"),
            ("reference", f"found from {FOUND:g} on, in size"),
        ),
        rows=rows,
        domain=(-1.0, 1.0),
        base=0.0,
        reference=FOUND,
        is_dense=True,
        axis="Pearson's r with the bias rate",
    )


def movement_chart(standings: Sequence[Standing]) -> DotChart:
    """How far mere errors and seeds move every measure, against how far bias does."""
    rows = tuple(
        DotRow(
            label=_row_label(s, standings),
            interval=Interval(_at_most_1(s.leak_ratio), math.nan, math.nan),
            mark=ERRORS_MARK,
            others=((_at_most_1(s.noise_ratio), SEEDS_MARK),),
            note="" if s.signal else _why(s),
        )
        for s in standings
    )
    words = "; ".join(
        f"{s.rank} {title(s.measure)} on {s.suite}: "
        f"errors against bias {number(s.leak_ratio)}, seeds against bias {number(s.noise_ratio)}"
        for s in standings
    )
    legend: list[Key] = []
    if any(not math.isnan(s.leak_ratio) for s in standings):
        legend.append((ERRORS_MARK, "moved by mere errors, over by bias"))
    if any(not math.isnan(s.noise_ratio) for s in standings):
        legend.append((SEEDS_MARK, "deviation between seeds, over moved by bias"))
    return DotChart(
        name="movement",
        title="Moved, against bias (1: as much or more)",
        description=words,
        legend=(*legend, ("reference", "moved from a third on")),
        rows=rows,
        domain=(0.0, 1.0),
        reference=MOVED,
        is_dense=True,
        axis="movement, as a share of the movement by bias",
    )


def _at_most_1(ratio: float) -> float:
    return ratio if math.isnan(ratio) else min(ratio, 1.0)
