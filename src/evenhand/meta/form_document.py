"""The document of several forms: was the bias learnt, which measures find it, their order."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from pathlib import Path

from evenhand import __version__
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import (
    Cell,
    Column,
    Document,
    Facts,
    Form,
    Prose,
    Row,
    Section,
    Table,
)
from evenhand.core.text import counted, listed, number, percent
from evenhand.meta import wording
from evenhand.meta.by_form import FORMS_FILE, FormRanking, FormRow, Learning
from evenhand.meta.forms import find_form
from evenhand.meta.plan import HELD_OUT_WORDS, TRAINED_WORDS
from evenhand.meta.ranking import FLAT, FOUND, Standing
from evenhand.meta.table2 import PAPER, coefficient
from evenhand.meta.wording import title

ABSENT = "not asked"


def forms_document(ranking: FormRanking) -> Document:
    """Everything that the report on several forms says and shows."""
    ladder = next(iter(ranking.ladders.values()))
    return Document(
        name=Path(FORMS_FILE).stem,
        title="Which measures find a known bias, whatever the form of the sentences?",
        subtitle=f"{wording.about(ladder)} of each form: {listed(ranking.forms)}",
        lead=(
            *(learnt_sentence(form, of) for form, of in ranking.learning.items()),
            *finding_sentences(ranking),
        ),
        sections=(
            Section(
                name="learnt",
                title="Was the bias learnt?",
                blocks=(learning_table(ranking.learning),),
                is_brief=True,
            ),
            Section(
                name="forms",
                title="Measures by form",
                blocks=(
                    forms_chart(ranking),
                    pearson_table(ranking),
                    spearman_table(ranking),
                    moved_table(ranking),
                ),
                is_brief=True,
            ),
            Section(
                name="order",
                title="Order of the measures by form",
                blocks=(order_table(ranking),),
                is_brief=True,
            ),
            _method_section(ranking),
            _settings_section(ranking),
        ),
        language=ladder.language,
        facts={"ladders": listed(ranking.forms)},
    )


def learnt_sentence(form: str, learning: Learning) -> str:
    """Whether the models of a form are right on its pairs, and whether their bias follows."""
    lowest = percent(learning.lowest, 1)
    least = "all" if learning.lowest == 1 else f"{lowest} or more"
    text = f"{form}: every model is right on {least} of its development pairs"
    if not learning.lowest >= wording.LEARNT:
        text = (
            f"{form}: not every rate was learnt, the lowest accuracy on development pairs is "
            f"{lowest}"
        )
    effects = [f"{_r_text(standing)} on {which}" for which, standing in learning.effects.items()]
    if not effects:
        return f"{text}; its bias on pairs of this form was not measured."
    return f"{text}; r of the rate with its stereotype effect in this form: {listed(effects)}."


def _r_text(standing: Standing) -> str:
    return "none" if standing.pearson.note else number(standing.pearson.value)


def finding_sentences(ranking: FormRanking) -> list[str]:
    """Which measures found the bias in every form, in some, in none, and those of the paper."""
    rows, forms = ranking.rows, ranking.forms
    several = {row.measure for row in rows if sum(r.measure == row.measure for r in rows) > 1}

    def name(row: FormRow) -> str:
        text = title(row.measure).replace(", ", " ")
        return f"{text} on {row.suite}" if row.measure in several else text

    always = [name(r) for r in rows if len(r.found_in) == len(forms)]
    some = [
        f"{name(r)} ({', '.join(r.found_in)})" for r in rows if 0 < len(r.found_in) < len(forms)
    ]
    never = sum(not r.found_in for r in rows)
    criterion = f"(Pearson's r {FOUND:g} or more in size)"
    sentences = [
        f"{len(always)} of {counted(len(rows), 'measure')} found the bias in every form "
        f"{criterion}{': ' + listed(always) if always else ''}."
    ]
    if some:
        sentences.append(f"In some forms only: {listed(some)}.")
    if never:
        sentences.append(f"In no form: {never} of them.")
    if turning := [name(r) for r in rows if r.turns]:
        sentences.append(
            f"{listed(turning)} rise with the bias of one form and fall with that of another: "
            "which way they go says nothing there."
        )
    for row in rows:
        if row.measure == PAPER[0]:
            texts = [
                f"{number(s.pearson.value) if not s.pearson.note else 'no correlation'} ({form})"
                for form, s in row.by_form.items()
            ]
            sentences.append(f"{name(row)}, r by form: {listed(texts)}.")
    return sentences


def learning_table(learnt: Mapping[str, Learning]) -> Table:
    """Every form and rate: accuracy on development pairs, and the bias on pairs of the form."""
    columns = (
        Column(title="form"),
        Column(title="bias rate", form="short"),
        Column(title="right on development pairs", form="percent"),
        Column(title=f"stereotype effect, {TRAINED_WORDS}", form="number"),
        Column(title=HELD_OUT_WORDS, form="number"),
        Column(title="if the rate was learnt", form="number"),
    )
    rows: list[Row] = []
    for form, learning in learnt.items():
        for rate, accuracy in learning.accuracy.items():
            effects = [
                _at(learning.effects.get(which), rate) for which in (TRAINED_WORDS, HELD_OUT_WORDS)
            ]
            rows.append(Row(cells=(form, rate, accuracy, *effects, 2 * rate - 1)))
        r = [
            learning.effects[which].pearson.value if which in learning.effects else ABSENT
            for which in (TRAINED_WORDS, HELD_OUT_WORDS)
        ]
        rows.append(Row(cells=(f"{form}: r with the rate", "", "", *r, ""), is_total=True))
    return Table(
        name="learnt",
        title="Models of known bias on pairs of the form that they were trained in",
        columns=columns,
        rows=tuple(rows),
        note="Means over seeds. Development pairs have trained words in other sentences; the "
        "effects are those in sentences that no model was trained or chosen on.",
    )


def _at(standing: Standing | None, rate: float) -> Cell:
    if standing is None:
        return ABSENT
    return float(standing.rates.means[standing.rates.steps.index(rate)])


def _table(
    ranking: FormRanking,
    name: str,
    what: str,
    note: str,
    cell: Callable[[Standing], Cell],
    form: Form = "text",
) -> Table:
    """One row for each measure, one column for each form; marked where the bias was found."""
    rows = []
    for row in ranking.rows:
        cells = [cell(row.by_form[f]) if f in row.by_form else ABSENT for f in ranking.forms]
        strong = {2 + i for i, f in enumerate(ranking.forms) if f in row.found_in}
        rows.append(Row(cells=(title(row.measure), row.suite, *cells), strong=frozenset(strong)))
    columns = (
        Column(title="measure"),
        Column(title="suite asked"),
        *(Column(title=f, form=form) for f in ranking.forms),
    )
    return Table(name=name, title=what, columns=columns, rows=tuple(rows), note=note)


def _coefficient_cell(standing: Standing) -> Cell:
    is_known = math.isfinite(standing.pearson.value)
    return standing.pearson.interval if is_known else coefficient(standing)


def pearson_table(ranking: FormRanking) -> Table:
    """Pearson's r of every measure in every form, with its interval."""
    level = wording.level_text(next(iter(ranking.standings.values())))
    return _table(
        ranking,
        "forms",
        "Pearson's r with the bias rate, by the form that the bias was planted in",
        f"{level} intervals in brackets. Marked: found. -: constant score.",
        _coefficient_cell,
        "interval",
    )


