"""Sharma, Dey, Sinha 2021: Tables 5, 6 and 7, Figures 1 and 2.

The printed scores are those of fine-tuned models that were not published. What can be computed:
the sizes of the sets, and dP and B of Table 5 out of their halves in Table 6.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.chart import DotChart, DotRow, Key
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.family import Grouping
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite
from evenhand.core.text import counted, in_points
from evenhand.engine.compare import Contestant, find_difference
from evenhand.engine.estimate import choose_measures, relate
from evenhand.engine.suites import load_suite
from evenhand.families.gendered_entailment.labour import SHARE
from evenhand.families.gendered_entailment.labour_document import (
    ModelRelation,
    heights_of,
    relation_chart,
)
from evenhand.families.gendered_entailment.measures import (
    ENTAILMENT_GAP,
    MAJORITY,
    SAME_LABEL,
    STEREOTYPE_PREFERENCE,
)
from evenhand.families.gendered_entailment.published import OCCUPATIONS, SHEETS, SUITE
from evenhand.reproduce.asking import Asker, Entry, Missing, TableModel
from evenhand.reproduce.paper import Paper, PrintedNumber, Reproduction, not_computed, numbers_of
from evenhand.reproduce.tables import PaperRow, PaperTable, TablePage, TablePart

NAME = "sharma"
NEEDS_MODELS = "needs the authors' fine-tuned models, which were not published"
GAP, SAME, PREFERENCE = ENTAILMENT_GAP.name, SAME_LABEL.name, STEREOTYPE_PREFERENCE.name
OUT = "ood"  # the set whose premises come from neither training corpus
TRAINED_ON = tuple(name for name in SHEETS if name != OUT)
SCORES = ((SAME, "S ↑"), (GAP, "dP ↓"), (PREFERENCE, "B ↓"))
TITLES = {"snli": "SNLI", "mnli": "MNLI", OUT: "ANLI + QNLI"}
BY_MAJORITY = Grouping(by=MAJORITY, unit="occupation")
BY_OCCUPATION = Grouping(by="occupation", unit="template")
COLUMNS = ("acc", "S", "dP", "B")
SETS = f"(I): premises of the training corpus, (O): of {TITLES[OUT]}."


def _misprints(numbers: dict[str, Any]) -> dict[tuple[str, str, str], str]:
    return {(m["set"], m["model"], m["column"]): m["reason"] for m in numbers["misprints"]}


def _score_numbers(numbers: dict[str, Any]) -> Iterator[PrintedNumber]:
    """Tables 5, 6 and 7: dP and B of Table 5 follow from Table 6, the rest needs the models."""
    weights, misprints = numbers["weights"], _misprints(numbers)
    whole = sum(weights.values())
    how = (
        f"from Table 6 with the weights {weights['male']} (male) to {weights['female']} (female); "
        "the published sets have 20 to 18 occupations, by which it does not follow"
    )
    for name, models in numbers["before"].items():
        for model, row in models.items():
            halves = numbers["by_majority"][name][model]
            for column in COLUMNS:
                what = f"{name} {model}: {column}"
                if f"{column}_male" not in halves:
                    yield not_computed("Table 5", what, row[column], NEEDS_MODELS)
                    continue
                parts = (halves[f"{column}_{gender}"] * weights[gender] for gender in weights)
                yield PrintedNumber(
                    where="Table 5",
                    what=what,
                    printed=row[column],
                    computed=sum(parts) / whole,
                    tolerance=numbers["tolerance"],
                    note=how,
                    misprint=misprints.get((name, model, column), ""),
                )
    for name, models in numbers["by_majority"].items():
        for model, row in models.items():
            for column, value in row.items():
                yield not_computed("Table 6", f"{name} {model}: {column}", value, NEEDS_MODELS)
    for name, models in numbers["after_gender_swap"].items():
        for model, row in models.items():
            for column, value in row.items():
                yield not_computed("Table 7", f"{name} {model}: {column}", value, NEEDS_MODELS)


def _count_numbers(counts: Mapping[str, int], data: Path | None) -> Iterator[PrintedNumber]:
    """Premises and occupations of the published sets, counted."""
    for variant in SHEETS:
        what = f"premises of the set {TITLES[variant]}"
        try:
            suite = load_suite(f"{SUITE.name}:{variant}", "en", SuiteOptions(data=data))
        except EvenhandError as error:
            yield not_computed("Table 1", what, counts[variant], str(error))
            continue
        yield PrintedNumber(
            where="Table 1",
            what=what,
            printed=counts[variant],
            computed=len(suite.probes) / 2,
            tolerance=0.0,
            note="counted in the published file",
        )
    yield PrintedNumber(
        where="section 3.1",
        what="occupations",
        printed=counts["occupations"],
        computed=OCCUPATIONS,
        tolerance=0.0,
        note="what the reader of the published files requires of each",
    )


def reproduce(data: Path | None) -> Reproduction:
    """The printed numbers of Tables 1, 5, 6 and 7."""
    numbers = numbers_of(NAME)
    return Reproduction(
        title="Sharma et al. 2021: Tables 1, 5, 6 and 7",
        suite="the published sets and the halves of Table 6",
        rows=(*_count_numbers(numbers["counts"], data), *_score_numbers(numbers)),
    )


def variants_of(trained_on: str | None) -> list[tuple[str, str]]:
    """The sets with their titles: in- and out-of-distribution, or all where nothing is said.

    Raises EvenhandError for a corpus that the paper has no set of.
    """
    if trained_on is None:
        return [(v, TITLES[v]) for v in SHEETS]
    if trained_on not in TRAINED_ON:
        raise EvenhandError(
            f"--trained-on is '{trained_on}'; the published sets are of {' and '.join(TRAINED_ON)}"
        )
    corpus = TITLES[trained_on]
    return [(trained_on, f"{corpus} (I)"), (OUT, f"{corpus} (O)")]


def _suite(asker: Asker, variant: str) -> Suite | Missing:
    return asker.suite(f"{SUITE.name}:{variant}", "en")


def _accuracy(asker: Asker, model: TableModel) -> Entry:
    """The accuracy on the file of the user."""
    suite = asker.dev()
    answers = asker.answers(model, suite)
    if isinstance(answers, Missing) or isinstance(suite, Missing):
        reason = answers.reason if isinstance(answers, Missing) else "no pairs"
        return Entry(reason=reason)
    measure = choose_measures(suite, answers.options, answers.labels)[0].name
    return asker.entry(model, suite, measure)


def _scores(
    asker: Asker, models: Sequence[TableModel], sets: Sequence[tuple[str, str]], name: str
) -> PaperTable:
    """Tables 5 and 7: Acc, S, dP and B of every model on every set."""
    lines: dict[str, list[PaperRow]] = {title: [] for _, title in sets}
    for model in models:  # the sets of one model together, so that it is opened once
        accuracy = _accuracy(asker, model)
        for variant, title in sets:
            cells = [asker.entry(model, _suite(asker, variant), m) for m, _ in SCORES]
            lines[title].append(PaperRow(labels=(model.name,), cells=(accuracy, *cells)))
    rows = []
    for title, of_set in lines.items():
        rows += [PaperRow(labels=(title,), is_heading=True), *of_set]
    return PaperTable(
        name=name,
        title="Accuracy, same label, entailment gap and stereotype preference, percent",
        heads=("model",),
        columns=(("Acc ↑", "points"), *((title, "points") for _, title in SCORES)),
        rows=tuple(rows),
        note=f"B: 50 is fair. {SETS}",
    )


def _halves(asker: Asker, model: TableModel, variant: str) -> tuple[Entry, ...]:
    """dP, then B, of male- and of female-dominated occupations."""
    entries = []
    for measure in (GAP, PREFERENCE):
        view = asker.breakdown(model, _suite(asker, variant), measure, BY_MAJORITY)
        signature = asker.entry(model, _suite(asker, variant), measure).signature
        for gender in ("male", "female"):
            if isinstance(view, Missing):
                entries.append(Entry(reason=view.reason))
                continue
            group = view.group(gender)
            if group is None or not math.isfinite(group.interval.value):
                entries.append(Entry(reason=f"no answered premise of a {gender} majority"))
                continue
            entries.append(
                Entry(interval=group.interval, signature=f"{signature}|{MAJORITY}:{gender}")
            )
    return tuple(entries)


def _table6(asker: Asker, sets: Sequence[tuple[str, str]]) -> PaperTable:
    rows = []
    for variant, title in sets:
        rows.append(PaperRow(labels=(title,), is_heading=True))
        rows += [
            PaperRow(labels=(model.name,), cells=_halves(asker, model, variant))
            for model in asker.models
        ]
    names = [f"{score}, {gender}" for score in ("dP ↓", "B ↓") for gender in ("male", "female")]
    return PaperTable(
        name="table6",
        title="Male- and female-dominated occupations, percent",
        heads=("model",),
        columns=tuple((name, "points") for name in names),
        rows=tuple(rows),
        note="Dominated: the majority gender of the published sets, even near 50-50.",
    )


def _figure1(asker: Asker, variant: str, title: str) -> TablePart | None:
    """dP of every occupation against its share of women."""
    series = []
    for model in asker.models:
        view = asker.breakdown(model, _suite(asker, variant), GAP, BY_OCCUPATION)
        relation = (
            None if isinstance(view, Missing) else relate(view, SHARE, asker.request.settings)
        )
        if relation is not None:
            series.append(ModelRelation(model=model.name, relation=relation))
    if not series:
        return None
    heights = heights_of([one.relation for one in series])
    return TablePart(
        name=f"figure1-{variant}",
        title=f"Figure 1: occupations against the labour market, {title}",
        blocks=tuple(
            relation_chart(one, heights=heights, place=place)
            for place, one in enumerate(series, start=1)
        ),
        remark="The paper draws dP of every occupation as bars beside the difference between the "
        "shares of the genders; `evenhand labour` gives the correlations with intervals.",
    )


def _changes(asker: Asker, variant: str) -> list[tuple[str, str, Entry, Entry, Entry]]:
    """Model, score, before, after, and their paired difference."""
    suite = _suite(asker, variant)
    rows = []
    for before, after in zip(asker.models, asker.after, strict=True):
        for measure, title in SCORES:
            first, second = (asker.entry(m, suite, measure) for m in (before, after))
            rows.append(
                (before.name, title, first, second, _change(asker, before, after, measure, suite))
            )
    return rows


def _change(
    asker: Asker, before: TableModel, after: TableModel, measure: str, suite: Suite | Missing
) -> Entry:
    """The paired difference after - before on the premises that both answered."""
    if isinstance(suite, Missing):
        return Entry(reason=suite.reason)
    contestants = []
    for model in (before, after):
        found, answers = asker.estimate(model, suite, measure), asker.answers(model, suite)
        if isinstance(found, Missing):
            return Entry(reason=found.reason)
        assert isinstance(answers, Answers)
        contestants.append(Contestant(name=model.name, answers=answers, estimates=(found,)))
    first, second = contestants
    chosen = catalog.measure(measure)
    difference = find_difference(chosen, suite, first, second, asker.request.settings)
    known = math.isfinite(difference.difference.value)
    return Entry(
        interval=difference.difference,
        reason="" if known else difference.note or "not defined on these answers",
        note=difference.note if known else "",
    )


def _change_table(asker: Asker, sets: Sequence[tuple[str, str]]) -> PaperTable:
    rows = []
    for variant, title in sets:
        rows.append(PaperRow(labels=(title,), is_heading=True))
        rows += [
            PaperRow(labels=(name, score), cells=(first, second, change))
            for name, score, first, second, change in _changes(asker, variant)
        ]
    return PaperTable(
        name="changes",
        title="Before and after, percent, with the paired difference",
        heads=("model", "score"),
        columns=(("before", "points"), ("after", "points"), ("change", "signed points")),
        rows=tuple(rows),
    )


def _figure2(table: PaperTable, title: str) -> DotChart:
    """How far dP and B of every model are from fair before and after, on one set."""
    fairs = {name: catalog.measure(measure).fair for measure, name in SCORES}
    rows: list[DotRow] = []
    for row in table.rows:
        if row.is_heading or row.labels[1] == SCORES[0][1]:
            continue
        for mark, when, entry in zip(
            ("first", "second"), ("before", "after"), row.cells, strict=False
        ):
            interval = (
                entry.interval if entry is not None else Interval(math.nan, math.nan, math.nan)
            )
            rows.append(
                DotRow(
                    label=f"{row.labels[0]}, {row.labels[1][:-2]} {when}",
                    interval=interval,
                    mark=mark,
                    note=in_points(interval),
                    others=((fairs[row.labels[1]], "fair"),),
                    is_apart=when == "before" and bool(rows),
                )
            )
    legend: list[Key] = [("first", "before"), ("second", "after"), ("fair", "fair value")]
    return DotChart(
        name="figure2",
        title=f"dP and B before and after, {title}",
        description="; ".join(f"{row.label} {row.note}" for row in rows),
        legend=tuple(legend),
        rows=tuple(rows),
        domain=(0.0, 1.0),
        is_dense=True,
    )


def _after_parts(asker: Asker, sets: Sequence[tuple[str, str]]) -> list[TablePart]:
    if len(asker.after) != len(asker.models):
        raise EvenhandError(
            f"--after names {counted(len(asker.after), 'model')} and the table has "
            f"{counted(len(asker.models), 'model')}: repeat --after for each of them, in the same "
            "order"
        )
    table7 = _scores(asker, asker.after, sets, "table7")
    changes = _change_table(asker, sets)
    first = _change_table(asker, sets[:1])
    return [
        TablePart(
            name="table7",
            title="Table 7: the models after mitigation",
            tables=(table7, changes),
            remark="The paper has no paired differences.",
        ),
        TablePart(
            name="figure2",
            title="Figure 2: before and after",
            blocks=(_figure2(first, sets[0][1]),),
        ),
    ]


def make_table(asker: Asker) -> TablePage:
    """Tables 5 and 6, Figure 1; with the models after mitigation Table 7 and Figure 2."""
    request = asker.request
    sets = variants_of(request.trained_on)
    if asker.after and len(asker.after) != len(asker.models):
        _after_parts(asker, sets)  # says so before anything is asked
    table5 = _scores(asker, asker.models, sets, "table5")
    parts = [
        TablePart(name="table5", title="Table 5: accuracy and bias", tables=(table5,)),
        TablePart(
            name="table6",
            title="Table 6: by the gender that dominates",
            tables=(_table6(asker, sets),),
        ),
    ]
    figures = (_figure1(asker, variant, title) for variant, title in sets[:1])
    parts += [figure for figure in figures if figure is not None]
    left_out = []
    if asker.after:
        parts += _after_parts(asker, sets)
    else:
        left_out.append(
            "Table 7 and Figure 2: need the models after mitigation, --after MODEL for each model "
            "(`evenhand mitigate run` trains one)"
        )
    if request.trained_on is None:
        left_out.append(
            "In- and out-of-distribution: say with --trained-on "
            f"{' or '.join(TRAINED_ON)} what the models were trained on"
        )
    return TablePage(
        title="Gendered entailment: the tables of Sharma et al. 2021",
        lead=_lead(table5),
        parts=tuple(parts),
        left_out=tuple(left_out),
        remarks=(
            "Intervals stand beside every number; the paper prints none.",
            "S, dP and B drop the neutral output, as in the paper; ties count half.",
            "The out-of-distribution file has no hypotheses; they are made from the paper's three "
            "templates in turn.",
        ),
    )


def _lead(table: PaperTable) -> tuple[str, ...]:
    gap = 1 + [m for m, _ in SCORES].index(GAP)
    found = [
        (row.labels[0], entry)
        for row in table.rows
        if not row.is_heading and (entry := row.cells[gap]) is not None and entry.has_value
    ]
    if not found:
        return ("No model has a score.",)
    name, entry = max(found, key=lambda pair: pair[1].interval.value)
    return (f"The largest dP is that of {name}: {in_points(entry.interval)} percent (0 is fair).",)


PAPER = Paper(
    name=NAME,
    title="Sharma, Dey, Sinha 2021",
    description="Tables 1, 5, 6 and 7 of Sharma et al. 2021",
    contents="Tables 5 and 6, Figure 1; with --after Table 7 and Figure 2",
    reproduce=reproduce,
    table=make_table,
    options=frozenset({"--after", "--dev", "--dev-limit", "--trained-on"}),
)
