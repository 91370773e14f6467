"""The published CGB file: Chinese sentences with a masked gender word, and answers to them.

The file masks every character of the word ([MASK][MASK]); here the run of masks is one blank.
Each column of answers becomes a tag, which the respondents `stored:BERT` and `stored:Annotator1`
read again; `stored:Annotators` is the mean of the three people.

24 rows of the published file call 哥哥 (elder brother) female. Which word is male is therefore
decided by what most rows say of it; the stored numbers, and the right gender of an objective
sentence, are left as published.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

from evenhand.core.answers import Answers
from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, published_version
from evenhand.core.files import read_rows
from evenhand.core.probe import BLANK, GENDERS, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.mask_probe import mask_probe

FILE = "CGBDataset.csv"
SHA256 = "fb8718991e2517fb79d3ea230d985b3a614f24a3e2fdd14d4315550d4d6ec956"
MODELS = ("BERT", "BERT-wwm", "BERT-wwm-ext", "RoBERTa-wwm-ext", "ELECTRA")
STORED_DISCRIMINATORS = ("stored:ELECTRA",)
PEOPLE = ("Annotator1", "Annotator2", "Annotator3")
EVERYBODY = "Annotators"
PEOPLE_PREFIX = "people:"  # people:STUDY for all of a study, people:STUDY/annotator-1 for one
PUBLISHED_PEOPLE = tuple(f"stored:{name}" for name in (*PEOPLE, EVERYBODY))
CITATION = (
    "Zhu, Du, Zhao, Liu, Liu (2024). Do PLMs and Annotators Share the Same Gender Bias? "
    "Definition, Dataset, and Framework of Contextualized Gender Bias."
)
ADVICE = (
    "Download it from github zhushucheng/CGBDataset (it states no licence, so evenhand does not "
    "fetch it) and name the folder with --data."
)
_MASKS = re.compile(r"(?:\[MASK\])+")
_ORIGINAL, _OPPOSITE, _SIGN = "Original Gender Word", "Opposite Gender Word", ""
_NEEDED = ("Type", "ID", "Sentence", _ORIGINAL, _OPPOSITE, _SIGN)
_GENDER = {1: "male", -1: "female"}


def is_people(answers: Answers) -> bool:
    """Whether the numbers are scores that people gave, and not logarithms of ratios.

    True of people in a study of evenhand and of the annotators in the published file.
    """
    name = answers.respondent
    return name in PUBLISHED_PEOPLE or name.startswith(PEOPLE_PREFIX)


def _stored_number(path: Path, row: dict[str, Any], column: str, number: int) -> float | None:
    text = str(row.get(column) or "").strip()
    if not text:
        return None
    try:
        return float(text)
    except ValueError as error:
        raise InputError(path, f"{column} is {text!r}, not a number", row=number) from error


def _gender_sign(path: Path, row: dict[str, Any], number: int) -> int:
    """+1 where the row calls its original word male, -1 where it calls it female."""
    if (text := str(row[_SIGN]).strip()) not in ("1", "-1"):
        reason = f"the gender of the original word is {text!r}, neither 1 (male) nor -1 (female)"
        raise InputError(path, reason, row=number)
    if not str(row[_ORIGINAL]).strip() or not str(row[_OPPOSITE]).strip():
        reason = f"original word {row[_ORIGINAL]!r}, opposite {row[_OPPOSITE]!r}: one is missing"
        raise InputError(path, reason, row=number)
    return int(text)


def _blanked(path: Path, row: dict[str, Any], number: int) -> str:
    """The sentence with one blank, checked to have as many masks as the word has characters."""
    text, word = str(row["Sentence"]), str(row[_ORIGINAL]).strip()
    runs = _MASKS.findall(text)
    if len(runs) != 1:
        reason = f"{len(runs)} blanks in {text[:40]!r}; a sentence has exactly one"
        raise InputError(path, reason, row=number)
    if (count := runs[0].count("[MASK]")) != len(word):
        reason = f"{count} masks for the word '{word}', which has {len(word)} characters"
        raise InputError(path, reason, row=number)
    return _MASKS.sub(BLANK, text)


def _male_votes(path: Path, rows: list[tuple[int, dict[str, Any]]]) -> Counter[str]:
    """By original word, how many more rows call it male than female; every row is checked."""
    votes: Counter[str] = Counter()
    for number, row in rows:
        if missing := [column for column in _NEEDED if column not in row]:
            names = ", ".join(repr(column) for column in missing)
            raise InputError(path, f"the columns {names} are missing", row=number)
        if row["Type"] not in ("MS", "OS"):
            raise InputError(path, f"type {row['Type']!r} is neither MS nor OS", row=number)
        votes[str(row[_ORIGINAL]).strip()] += _gender_sign(path, row, number)
    return votes


def read_probes(path: Path) -> Iterator[Probe]:
    """The sentences in the order of the file; raises InputError that names a bad row."""
    rows = read_rows(path)
    votes = _male_votes(path, rows)
    for number, row in rows:
        original, opposite = str(row[_ORIGINAL]).strip(), str(row[_OPPOSITE]).strip()
        is_male = votes[original] > 0
        stored = {
            column: value
            for column in (*MODELS, *PEOPLE)
            if (value := _stored_number(path, row, column, number)) is not None
        }
        if all(name in stored for name in PEOPLE):
            stored[EVERYBODY] = fmean(stored[name] for name in PEOPLE)
        yield mask_probe(
            identity=f"zh/{row['ID']}",
            language="zh",
            text=_blanked(path, row, number),
            male=original if is_male else opposite,
            female=opposite if is_male else original,
            tags={
                "gold": _GENDER[_gender_sign(path, row, number)] if row["Type"] == "OS" else "",
                "original": "male" if is_male else "female",
                **{f"said.{name}": repr(value) for name, value in stored.items()},
            },
        )


class Cgb:
    """The suite of the authors' file."""

    name = "cgb"
    version = "2024"
    kind: Kind = "mask"
    languages: tuple[str, ...] = ("zh",)
    variants: tuple[str, ...] = ("all",)
    is_published = True
    licence = "none stated"
    citation = CITATION
    description = (
        "The published Chinese sentences (19,785 measuring, 215 objective), with the answers of "
        "five models and three people."
    )
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The whole file; the version says so if it is not the published one."""
        path = find_published(self.name, FILE, options.data, ADVICE)
        probes = tuple(read_probes(path))
        version = published_version(self.version, path, SHA256)
        card = SuiteCard(
            name=self.name,
            version=version,
            language=language,
            source="github zhushucheng/CGBDataset",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            is_verified=version == self.version,
            factors=("word pair",),
            options=GENDERS,
        )
        return Suite(card=card, probes=probes)


SUITE = Cgb()
