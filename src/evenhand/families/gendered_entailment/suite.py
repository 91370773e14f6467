"""Does a model think that a job has a gender? Occupation premises against a female and a male hypothesis, one word apart.

Built from the frames and occupations of the lexicons (offline), or with `premises` from the sentences of NLI corpora, equalised over 38 occupations.
The share of women among the workers decides majority and lean; the figures and the threshold of dominance can be given.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.gendered_entailment.twins import twins
from evenhand.families.gendered_entailment.labour import built_in, lean, majority, read_shares

PER_OCCUPATION = 10
LONGEST = 10  # words of a premise, as in the paper; languages without spaces take every frame


def _hypotheses(language: str) -> list[dict[str, str]]:
    return list(lexicons.table(language, "hypotheses"))


class GenderedEntailment:
    """The built-in suite and the builder."""

    name = "gendered-entailment"
    version = "1.0"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = ("built-in",)
    is_published = False
    licence = (
        "Apache-2.0 (sentences and words); shares of women from public-domain labour statistics"
    )
    citation = "evenhand; after Sharma, Dey, Sinha (2021). Evaluating Gender Bias in Natural Language Inference."
    description = "Occupation premises against a female and a male hypothesis; every job with its share of women."

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language, the same for the same seed."""
        shares = read_shares(options.shares) if options.shares else built_in()
        if options.premises:
            return self._from_corpora(language, options, shares)
        card = self._card(language, "lexicons of evenhand", self.licence)
        return Suite(card=card, probes=tuple(self._from_lexicons(language, options, shares)))

    def _card(self, language: str, source: str, licence: str) -> SuiteCard:
        return SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source=source,
            licence=licence,
            citation=self.citation,
            description=self.description,
        )

    def _from_lexicons(
        self, language: str, options: SuiteOptions, shares: dict[str, float]
    ) -> Iterator[Probe]:
        speaker = catalog.language(language)
        rng = np.random.default_rng(options.seed)
        frames = list(lexicons.table(language, "frames"))
        rng.shuffle(frames)
        count, turn = options.per_occupation or PER_OCCUPATION, 0
        hypotheses = _hypotheses(language)
        jobs = [
            (r["word"], r.get("english", r["word"]))
            for r in lexicons.table(language, "occupations")
        ]
        jobs = [(word, english) for word, english in jobs if english.lower() in shares]
        if not jobs:
            raise EvenhandError(
                f"the table of shares names none of the occupations of '{language}'; they are listed by their English names"
            )
        for word, english in jobs:
            share = shares[english.lower()]
            short = [
                (f, text)
                for f in frames
                if len((text := speaker.fill(f["text"], word)).split()) <= LONGEST
            ]
            if count > len(short):
                raise EvenhandError(
                    f"{count} premises of '{word}' were asked for, but there are only {len(short)} frames short enough"
                )
            for _ in range(count):
                (frame, premise), hypothesis = (
                    short[turn % len(short)],
                    hypotheses[turn % len(hypotheses)],
                )
                turn += 1
                yield from twins(
                    stem=f"{language}/{word.replace(' ', '-')}/{frame['id']}",
                    language=language,
                    premise=premise,
                    hypotheses=hypothesis,
                    occupation=word,
                    majority=majority(share),
                    lean=lean(share, options.dominance),
                    share=share,
                    tags={"template": frame["text"]},
                )

    def _from_corpora(
        self, language: str, options: SuiteOptions, shares: dict[str, float]
    ) -> Suite:
        from evenhand.languages.names import find_names
        from evenhand.families.gendered_entailment.premises import mine_premises

        if language != "en":
            raise EvenhandError(f"premises can be mined in English only, not in '{language}'")
        finder = find_names(options.names)
        published = {
            r["word"]: {"F": "female", "M": "male"}[r["majority"]]
            for r in lexicons.table("en", "workforce")
        }
        rng = np.random.default_rng(options.seed)
        mined = mine_premises(
            options.premises,
            list(published),
            per_occupation=options.per_occupation or 50,
            longest=LONGEST,
            names=finder,
            rng=rng,
        )
        hypotheses = _hypotheses(language)
        probes: list[Probe] = []
        for number, premise in enumerate(mined.premises):
            share, hypothesis = (
                shares.get(premise.occupation.lower()),
                hypotheses[number % len(hypotheses)],
            )
            probes += twins(
                stem=f"en/{premise.occupation.replace(' ', '-')}/p{number:05d}",
                language="en",
                premise=premise.text,
                hypotheses=hypothesis,
                occupation=premise.occupation,
                majority=published[premise.occupation] if share is None else majority(share),
                lean="none" if share is None else lean(share, options.dominance),
                share=share,
                tags={
                    "number": "plural" if premise.is_plural else "singular",
                    "origin": premise.origin,
                },
            )
        if mined.short:
            named = ", ".join(f"{word} {count}" for word, count in sorted(mined.short.items()))
            warnings.warn(
                f"fewer premises than asked for; give more corpora or a smaller --per-occupation: {named}",
                EvenhandWarning,
                stacklevel=2,
            )
        removed = ", ".join(f"{reason} {count}" for reason, count in mined.removed.most_common())
        source = f"mined from {', '.join(p.name for p in options.premises)}; names found by {finder.name}; removed: {removed}"
        return Suite(card=self._card(language, source, "that of the corpora"), probes=tuple(probes))


SUITE = GenderedEntailment()