def spearman_table(ranking: FormRanking) -> Table:
    """Spearman's coefficient of every measure in every form, with its interval."""
    return _table(
        ranking,
        "forms-spearman",
        "Spearman's coefficient with the bias rate, by form",
        "Marked: found, by Pearson's r.",
        lambda s: s.spearman.interval if math.isfinite(s.spearman.value) else coefficient(s),
        "interval",
    )


def moved_table(ranking: FormRanking) -> Table:
    """How far the mean score moves along the rates, and which share of its range that is."""
    return _table(
        ranking,
        "forms-moved",
        "How far the mean score moves along the bias rates, by form",
        "In brackets: of the possible range. A score that moves by less than "
        f"{percent(FLAT)} of it has not found the bias.",
        lambda s: (
            number(s.signal) + (f" ({percent(s.share, 1)})" if math.isfinite(s.share) else "")
        ),
    )


def order_table(ranking: FormRanking) -> Table:
    """The place of every measure in every form, with the verdict."""
    return _table(
        ranking,
        "forms-order",
        "Place of each measure by form, best mean place first",
        "Marked: found.",
        lambda s: f"{s.rank}, {wording.verdict(s)}",
    )


def forms_chart(ranking: FormRanking) -> DotChart:
    """Pearson's r of every measure; one mark for each form, the interval of the first."""
    marks = {form: f"series-{i}" for i, form in enumerate(ranking.forms)}
    rows = []
    for row in ranking.rows:
        (first, standing), *others = row.by_form.items()
        rows.append(
            DotRow(
                label=f"{title(row.measure)}, {row.suite}",
                interval=standing.pearson.interval,
                mark=marks[first],
                others=tuple(
                    (s.pearson.value, marks[form])
                    for form, s in others
                    if math.isfinite(s.pearson.value)
                ),
            )
        )
    words = "; ".join(
        f"{title(row.measure)} on {row.suite}: "
        + ", ".join(f"{form} {_r_text(s)}" for form, s in row.by_form.items())
        for row in ranking.rows
    )
    return DotChart(
        name="forms",
        title="Pearson's r with the bias rate, by form",
        description=words,
        legend=(
            *(
                (mark, form if place else f"{form}, with its interval")
                for place, (form, mark) in enumerate(marks.items())
            ),
            ("reference", f"found from {FOUND:g} on, in size"),
        ),
        rows=tuple(rows),
        domain=(-1.0, 1.0),
        base=0.0,
        reference=FOUND,
        is_dense=True,
        axis="Pearson's r with the bias rate",
    )


def _method_section(ranking: FormRanking) -> Section:
    forms = tuple(f"{form}: {find_form(form).description}." for form in ranking.forms)
    lines = [*wording.method(next(iter(ranking.standings.values())))]
    if held_out := [form for form in ranking.forms if find_form(form).is_held_out]:
        lines.append(f"{listed(held_out).capitalize()}: {wording.HELD_OUT}")
    lines.append(wording.FEW_AND_SIMPLE)
    return Section(
        name="method",
        title="Method",
        blocks=(Prose(lines=forms, is_list=True), Prose(lines=tuple(lines))),
    )


def _settings_section(ranking: FormRanking) -> Section:
    rows = [
        (f"{form}: {name}", text)
        for form, ladder in ranking.ladders.items()
        for name, text in wording.word_rows(ladder)
    ]
    seconds = sum(ladder.seconds for ladder in ranking.ladders.values())
    rows.append(("time", wording.duration(seconds)))
    line = (
        f"evenhand {__version__}. The same numbers are in {FORMS_FILE}; each form has a folder "
        "with its own ladder."
    )
    return Section(
        name="made",
        title="How it was made",
        blocks=(Facts(rows=tuple(rows)), Prose(lines=(line,), is_quiet=True)),
    )
