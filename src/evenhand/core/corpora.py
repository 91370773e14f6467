"""Sentences of NLI corpora in their published forms.

SNLI, MNLI, ANLI, the GLUE tables (MNLI, QNLI, RTE) and plain text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text

FORMS = (  # premise column, hypothesis column
    ("premise", "hypothesis"),  # Hugging Face, and evenhand's own
    ("sentence1", "sentence2"),  # SNLI, MNLI, and GLUE's MNLI and RTE
    ("context", "hypothesis"),  # ANLI
    ("sentence", "question"),  # GLUE's QNLI: the sentence may hold the answer
)
_NOTHING = {"", "n/a", "-", "null"}  # SNLI writes n/a where a crowd worker left the field empty


def read_sentences(path: Path, *, is_hypotheses_too: bool = False) -> list[str]:
    """The premises of a corpus (and its hypotheses, on request), each once, in order.

    Reads .jsonl, .json (one object per line), .csv, .tsv and .txt. A .txt file with a known header
    is a table (snli_1.0_train.txt); any other has one sentence per line.
    """
    suffix = path.suffix.lower()
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
