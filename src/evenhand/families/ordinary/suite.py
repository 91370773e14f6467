"""ordinary-nli: clear pairs with three labels, written for evenhand."""

from __future__ import annotations

from evenhand import lexicons
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.ordinary.measures import STRATUM


class OrdinaryNli:
    """The pairs whose accuracy is reported with every bias score."""

    name = "ordinary-nli"
    version = "1.0"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = ("all",)
    is_published = False
    licence = "Apache-2.0"
    citation = "evenhand"
    description = (
        "Clear NLI pairs without occupations or gender, to tell a biased model from one that does "
        "not understand."
    )
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The pairs of one language."""
        probes = tuple(
            Probe(
                id=f"{language}/{row['id']}",
                kind="pair",
                language=language,
                texts=(row["premise"], row["hypothesis"]),
                stratum=STRATUM,
                cluster=row["id"],
                tags={
                    "gold": row["label"],
                    "phenomenon": row["phenomenon"],
                    "fair": row["label"],
                    "stereotyped": row["label"],
                },
            )
            for row in lexicons.table(language, "pairs")
        )
        card = SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source="lexicons of evenhand",
            licence=self.licence,
            citation=self.citation,
            description=self.description,
        )
        return Suite(card=card, probes=probes)


SUITE = OrdinaryNli()
