"""The Document of a comparison of people and models: its sections, tables, charts and sentences."""

from __future__ import annotations

import math
from collections.abc import Sequence

from evenhand import __version__
from evenhand.core.chart import DotChart, DotRow, GridChart, GridPanel, Key, spanning
from evenhand.core.document import (
    Answer,
    Block,
    Column,
    Document,
    Exhibit,
    Prose,
    Row,
    Section,
    Signatures,
    Specimen,
    Table,
)
from evenhand.core.text import counted, number, percent, with_bounds
from evenhand.people import wording
from evenhand.people.agreement import AgreementReport
from evenhand.people.compare import ComparedModel, PeopleComparison
from evenhand.people.density import density_chart
from evenhand.people.sentence_lists import Sentence, SentenceList
from evenhand.people.wording import STRATA

MOST = 200  # pairs of people up to which a table lists them; more are in people.json only
LIMIT = 30  # rows of a table in a terminal or a paper
ROWS = 24  # people up to which each has a row of their own beside the models
TOGETHER = "people together"


def _correlation_tables(comparison: PeopleComparison) -> list[Table]:
    clusters = max(m.clusters for m in comparison.models)
    alpha = comparison.settings.alpha
    note = (
        f"Intervals and p over {clusters:,} {wording.unit_noun(comparison)}s; marked: shown, "
        f"adjusted p at most {alpha:.2g}. p of sentences: every sentence for itself."
    )
    models = comparison.models
    tables = []
    for name, title, head, correlations in (
        ("pearson", "Pearson's r of models with people", "r", [m.pearson for m in models]),
        ("spearman", "Spearman's rho of models with people", "rho", [m.spearman for m in models]),
    ):
        rows = tuple(
            Row(
                cells=(m.name, c.interval, c.p, c.adjusted, c.p_sentences),
                strong=frozenset({1} if c.adjusted <= alpha else ()),
            )
            for m, c in zip(models, correlations, strict=True)
        )
        columns = (
            Column(title="model"),
            Column(title=head, form="interval"),
            Column(title="p", form="p"),
            Column(title="adjusted p", form="p"),
            Column(title="p of sentences", form="p"),
        )
        tables.append(Table(name=name, title=title, columns=columns, rows=rows, note=note))
    return tables


def _sides_table(comparison: PeopleComparison) -> Table:
    return Table(
        name="sides",
        title="How often do model and people lean to one side?",
        columns=(
            Column(title="model"),
            Column(title="same side", form="percent"),
            Column(title="answered by both", form="count"),
            Column(title="by people", form="count"),
            Column(title="coverage", form="percent"),
        ),
        rows=tuple(
            Row(cells=(m.name, m.same_side, len(m.people), m.asked, m.coverage))
            for m in comparison.models
        ),
    )


def _alpha_table(comparison: PeopleComparison, agreement: AgreementReport) -> Table:
    return Table(
        name="alpha",
        title="Krippendorff's alpha of the people",
        columns=(
            Column(title="sentences"),
            Column(title="alpha", form="interval"),
            Column(title="judged by two or more", form="count"),
        ),
        rows=tuple(
            Row(cells=(STRATA[a.stratum], a.interval, a.sentences)) for a in agreement.alphas
        ),
        note="Nominal, of the signs of scores; what somebody was not asked is missing and no "
        f"category. {wording.drawing(comparison)}",
    )


def _leanings_table(comparison: PeopleComparison, agreement: AgreementReport) -> Table:
    sides = ("female", "neutral", "male")
    return Table(
        name="leanings",
        title="What people say of measuring sentences",
        columns=(
            Column(title="who"),
            Column(title="sentences", form="count"),
            Column(title="mean score", form="interval"),
            *(Column(title=side, form="percent") for side in sides),
        ),
        rows=tuple(
            Row(cells=(x.name, x.sentences, x.mean, *(x.shares[side] for side in sides)))
            for x in (agreement.everybody, *agreement.leanings)
        ),
        note=f"Shares by the sign of the score. {wording.drawing(comparison)}",
        limit=LIMIT,
    )


def _pairs_table(comparison: PeopleComparison, agreement: AgreementReport) -> Table | None:
    if not agreement.pairs:
        return None
    is_whole = len(agreement.pairs) <= MOST
    pairs = (*agreement.pairs, *agreement.others) if is_whole else agreement.others
    note = wording.drawing(comparison)
    if not agreement.is_drawn:
        note = "Intervals of every two people: Fisher z, every sentence for itself."
    if not is_whole:
        note += f" All {len(agreement.pairs):,} pairs of people are in people.json."
    return Table(
        name="pairs",
        title="Pearson's r between people",
        columns=(
            Column(title="people"),
            Column(title="sentences"),
            Column(title="r", form="interval"),
            Column(title="p of sentences", form="p"),
            Column(title="shared", form="count"),
        ),
        rows=tuple(
            Row(cells=(f"{p.first}, {p.second}", STRATA[p.stratum], p.pearson, p.p, p.sentences))
            for p in pairs
        ),
        note=note,
        limit=LIMIT,
        is_folded=True,
    )


