"""The document of a ladder: findings, scores along the ladder, the ranking, how it was made."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.chart import (
    Chart,
    DotChart,
    DotRow,
    Key,
    Line,
    LineChart,
    LinePanel,
    spanning,
)
from evenhand.core.document import (
    Callout,
    Cell,
    Column,
    Document,
    Facts,
    Prose,
    Row,
    Section,
    Table,
)
from evenhand.core.estimate import Interval
from evenhand.core.text import MISSING, number, with_bounds
from evenhand.meta import wording
from evenhand.meta.ladder import FILE, Ladder, ladder_fields
from evenhand.meta.ranking import CONSTANT, FOUND, MOVED, Series, Standing, standing_fields
from evenhand.meta.wording import title

# Anantaprayoon, Kaneko, Okazaki (2024), Table 2; None: no correlation, a constant score
PUBLISHED: dict[str, dict[str, float | None]] = {
    "nli_coal": {"en": 0.999, "ja": 1.000, "zh": 0.997},
    "fraction_neutral": {"en": -0.263, "ja": None, "zh": -0.535},
}
PAPER = tuple(PUBLISHED)  # the measures that the paper compares, in its order
NO_CORRELATION = "-"  # of a constant score
LINES = 5  # scores in the first chart: so many colours with a shape of their own
RATE_MARK, ERRORS_MARK = "series-0", "series-1"  # of the two ladders where they share a panel
SEEDS_MARK = "random"


def ladder_document(ladder: Ladder, standings: Sequence[Standing]) -> Document:
    """Everything that the report of a ladder says and shows."""
    lead = wording.summary(ladder, standings)
    if wording.has_learnt(ladder):
        lead.append(wording.accuracy_sentence(ladder))
    sections = [
        *(_score_sections(ladder, standings) if standings else ()),
        Section(
            name="method", title="Method", blocks=(Prose(lines=tuple(wording.method(standings))),)
        ),
        _notes_section(standings),
        _settings_section(ladder),
    ]
    return Document(
        name=Path(FILE).stem,
        title="Which measures find a known bias?",
        subtitle=wording.about(ladder),
        lead=tuple(lead),
        sections=tuple(sections),
        language=ladder.language,
        facts={"ladder": wording.about(ladder)},
    )


def report_fields(ladder: Ladder, standings: Sequence[Standing]) -> dict[str, Any]:
    """Ladder and standings as plain data; `read_ladder` reads the ladder back from them."""
    return {**ladder_fields(ladder), "standings": [standing_fields(s) for s in standings]}


def _score_sections(ladder: Ladder, standings: Sequence[Standing]) -> list[Section]:
    scores = scores_chart(ladder, standings)
    beside = beside_paper(ladder, standings)
    charts = suite_charts(standings)
    return [
        Section(
            name="scores",
            title=scores.title,
            blocks=(scores, *((Prose(lines=(beside,), is_quiet=True),) if beside else ())),
        ),
        Section(
            name="ranking",
            title="Measures, best first",
            blocks=(
                ranking_chart(standings),
                movement_chart(standings),
                standings_table(standings),
                details_table(standings),
            ),
            is_brief=True,
        ),
        Section(
            name="table2",
            title="Pearson's r, in the shape of the paper's Table 2",
            blocks=(table2([ladder], [standings]),),
            is_brief=True,
        ),
        Section(
            name="measures",
            title="Measure by measure",
            blocks=(
                Prose(
                    lines=(
                        "To the right in every panel: the bias rate or the share of mere errors, "
                        "from 0 to 1. Lines join the means, light marks are the seeds. A right "
                        "measure follows the first ladder and stays level on the second.",
                    ),
                    is_quiet=True,
                ),
            ),
        ),
        *(
            Section(name=chart.name, title=chart.title, blocks=(chart,), level=3)
            for chart in charts
        ),
    ]


def _method_section(standings: Sequence[Standing]) -> Section:
    lines = tuple(wording.method(standings))
    return Section(name="method", title="Method", blocks=(Prose(lines=lines),))


def _notes_section(standings: Sequence[Standing]) -> Section:
    missing = tuple(Callout(text=line) for line in wording.notes(standings))
    return Section(
        name="notes",
        title="Missing and noteworthy",
        blocks=(*missing, Prose(lines=(wording.FEW_AND_SIMPLE,))),
        is_brief=bool(missing),
        is_beside=True,
    )


def _settings_section(ladder: Ladder) -> Section:
    line = f"evenhand {__version__}. The same numbers, and every reading, are in {FILE}."
    return Section(
        name="made",
        title="How it was made",
        blocks=(
            Facts(rows=tuple(wording.settings_rows(ladder))),
            Prose(lines=(line,), is_quiet=True),
        ),
    )


def standings_table(standings: Sequence[Standing]) -> Table:
    """Every measure: correlations, how far bias, seeds and errors move it, the verdict."""
    columns = (
        Column(title="measure"),
        Column(title="rank", form="count"),
        Column(title="suite"),
        Column(title="Pearson", form="interval"),
        Column(title="Spearman", form="number"),
        Column(title="Kendall", form="number"),
        Column(title="bias", form="number"),
        Column(title="seeds", form="number"),
        Column(title="errors", form="number"),
        Column(title="verdict"),
    )
    names = [column.title for column in columns]
    rows = []
    for s in standings:
        strong = {names.index("Pearson")} if s.finding == "found" else set()
        strong |= {names.index("errors")} if s.is_moved else set()
        is_known = math.isfinite(s.pearson.value)
        cells: tuple[Cell, ...] = (
            title(s.measure),
            s.rank,
            s.suite,
            s.pearson.interval if is_known else coefficient(s),
            s.spearman.value,
            s.kendall.value,
            s.signal,
            s.noise,
            s.leak,
            wording.verdict(s),
        )
        rows.append(Row(cells=cells, strong=frozenset(strong)))
    note = (
        f"{wording.level_text(standings)} intervals in brackets. Bias and errors: how far the mean "
        "score moves along either ladder; seeds: standard deviation over seeds. "
        "Bold: found; moved by mere errors. -: constant score."
    )
    return Table(
        name="standings",
        title="Measures on a ladder of models of known bias",
        columns=columns,
        rows=tuple(rows),
        note=note,
    )


def details_table(standings: Sequence[Standing]) -> Table:
    """Seed by seed, p values, the other coefficients."""
    columns = (
        Column(title="measure"),
        Column(title="suite"),
        Column(title="each seed alone"),
        Column(title="their mean", form="number"),
        Column(title="p", form="p"),
        Column(title="Spearman", form="bounds"),
        Column(title="Kendall", form="bounds"),
        Column(title="bias, of the range", form="percent"),
        Column(title="either way", form="number"),
        Column(title="errors: r", form="number"),
        Column(title="errors: p", form="p"),
    )
    rows = tuple(
        Row(
            cells=(
                title(s.measure),
                s.suite,
                ", ".join(number(v) for v in s.pearson.by_seed.values()),
                s.pearson.mean_of_seeds,
                s.pearson.p,
                s.spearman.interval,
                s.kendall.interval,
                s.share,
                s.strength.value,
                s.leak_pearson.value,
                s.leak_p,
            )
        )
        for s in standings
    )
    return Table(
        name="seeds",
        title="Seed by seed, p values, the other coefficients",
        columns=columns,
        rows=rows,
        note="Errors: p: that seeds alone move the score as far as errors did.",
        is_folded=True,
    )


def coefficient(standing: Standing) -> float | str:
    """Pearson's r; `-` for a constant score, `n/a` where it is not known for another reason."""
    if not standing.pearson.note:
        return standing.pearson.value
    return NO_CORRELATION if standing.pearson.note == CONSTANT else MISSING


