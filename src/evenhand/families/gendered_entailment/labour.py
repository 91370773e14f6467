"""Labour statistics: the share of women among the workers of an occupation, majority and lean.

Built-in figures, or a table of any country and year. Leans may come from another source.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand import lexicons
from evenhand.core.answers import Answers
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions, option
from evenhand.families.leans import (
    DOMINANCE,
    LABOUR,
    LEANS_HELP,
    OccupationLean,
    english_names,
    find_leans,
    labour_lean,
    read_shares,
)

# tags of a probe: the share of women, its distance from half, and where the figure comes from
SHARE, DOMINATION, FIGURES = "share_women", "domination", "share_source"
US_SOURCE = "US CPS 2019"


@dataclass(frozen=True, slots=True, kw_only=True)
class LabourOptions(SuiteOptions):
    """How the suites of gendered entailment take labour statistics and leans."""

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
    leans: str = option(
        LABOUR, f"{LEANS_HELP}; labour goes by the shares in use [default: {LABOUR}]."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Occupation:
    """An occupation, the gender that counts for B, its lean, and the figure behind them."""

    name: str
    majority: str  # who has more than half: female, male, or none, which does not count
    lean: str  # female, male or none; empty where it is not known
    share: float | None  # percent of women, where it is known
    source: str = US_SOURCE  # of the share

    @property
    def tags(self) -> dict[str, str]:
        """The tags of a probe about this occupation; without a lean that is not known."""
        tags = {"occupation": self.name, "majority": self.majority}
        if self.lean:
            tags["lean"] = self.lean
        return tags if self.share is None else {**tags, **share_tags(self.share, self.source)}


def share_tags(share: float, source: str) -> dict[str, str]:
    """The tags that hold a share of women: itself, its distance from 50 percent, its source."""
    return {SHARE: f"{share:g}", DOMINATION: f"{abs(share - 50):g}", FIGURES: source}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabourStatistics:
    """Shares of women in percent by the English name of an occupation, in lower case.

    leans: by the word of the language in lower case, where they do not follow from the shares.
    """

    shares: Mapping[str, float]
    source: str = US_SOURCE
    dominance: float = DOMINANCE
    leans: Mapping[str, OccupationLean] | None = None

    @classmethod
    def of(cls, options: LabourOptions, language: str = "en") -> LabourStatistics:
        """The tables that the options name, else the built-in figures."""
        is_labour = options.leans == LABOUR
        return cls(
            shares=read_shares(options.shares) if options.shares else built_in_shares(),
            source=options.shares.name if options.shares else US_SOURCE,
            dominance=options.dominance,
            leans=None if is_labour else find_leans(language, options.leans, options.dominance),
        )

    def knows(self, name: str, english: str) -> bool:
        """Whether the lean of this occupation is known, by its own or its English name."""
        if self.leans is not None:
            return name.lower() in self.leans
        return english.lower() in self.shares

    def occupation(self, name: str, english: str = "", published: str = "none") -> Occupation:
        """What is known of an occupation.

        english: its English name, where `name` is not; published: its majority gender where it is
        given and not computed from the share.
        """
        share, source = self.shares.get((english or name).lower()), self.source
        if self.leans is not None:
            known = self.leans.get(name.lower())
            if known is None:
                return Occupation(name=name, majority="none", lean="", share=share, source=source)
            if known.share is None:
                own = known.lean
            else:
                own, share = majority(known.share), known.share
                source = US_SOURCE if known.source == LABOUR else known.source
            return Occupation(name=name, majority=own, lean=known.lean, share=share, source=source)
        if share is None:
            return Occupation(name=name, majority=published, lean="", share=None)
        return Occupation(
            name=name,
            majority=majority(share),
            lean=labour_lean(share, self.dominance),
            share=share,
            source=source,
        )


def built_in_shares() -> dict[str, float]:
    """US Current Population Survey 2019, percent of women, by English word."""
    rows = [*lexicons.table("en", "workforce"), *lexicons.table("en", "occupations")]
    return {row["word"].lower(): float(row["share_women"]) for row in rows if row["share_women"]}


def majority(share: float) -> str:
    """female, male or, at exactly half, none."""
    return "female" if share > 50 else "male" if share < 50 else "none"


def with_shares(answers: Answers, shares: Mapping[str, float], source: str) -> Answers:
    """The answers with the shares of another table; other occupations lose their share.

    shares: by the word of the language or its English name, in lower case.
    """

    def tagged(probe: Probe) -> Probe:
        word = probe.tags.get("occupation", "").lower()
        share = shares.get(word, shares.get(english_names(probe.language).get(word, "")))
        tags = {k: v for k, v in probe.tags.items() if k not in (SHARE, DOMINATION, FIGURES)}
        if share is not None:
            tags |= share_tags(share, source)
        return dataclasses.replace(probe, tags=tags)

    return dataclasses.replace(answers, probes=tuple(map(tagged, answers.probes)))
