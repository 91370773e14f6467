"""Labour statistics: the share of women among the workers of an occupation, and its lean.

Built-in figures, or a table of any country and year.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand import lexicons
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions, option

DOMINANCE = 70.0  # percent; "dominated" in Sharma et al. 2021
SHARE = "share_women"  # the tag of a probe that holds the share of its occupation
_NAME_COLUMNS = ("occupation", "word", "job", "title")
_SHARE_COLUMNS = ("share", "share_women", "percent_women", "women")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabourOptions(SuiteOptions):
    """How the suites of gendered entailment take labour statistics."""

    shares: Path | None = option(
        None,
        "Table of occupation and share of women in percent (.csv, .tsv, .jsonl) instead of the "
        "built-in 2019 figures.",
    )
    dominance: float = option(
        DOMINANCE,
        "Percent of the workers that make an occupation male- or female-dominated, "
        "at least 50 and below 100.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupation:
    """An occupation and the gender of its workers: female, male or none."""

    name: str
    majority: str  # who has more than half
    lean: str  # who has more than the threshold of dominance
    share: float | None  # percent of women, where it is known

    @property
    def tags(self) -> dict[str, str]:
        """The tags of a probe about this occupation."""
        tags = {"occupation": self.name, "majority": self.majority, "lean": self.lean}
        return tags if self.share is None else {**tags, SHARE: f"{self.share:g}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabourStatistics:
    """Shares of women in percent by the English name of an occupation, in lower case."""

    shares: Mapping[str, float]
    dominance: float = DOMINANCE

    @classmethod
    def of(cls, options: LabourOptions) -> LabourStatistics:
        """The table that the options name, else the built-in figures."""
        shares = read_shares(options.shares) if options.shares else built_in_shares()
        return cls(shares=shares, dominance=options.dominance)

    def knows(self, english: str) -> bool:
        """Whether the share of this occupation is known."""
        return english.lower() in self.shares

    def occupation(self, name: str, english: str = "", published: str = "none") -> Occupation:
        """What is known of an occupation.

        english: its English name, where `name` is not; published: its majority gender where it is
        given and not computed from the share.
        """
        share = self.shares.get((english or name).lower())
        if share is None:
            return Occupation(name=name, majority=published, lean="none", share=None)
        return Occupation(
            name=name, majority=majority(share), lean=lean(share, self.dominance), share=share
        )


def built_in_shares() -> dict[str, float]:
    """US Current Population Survey 2019, percent of women, by English word."""
    rows = [*lexicons.table("en", "workforce"), *lexicons.table("en", "occupations")]
    return {row["word"].lower(): float(row["share_women"]) for row in rows if row["share_women"]}


def read_shares(path: Path) -> dict[str, float]:
    """The shares of a table with the columns occupation and share (percent of women).

    Raises InputError that names the columns or the row that is wrong.
    """
    rows = read_rows(path)
    columns = list(rows[0][1])
    name_column = next((c for c in _NAME_COLUMNS if c in columns), None)
    share_column = next((c for c in _SHARE_COLUMNS if c in columns), None)
    if name_column is None or share_column is None:
        raise InputError(
            path,
            f"has the columns {', '.join(columns)}; "
            "needed are occupation and share (percent of women)",
        )
    shares: dict[str, float] = {}
    for number, row in rows:
        cell, name = row.get(share_column), row.get(name_column, "")
        try:
            share = float(str(cell))
        except ValueError as error:
            raise InputError(path, f"share {cell!r} is no number", row=number) from error
        if not 0 <= share <= 100:
            reason = f"share {share:g} of '{name}' is outside 0 to 100 percent"
            raise InputError(path, reason, row=number)
        shares[str(name).strip().lower()] = share
    return shares


def lean(share: float, dominance: float = DOMINANCE) -> str:
    """female, male or none: the gender that has more than `dominance` percent of the workers.

    Raises EvenhandError where `dominance` is below 50 or not below 100.
    """
    if not 50 <= dominance < 100:
        raise EvenhandError(
            f"dominance is {dominance:g}; give a percentage of at least 50 and below 100"
        )
    return "female" if share > dominance else "male" if share < 100 - dominance else "none"


def majority(share: float) -> str:
    """female, male or, at exactly half, none."""
    return "female" if share > 50 else "male" if share < 50 else "none"


def with_shares(answers: Answers, shares: Mapping[str, float]) -> Answers:
    """The answers with the shares of another table; other occupations lose their share."""

    def tagged(probe: Probe) -> Probe:
        tags = {name: text for name, text in probe.tags.items() if name != SHARE}
        share = shares.get(probe.tags.get("occupation", "").lower())
        if share is not None:
            tags[SHARE] = f"{share:g}"
        return dataclasses.replace(probe, tags=tags)

    return dataclasses.replace(answers, probes=tuple(map(tagged, answers.probes)))
