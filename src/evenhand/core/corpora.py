"""NLI corpora as they are published: their sentences, and their labelled pairs.

Sentences: SNLI, MNLI, ANLI, the GLUE tables (MNLI, QNLI, RTE) and plain text. Labelled pairs:
.jsonl and .csv with premise, hypothesis, label (evenhand's own, Hugging Face) or sentence1,
sentence2, gold_label (SNLI, MNLI) or label (OCNLI, JNLI); .tsv and .txt with such a head (SNLI,
GLUE) or, without a head, label, premise, hypothesis (JSNLI, whose words stay separated by spaces).
A row may have a twin, the same pair with the genders swapped: twin_premise and twin_hypothesis.
Every file may be packed (.gz).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text, unpacked_name
from evenhand.core.probe import NLI_LABELS, NOT_ENTAILMENT

FORMS = (  # premise column, hypothesis column
    ("premise", "hypothesis"),  # Hugging Face, and evenhand's own
    ("sentence1", "sentence2"),  # SNLI, MNLI, and GLUE's MNLI and RTE
    ("context", "hypothesis"),  # ANLI
    ("sentence", "question"),  # GLUE's QNLI: the sentence may hold the answer
)
UNDECIDED = "-"  # SNLI, MNLI and OCNLI write it where the annotators did not agree
LABEL_FIELDS = ("gold_label", "label")
TWIN_FIELDS = ("twin_premise", "twin_hypothesis")
_NOTHING = {"", "n/a", "-", "null"}  # SNLI writes n/a where a crowd worker left the field empty
_JSNLI = ("label", "premise", "hypothesis")
_LABELS = {
    **{label: label for label in NLI_LABELS},
    **{label[0]: label for label in NLI_LABELS},  # ANLI writes e, n, c
}


def read_sentences(path: Path, *, is_hypotheses_too: bool = False) -> list[str]:
    """The premises of a corpus (and its hypotheses, on request), each once, in order.

    Reads .jsonl, .json (one object per line), .csv, .tsv and .txt. A .txt file with a known header
    is a table (snli_1.0_train.txt); any other has one sentence per line.
    """
    suffix = unpacked_name(path).suffix.lower()
    if suffix in {".txt", "", ".tsv"}:
        lines = read_text(path).split("\n")
        head = [name.strip() for name in lines[0].split("\t")]
        is_table = suffix == ".tsv" or find_form(head) is not None
        cells = (
            _read_tabs(lines[1:], head, _columns(path, head, is_hypotheses_too))
            if is_table
            else iter(lines)
        )
    else:
        rows = [row for _, row in read_rows(path)]
        if not rows:
            raise InputError(path, "has no rows")
        names = list(rows[0])
        columns = _columns(path, names, is_hypotheses_too)
        cells = (row[c] for row in rows for c in columns if isinstance(row.get(c), str))
    sentences = _tidy(cells)
    if not sentences:
        raise InputError(path, "has the right columns but no sentence in them")
    return sentences


def find_form(columns: Iterable[str]) -> tuple[str, str] | None:
    """The two columns that hold premise and hypothesis; None where no known form fits."""
    there = set(columns)
    return next((form for form in FORMS if there.issuperset(form)), None)


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

    @property
    def digest(self) -> str:
        """The SHA-256 of the file."""
        with self.path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()

    def describe(self) -> dict[str, Any]:
        """What a run card says of the file."""
        return {
            "file": str(self.path),
            "sha256": self.digest,
            "rows": len(self.pairs) + self.undecided,
            "pairs": len(self.pairs),
            "left out": {f"label {UNDECIDED}": self.undecided} if self.undecided else {},
        }


def read_corpus(path: Path, labels: Sequence[str] = NLI_LABELS) -> Corpus:
    """One file; raises InputError naming the first row that is not a labelled pair.

    labels: those that a row may have, the three of NLI and perhaps not_entailment.
    """
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
        pairs.append(Pair(premise, hypothesis, _standard_label(path, number, label, labels), twin))
    if not pairs:
        raise InputError(path, "has no labelled pair")
    return Corpus(path, tuple(pairs), undecided)


def _columns(path: Path, names: Sequence[str], is_hypotheses_too: bool) -> tuple[str, ...]:
    form = find_form(names) or next(
        ((p, "") for p, _ in FORMS if p in names and not is_hypotheses_too), None
    )
    if form is None:
        known = "; ".join(" and ".join(form) for form in FORMS)
        raise InputError(
            path,
            f"has the columns {', '.join(names) or 'none'}; known are {known}. "
            "Rename the columns or give plain text",
        )
    return form if is_hypotheses_too else form[:1]


def _read_tabs(lines: Iterable[str], head: Sequence[str], columns: Sequence[str]) -> Iterator[str]:
    # GLUE does not quote, so a cell may start with a quotation mark that never ends: split,
    # never csv's default dialect
    places = [head.index(c) for c in columns]
    for line in lines:
        row = line.split("\t")
        while len(row) > len(head) and not row[-1].strip():
            row.pop()
        if len(row) > len(head):
            continue  # a tab inside a sentence: which cells belong together cannot be known
        # The last cell of a row that is too short may be torn; those before it are whole.
        whole = len(row) if len(row) == len(head) else len(row) - 1
        yield from (row[place] for place in places if place < whole)


def _tidy(cells: Iterable[str]) -> list[str]:
    joined = (" ".join(cell.split()) for cell in cells)
    return list(dict.fromkeys(text for text in joined if text.lower() not in _NOTHING))


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
    if unpacked_name(path).suffix.lower() not in {".tsv", ".txt"}:
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


def _standard_label(path: Path, number: int, label: Any, labels: Sequence[str]) -> str:
    text = str(label).strip().lower()
    if text in _LABELS:
        return _LABELS[text]
    known = ", ".join(NLI_LABELS)
    if text.replace("_", "").replace("-", "").replace(" ", "") == NOT_ENTAILMENT.replace("_", ""):
        if NOT_ENTAILMENT in labels:
            return NOT_ENTAILMENT
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
