"""The document of a ladder: findings, scores along the ladder, the ranking, how it was made."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand import __version__
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
from evenhand.core.text import number
from evenhand.meta import wording
from evenhand.meta.by_form import find_learning
from evenhand.meta.charts import (
    effects_chart,
    movement_chart,
    ranking_chart,
    scores_chart,
    suite_charts,
)
from evenhand.meta.form_document import learning_table, learnt_sentence
from evenhand.meta.ladder import FILE, Ladder, ladder_fields
from evenhand.meta.ranking import Standing, standing_fields
from evenhand.meta.table2 import beside_paper, coefficient, table2
from evenhand.meta.wording import title


def ladder_document(ladder: Ladder, standings: Sequence[Standing]) -> Document:
    """Everything that the report of a ladder says and shows."""
    lead = wording.summary(ladder, standings)
    if wording.has_learnt(ladder):
        lead.append(wording.accuracy_sentence(ladder))
    sections = [
        *_learning_sections(ladder),
        *(_score_sections(ladder, standings) if standings else ()),
        _method_section(standings),
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


def _learning_sections(ladder: Ladder) -> list[Section]:
    """Whether the bias was learnt, on pairs of the ladder's own form; none without such pairs."""
    if not ladder.checks:
        return []
    learning = find_learning(ladder)
    return [
        Section(
            name="learnt",
            title="Was the bias learnt?",
            blocks=(
                Prose(lines=(learnt_sentence(ladder.form, learning), wording.HELD_OUT)),
                learning_table({ladder.form: learning}),
            ),
            is_brief=True,
        )
    ]


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
        *_effect_sections(ladder, standings),
        Section(
            name="ranking",
            title="Measures, best first",
            blocks=(
                ranking_chart(standings),
                movement_chart(standings),
                standings_table(standings),
            ),
            is_brief=True,
        ),
        Section(
            name="seeds",
            title="Seed by seed",
            blocks=(details_table(standings),),
            level=3,
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


def _effect_sections(ladder: Ladder, standings: Sequence[Standing]) -> list[Section]:
    """Both effects along the ladder; none where they were not measured."""
    chart = effects_chart(ladder, standings)
    if chart is None:
        return []
    expected = Prose(lines=(wording.EFFECTS_EXPECTED,), is_quiet=True)
    return [Section(name=chart.name, title=chart.title, blocks=(chart, expected))]


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
        "Marked: found; moved by mere errors. -: constant score."
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
