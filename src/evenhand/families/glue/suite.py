"""GLUE as entailment: does the model understand tasks that it is only told of in words?

Every item becomes a pair, so that in a supposition form it reads as Luo, Glass 2023 write it:
MNLI, RTE  "h is entailed by p"
QNLI       "The answer to {question} is entailed by {sentence}"
QQP        "{question 1}'s answer is entailed by {question 2}'s answer": duplicates are entailed
SST-2      "The movie is good is entailed by {review}": positive reviews entail it
CoLA       "The sentence is grammatical is entailed by {sentence}": acceptable sentences entail it. The wording is evenhand's; the paper has none with a premise.
MNLI has three gold labels, the others entailment and not_entailment. GLUE's own dev files are read as GLUE writes them: tabs, and quotation marks mean nothing; MNLI and RTE
also as .jsonl (premise, hypothesis, label). Left out: MNLI items without a gold label ("-"), and rows of QQP that are broken in the published file, with a warning.
Items with one premise are a cluster, named after the first of them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter

from evenhand.core.errors import EvenhandWarning, InputError, LoadError
from evenhand.core.fetch import data_folder
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import ENTAILMENT, NEUTRAL, NLI_LABELS, NOT_ENTAILMENT, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

ADVICE = "Download the task from gluebenchmark.com/tasks and name the folder that holds MNLI, RTE ... with --data or EVENHAND_DATA."
UNSAID = "-"  # the annotators of an MNLI item did not agree
_THREE = {label: label for label in NLI_LABELS}
_TWO = {ENTAILMENT: ENTAILMENT, NOT_ENTAILMENT: NOT_ENTAILMENT}
_YES = {"1": ENTAILMENT, "0": NOT_ENTAILMENT}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """Where the items of a task lie, and how they are made pairs."""

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
        golds={**_THREE, UNSAID: ""},
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
    """The file of a task under --data or EVENHAND_DATA: GLUE's own, else the .jsonl."""
    data = data_folder(data)
    if data is None:
        raise LoadError(f"GLUE's {task.file} is not on this machine. {ADVICE}")
    places = [data / task.file, data / "glue" / task.file]
    others = [data / task.jsonl, data / "nli" / task.jsonl] if task.jsonl else []
    for path in (*places, *others):
        if path.is_file():
            return path
    for path in places:
        if tests := sorted(p.name for p in path.parent.glob("test*.tsv")):
            raise InputError(
                path.parent,
                f"has {', '.join(tests)} but no {path.name}: GLUE's test files have no labels. {ADVICE}",
            )
    raise InputError(data, f"has no {task.file}. {ADVICE}")


def read_cells(path: Path, task: Task) -> Iterator[tuple[int, dict[str, str]]]:
    """The rows of a file of GLUE's, each with its line number; quotation marks are text."""
    lines = read_text(path).rstrip("\n").split("\n")
    head = task.head or tuple(lines[0].split("\t"))
    if missing := [c for c in (*task.texts, task.label) if c not in head]:
        hint = (
            "GLUE's test files have no labels; give the dev file"
            if missing == [task.label]
            else f"is this GLUE's {task.file}?"
        )
        raise InputError(
            path, f"no column {', '.join(missing)} (found: {', '.join(head)}); {hint}", row=1
        )
    broken = []
    for number, line in enumerate(lines, 1):
        if number == 1 and not task.head:
            continue
        cells = [cell.strip() for cell in line.split("\t")]
        row = dict(zip(head, cells, strict=False))
        if len(cells) == len(head) and all(row[c] for c in task.texts):
            yield number, row
        elif task.is_ragged:
            broken.append(number)
        else:
            why = (
                f"{len(cells)} columns, expected {len(head)} ({', '.join(head)})"
                if len(cells) != len(head)
                else "an empty text"
            )
            raise InputError(
                path, f"{why}; GLUE's test files have no labels" if task.head else why, row=number
            )
    if broken:
        rows = ", ".join(map(str, broken[:5])) + (" ..." if len(broken) > 5 else "")
        warnings.warn(
            f"{path}: {len(broken)} broken rows are left out ({rows})",
            EvenhandWarning,
            stacklevel=2,
        )


def read_pairs(path: Path, task: Task) -> Iterator[tuple[int, str, str, str, Mapping[str, str]]]:
    """Line number, premise, hypothesis, label, and the row, of either form of file."""
    if path.suffix != ".jsonl":
        for number, row in read_cells(path, task):
            yield (
                number,
                task.premise.format_map(row),
                task.hypothesis.format_map(row),
                row[task.label],
                row,
            )
        return
    for number, found in read_rows(path):
        told = {
            key: str(found.get(key) or "").strip() for key in ("premise", "hypothesis", "label")
        }
        if missing := [key for key, text in told.items() if not text]:
            raise InputError(path, f"{', '.join(missing)} missing or empty", row=number)
        yield number, told["premise"], told["hypothesis"], told["label"], {}


def read_probes(path: Path, name: str) -> Iterator[Probe]:
    """The items in the order of the file."""
    task = TASKS[name]
    first: dict[str, str] = {}
    for number, premise, hypothesis, label, row in read_pairs(path, task):
        if label not in task.golds:
            known = ", ".join(g for g in task.golds if g != UNSAID)
            raise InputError(
                path,
                f"label {label!r} is none of {known}; a test split has no labels, give the dev file",
                row=number,
            )
        if not (gold := task.golds[label]):
            continue
        identity = f"en/{name}/{number}"
        fair = NEUTRAL if gold == NOT_ENTAILMENT else gold  # one of the answers that are right
        yield Probe(
            id=identity,
            kind="pair",
            language="en",
            texts=(premise, hypothesis),
            stratum="zero-shot",
            cluster=first.setdefault(premise, identity),
            tags={
                "gold": gold,
                "task": name,
                "fair": fair,
                "stereotyped": fair,
                **({"genre": row["genre"]} if row.get("genre") else {}),
            },
        )


class Glue:
    """The dev sets of six tasks."""

    name = "glue"
    version = "2019"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = tuple(TASKS)
    is_published = True
    licence = "each task's own: MNLI OANC and others, QNLI CC BY-SA 4.0, QQP Quora's terms; RTE, SST-2, CoLA none stated"
    citation = "Wang, Singh, Michael, Hill, Levy, Bowman (2019). GLUE: A Multi-Task Benchmark and Analysis Platform for Natural Language Understanding. ICLR."
    description = "Six tasks of GLUE put as entailment, to tell a fair model from one that understands nothing."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The dev set of one task."""
        variant = options.variant or self.variants[0]
        path = locate(TASKS[variant], options.data)
        card = SuiteCard(
            name=self.name if variant == self.variants[0] else f"{self.name}:{variant}",
            version=self.version,
            language=language,
            source=f"GLUE, {path.parent.name}/{path.name}",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
        )
        probes = tuple(read_probes(path, variant))
        if not probes:
            raise InputError(path, "has no item with a label")
        return Suite(card=card, probes=probes)


SUITE = Glue()