def published(measure: str, language: str) -> float | str:
    """What the paper prints: `-` for a constant score, nothing where it prints nothing."""
    row = PUBLISHED.get(measure, {})
    if language not in row:
        return ""
    value = row[language]
    return NO_CORRELATION if value is None else value


def table2(ladders: Sequence[Ladder], ranked: Sequence[Sequence[Standing]]) -> Table:
    """Pearson's r of every measure in every language, beside the values of the paper.

    ranked: the standings of each ladder.
    """
    found = [{(s.suite, s.measure): s for s in standings} for standings in ranked]
    keys = list(dict.fromkeys(key for standings in found for key in standings))
    keys.sort(key=lambda key: PAPER.index(key[1]) if key[1] in PAPER else len(PAPER))
    has_suites = len({suite for suite, _ in keys}) > 1
    rows: list[Row] = []
    done = set()
    for suite, measure in keys:
        name = title(measure) + (f" ({suite})" if has_suites else "")
        cells = [
            coefficient(standings[suite, measure]) if (suite, measure) in standings else ""
            for standings in found
        ]
        rows.append(Row(cells=(name, *cells)))
        printed = [published(measure, ladder.language) for ladder in ladders]
        if measure not in done and any(cell != "" for cell in printed):
            rows.append(Row(cells=(f"{title(measure)}, as published", *printed)))
        done.add(measure)
    languages = (catalog.language_name(ladder.language) for ladder in ladders)
    is_constant = any(NO_CORRELATION in row.cells[1:] for row in rows)
    return Table(
        name="table2",
        title="Pearson's r between the bias rate of the models of a ladder and the score of each "
        "measure",
        columns=(
            Column(title="measure"),
            *(Column(title=language, form="number") for language in languages),
        ),
        rows=tuple(rows),
        note="-: constant score, no correlation." if is_constant else "",
    )


