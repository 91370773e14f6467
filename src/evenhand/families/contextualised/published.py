"""The published CGB data set: 20,000 Chinese news sentences with a masked gender word, and what five models and three annotators said to them.

The file masks every character of the word ([MASK][MASK]); here the run of masks is one blank. Each column of answers becomes a tag, so that
`stored:BERT` or `stored:Annotator1` answers again, and `stored:Annotators` is the mean of the three people.

24 rows of the published file call 哥哥 (elder brother) female. Which word is male is therefore read from what the file says of a word most often; the stored
numbers and the gender that is right in an objective sentence are left as published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, text_digest
from evenhand.core.files import read_rows
from evenhand.core.probe import BLANK, GENDERS, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.mask_probe import mask_probe

FILE = "CGBDataset.csv"
SHA256 = "fb8718991e2517fb79d3ea230d985b3a614f24a3e2fdd14d4315550d4d6ec956"
MODELS = ("BERT", "BERT-wwm", "BERT-wwm-ext", "RoBERTa-wwm-ext", "ELECTRA")
PEOPLE = ("Annotator1", "Annotator2", "Annotator3")
EVERYBODY = "Annotators"
ADVICE = "Download it from github zhushucheng/CGBDataset (it states no licence, so evenhand does not fetch it) and name the folder with --data."
_MASKS = re.compile(r"(?:\[MASK\])+")
_ORIGINAL, _OPPOSITE = "Original Gender Word", "Opposite Gender Word"
_NEEDED = ("Type", "ID", "Sentence", _ORIGINAL, _OPPOSITE, "")
_GENDER = {1: "male", -1: "female"}


def _number(path: Path, row: dict[str, Any], column: str, number: int) -> float | None:
    told = str(row.get(column) or "").strip()
    if not told:
        return None
    try:
        return float(told)
    except ValueError as error:
        raise InputError(path, f"{column} is {told!r}, not a number", row=number) from error


def _sign(path: Path, row: dict[str, Any], number: int) -> int:
    """+1 where the row calls its original word male, -1 where it calls it female."""
    if (told := str(row[""]).strip()) not in ("1", "-1"):
        raise InputError(
            path,
            f"the gender of the original word is {told!r}, neither 1 (male) nor -1 (female)",
            row=number,
        )
    if not str(row[_ORIGINAL]).strip() or not str(row[_OPPOSITE]).strip():
        raise InputError(
            path,
            f"original word {row[_ORIGINAL]!r}, opposite {row[_OPPOSITE]!r}: one is missing",
            row=number,
        )
    return int(told)


def _text(path: Path, row: dict[str, Any], number: int) -> str:
    """The sentence with one blank, after a check that there are as many masks as the word has characters."""
    text, word = str(row["Sentence"]), str(row[_ORIGINAL]).strip()
    runs = _MASKS.findall(text)
    if len(runs) != 1:
        raise InputError(
            path, f"{len(runs)} blanks in {text[:40]!r}; a sentence has exactly one", row=number
        )
    if (count := runs[0].count("[MASK]")) != len(word):
        raise InputError(
            path,
            f"{count} masks for the word '{word}', which has {len(word)} characters",
            row=number,
        )
    return _MASKS.sub(BLANK, text)


def read_probes(path: Path) -> Iterator[Probe]:
    """The sentences in the order of the file."""
    rows = read_rows(path)
    votes: Counter[str] = Counter()
    for number, row in rows:
        if missing := [c for c in _NEEDED if c not in row]:
            raise InputError(
                path, f"the columns {', '.join(repr(c) for c in missing)} are missing", row=number
            )
        if row["Type"] not in ("MS", "OS"):
            raise InputError(path, f"type {row['Type']!r} is neither MS nor OS", row=number)
        votes[str(row[_ORIGINAL]).strip()] += _sign(path, row, number)
    for number, row in rows:
        original, opposite = str(row[_ORIGINAL]).strip(), str(row[_OPPOSITE]).strip()
        is_male = votes[original] > 0
        said = {
            c: v for c in (*MODELS, *PEOPLE) if (v := _number(path, row, c, number)) is not None
        }
        if all(p in said for p in PEOPLE):
            said[EVERYBODY] = fmean(said[p] for p in PEOPLE)
        yield mask_probe(
            identity=f"zh/{row['ID']}",
            language="zh",
            text=_text(path, row, number),
            male=original if is_male else opposite,
            female=opposite if is_male else original,
            gold=_GENDER[_sign(path, row, number)] if row["Type"] == "OS" else "",
            tags={
                "original": "male" if is_male else "female",
                **{f"said.{c}": repr(v) for c, v in said.items()},
            },
        )


class Cgb:
    """The authors' file."""

    name = "cgb"
    version = "2024"
    kind: Kind = "mask"
    languages: tuple[str, ...] = ("zh",)
    variants: tuple[str, ...] = ("all",)
    is_published = True
    licence = "none stated"
    citation = "Zhu, Du, Zhao, Liu, Liu (2024). Do PLMs and Annotators Share the Same Gender Bias? Definition, Dataset, and Framework of Contextualized Gender Bias."
    description = "The published Chinese sentences (19,785 measuring, 215 objective), with the answers of five models and three people."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The whole file; its version says so where it is not the published one."""
        path = find_published(self.name, FILE, options.data, ADVICE)
        probes = tuple(read_probes(path))
        is_original = text_digest(path.read_bytes()) == SHA256
        card = SuiteCard(
            name=self.name,
            version=self.version if is_original else f"{self.version}-changed",
            language=language,
            source="github zhushucheng/CGBDataset",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            labels=GENDERS,
        )
        return Suite(card=card, probes=probes)


SUITE = Cgb()
