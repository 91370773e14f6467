"""Luo and Glass 2023: Tables 3 and 4, Figures 2 and 3.

The printed scores are those of fine-tuned models. What can be computed: products and means of
printed numbers, and which values a mean over so many words can have at all.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.answers import Answers
from evenhand.core.document import Block
from evenhand.core.errors import EvenhandError, StorageError
from evenhand.core.estimate import Breakdown, Interval, without_bounds
from evenhand.core.family import Grouping
from evenhand.core.probe import NLI_LABELS
from evenhand.core.text import in_points
from evenhand.families.glue.measures import ZERO_SHOT_ACCURACY
from evenhand.families.glue.suite import SUITE as GLUE
from evenhand.families.stereoset.suite import SUITE as STEREOSET
from evenhand.families.word_tests.measures import BY_LABEL
from evenhand.families.word_tests.suite import EMOTION, PROFESSION, PUBLISHED, RECOGNITION
from evenhand.picture.boundary import require_learner
from evenhand.picture.document import plane_chart
from evenhand.picture.place import place_words
from evenhand.picture.scene import SORTS, scene_of
from evenhand.reproduce.asking import Asker, Entry, Missing, TableModel
from evenhand.reproduce.paper import Paper, PrintedNumber, Reproduction, not_computed, numbers_of
from evenhand.reproduce.tables import (
    PaperRow,
    PaperTable,
    Series,
    TablePage,
    TablePart,
    series_chart,
)
from evenhand.respondents.vectors import open_vectors

NAME = "esp"
NEEDS_MODELS = "needs the authors' fine-tuned models"
TASKS = {"qnli": "QNLI", "qqp": "QQP", "rte": "RTE", "sst2": "SST2"}
PRODUCTS = {  # printed product -> its printed factors
    "intra_icat": ("intra_lms", "intra_fs"),
    "inter_icat": ("inter_lms", "inter_fs"),
    "prof_icat": ("recog_mean", "prof_mean"),
    "emo_icat": ("recog_mean", "emo_mean"),
}
LABEL_ROWS = "-Pred"  # the end of the name of a model that is scored by its labels
HALVES = {"intra": f"{STEREOSET.name}:intra", "inter": f"{STEREOSET.name}:inter"}
WORDS = {PROFESSION: f"{PROFESSION}:{PUBLISHED}", EMOTION: f"{EMOTION}:{PUBLISHED}"}
BY_DOMAIN = Grouping(by="domain", unit="target")
BY_WORD = Grouping(by="word", unit="pair")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Way:
    """How options are compared: by score, or by predicted label."""

    title: str  # behind the name of a model
    convention: str  # the end of the measures' names of StereoSet
    suffix: str  # the end of those of the word tests


BY_SCORE = Way(title="score", convention="esp_continuous", suffix="")
BY_PREDICTION = Way(title="label", convention="esp_discrete", suffix=BY_LABEL)


def possible_mean(value: float, steps: float) -> float:
    """The mean, in percent, nearest to `value` that a sum of whole steps can have."""
    return 100 * round(value / 100 * steps) / steps


def possible_deviation(mean: float, deviation: float, words: int, step: float) -> float:
    """The deviation between two genders of `words / 2` words each that is nearest to `deviation`.

    In percent, with n - 1. Of a given mean, the numbers of right answers of the two genders differ
    by an even or by an odd number of steps, and by no more than there are wrong answers.
    """
    steps = round(words / step)
    wrong = steps - round(mean / 100 * steps)
    right = steps - wrong
    scale = 100 * step / (words / 2) / math.sqrt(2)
    most = min(wrong, right)
    differences = range(most % 2, most + 1, 2)
    return min((d * scale for d in differences), key=lambda d: abs(d - deviation))


def _means(numbers: Mapping[str, Any], row: Mapping[str, Any]) -> dict[str, tuple[float, str]]:
    """What is possible for the means and the deviation of recognition in a row, and why."""
    words = numbers["words"]
    step = 0.5 if str(row["model"]).endswith(LABEL_ROWS) else 1.0  # a tie of labels counts half
    gendered, pairs = words["gendered"], words["pairs"]
    possible = {
        "recog_mean": (
            possible_mean(row["recog_mean"], gendered / step),
            f"the nearest share of {gendered} words",
        ),
        "recog_std": (
            possible_deviation(row["recog_mean"], row["recog_std"], gendered, step),
            f"the nearest deviation that {pairs} words of each gender can have with this mean",
        ),
    }
    for column, noun in (("prof_mean", "professions"), ("emo_mean", "emotions")):
        possible[column] = (
            possible_mean(row[column], words[noun] * pairs / 2 / step),
            f"the nearest mean of {words[noun]} {noun} with {pairs} pairs each",
        )
    return possible


def _table3_numbers(table: Mapping[str, Any]) -> Iterator[PrintedNumber]:
    for row in table["rows"]:
        for task, title in TASKS.items():
            yield not_computed("Table 3", f"{row['model']}: {title}", row[task], NEEDS_MODELS)
        yield PrintedNumber(
            where="Table 3",
            what=f"{row['model']}: Avg.",
            printed=row["average"],
            computed=sum(row[task] for task in TASKS) / len(TASKS),
            tolerance=table["tolerance"],
            note="the mean of the four tasks",
        )


def _table4_numbers(numbers: Mapping[str, Any]) -> Iterator[PrintedNumber]:
    table, possible = numbers["table4"], numbers["possible"]
    impossible = {(m["model"], m["column"]): m["reason"] for m in possible["misprints"]}
    for row in table["rows"]:
        model = row["model"]
        misprints = dict(text.split(": ", 1) for text in row.get("anomalies", ()))
        means = _means(numbers, row)
        for column, value in row.items():
            if column in ("model", "anomalies"):
                continue
            what = f"{model}: {column}"
            if column in PRODUCTS:
                left, right = PRODUCTS[column]
                yield PrintedNumber(
                    where="Table 4",
                    what=what,
                    printed=value,
                    computed=row[left] * row[right] / 100,
                    tolerance=table["tolerance"],
                    note=f"{left} x {right} / 100",
                    misprint=misprints.get(column, ""),
                )
            elif column in means:
                computed, how = means[column]
                yield PrintedNumber(
                    where="Table 4",
                    what=what,
                    printed=value,
                    computed=computed,
                    tolerance=possible["tolerance"],
                    note=how,
                    misprint=impossible.get((model, column), ""),
                )
            else:
                yield not_computed("Table 4", what, value, NEEDS_MODELS)


def reproduce(data: Path | None) -> Reproduction:
    """The printed numbers of Tables 3 and 4; no published file is needed for them."""
    numbers = numbers_of(NAME)
    return Reproduction(
        title="Luo and Glass 2023: Tables 3 and 4",
        suite="the printed numbers themselves",
        rows=(*_table3_numbers(numbers["table3"]), *_table4_numbers(numbers)),
    )


def mean_of_independent(intervals: Sequence[Interval]) -> Interval:
    """The mean of independent values with an interval.

    The distances of the bounds from the values add up by their squares (Zou and Donner 2008).
    """
    count = len(intervals)
    value = sum(i.value for i in intervals) / count
    if not all(i.has_bounds for i in intervals):
        return without_bounds(value)
    below = math.sqrt(sum((i.value - i.low) ** 2 for i in intervals)) / count
    above = math.sqrt(sum((i.high - i.value) ** 2 for i in intervals)) / count
    return Interval(value, value - below, value + above)


def _table3(asker: Asker) -> PaperTable:
    rows = []
    for model in asker.models:
        cells = [
            asker.entry(model, asker.suite(f"{GLUE.name}:{task}"), ZERO_SHOT_ACCURACY.name)
            for task in TASKS
        ]
        average = Entry(reason="one of the four tasks has no value")
        if all(cell.has_value for cell in cells):
            average = Entry(interval=mean_of_independent([cell.interval for cell in cells]))
        rows.append(PaperRow(labels=(model.name,), cells=(*cells, average)))
    return PaperTable(
        name="table3",
        title="Zero-shot accuracy on tasks put as entailment, percent",
        heads=("model",),
        columns=(*((title, "points") for title in TASKS.values()), ("Avg.", "points")),
        rows=tuple(rows),
    )


def _ways(asker: Asker, model: TableModel) -> list[Way]:
    """By score; a classifier with three labels also by label."""
    suites = (*HALVES.values(), *WORDS.values())
    answers = [asker.answers(model, asker.suite(name)) for name in suites]
    has_labels = any(isinstance(a, Answers) and {*NLI_LABELS} <= {*a.labels} for a in answers)
    return [BY_SCORE, BY_PREDICTION] if has_labels else [BY_SCORE]


def _label(model: TableModel, way: Way, ways: Sequence[Way]) -> str:
    return f"{model.name}, {way.title}" if len(ways) > 1 else model.name


def _table4_cells(asker: Asker, model: TableModel, way: Way) -> list[Entry]:
    cells = [
        asker.entry(model, asker.suite(name), f"{quantity}_{way.convention}")
        for name in HALVES.values()
        for quantity in ("lms", "fs", "icat")
    ]
    profession = asker.suite(WORDS[PROFESSION])
    recognition = f"{RECOGNITION}{way.suffix}"
    cells += [asker.entry(model, profession, recognition, part) for part in ("", "deviation")]
    for stratum, name in WORDS.items():
        suite = asker.suite(name)
        fairness, icat = (f"{stratum}_{what}{way.suffix}" for what in ("fairness", "icat"))
        cells += [asker.entry(model, suite, fairness, part) for part in ("", "deviation")]
        cells.append(asker.entry(model, suite, icat))
    return cells


def _table4(asker: Asker, ways: Mapping[str, Sequence[Way]]) -> tuple[PaperTable, PaperTable]:
    """StereoSet, and the word tests: one table of the paper, too wide for intervals."""
    rows = [
        (_label(model, way, ways[model.reference]), _table4_cells(asker, model, way))
        for model in asker.models
        for way in ways[model.reference]
    ]
    halves = [f"{half} {what}" for half in ("Intra", "Inter") for what in ("LMS", "FS", "iCAT")]
    words = ["Recog. mean", "Recog. std"]
    words += [f"{t} {w}" for t in ("Profession", "Emotion") for w in ("mean", "std", "iCAT")]

    def part(name: str, title: str, columns: Sequence[str], place: slice, note: str) -> PaperTable:
        return PaperTable(
            name=name,
            title=title,
            heads=("model",),
            columns=tuple((column, "points") for column in columns),
            rows=tuple(
                PaperRow(labels=(label,), cells=tuple(cells[place])) for label, cells in rows
            ),
            note=note,
        )

    return (
        part(
            "table4-stereoset",
            "StereoSet, percent",
            halves,
            slice(0, len(halves)),
            "100 is ideal. By label, a classifier that always gives the same label has iCAT 100.",
        ),
        part(
            "table4-words",
            "Gender recognition, profession and emotion, percent",
            words,
            slice(len(halves), None),
            "Std: between the genders (recognition), between words (fairness), with n - 1. iCAT: "
            "recognition times fairness.",
        ),
    )


def _scaled(view: Breakdown, factor: float) -> dict[str, Interval]:
    """The groups of a breakdown by name, each times a factor."""
    named = sorted(view.groups, key=lambda group: group.name)
    return {g.name: Interval(*(factor * v for v in g.interval)) for g in named}


def _figure2(asker: Asker, ways: Mapping[str, Sequence[Way]]) -> list[Block]:
    """iCAT by domain of StereoSet, by profession and by emotion."""
    domains: list[Series] = []
    words: dict[str, list[Series]] = {stratum: [] for stratum in WORDS}
    for model in asker.models:
        for way in ways[model.reference]:
            label = _label(model, way, ways[model.reference])
            values: dict[str, Interval] = {}
            for half, name in HALVES.items():
                measure = f"icat_{way.convention}"
                view = asker.breakdown(model, asker.suite(name), measure, BY_DOMAIN)
                if not isinstance(view, Missing):
                    values |= {f"{half}, {k}": v for k, v in _scaled(view, 1.0).items()}
            if values:
                domains.append(Series(name=label, values=values))
            for stratum, name in WORDS.items():
                measure = f"{stratum}_fairness{way.suffix}"
                suite = asker.suite(name)
                view = asker.breakdown(model, suite, measure, BY_WORD)
                known = asker.entry(model, suite, f"{RECOGNITION}{way.suffix}")
                if not isinstance(view, Missing) and known.has_value:
                    scaled = _scaled(view, known.interval.value)
                    words[stratum].append(Series(name=label, values=scaled))
    charts: list[Block] = []
    if domains:
        charts.append(
            series_chart("figure2-stereoset", "iCAT by domain of StereoSet", domains, "iCAT")
        )
    for stratum, series in words.items():
        if series:
            charts.append(series_chart(f"figure2-{stratum}", f"iCAT by {stratum}", series, "iCAT"))
    return charts


def _figure3(asker: Asker) -> tuple[list[Block], list[str]]:
    """The planes of professions and of emotions, and why models are not in them."""
    try:
        require_learner()
    except EvenhandError as error:
        return [], [f"Figure 3: {error}"]
    charts: list[Block] = []
    reasons: dict[str, str] = {}
    for sort in SORTS:
        suite = asker.whole(sort, "en")
        if isinstance(suite, Missing):
            return [], [f"Figure 3: {suite.reason}"]
        scene = scene_of([(sort, suite)])
        pictures = []
        for model in asker.models:
            if model.packed is not None:
                reasons[model.name] = "stored answers have no sentence vectors"
                continue
            try:
                vectors = open_vectors(model.reference, asker.request.opening)
                placed = vectors.embed([w.sentence for w in scene.words])
                pictures.append(
                    place_words(
                        vectors.identity, vectors.about, scene, placed, asker.request.settings
                    )
                )
            except StorageError:
                raise
            except EvenhandError as error:
                reasons[model.name] = str(error)
        if pictures:
            chart = dataclasses.replace(plane_chart(scene, pictures), name=f"figure3-{sort}")
            charts.append(chart)
    return charts, [f"{name} in Figure 3: {reason}" for name, reason in reasons.items()]


def make_table(asker: Asker) -> TablePage:
    """Tables 3 and 4, Figures 2 and 3."""
    ways: dict[str, Sequence[Way]] = {}
    for model in asker.models:  # one model after the other, so that each is opened once
        for task in TASKS:
            asker.answers(model, asker.suite(f"{GLUE.name}:{task}"))
        ways[model.reference] = _ways(asker, model)
    table3 = _table3(asker)
    table4 = _table4(asker, ways)
    figure2 = _figure2(asker, ways)
    figure3, reasons = _figure3(asker)
    parts = [
        TablePart(
            name="table3",
            title="Table 3: language understanding",
            tables=(table3,),
            remark="Avg.: the tasks are independent, and so are their errors.",
        ),
        TablePart(name="table4", title="Table 4: understanding and fairness", tables=table4),
    ]
    if figure2:
        parts.append(
            TablePart(
                name="figure2",
                title="Figure 2: iCAT by domain and by word",
                blocks=tuple(figure2),
                remark="iCAT of a word: its fairness times the recognition of the model; the "
                "interval is that of the fairness.",
            )
        )
    if figure3:
        parts.append(
            TablePart(
                name="figure3",
                title="Figure 3: where models place words",
                blocks=tuple(figure3),
                remark="With the words of evenhand; the paper's file has misspelt ones.",
            )
        )
    return TablePage(
        title="Sentence reasoning: the tables of Luo and Glass 2023",
        lead=_lead(table4[0]),
        parts=tuple(parts),
        left_out=tuple(reasons),
        remarks=(
            "Intervals stand beside every number; the paper prints none.",
            "`score` compares raw entailment values (Ent-Score in the paper), `label` predicted "
            "labels (Ent-Pred); an encoder is compared by the similarity of sentences.",
            "Models are shown two texts as a pair; --supposition esp or --supposition clean shows "
            "them as the paper's suppositions.",
            "A tie of scores counts half in the word tests here; in the released code it counts "
            "for nobody.",
        ),
    )


def _lead(table: PaperTable) -> tuple[str, ...]:
    known = [
        (row.labels[0], cell)
        for row in table.rows
        if (cell := row.cells[-1]) is not None and cell.has_value
    ]
    if not known:
        return ("No model has a score on StereoSet.",)
    name, entry = max(known, key=lambda pair: pair[1].interval.value)
    return (
        f"The highest iCAT on StereoSet between sentences is that of {name}: "
        f"{in_points(entry.interval)} percent.",
    )


PAPER = Paper(
    name=NAME,
    title="Luo, Glass 2023",
    description="Tables 3 and 4 of Luo and Glass 2023",
    contents="Tables 3 and 4, Figures 2 and 3",
    reproduce=reproduce,
    table=make_table,
)
