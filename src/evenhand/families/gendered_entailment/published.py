"""sharma2021: the published evaluation sets, read from the authors' three spreadsheets.

In the SNLI and MNLI files the header row was sorted into the middle of the data; the
out-of-distribution file has no hypotheses, which are made from the paper's three templates in
turn. Every occupation has its majority gender as published. The premises are not corrected,
"a accountant" included.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published, published_version
from evenhand.core.probe import GENDERS, Kind
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.gendered_entailment.labour import LabourOptions, LabourStatistics
from evenhand.families.gendered_entailment.suite import (
    PUBLISHED,
    TwinPremise,
    find_hypotheses,
    twins,
)


class Sheet(NamedTuple):
    """A published spreadsheet: its file, premises of each occupation, SHA-256."""

    file: str
    each: int
    sha256: str


SHEETS = {
    "snli": Sheet(
        "SNLI_Evaluation_Set.xlsx",
        50,
        "d65436eb191526f941c294b36801a40a065a8b3f99c48a85912b2d32ff6faa02",
    ),
    "mnli": Sheet(
        "MNLI_Evaluation_Set.xlsx",
        50,
        "05e62fbacde59356c6be293000c8ac78a3e88224ed2567a77ee300b855d9520a",
    ),
    "ood": Sheet(
        "OOD_Evaluation_Set.xlsx",
        100,
        "45bdd78d2bf3091e12c7140c232472f9061aac4eb08050f5c84fbc9688c6e3ba",
    ),
}
OCCUPATIONS = 38
ADVICE = (
    "The sets state no licence and are not fetched: download them from the authors' repository "
    "(github shanyas10/Evaluating-gender-bias) and name the folder with --data."
)
_MAJORITIES = {"F": "female", "M": "male"}
_NEEDED = ("sentence1", "occupation", "gender")


def read_sheet(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a spreadsheet with their numbers, wherever the header row stands.

    Raises InputError where it is not a spreadsheet or has no header row.
    """
    import openpyxl

    try:
        book = openpyxl.load_workbook(path, read_only=True)
        sheet = book.worksheets[0].iter_rows(values_only=True)
        rows = [(number, list(row)) for number, row in enumerate(sheet, 1)]
    except Exception as error:  # zipfile, XML and openpyxl errors alike
        raise InputError(path, f"is not a spreadsheet ({error})") from error
    header = next(((i, row) for i, row in rows if all(name in row for name in _NEEDED)), None)
    if header is None:
        raise InputError(path, f"no row has the column names {', '.join(_NEEDED)}")
    names = [str(cell) for cell in header[1]]
    return [(i, dict(zip(names, row, strict=True))) for i, row in rows if i != header[0]]


def _premises(path: Path, variant: str, labour: LabourStatistics) -> Iterator[TwinPremise]:
    """The premises of a sheet; a majority that no other source of leans gives is the published."""
    templates = find_hypotheses("en", PUBLISHED)
    for order, (number, row) in enumerate(read_sheet(path)):
        text, name, gender = (row[column] for column in _NEEDED)
        majority = _MAJORITIES.get(str(gender))
        if not text or not name or majority is None:
            raise InputError(
                path,
                f"premise {text!r}, occupation {name!r}, gender {gender!r}: "
                "one is missing or unknown",
                row=number,
            )
        template = templates[order % len(templates)]
        occupation = labour.occupation(str(name))
        if labour.leans is None:
            occupation = dataclasses.replace(occupation, majority=majority)
        yield TwinPremise(
            stem=f"{variant}/{number}",
            language="en",
            text=str(text),
            hypotheses={g: str(row.get(f"hypothesis_{g[0]}") or template[g]) for g in GENDERS},
            occupation=occupation,
            tags={"template": _frame(str(text), str(name))},
        )


def _frame(text: str, occupation: str) -> str:
    """The premise without its occupation: what sentences that were used several times share."""
    plural = f"|{re.escape(occupation[:-1])}ies" if occupation.endswith("y") else ""
    slot = re.compile(rf"\b(an? )?({re.escape(occupation)}(e?s)?{plural})\b", re.IGNORECASE)
    return " ".join(slot.sub("{x}", text).lower().split())


class Sharma2021:
    """The authors' in-distribution (snli, mnli) and out-of-distribution (ood) sets."""

    name = "sharma2021"
    version = "2021"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = tuple(SHEETS)
    is_published = True
    licence = "none stated"
    citation = "Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference."
    description = (
        "The published premises of 38 occupations: 1900 (SNLI), 1900 (MNLI), 3800 (ANLI and QNLI)."
    )
    options: type[SuiteOptions] = LabourOptions

    def build(self, language: str, options: LabourOptions) -> Suite:
        """One of the three sets.

        The version says so where the file is not the published one. Raises LoadError where the
        file is not there, InputError where the set is not complete.
        """
        variant = options.variant or self.variants[0]
        sheet = SHEETS[variant]
        each = sheet.each
        path = find_published(self.name, sheet.file, options.data, ADVICE)
        premises = _premises(path, variant, LabourStatistics.of(options))
        probes = tuple(probe for premise in premises for probe in twins(premise))
        counts = Counter(p.cluster for p in probes)
        if len(counts) != OCCUPATIONS or set(counts.values()) != {2 * each}:
            odd = [f"{o} {c // 2}" for o, c in sorted(counts.items()) if c != 2 * each]
            raise InputError(
                path,
                f"the published set has {OCCUPATIONS} occupations with {each} premises each; "
                f"here: {', '.join(odd) or f'{len(counts)} occupations'}",
            )
        version = published_version(self.version, path, sheet.sha256)
        card = SuiteCard(
            name=f"{self.name}:{variant}",
            version=version,
            language=language,
            source="github shanyas10/Evaluating-gender-bias",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
            is_verified=version == self.version,
            factors=("occupation", "template"),
            within="lean",
        )
        return Suite(card=card, probes=probes)


SUITE = Sharma2021()
