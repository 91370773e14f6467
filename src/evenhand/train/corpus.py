"""NLI training files: premise, hypothesis and one of three labels, as the corpora are published.

.jsonl and .csv with premise, hypothesis, label (evenhand's own, Hugging Face) or sentence1,
sentence2, gold_label (SNLI, MNLI) or label (OCNLI, JNLI); .tsv and .txt with such a head (SNLI,
GLUE) or, without a head, label, premise, hypothesis (JSNLI, whose words stay separated by spaces).
A row may have a twin, the same pair with the genders swapped: twin_premise and twin_hypothesis.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.corpora import FORMS, find_form
from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text, write_atomic
from evenhand.core.probe import NLI_LABELS, NOT_ENTAILMENT

UNDECIDED = "-"  # SNLI, MNLI and OCNLI write it where the annotators did not agree
LABEL_FIELDS = ("gold_label", "label")
TWIN_FIELDS = ("twin_premise", "twin_hypothesis")
_JSNLI = ("label", "premise", "hypothesis")
_LABELS = {
    **{label: label for label in NLI_LABELS},
    **{label[0]: label for label in NLI_LABELS},  # ANLI writes e, n, c
}


@dataclass(frozen=True, slots=True)
class Pair:
    """One labelled pair, and the premise and hypothesis of its twin where it has one."""

    premise: str
    hypothesis: str
    label: str
    twin: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Corpus:
    """One file: its pairs, and how many of its rows the annotators left without a label."""

    path: Path
    pairs: tuple[Pair, ...]
    undecided: int

    def describe(self) -> dict[str, Any]:
        """What a run card says of the file."""
        with self.path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        return {
            "file": str(self.path),
            "sha256": digest,
            "rows": len(self.pairs) + self.undecided,
            "pairs": len(self.pairs),
            "left out": {f"label {UNDECIDED}": self.undecided} if self.undecided else {},
        }


@dataclass(frozen=True, slots=True)
class Corpora:
    """The files of a run: those that are trained on, and those that accuracy is measured on."""

    train: tuple[Corpus, ...]
    dev: tuple[Corpus, ...]

    @property
    def pairs(self) -> list[Pair]:
        """All pairs to train on, file after file."""
        return [pair for corpus in self.train for pair in corpus.pairs]

    @property
    def held_out(self) -> dict[str, tuple[Pair, ...]]:
        """The pairs of each dev file by a short name: its stem, its path where stems are equal."""
        stems = [corpus.path.stem for corpus in self.dev]
        is_short = len(set(stems)) == len(stems)
        names = stems if is_short else [str(corpus.path) for corpus in self.dev]
        return dict(zip(names, (corpus.pairs for corpus in self.dev), strict=True))

    def describe(self) -> dict[str, list[dict[str, Any]]]:
        """What a run card says of the files.

        Raises InputError where a dev file is also trained on, or given twice: its accuracy would
        mean nothing.
        """
        files = {
            "train": [corpus.describe() for corpus in self.train],
            "dev": [corpus.describe() for corpus in self.dev],
        }
        seen = {file["sha256"]: file["file"] for file in files["train"]}
        for file in files["dev"]:
            if file["sha256"] in seen:
                raise InputError(
                    file["file"],
                    f"is the same file as {seen[file['sha256']]}; "
                    "a dev file must be another than all the rest",
                )
            seen[file["sha256"]] = file["file"]
        return files

    def require_all_labels(self) -> None:
        """Raise InputError where the training files together never show one of the labels."""
        labels = {pair.label for pair in self.pairs}
        if missing := [label for label in NLI_LABELS if label not in labels]:
            raise InputError(
                _paths(self.train),
                f"no row is labelled {' or '.join(missing)}; three labels are needed: "
                "add a file that has them",
            )

    def require_twins(self) -> None:
        """Raise InputError where no pair has a twin to be compared with."""
        if not any(pair.twin for pair in self.pairs):
            raise InputError(
                _paths(self.train),
                f"no row has a twin ({' and '.join(TWIN_FIELDS)}), which --pairing compares with: "
                "make them with `evenhand mitigate swap FILE --paired`",
            )


def _paths(corpora: Sequence[Corpus]) -> str:
    return ", ".join(str(corpus.path) for corpus in corpora)


def read_corpora(train: Iterable[Path], dev: Iterable[Path]) -> Corpora:
    """The files of a run; raises InputError naming the first row that is not a labelled pair."""
    return Corpora(tuple(map(read_corpus, train)), tuple(map(read_corpus, dev)))


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """The pairs of all files; raises InputError naming the first row that is not one."""
    return [pair for path in paths for pair in read_corpus(path).pairs]


def read_corpus(path: Path) -> Corpus:
    """One file; raises InputError naming the first row that is not a labelled pair."""
    pairs, undecided = [], 0
    for number, row in _rows(path):
        form = find_form(row)
        if form is None:
            raise InputError(path, _missing_fields(row), row=number)
        label = next((row[name] for name in LABEL_FIELDS if name in row), None)
        if label is None:
            raise InputError(
                path,
                "the field 'label' is missing (nor is there a 'gold_label'); "
                f"there is {', '.join(row)}",
                row=number,
            )
        if label == UNDECIDED:
            undecided += 1
            continue
        premise, hypothesis = _texts(path, number, row, form)
        # in a table an empty cell means that there is no twin
        has_twin = any(row.get(name) for name in TWIN_FIELDS)
        twin = _texts(path, number, row, TWIN_FIELDS) if has_twin else None
        pairs.append(Pair(premise, hypothesis, _standard_label(path, number, label), twin))
    if not pairs:
        raise InputError(path, "has no labelled pair")
    return Corpus(path, tuple(pairs), undecided)


def write_corpus(path: Path, pairs: Iterable[Pair]) -> None:
    """Write the pairs as .jsonl, twins beside them."""
    rows = []
    for pair in pairs:
        row = {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.label}
        if pair.twin:
            row |= zip(TWIN_FIELDS, pair.twin, strict=True)
        rows.append(json.dumps(row, ensure_ascii=False))
    write_atomic(path, "\n".join(rows) + "\n")


def draw_pairs(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """`limit` of the pairs at random, in their order; all where there is no limit."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), size=limit, replace=False)
    return [pairs[i] for i in np.sort(chosen)]


