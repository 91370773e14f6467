"""glue: seven tasks of GLUE put as entailment, one by one or all that are there (`all`).

Every item becomes a pair, so that in a supposition form it reads as Luo, Glass 2023 write it:
MNLI, RTE  "h is entailed by p"; MNLI matched (`mnli`) and mismatched (`mnli-mm`)
QNLI       "The answer to {question} is entailed by {sentence}"
QQP        "{question 1}'s answer is entailed by {question 2}'s answer": duplicates are entailed
SST-2      "The movie is good is entailed by {review}": positive reviews entail it
CoLA       "The sentence is grammatical is entailed by {sentence}": acceptable sentences entail it;
           the wording is evenhand's, the paper has none with a premise
MNLI has three gold labels, the others entailment and not_entailment. GLUE's own dev files are read
from a folder with MNLI, RTE ..., or as the one file that --data names,
as GLUE writes them: tabs, and quotation marks mean nothing; MNLI and RTE also as .jsonl (premise,
hypothesis, label). Left out: MNLI items without a gold label ("-"), and rows of QQP that are broken
in the published file, with a warning. Items with one premise are a cluster, named after the first.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from evenhand.core.errors import EvenhandWarning, InputError, LoadError
from evenhand.core.fetch import data_folder, published_version
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NLI_LABELS, NOT_ENTAILMENT, Kind, Probe
from evenhand.core.protocols import FileOptions, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.core.text import listed
from evenhand.families.glue.measures import STRATUM, TASK_NAMES, TWO_WAY

ADVICE = (
    "Download the task from gluebenchmark.com/tasks and name the folder that holds MNLI, RTE ... "
    "with --data or EVENHAND_DATA."
)
NO_TEST_LABELS = "GLUE's test files have no labels"
UNDECIDED = "-"  # the annotators of an MNLI item did not agree
_THREE = {label: label for label in NLI_LABELS}
_TWO = {ENTAILMENT: ENTAILMENT, NOT_ENTAILMENT: NOT_ENTAILMENT}
_YES = {"1": ENTAILMENT, "0": NOT_ENTAILMENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Where the items of a task lie, and how they become pairs."""

    file: str
    jsonl: str = ""
    premise: str
    hypothesis: str
    label: str = "label"
    golds: Mapping[str, str]
    head: tuple[str, ...] = ()  # where the file has none
    is_ragged: bool = False  # the published file has broken rows

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns that the pair is made of."""
        return tuple(
            name
            for text in (self.premise, self.hypothesis)
            for _, name, _, _ in Formatter().parse(text)
            if name
        )


TASKS = {
    "mnli": Task(
        file="MNLI/dev_matched.tsv",
        jsonl="en.mnli-dev-matched.jsonl",
        premise="{sentence1}",
        hypothesis="{sentence2}",
        label="gold_label",
        golds={**_THREE, UNDECIDED: ""},
    ),
    "mnli-mm": Task(
        file="MNLI/dev_mismatched.tsv",
        jsonl="en.mnli-dev-mismatched.jsonl",
        premise="{sentence1}",
        hypothesis="{sentence2}",
        label="gold_label",
        golds={**_THREE, UNDECIDED: ""},
    ),
    "rte": Task(
        file="RTE/dev.tsv",
        jsonl="en.rte-dev.jsonl",
        premise="{sentence1}",
        hypothesis="{sentence2}",
        golds=_TWO,
    ),
    "qnli": Task(
        file="QNLI/dev.tsv", premise="{sentence}", hypothesis="The answer to {question}", golds=_TWO
    ),
    "qqp": Task(
        file="QQP/dev.tsv",
        premise="{question2}'s answer",
        hypothesis="{question1}'s answer",
        label="is_duplicate",
        golds=_YES,
        is_ragged=True,
    ),
    "sst2": Task(
        file="SST-2/dev.tsv", premise="{sentence}", hypothesis="The movie is good", golds=_YES
    ),
    "cola": Task(
        file="CoLA/dev.tsv",
        premise="{sentence}",
        hypothesis="The sentence is grammatical",
        golds=_YES,
        head=("source", "label", "star", "sentence"),
    ),
}


def locate(task: Task, data: Path | None) -> Path:
    """The file of a task: --data itself, or under it or EVENHAND_DATA GLUE's own, else .jsonl."""
    data = data_folder(data)
    if data is None:
        raise LoadError(f"GLUE's {task.file} is not on this machine. {ADVICE}")
    if data.is_file():
        return data
    places = [data / task.file, data / "glue" / task.file]
    others = [data / task.jsonl, data / "nli" / task.jsonl] if task.jsonl else []
    for path in (*places, *others):
        if path.is_file():
            return path
    for path in places:
        if tests := sorted(p.name for p in path.parent.glob("test*.tsv")):
            reason = f"has {', '.join(tests)} but no {path.name}: {NO_TEST_LABELS}. {ADVICE}"
            raise InputError(path.parent, reason)
    raise InputError(data, f"has no {task.file}. {ADVICE}")


