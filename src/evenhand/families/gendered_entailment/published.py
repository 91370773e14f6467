"""The published evaluation sets of Sharma, Dey and Sinha 2021, read from the authors' three spreadsheets in their own form.

In the SNLI and MNLI files the header row was sorted into the middle of the data; the out-of-distribution file has no hypotheses, which are made from the
paper's three templates in turn. Every occupation has its majority gender as published. The premises are left as they are, "a accountant" included.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenhand.core.errors import InputError
from evenhand.core.fetch import find_published
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.gendered_entailment.twins import twins
from evenhand.families.gendered_entailment.labour import built_in, lean, read_shares

FILES = {
    "snli": ("SNLI_Evaluation_Set.xlsx", 50),
    "mnli": ("MNLI_Evaluation_Set.xlsx", 50),
    "ood": ("OOD_Evaluation_Set.xlsx", 100),
}
TEMPLATES = (
    "This text speaks of a {} profession",
    "This text talks about a {} occupation",
    "This text mentions a {} profession",
)
OCCUPATIONS = 38
_GENDERS = {"F": "female", "M": "male"}
_NEEDED = ("sentence1", "occupation", "gender")
ADVICE = "The sets state no licence and are not fetched: download them from the authors' repository (github shanyas10/Evaluating-gender-bias) and name the folder with --data."


def read_sheet(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The rows with their numbers, wherever the header row stands."""
    import openpyxl

    try:
        book = openpyxl.load_workbook(path, read_only=True)
        rows = [
            (i, list(row))
            for i, row in enumerate(book.worksheets[0].iter_rows(values_only=True), 1)
        ]
    except Exception as error:  # zipfile, XML and openpyxl errors alike
        raise InputError(path, f"is not a spreadsheet ({error})") from error
    header = next(((i, row) for i, row in rows if all(name in row for name in _NEEDED)), None)
    if header is None:
        raise InputError(path, f"no row has the column names {', '.join(_NEEDED)}")
    names = [str(cell) for cell in header[1]]
    return [(i, dict(zip(names, row, strict=True))) for i, row in rows if i != header[0]]


def _probes(
    path: Path, variant: str, shares: dict[str, float], dominance: float
) -> Iterator[Probe]:
    for order, (number, row) in enumerate(read_sheet(path)):
        premise, occupation, majority = (
            row["sentence1"],
            row["occupation"],
            _GENDERS.get(str(row["gender"])),
        )
        if not premise or not occupation or majority is None:
            raise InputError(
                path,
                f"premise {premise!r}, occupation {occupation!r}, gender {row['gender']!r}: one is missing or unknown",
                row=number,
            )
        template = TEMPLATES[order % len(TEMPLATES)]
        hypotheses = {
            g: str(row.get(f"hypothesis_{g[0]}") or template.format(g)) for g in ("female", "male")
        }
        share = shares.get(str(occupation).lower())
        yield from twins(
            stem=f"{variant}/{number}",
            language="en",
            premise=str(premise),
            hypotheses=hypotheses,
            occupation=str(occupation),
            majority=majority,
            lean="none" if share is None else lean(share, dominance),
            share=share,
            tags={},
        )


class Sharma2021:
    """The authors' in-distribution (snli, mnli) and out-of-distribution (ood) sets."""

    name = "sharma2021"
    version = "2021"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en",)
    variants: tuple[str, ...] = tuple(FILES)
    is_published = True
    licence = "none stated"
    citation = "Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference."
    description = (
        "The published premises of 38 occupations: 1900 (SNLI), 1900 (MNLI), 3800 (ANLI and QNLI)."
    )

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """One of the three sets."""
        variant = options.variant or self.variants[0]
        name, each = FILES[variant]
        path = find_published(self.name, name, options.data, ADVICE)
        shares = read_shares(options.shares) if options.shares else built_in()
        probes = tuple(_probes(path, variant, shares, options.dominance))
        counts = Counter(p.cluster for p in probes)
        if len(counts) != OCCUPATIONS or set(counts.values()) != {2 * each}:
            odd = (
                ", ".join(f"{o} {c // 2}" for o, c in sorted(counts.items()) if c != 2 * each)
                or f"{len(counts)} occupations"
            )
            raise InputError(
                path,
                f"the published set has {OCCUPATIONS} occupations with {each} premises each; here: {odd}",
            )
        card = SuiteCard(
            name=f"{self.name}:{variant}",
            version=self.version,
            language=language,
            source="github shanyas10/Evaluating-gender-bias",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
        )
        return Suite(card=card, probes=probes)


SUITE = Sharma2021()
