"""The built-in suite: sentences with a blank in four languages, or cut from raw text.

Measuring sentences (MS) give no clue of gender; objective sentences (OS) settle it by biology, a
fixed phrase, their context or what everybody knows. With `corpora` the measuring sentences are
cut from raw text instead; there are then no objective ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Kind
from evenhand.core.protocols import SuiteOptions, option
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.mask_probe import mask_probe
from evenhand.families.contextualised.mining import mine, read_corpora
from evenhand.languages.names import open_finder

PER_WORD = 100
CORPUS_LICENCE = "that of the corpus"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextualisedOptions(SuiteOptions):
    """Which raw text to cut sentences from, and how many."""

    corpora: tuple[Path, ...] = option((), "Cut the sentences from this raw text.")
    per_word: int = option(PER_WORD, "Sentences of each gender word, at most.")
    name_finder: str | None = option(
        None, "What finds personal names: auto, spacy, lists, or a token classifier."
    )


class Contextualised:
    """The built-in sentences, and those cut from raw text."""

    name = "contextualised"
    version = "1.0"
    kind: Kind = "mask"
    languages: tuple[str, ...] = lexicons.languages_with("contextualised")
    variants: tuple[str, ...] = ("built-in",)
    is_published = False
    licence = "Apache-2.0"
    citation = (
        "evenhand; after Zhu, Du, Zhao, Liu, Liu (2024). "
        "Do PLMs and Annotators Share the Same Gender Bias?"
    )
    description = (
        "Sentences with a blank for a gender word: measuring ones that give no clue, "
        "and objective ones that settle it."
    )
    options: type[SuiteOptions] = ContextualisedOptions

    def build(self, language: str, options: ContextualisedOptions) -> Suite:
        """The suite in one language."""
        if options.corpora:
            return self._build_from_corpora(language, options)
        probes = tuple(
            mask_probe(
                identity=f"{language}/{row['id']}",
                language=language,
                text=row["text"],
                male=row["male"],
                female=row["female"],
                tags={"gold": row["gold"], "topic": row["topic"], "type": row["type"]},
            )
            for row in lexicons.table(language, "contextualised")
        )
        return Suite(card=self._card(language, "lexicons of evenhand", self.licence), probes=probes)

    def _build_from_corpora(self, language: str, options: ContextualisedOptions) -> Suite:
        if options.per_word < 1:
            raise EvenhandError(
                f"{options.per_word} sentences per gender word were asked for; at least 1 is needed"
            )
        sentences = read_corpora(language, options.corpora)
        names = open_finder(language, options.name_finder, [text for text, _ in sentences])
        mined = mine(catalog.language(language), sentences, names)
        mined.balance(options.per_word, np.random.default_rng(options.seed))
        files = ", ".join(dict.fromkeys(path.name for path in options.corpora))
        if not mined.sentences:
            raise EvenhandError(
                f"no measuring sentence in {files}: {mined.summary}. Give a larger corpus; "
                "every pair needs sentences of both its words"
            )
        probes = tuple(
            mask_probe(
                identity=f"{language}/c{number:05d}",
                language=language,
                text=sentence.swap.text,
                male=sentence.swap.male,
                female=sentence.swap.female,
                tags={"original": sentence.swap.gender, "origin": sentence.origin},
            )
            for number, sentence in enumerate(mined.sentences, 1)
        )
        finder = f"; personal names found by {names.name}" if names else ""
        source = f"cut from {files}; {mined.summary}{finder}"
        return Suite(card=self._card(language, source, CORPUS_LICENCE), probes=probes)

    def _card(self, language: str, source: str, licence: str) -> SuiteCard:
        return SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source=source,
            licence=licence,
            citation=self.citation,
            description=self.description,
            factors=("word pair",),
            options=GENDERS,
        )


SUITE = Contextualised()