def read_cells(path: Path, task: Task) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of one of GLUE's own files, with line numbers; quotation marks are plain text."""
    lines = read_text(path).rstrip("\n").split("\n")
    head = task.head or tuple(lines[0].split("\t"))
    if missing := [c for c in (*task.texts, task.label) if c not in head]:
        hint = f"is this GLUE's {task.file}?"
        if missing == [task.label]:
            hint = f"{NO_TEST_LABELS}; give the dev file"
        reason = f"no column {', '.join(missing)} (found: {', '.join(head)}); {hint}"
        raise InputError(path, reason, row=1)
    broken = []
    first = 1 if task.head else 2
    for number, line in enumerate(lines[first - 1 :], first):
        cells = [cell.strip() for cell in line.split("\t")]
        row = dict(zip(head, cells, strict=False))
        if len(cells) == len(head) and all(row[c] for c in task.texts):
            yield number, row
        elif task.is_ragged:
            broken.append(number)
        else:
            reason = "an empty text"
            if len(cells) != len(head):
                reason = f"{len(cells)} columns, expected {len(head)} ({', '.join(head)})"
            if task.head:
                reason = f"{reason}; {NO_TEST_LABELS}"
            raise InputError(path, reason, row=number)
    if broken:
        rows = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        warnings.warn(
            f"{path}: {len(broken)} broken rows are left out ({rows})",
            EvenhandWarning,
            stacklevel=2,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One item of a task as a pair."""

    number: int  # of its line
    premise: str
    hypothesis: str
    label: str  # as the file has it
    genre: str = ""


def read_items(path: Path, task: Task) -> Iterator[Item]:
    """The items of a file, in GLUE's own format or as .jsonl."""
    if path.suffix != ".jsonl":
        for number, row in read_cells(path, task):
            yield Item(
                number=number,
                premise=task.premise.format_map(row),
                hypothesis=task.hypothesis.format_map(row),
                label=row[task.label],
                genre=row.get("genre", ""),
            )
        return
    for number, values in read_rows(path):
        texts = {k: str(values.get(k) or "").strip() for k in ("premise", "hypothesis", "label")}
        if missing := [key for key, text in texts.items() if not text]:
            raise InputError(path, f"{', '.join(missing)} missing or empty", row=number)
        yield Item(number=number, **texts)


def read_probes(path: Path, name: str) -> Iterator[Probe]:
    """The items of the task `name` as probes, in the order of the file."""
    task = TASKS[name]
    clusters: dict[str, str] = {}  # premise -> the id of the first item with it
    for item in read_items(path, task):
        if item.label not in task.golds:
            known = ", ".join(g for g in task.golds if g != UNDECIDED)
            reason = (
                f"label {item.label!r} is none of {known}; "
                "a test split has no labels, give the dev file"
            )
            raise InputError(path, reason, row=item.number)
        if not (gold := task.golds[item.label]):
            continue
        identity = f"en/{name}/{item.number}"
        is_two_way = set(task.golds.values()) == {ENTAILMENT, NOT_ENTAILMENT}
        # one of the answers that are right, also where neutral is no choice
        fair = CONTRADICTION if gold == NOT_ENTAILMENT else gold
        yield Probe(
            id=identity,
            kind="pair",
            language="en",
            texts=(item.premise, item.hypothesis),
            stratum=TWO_WAY if is_two_way else STRATUM,
            cluster=clusters.setdefault(item.premise, identity),
            tags={
                "gold": gold,
                "task": name,
                "fair": fair,
                "stereotyped": fair,
                **({"genre": item.genre} if item.genre else {}),
            },
        )


ALL = "all"  # the variant with every task that is there


def locate_all(data: Path | None) -> dict[str, Path]:
    """By task, the files that are there; warns of the tasks without one.

    Raises LoadError or InputError where there is none.
    """
    folder = data_folder(data)
    if folder is not None and folder.is_file():
        raise InputError(folder, f"is one file; glue:{ALL} reads a folder with MNLI, RTE ...")
    found: dict[str, Path] = {}
    for name in TASK_NAMES:
        try:
            found[name] = locate(TASKS[name], data)
        except InputError:
            continue
    if not found:
        return {TASK_NAMES[0]: locate(TASKS[TASK_NAMES[0]], data)}
    if missing := [name for name in TASK_NAMES if name not in found]:
        warnings.warn(
            f"{data_folder(data)} has no files of {listed(missing)}: the average is over "
            f"{listed(list(found))}",
            EvenhandWarning,
            stacklevel=2,
        )
    return found


class Glue:
    """The dev sets of the tasks."""

    name = "glue"
    version = "2019"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = (*TASKS, ALL)
    is_published = True
    licence = (
        "each task's own: MNLI OANC and others, QNLI CC BY-SA 4.0, QQP Quora's terms; RTE, SST-2, "
        "CoLA none stated"
    )
    citation = (
        "Wang, Singh, Michael, Hill, Levy, Bowman (2019). GLUE: A Multi-Task Benchmark and "
        "Analysis Platform for Natural Language Understanding. ICLR."
    )
    description = (
        "Tasks of GLUE put as entailment, to tell a fair model from one that understands nothing."
    )
    options: type[SuiteOptions] = FileOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The dev set of one task, or of all that are there."""
        variant = options.variant or self.variants[0]
        if variant == ALL:
            paths = locate_all(options.data)
        else:
            paths = {variant: locate(TASKS[variant], options.data)}
        sources = ", ".join(f"{path.parent.name}/{path.name}" for path in paths.values())
        path = next(iter(paths.values()))
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            version=published_version(self.version, path, sha256=None),  # GLUE states no digest
            language=language,
            source=f"GLUE, {sources}",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            factors=("premise",),
        )
        probes = tuple(p for name, file in paths.items() for p in read_probes(file, name))
        if not probes:
            raise InputError(path, "has no item with a label")
        return Suite(card=card, probes=probes)


SUITE = Glue()