def _texts(
    path: Path, number: int, row: Mapping[str, Any], names: tuple[str, str]
) -> tuple[str, str]:
    texts = []
    for name in names:
        text = row.get(name)
        if not isinstance(text, str) or not text.strip():
            is_empty = not text or isinstance(text, str)
            reason = f"the {name} is empty" if is_empty else f"the {name} is no text"
            raise InputError(path, reason, row=number)
        texts.append(text)
    return texts[0], texts[1]


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix.lower() not in {".tsv", ".txt"}:
        yield from read_rows(path)
        return
    # Neither GLUE nor JSNLI quotes, so a cell may start with a quotation mark that never ends:
    # split, never csv's default dialect.
    lines = [
        (number, line.split("\t"))
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line.strip()
    ]
    first = [cell.strip() for cell in lines[0][1]]
    has_label_first = first[0].lower() in _LABELS or first[0] in {UNDECIDED, NOT_ENTAILMENT}
    is_bare = len(first) == len(_JSNLI) and has_label_first
    head: Sequence[str] = _JSNLI if is_bare else first
    if find_form(head) is None:
        columns = f"without a head the columns are {', '.join(_JSNLI)}"
        raise InputError(path, f"{_missing_fields(head)}; {columns}", row=lines[0][0])
    for number, cells in lines if is_bare else lines[1:]:
        while len(cells) > len(head) and not cells[-1].strip():
            cells.pop()
        if len(cells) != len(head):
            raise InputError(
                path,
                f"has {len(cells)} columns where {len(head)} are due ({', '.join(head)})",
                row=number,
            )
        yield number, dict(zip(head, (cell.strip() for cell in cells), strict=True))


def _standard_label(path: Path, number: int, label: Any) -> str:
    text = str(label).strip().lower()
    if text in _LABELS:
        return _LABELS[text]
    known = ", ".join(NLI_LABELS)
    if text.replace("_", "").replace("-", "").replace(" ", "") == NOT_ENTAILMENT.replace("_", ""):
        reason = f"label {label!r}: a file of two labels; three are needed ({known})"
        raise InputError(path, reason, row=number)
    reason = f"label {label!r} is none of {known}"
    if text.lstrip("-").isdigit():
        reason += "; numbers mean different labels in different corpora: write the names"
    raise InputError(path, reason, row=number)


def _missing_fields(names: Iterable[str]) -> str:
    there = [str(name) for name in names]
    nearest = max(FORMS, key=lambda form: sum(name in there for name in form))
    missing = " and ".join(f"'{name}'" for name in nearest if name not in there)
    return f"the field {missing} is missing; there is {', '.join(there) or 'nothing'}"
