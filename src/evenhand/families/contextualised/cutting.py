"""Which sentences does raw text hold? Cut at end punctuation and line breaks; text files, and tables with a column of text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from evenhand.core.errors import InputError
from evenhand.core.files import read_rows, read_text

COLUMNS = ("text", "sentence", "premise", "hypothesis", "content")
_TABLES = frozenset({".jsonl", ".json", ".csv", ".tsv"})
_LINE_BREAK = re.compile(r"[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
_CJK_CLOSERS = "」』”’）】》\"')"
# A stop of Western make counts behind a Chinese or Japanese character; 「行く。」と言った goes on behind the quotation.
_CJK_END = re.compile(
    rf"(?:[。！？!?…]|(?<=[\u3040-\u30ff\u4e00-\u9fff])[.．]+)++[{_CJK_CLOSERS}]*+(?!(?<=[{_CJK_CLOSERS}])(?:と|って|[、，,]))"
)
_SPACED_END = re.compile(r"[.!?…]+[\"'”’)\]」』]*(?=\s|$|[\"'“‘])")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|Prof|St|Sr|Jr|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|Hon|Mt|vs|etc|Inc|Ltd|Co|Corp|Fig|Vol|pp|cf)"
    r"|(?:^|[\s(\"“'‘.])[A-Za-z])\.$"
)
_PAIRS = (("「", "」"), ("『", "』"), ("“", "”"), ("（", "）"), ("(", ")"), ("[", "]"), ("‘", "’"))


def read_passages(path: Path) -> list[str]:
    """The text of a file: as it stands, or the cells of its columns of text, row by row."""
    if path.suffix.lower() not in _TABLES:
        return [read_text(path)]
    rows = read_rows(path)
    names = dict.fromkeys(name for _, row in rows for name in row)
    columns = [c for c in COLUMNS if c in names]
    if not columns:
        raise InputError(
            path,
            f"has the columns {', '.join(map(str, names)) or 'none'}; one of {', '.join(COLUMNS)} is needed",
        )
    found = [
        cell
        for _, row in rows
        for c in columns
        if isinstance(cell := row.get(c), str) and cell.strip()
    ]
    if not found:
        raise InputError(
            path, f"has no text in its column{'s' if len(columns) > 1 else ''} {', '.join(columns)}"
        )
    return found


def cut_sentences(text: str, language: str) -> Iterator[str]:
    """The sentences of a text in order, white space squeezed, quotation marks that were torn apart left off."""
    for line in _LINE_BREAK.split(text):
        squeezed = " ".join(line.split())
        start = 0
        for end in _ends(squeezed, is_spaced=language not in {"zh", "ja"}):
            if sentence := _trim(squeezed[start:end].strip()):
                yield sentence
            start = end


def _ends(line: str, *, is_spaced: bool) -> Iterator[int]:
    for stop in (_SPACED_END if is_spaced else _CJK_END).finditer(line):
        if not is_spaced or not _goes_on(line, stop):
            yield stop.end()
    yield len(line)


def _goes_on(line: str, stop: re.Match[str]) -> bool:
    """Is the stop one of an abbreviation, or does the sentence go on in lower case behind it?"""
    behind = line[stop.end() :].lstrip(" \"'“‘(")
    return behind[:1].islower() or (
        stop.group().startswith(".") and _ABBREVIATION.search(line[: stop.start() + 1]) is not None
    )


def _trim(sentence: str) -> str:
    """Without a quotation mark or bracket at its edge whose partner stands in another sentence, and without a comma that it cannot start with."""
    sentence = sentence.lstrip(" ,，、;；:：.。!！?？")
    for left, right in _PAIRS:
        if sentence.startswith(left) and right not in sentence:
            sentence = sentence[1:].lstrip()
        if sentence.endswith(right) and left not in sentence and right != "’":
            sentence = sentence[:-1].rstrip()
    if sentence.count('"') == 1:
        sentence = sentence.strip('"').strip()
    return sentence
