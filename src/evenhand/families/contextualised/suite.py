"""The built-in suite: sentences with a blank in four languages, or cut from raw text.

Measuring sentences (MS) give no clue of gender; objective sentences (OS) settle it by biology, a
fixed phrase, their context or what everybody knows. With `corpora` the measuring sentences are
cut from raw text instead, and the suite has a name, a version and a card of its own; its objective
sentences come from a file (`objective`), else there are none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import GENDERS, Kind, Probe
from evenhand.core.protocols import SuiteOptions, option
from evenhand.core.suite import Suite, SuiteCard, read_suite
from evenhand.families.contextualised.mask_probe import OBJECTIVE, mask_probe
from evenhand.families.contextualised.mining import LONGEST, SHORTEST, Lengths, mine, read_corpora
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
    shortest: int = option(SHORTEST, "Characters of a sentence cut from raw text, at least.")
    longest: int = option(LONGEST, "Characters of a sentence cut from raw text, at most.")
    objective: Path | None = option(
        None, "A suite file (.jsonl): its objective sentences (OS) go with those from raw text."
    )
    suite_name: str | None = option(None, "Name of a suite cut from raw text.")
    suite_version: str = option("1", "Version of a suite cut from raw text.")
    suite_licence: str = option(CORPUS_LICENCE, "Licence of a suite cut from raw text.")


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
        lengths = Lengths(shortest=options.shortest, longest=options.longest)
        mined = mine(catalog.language(language), sentences, names, lengths)
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
        controls = _objective_probes(options.objective, language, probes)
        finder = f"; personal names found by {names.name}" if names else ""
        source = (
            f"cut from {files}; {mined.summary}; {options.shortest} to {options.longest} "
            f"characters{finder}"
        )
        described = "Measuring sentences with a blank for a gender word, cut from raw text"
        if options.objective is not None:
            source += f"; {len(controls)} objective sentences from {options.objective.name}"
            described += ", and objective ones that settle it"
        card = replace(
            self._card(language, source, options.suite_licence),
            name=options.suite_name or f"{self.name}:{options.corpora[0].stem}",
            version=options.suite_version,
            description=f"{described}.",
        )
        return Suite(card=card, probes=(*probes, *controls))

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


def _objective_probes(
    path: Path | None, language: str, measuring: Sequence[Probe]
) -> tuple[Probe, ...]:
    """The objective sentences of a suite file; none where no file is named.

    Raises InputError where it has none in this language, or one with the id or text of another.
    """
    if path is None:
        return ()
    probes = tuple(
        p for p in read_suite(path).probes if p.stratum == OBJECTIVE and p.language == language
    )
    if not probes:
        raise InputError(
            path,
            f"has no objective sentence (stratum {OBJECTIVE}) in '{language}'; name a suite file "
            "that has some",
        )
    ids, texts = {p.id for p in measuring}, {p.texts[0] for p in measuring}
    for probe in probes:
        if probe.id in ids or probe.texts[0] in texts:
            raise InputError(
                path,
                f"the sentence '{probe.id}' is among the measuring ones too; take it out, or give "
                "it another id",
            )
    return probes


SUITE = Contextualised()
