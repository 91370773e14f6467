"""Does a model expect a man or a woman where the sentence does not say? Own sentences in four languages, or cut from raw text.

Measuring sentences (MS) give no clue of gender; objective sentences (OS) settle it by biology, a fixed phrase, their context or what everybody knows.
With `corpora` the measuring sentences are cut from raw text instead; there are then no objective ones.
"""

from __future__ import annotations

from evenhand import lexicons
from evenhand.core.probe import GENDERS, Kind
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.mask_probe import mask_probe


class Contextualised:
    """The built-in suite and the builder."""

    name = "contextualised"
    version = "1.0"
    kind: Kind = "mask"
    languages: tuple[str, ...] = lexicons.languages_with("contextualised")
    variants: tuple[str, ...] = ("built-in",)
    is_published = False
    licence = "Apache-2.0"
    citation = "evenhand; after Zhu, Du, Zhao, Liu, Liu (2024). Do PLMs and Annotators Share the Same Gender Bias?"
    description = "Sentences with a blank for a gender word: measuring ones that give no clue, and objective ones that settle it."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language."""
        if options.corpora:
            from evenhand.families.contextualised.mining import mine_sentences

            return mine_sentences(self, language, options)
        probes = tuple(
            mask_probe(
                identity=f"{language}/{row['id']}",
                language=language,
                text=row["text"],
                male=row["male"],
                female=row["female"],
                gold=row["gold"],
                tags={"topic": row["topic"], "type": row["type"]},
            )
            for row in lexicons.table(language, "contextualised")
        )
        return Suite(card=self.card(language, "lexicons of evenhand", self.licence), probes=probes)

    def card(self, language: str, source: str, licence: str) -> SuiteCard:
        """Where the sentences come from."""
        return SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source=source,
            licence=licence,
            citation=self.citation,
            description=self.description,
            labels=GENDERS,
        )


SUITE = Contextualised()
