"""What do NLI training files say? Premise, hypothesis and one of three labels, in the forms in which the corpora are published.

.jsonl and .csv with premise, hypothesis, label (evenhand's own, Hugging Face) or sentence1, sentence2, gold_label (SNLI, MNLI) or label (OCNLI,
JNLI); .tsv and .txt with such a head (SNLI, GLUE) or, without a head, label, premise, hypothesis (JSNLI, whose words stay apart by spaces).
A row may have a twin, the same pair of the other gender: twin_premise and twin_hypothesis.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text
from evenhand.core.probe import NLI_LABELS, NOT_ENTAILMENT
from evenhand.core.corpora import FORMS, find_form

UNDECIDED = "-"  # SNLI, MNLI and OCNLI write it where the annotators did not agree
LABEL_FIELDS = ("gold_label", "label")
TWIN_FIELDS = ("twin_premise", "twin_hypothesis")
_JSNLI = ("label", "premise", "hypothesis")
_NAMES = {
    **{label: label for label in NLI_LABELS},
    **{label[0]: label for label in NLI_LABELS},
}  # ANLI writes e, n, c


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
        left_out = {f"label {UNDECIDED}": self.undecided} if self.undecided else {}
        return {
            "file": str(self.path),
            "sha256": digest,
            "rows": len(self.pairs) + self.undecided,
            "pairs": len(self.pairs),
            "left out": left_out,
        }


def read_corpus(path: Path) -> Corpus:
    """One file; an error names the row that is no labelled pair."""
    pairs, undecided = [], 0
    for number, row in _rows(path):
        form = find_form(row)
        if form is None:
            raise InputError(path, _lacking(row), row=number)
        label = next((row[name] for name in LABEL_FIELDS if name in row), None)
        if label is None:
            raise InputError(
                path,
                f"the field 'label' is missing (nor is there a 'gold_label'); there is {', '.join(row)}",
                row=number,
            )
        if label == UNDECIDED:
            undecided += 1
            continue
        premise, hypothesis = _texts(path, number, row, form)
        # An empty cell is how a table says that there is none.
        twin = (
            _texts(path, number, row, TWIN_FIELDS)
            if any(row.get(name) for name in TWIN_FIELDS)
            else None
        )
        pairs.append(Pair(premise, hypothesis, _standard(path, number, label), twin))
    if not pairs:
        raise InputError(path, "has no labelled pair")
    return Corpus(path, tuple(pairs), undecided)


def read_pairs(paths: Iterable[Path]) -> list[Pair]:
    """The pairs of all files; an error names the row that has none."""
    return [pair for path in paths for pair in read_corpus(path).pairs]


def require_all_labels(corpora: Sequence[Corpus]) -> None:
    """An error where the files together never show one of the labels: a model cannot learn what it has not seen."""
    there = {pair.label for corpus in corpora for pair in corpus.pairs}
    if lacking := [label for label in NLI_LABELS if label not in there]:
        names = ", ".join(str(corpus.path) for corpus in corpora)
        raise InputError(
            names,
            f"no row is labelled {' or '.join(lacking)}; three labels are needed: add a file that has them",
        )


def require_twins(corpora: Sequence[Corpus]) -> None:
    """An error where no pair has a twin to be compared with."""
    if not any(pair.twin for corpus in corpora for pair in corpus.pairs):
        names = ", ".join(str(corpus.path) for corpus in corpora)
        raise InputError(
            names,
            f"no row has a twin ({' and '.join(TWIN_FIELDS)}), which --pairing compares with: make them with `evenhand mitigate swap FILE --paired`",
        )


def _texts(
    path: Path, number: int, row: Mapping[str, Any], names: tuple[str, str]
) -> tuple[str, str]:
    found = []
    for name in names:
        text = row.get(name)
        if not isinstance(text, str) or not text.strip():
            raise InputError(
                path,
                f"the {name} is empty"
                if not text or isinstance(text, str)
                else f"the {name} is no text",
                row=number,
            )
        found.append(text)
    return found[0], found[1]


def name_corpora(corpora: Sequence[Corpus]) -> list[str]:
    """A short name for each file: its stem where that tells them apart, else its path."""
    stems = [corpus.path.stem for corpus in corpora]
    return stems if len(set(stems)) == len(stems) else [str(corpus.path) for corpus in corpora]


def require_apart(data: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """A dev file that is also trained on, or given twice, would say nothing."""
    seen = {file["sha256"]: file["file"] for file in data["train"]}
    for file in data["dev"]:
        if file["sha256"] in seen:
            raise InputError(
                file["file"],
                f"is the same file as {seen[file['sha256']]}; a dev file must be another than all the rest",
            )
        seen[file["sha256"]] = file["file"]


def _rows(path: Path) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.suffix.lower() not in {".tsv", ".txt"}:
        yield from read_rows(path)
        return
    # Neither GLUE nor JSNLI quotes, so a cell may start with a quotation mark that never ends: split, never csv's default dialect.
    lines = [
        (number, line.split("\t"))
        for number, line in enumerate(read_text(path).split("\n"), 1)
        if line.strip()
    ]
    first = [cell.strip() for cell in lines[0][1]]
    is_bare = len(first) == len(_JSNLI) and (
        first[0].lower() in _NAMES or first[0] in {UNDECIDED, NOT_ENTAILMENT}
    )
    head: Sequence[str] = _JSNLI if is_bare else first
    if find_form(head) is None:
        raise InputError(
            path,
            f"{_lacking(head)}; without a head the columns are {', '.join(_JSNLI)}",
            row=lines[0][0],
        )
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


def _standard(path: Path, number: int, label: Any) -> str:
    text = str(label).strip().lower()
    if text in _NAMES:
        return _NAMES[text]
    if text.replace("_", "").replace("-", "").replace(" ", "") == NOT_ENTAILMENT.replace("_", ""):
        raise InputError(
            path,
            f"label {label!r}: a file of two labels; three are needed ({', '.join(NLI_LABELS)})",
            row=number,
        )
    advice = (
        "; numbers mean different labels in different corpora: write the names"
        if text.lstrip("-").isdigit()
        else ""
    )
    raise InputError(
        path, f"label {label!r} is none of {', '.join(NLI_LABELS)}{advice}", row=number
    )


def _lacking(names: Iterable[str]) -> str:
    there = [str(name) for name in names]
    best = max(FORMS, key=lambda form: sum(name in there for name in form))
    lacking = " and ".join(f"'{name}'" for name in best if name not in there)
    return f"the field {lacking} is missing; there is {', '.join(there) or 'nothing'}"