def _accuracy_table(comparison: PeopleComparison) -> Table:
    names = (TOGETHER, *comparison.people.names)
    estimates = [
        *zip(names, comparison.accuracies, strict=True),
        *((m.name, m.accuracy) for m in comparison.models),
    ]
    return Table(
        name="accuracy",
        title="Right where the sentence settles the gender",
        columns=(
            Column(title="who"),
            Column(title="right", form="interval"),
            Column(title="objective sentences", form="count"),
            Column(title="answered", form="percent"),
        ),
        rows=tuple(Row(cells=(name, e.interval, e.probes, e.coverage)) for name, e in estimates),
        note="0 counts half; intervals over word pairs.",
        limit=LIMIT,
        is_folded=True,
    )


def _in_words(rows: Sequence[DotRow]) -> str:
    return "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)


def _correlation_chart(comparison: PeopleComparison) -> DotChart:
    """Pearson's r of every model with the people, and of each person with the others."""
    rows = [
        DotRow(label=m.name, interval=m.pearson.interval, note=with_bounds(m.pearson.interval))
        for m in comparison.models
    ]
    noun = wording.unit_noun(comparison)
    legend: list[Key] = [("model", f"model and people, interval over {noun}s")]
    others = comparison.agreement.others if comparison.agreement else ()
    if 0 < len(others) <= ROWS:
        legend.append(("random", "a person and the mean of the others, likewise"))
        rows += [
            DotRow(
                label=p.first,
                interval=p.pearson,
                mark="random",
                note=with_bounds(p.pearson),
                is_apart=not place,
            )
            for place, p in enumerate(others)
        ]
    return DotChart(
        name="people-correlations",
        title="Pearson's r with what people say",
        description=_in_words(rows),
        legend=(*legend, ("fair", "0: no relation")),
        rows=tuple(rows),
        domain=spanning(v for r in rows for v in r.interval),
        base=0.0,
        sides=("← against", "with the people →"),
        is_dense=True,
        axis="Pearson's r",
    )


def _agreement_chart(agreement: AgreementReport) -> GridChart | None:
    """Pearson's r between every two people (the paper's Figure 3); None for fewer than two."""
    names = agreement.names
    if len(names) < 2:
        return None
    legend: list[Key] = [
        ("density", "Pearson's r of fine scores, the stronger the colour the nearer to 1")
    ]
    if any(p.pearson.value < 0 for p in agreement.pairs):
        legend.append(("whole", "the same below 0, with a minus"))
    panels = []
    for stratum, noun in STRATA.items():
        values = {
            frozenset((p.first, p.second)): p.pearson.value
            for p in agreement.pairs
            if p.stratum == stratum
        }
        rows = [[1.0 if a == b else values[frozenset((a, b))] for b in names] for a in names]
        alpha = number(agreement.alpha(stratum).interval.value)
        panels.append(GridPanel(title=f"{noun}, alpha {alpha}", values=tuple(map(tuple, rows))))
    return GridChart(
        name="people-agreement",
        title="How far people agree with one another",
        description="; ".join(
            f"{p.first} and {p.second}, {STRATA[p.stratum]} sentences: r = {with_bounds(p.pearson)}"
            for p in agreement.pairs
        ),
        legend=tuple(legend),
        names=names,
        panels=tuple(panels),
    )


def _accuracy_chart(comparison: PeopleComparison) -> DotChart | None:
    """Who is right on objective sentences; None where nobody was asked such sentences."""
    people = comparison.people.names
    names = (TOGETHER, *(people if len(people) <= ROWS else ()))
    rows = [
        DotRow(label=name, interval=e.interval, mark="random", note=percent(e.value, 1))
        for name, e in zip(names, comparison.accuracies, strict=False)
    ]
    rows += [
        DotRow(
            label=m.name,
            interval=m.accuracy.interval,
            note=percent(m.accuracy.value, 1),
            is_apart=not place,
        )
        for place, m in enumerate(comparison.models)
    ]
    if not any(math.isfinite(r.interval.value) for r in rows):
        return None
    return DotChart(
        name="people-accuracy",
        title="Right where the sentence settles the gender",
        description=_in_words(rows),
        legend=(
            ("random", "people, with interval over word pairs"),
            ("model", "model, likewise"),
            ("reference", "0.5: guessing"),
        ),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        reference=0.5,
        is_dense=True,
        axis="share of right words",
    )