def beside_paper(ladder: Ladder, standings: Sequence[Standing]) -> str:
    """Pearson's r here and in the paper, where the paper has the language; else nothing."""
    texts = []
    for measure in PAPER:
        own = next((s for s in standings if s.measure == measure), None)
        printed = published(measure, ladder.language)
        if own is not None and printed != "":
            here, there = (_coefficient_words(c) for c in (coefficient(own), printed))
            texts.append(f"{title(measure)} {here} here, {there} there")
    if not texts:
        return ""
    return (
        "Pearson's r here and in the paper (BERT base of the language, Anantaprayoon et al. 2024, "
        f"Table 2): {'; '.join(texts)}."
    )


def _coefficient_words(value: float | str) -> str:
    if value == NO_CORRELATION:
        return "none (constant score)"
    return value if isinstance(value, str) else number(value)


def first_scores(standings: Sequence[Standing]) -> list[Standing]:
    """The scores of the first chart.

    Of the suite that the paper's measures stand on, those on the same scale; else of the suite of
    the best.
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

    The range of its scores where its own has no end, or is not known.
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


def scores_chart(ladder: Ladder, standings: Sequence[Standing]) -> LineChart:
    """The paper's Figure 4, and beside it the same scores along the ladder of errors."""
    chosen = first_scores(standings)
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
        name="scores",
        title=f"Scores on {first.suite} along the ladder",
        description=words,
        legend=tuple(legend),
        panels=tuple(panels),
        columns=2,
        has_shared_axis=True,
    )


def fixed_rate(ladder: Ladder) -> str:
    """`bias rate 0.5`: at which the errors vary."""
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
    if len(set(names)) < len(names):  # two names that differ in signs only
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
    if any(s.errors.seeds for s in standings):
        legend.append((ERRORS_MARK, "as the share of mere errors rises"))
    legend.append(("fair", "fair value"))
    return LineChart(
        name=name,
        title=f"Every measure on {suite}",
        description=words,
        legend=tuple(legend),
        panels=tuple(panels),
    )


def _title_within(measure: str) -> str:
    """The title of a measure without that of its family, which the suite's name tells."""
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


def ranking_chart(standings: Sequence[Standing]) -> Chart:
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
    )


def movement_chart(standings: Sequence[Standing]) -> Chart:
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
    )


def _at_most_1(ratio: float) -> float:
    return ratio if math.isnan(ratio) else min(ratio, 1.0)
