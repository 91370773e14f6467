"""Zhu et al. 2024: Table 1, section 4.4, Figures 3 and 4.

The printed numbers come out of their published file.

The file has the PB of five models and the scores of three annotators; the models are scored by the
same measures as any other model. Correlations are between PB and the mean score of the
annotators on measuring sentences. Alpha is nominal, on the sign of each annotator's score.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.document import Block, Table
from evenhand.core.errors import EvenhandError, StorageError
from evenhand.core.estimate import Estimate, without_bounds
from evenhand.core.evidence import stratum_mask
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import number
from evenhand.engine.ask import ask_suite
from evenhand.engine.estimate import estimate
from evenhand.engine.suites import load_suite
from evenhand.families.contextualised.measures import log_odds
from evenhand.families.contextualised.published import EVERYBODY, MODELS, PEOPLE, SUITE
from evenhand.people.compare import PeopleComparison, PeopleOptions, compare_people
from evenhand.people.density import density_chart, find_density
from evenhand.people.document import people_document
from evenhand.people.sources import answered_only, read_people
from evenhand.reproduce.asking import TOGETHER, Asker, Entry, Missing, PersonQuality
from evenhand.reproduce.paper import Paper, PrintedNumber, Reproduction, not_computed, numbers_of
from evenhand.reproduce.tables import PaperRow, PaperTable, TablePage, TablePart
from evenhand.respondents.locate import open_respondent
from evenhand.stats.agreement import krippendorff_alpha

NAME = "cgb"
SIDES = ("male", "female", "neutral")
CONTROLS = {"MS": "measuring sentences", "OS": "objective sentences"}
MEASURES = {"os_accuracy": "objective_accuracy", "ms_bias": "pb_bias", "ms_sd": "pb_sd"}
TITLES = {
    "os_accuracy": "accuracy on objective sentences",
    "ms_bias": "mean |PB|",
    "ms_sd": "SD of PB",
}


def printed_numbers() -> dict[str, Any]:
    """The numbers as the paper has them."""
    return numbers_of(NAME)


def load(data: Path | None) -> tuple[Suite, dict[str, Answers]]:
    """The sentences, and the answers of everybody in the file."""
    suite = load_suite(SUITE.name, SUITE.languages[0], SuiteOptions(data=data))
    answers = {
        name: ask_suite(open_respondent(f"stored:{name}", "mask", RespondentOptions()), suite)
        for name in (*MODELS, *PEOPLE, EVERYBODY)
    }
    return suite, answers


def scores(suite: Suite, answers: Mapping[str, Answers], stratum: str) -> dict[str, Floats]:
    """The PB or score of each respondent on the sentences of one stratum."""
    is_read = stratum_mask(suite.probes, stratum)
    return {name: log_odds(given.values)[is_read] for name, given in answers.items()}


def expected() -> Iterator[tuple[str, str, float]]:
    """Where each printed number stands, what it is, and the number."""
    table = printed_numbers()
    people, models = table["annotators"], table["models"]
    for model in MODELS:
        for key in MEASURES:
            yield "Table 1", f"{model}: {TITLES[key]}", models[model][key]
    yield "4.4", "annotators: mean score", people["ms_mean_fine"]
    for side in ("male", "female", "neutral"):
        yield "4.4", f"sentences labelled {side}", people[f"share_{side}"]
    for key, noun in (("alpha_ms", "measuring"), ("alpha_os", "objective")):
        yield "4.4", f"Krippendorff's alpha, {noun} sentences", people[key]
    for model in MODELS:
        yield "Figure 4", f"{model}: r with annotators", models[model]["r_annotators"]
        if "p_annotators" in models[model]:
            yield "Figure 4", f"{model}: p", models[model]["p_annotators"]


def computed_numbers(suite: Suite, answers: Mapping[str, Answers]) -> dict[str, float]:
    """What comes out of the published file, by what it is."""
    measuring, objective = scores(suite, answers, "MS"), scores(suite, answers, "OS")
    settings = Settings(resamples=100)
    mean = measuring[EVERYBODY]
    found = {
        f"{model}: {TITLES[key]}": estimate(
            catalog.measure(measure), suite, answers[model], settings
        ).value
        for model in MODELS
        for key, measure in MEASURES.items()
    }
    found["annotators: mean score"] = float(mean.mean())
    for side, is_so in (("male", mean > 0), ("female", mean < 0), ("neutral", mean == 0)):
        found[f"sentences labelled {side}"] = float(is_so.mean())
    for part, noun in ((measuring, "measuring"), (objective, "objective")):
        alpha = krippendorff_alpha(np.sign(np.stack([part[p] for p in PEOPLE]))).alpha
        found[f"Krippendorff's alpha, {noun} sentences"] = alpha
    for model in MODELS:
        r, p = stats.pearsonr(mean, measuring[model])
        found[f"{model}: r with annotators"] = float(r)
        found[f"{model}: p"] = float(p)
    return found


def compare(suite: Suite, answers: Mapping[str, Answers]) -> Iterator[PrintedNumber]:
    """Every printed number beside the computed one."""
    found, tolerance = computed_numbers(suite, answers), printed_numbers()["tolerance"]
    for where, what, value in expected():
        yield PrintedNumber(
            where=where, what=what, printed=value, computed=found[what], tolerance=tolerance
        )


def _counts(suite: Suite) -> Iterator[PrintedNumber]:
    """How many sentences the file has."""
    counts = Counter(p.stratum for p in suite.probes)
    for stratum, value in printed_numbers()["counts"].items():
        yield PrintedNumber(
            where="section 3",
            what=CONTROLS[stratum],
            printed=value,
            computed=counts[stratum],
            tolerance=0.0,
        )


def printed(reason: str) -> list[PrintedNumber]:
    """Every printed number, with the reason why it is not computed."""
    counts = printed_numbers()["counts"].items()
    return [
        *(not_computed(where, what, value, reason) for where, what, value in expected()),
        *(not_computed("section 3", CONTROLS[s], value, reason) for s, value in counts),
    ]


def reproduce(data: Path | None) -> Reproduction:
    """The printed numbers and Figure 4."""
    suite, answers = load(data)
    measuring = scores(suite, answers, "MS")
    series = [(model, measuring[EVERYBODY], measuring[model]) for model in MODELS]
    return Reproduction(
        title="Zhu et al. 2024: Table 1, section 4.4 and Figure 4",
        suite=suite.reference,
        rows=(*compare(suite, answers), *_counts(suite)),
        charts=(density_chart(find_density(series), name="figure4"),),
    )


def _table1(asker: Asker) -> PaperTable:
    suite = asker.suite(SUITE.name, SUITE.languages[0])
    return PaperTable(
        name="table1",
        title="Contextualised gender bias of masked models",
        heads=("model",),
        columns=(
            ("Accuracy of OS", "interval"),
            ("Bias score of MS", "interval"),
            ("SD of PB(MS)", "interval"),
        ),
        rows=tuple(
            PaperRow(
                labels=(model.name,),
                cells=tuple(asker.entry(model, suite, m) for m in MEASURES.values()),
            )
            for model in asker.models
        ),
        note="Bias score: mean |PB|, 0 is fair. Accuracy: 0.5 is guessing.",
    )


def _beside_people(asker: Asker) -> tuple[PeopleComparison | None, list[str]]:
    """The models that can be asked beside the people, and why others cannot."""
    request = asker.request
    people = request.people or SUITE.name
    try:
        asked = answered_only(read_people(people, request.data))
    except StorageError:
        raise
    except EvenhandError as error:
        if request.people is not None:
            raise  # the people that the user named
        return None, [f"Section 4.4, Figures 3 and 4: {error}"]
    suite: Suite | Missing = asked.suite
    if people == SUITE.name:  # the models have answered them already
        suite = asker.suite(SUITE.name, SUITE.languages[0])
    answers, reasons = [], []
    for model in asker.models:
        given = asker.answers(model, suite)
        if isinstance(given, Missing):
            reasons.append(f"{model.name} in Figure 4: {given.reason}")
        else:
            answers.append(given)
    if not answers:
        return None, reasons
    options = PeopleOptions(data=request.data, cache=request.cache)
    return compare_people(asked, answers, options, request.settings), reasons


def _quality_entry(value: float, asked: int, note: str, noun: str) -> Entry:
    if math.isnan(value):
        return Entry(reason=note or f"no {noun} was answered")
    return Entry(interval=without_bounds(value), note=f"{asked:,} {noun}s")


def _section44(comparison: PeopleComparison, quality: Sequence[PersonQuality]) -> PaperTable:
    """Accuracy and consistency of every person, and what they say of measuring sentences."""
    agreement = comparison.agreement
    by_name = {person.name: person for person in quality}
    leanings = {x.name: x for x in agreement.leanings} if agreement else {}
    if agreement is not None:
        leanings[TOGETHER] = agreement.everybody
    no_parts = (
        "the answers are final scores: whether somebody says the same in both types of question "
        "is known of a study only (--people STUDY.toml)"
    )
    rows = []
    together, *each = comparison.accuracies
    for name, right in zip((TOGETHER, *comparison.people.names), (together, *each), strict=True):
        person = by_name.get(name)
        accuracy, consistency = _entry(right), Entry(reason=no_parts)
        if person is not None:
            accuracy = _quality_entry(
                person.accuracy, person.accuracy_asked, person.note, "accuracy question"
            )
            consistency = _quality_entry(
                person.consistency, person.consistency_asked, person.note, "sentence in both types"
            )
        lean = leanings.get(name)
        cells: list[Entry] = [accuracy, consistency]
        if lean:
            cells += [Entry(interval=lean.mean)]
            cells += [Entry(interval=without_bounds(lean.shares[s])) for s in SIDES]
        else:
            cells += [Entry(reason="only final scores are known")] * (1 + len(SIDES))
        rows.append(PaperRow(labels=(name,), cells=tuple(cells)))
    return PaperTable(
        name="section44",
        title="People: accuracy, consistency, and what they say of measuring sentences",
        heads=("who",),
        columns=(
            ("accuracy", "number" if quality else "interval"),
            ("consistency", "number"),
            ("mean score", "interval"),
            *((f"share {side}", "number") for side in SIDES),
        ),
        rows=tuple(rows),
        note="The paper asks for an accuracy of 0.8 and a consistency of 0.6 in every batch.",
    )


def _entry(found: Estimate) -> Entry:
    known = math.isfinite(found.value)
    return Entry(
        interval=found.interval,
        reason="" if known else found.note or "no objective sentence was answered",
        signature=found.signature,
        coverage=found.coverage,
    )


def _people_parts(asker: Asker, comparison: PeopleComparison) -> list[TablePart]:
    document = people_document(comparison)
    charts = {chart.name: chart for chart in document.charts}
    tables = {t.name: t for t in document.blocks(Table) if isinstance(t, Table)}
    figure3: list[Block] = [charts[n] for n in ("people-agreement",) if n in charts]
    figure3 += [tables[n] for n in ("alpha", "pairs") if n in tables]
    parts = [
        TablePart(
            name="section44",
            title="Section 4.4: the people",
            tables=(_section44(comparison, asker.request.quality),),
        )
    ]
    if figure3:
        parts.append(
            TablePart(
                name="figure3",
                title="Figure 3: agreement among the people",
                blocks=tuple(figure3),
            )
        )
    if comparison.density is not None:
        correlations = [tables[n] for n in ("pearson",) if n in tables]
        parts.append(
            TablePart(
                name="figure4",
                title="Figure 4: people and models",
                blocks=(density_chart(comparison.density, name="figure4"), *correlations),
            )
        )
    return parts


def make_table(asker: Asker) -> TablePage:
    """Table 1, section 4.4, Figures 3 and 4."""
    table1 = _table1(asker)
    comparison, reasons = _beside_people(asker)
    parts = [TablePart(name="table1", title="Table 1: bias of the models", tables=(table1,))]
    if comparison is not None:
        parts += _people_parts(asker, comparison)
    known = [
        (row.labels[0], entry)
        for row in table1.rows
        if (entry := row.cells[1]) is not None and entry.has_value
    ]
    lead = "No model has a score."
    if known:
        name, entry = max(known, key=lambda pair: pair[1].interval.value)
        lead = (
            f"The highest bias score is that of {name}: {number(entry.interval.value)} (0 is fair)."
        )
    return TablePage(
        title="Contextualised gender bias: the tables of Zhu et al. 2024",
        lead=(lead,),
        parts=tuple(parts),
        left_out=tuple(reasons),
        remarks=(
            "Models are rows here, as in the other tables; they are columns in the paper.",
            "Intervals resample word pairs with all their sentences; the paper prints none.",
            "The p values of Figure 4 take every sentence for an independent look, as in the "
            "paper; those over word pairs stand in the table below it.",
        ),
    )


PAPER = Paper(
    name=NAME,
    title="Zhu et al. 2024",
    description="Table 1, section 4.4 and Figure 4 of Zhu et al. 2024",
    contents="Table 1, section 4.4, Figures 3 and 4; --people STUDY.toml for people of your own",
    reproduce=reproduce,
    printed=printed,
    table=make_table,
    options=frozenset({"--people"}),
)