def _models_section(comparison: PeopleComparison) -> Section:
    blocks: tuple[Block, ...] = (
        _correlation_chart(comparison),
        *_correlation_tables(comparison),
        _sides_table(comparison),
    )
    return Section(
        name="models", title="Do models lean as people do?", blocks=blocks, is_brief=True
    )


def _density_section(comparison: PeopleComparison) -> Section | None:
    if comparison.density is None:
        return None
    chart = density_chart(comparison.density, name="people-models")
    note = (
        "p in the panels takes every sentence for an independent look; the table above has the "
        "one over whole clusters."
    )
    blocks = (chart, Prose(lines=(note,), is_quiet=True))
    return Section(name="density", title=chart.title, blocks=blocks, level=3)


def _people_section(comparison: PeopleComparison) -> Section:
    title, agreement = "Do people agree with one another?", comparison.agreement
    blocks: list[Block | None] = [Prose(lines=(wording.NO_ANNOTATORS,))]
    if agreement is not None:
        blocks = [
            _agreement_chart(agreement),
            _alpha_table(comparison, agreement),
            _leanings_table(comparison, agreement),
            _pairs_table(comparison, agreement),
        ]
    there = tuple(block for block in blocks if block is not None)
    return Section(name="people", title=title, blocks=there, is_brief=True)


def _accuracy_section(comparison: PeopleComparison) -> Section:
    chart = _accuracy_chart(comparison)
    first = chart or Prose(lines=("Nobody was asked a sentence that settles the gender.",))
    return Section(
        name="accuracy",
        title="Right where the sentence settles the gender",
        blocks=(first, _accuracy_table(comparison)),
        is_brief=True,
    )


def _specimen(sentence: Sentence) -> Specimen:
    people, odds = number(sentence.people), number(sentence.odds)
    leaning, ratio = wording.people_say(sentence), wording.model_says(sentence)
    return Specimen(
        id=sentence.probe.id,
        language=sentence.probe.language,
        lines=(sentence.probe.texts[0],),
        summary=f"people {people}, {leaning}; PB {odds}, {ratio}",
        answers=(
            Answer(label="people", text=f"{people}, {leaning}"),
            Answer(label="PB", text=f"{odds}, {ratio}"),
        ),
    )


def _exhibit(model: ComparedModel, name: str, listing: SentenceList, definition: str) -> Exhibit:
    return Exhibit(
        name=f"{model.name}-{name}",
        title=f"{wording.LISTS[name]} ({counted(listing.total, 'sentence')})",
        note=definition,
        specimens=tuple(map(_specimen, listing.sentences)),
    )


def _sentence_sections(comparison: PeopleComparison) -> list[Section]:
    """How the lists are to be read, then those of each model."""
    reading = (
        "Score of the people above 0: rather a man. PB above 0: the male word is the likelier one. "
        "The sentences are shown as they are in the suite and may offend."
    )
    definitions = wording.list_definitions(comparison)
    sections = [
        Section(
            name="sentences",
            title="The sentences",
            blocks=(Prose(lines=(reading,), is_quiet=True),),
            is_brief=True,
        )
    ]
    for model in comparison.models:
        exhibits = (
            _exhibit(model, name, listing, definitions[name])
            for name, listing in model.lists.by_name().items()
        )
        verdict = Prose(lines=(wording.verdict(comparison, model),))
        sections.append(
            Section(
                name=f"sentences-{model.name}",
                title=f"{model.name} beside the people",
                blocks=(verdict, *exhibits),
                level=3,
                is_brief=True,
            )
        )
    return sections


def people_document(comparison: PeopleComparison) -> Document:
    """Everything that the report of a comparison of people and models says and shows."""
    footer = (
        f"evenhand {__version__}, seed {comparison.settings.seed}. "
        "The same numbers are in people.json."
    )
    density = _density_section(comparison)
    return Document(
        name="people",
        title="People and models on the same sentences",
        subtitle=wording.about(comparison),
        lead=tuple(wording.lead(comparison)),
        sections=(
            _models_section(comparison),
            *((density,) if density is not None else ()),
            _people_section(comparison),
            _accuracy_section(comparison),
            *_sentence_sections(comparison),
            Section(
                name="method",
                title="Method",
                blocks=(Prose(lines=tuple(wording.method(comparison))),),
            ),
            Section(
                name="notes",
                title="Missing and not shown",
                blocks=(Prose(lines=tuple(wording.notes(comparison)), is_list=True),),
                is_brief=True,
                is_beside=True,
            ),
            Section(
                name="signatures",
                title="Signatures",
                blocks=(
                    Signatures(lines=tuple(wording.signatures(comparison))),
                    Prose(lines=(footer,), is_quiet=True),
                ),
                is_brief=True,
            ),
        ),
        language=comparison.people.suite.card.language,
        facts={"people": comparison.people.identity},
    )
