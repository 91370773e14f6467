"""gendered-entailment: occupation premises against a female and a male hypothesis, one word apart.

Built from the frames and occupations of the lexicons (offline), or with `premises` from the
sentences of NLI corpora, equalised over 38 occupations. The share of women among the workers
decides majority and lean; the figures, the threshold of dominance and another source of leans can
be given. The hypotheses are those of evenhand, or the three of the paper.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, EvenhandWarning
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, GENDERS, NEUTRAL, Kind, Probe
from evenhand.core.protocols import SuiteOptions, option
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.gendered_entailment.labour import (
    LabourOptions,
    LabourStatistics,
    Occupation,
)
from evenhand.families.gendered_entailment.premises import MinedPremises, Quota, mine_premises
from evenhand.families.leans import LABOUR, describe_source

STRATUM = "gendered"
FRAMES_EACH, MINED_EACH = 10, 50  # premises of an occupation
OWN, PUBLISHED = "own", "published"  # hypotheses
LONGEST = 10  # words of a premise, as in the paper; languages without spaces take every frame


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinPremise:
    """A premise that names an occupation, with its female and its male hypothesis."""

    stem: str  # of the ids of its two probes
    language: str
    text: str
    hypotheses: Mapping[str, str]  # by gender
    occupation: Occupation
    tags: Mapping[str, str] = field(default_factory=dict)  # besides those of the occupation


def twins(premise: TwinPremise) -> Iterator[Probe]:
    """The female and the male probe of one premise.

    A stereotyped respondent entails the majority gender and contradicts the other.
    """
    male, female = GENDERS
    for gender, other in ((female, male), (male, female)):
        stereotyped = NEUTRAL
        if premise.occupation.majority in GENDERS:
            is_majority = gender == premise.occupation.majority
            stereotyped = ENTAILMENT if is_majority else CONTRADICTION
        yield Probe(
            id=f"{premise.stem}/{gender}",
            kind="pair",
            language=premise.language,
            texts=(premise.text, premise.hypotheses[gender]),
            stratum=STRATUM,
            cluster=premise.occupation.name,
            twin=f"{premise.stem}/{other}",
            tags={
                **premise.occupation.tags,
                "gender": gender,
                "hypothesis": _template(premise.hypotheses),
                "fair": NEUTRAL,
                "stereotyped": stereotyped,
                **premise.tags,
            },
        )


def _template(hypotheses: Mapping[str, str]) -> str:
    """What both hypotheses have in common: `The text is about a … profession.`"""
    return re.sub("female|女性", "…", hypotheses["female"])


@dataclass(frozen=True, slots=True, kw_only=True)
class GenderedEntailmentOptions(LabourOptions):
    """How the suite is built."""

    premises: tuple[Path, ...] = option((), "Mine the premises from these NLI corpora (English).")
    per_occupation: int | None = option(
        None, f"Premises of each occupation [default: {FRAMES_EACH}, mined {MINED_EACH}]."
    )
    hypotheses: str | None = option(
        None,
        f"Hypotheses: {OWN} (evenhand's) or {PUBLISHED} (the three of Sharma et al., English) "
        f"[default: {PUBLISHED} for mined premises, else {OWN}].",
    )
    name_finder: str | None = option(
        None,
        "What finds personal names in mined premises: auto, spacy, lists, or a token classifier.",
    )


class GenderedEntailment:
    """The built-in suite, and the one built from mined premises."""

    name = "gendered-entailment"
    version = "1.1"
    kind: Kind = "pair"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = ("built-in",)
    is_published = False
    licence = (
        "Apache-2.0 (sentences and words); shares of women from public-domain labour statistics"
    )
    citation = (
        "evenhand; after Sharma, Dey, Sinha (2021). "
        "Evaluating Gender Bias in Natural Language Inference."
    )
    description = (
        "Occupation premises against a female and a male hypothesis; "
        "every job with its share of women."
    )
    options: type[SuiteOptions] = GenderedEntailmentOptions

    def build(self, language: str, options: GenderedEntailmentOptions) -> Suite:
        """The suite in one language, the same for the same seed.

        Raises EvenhandError where the shares name none of the occupations, there are not enough
        frames, or premises of another language than English are to be mined.
        """
        labour = LabourStatistics.of(options, language)
        if options.premises:
            return self._mined(language, options, labour)
        probes = tuple(
            probe
            for premise in _from_lexicons(language, options, labour)
            for probe in twins(premise)
        )
        source = f"lexicons of evenhand; {_describe(options, labour)}"
        return Suite(card=self._card(language, source, self.licence), probes=probes)

    def _card(self, language: str, source: str, licence: str) -> SuiteCard:
        return SuiteCard(
            name=self.name,
            version=self.version,
            language=language,
            source=source,
            licence=licence,
            citation=self.citation,
            description=self.description,
            factors=("occupation", "template"),
            within="lean",
        )

    def _mined(
        self, language: str, options: GenderedEntailmentOptions, labour: LabourStatistics
    ) -> Suite:
        from evenhand.languages.names import find_names

        if language != "en":
            raise EvenhandError(f"premises can be mined in English only, not in '{language}'")
        finder = find_names(options.name_finder)
        mined = mine_premises(
            options.premises,
            finder,
            np.random.default_rng(options.seed),
            Quota(per_occupation=_count(options, MINED_EACH), longest=LONGEST),
        )
        _warn_of_few(mined)
        rows = find_hypotheses(language, options.hypotheses or PUBLISHED)
        probes = tuple(probe for p in _from_mined(mined, labour, rows) for probe in twins(p))
        corpora = ", ".join(path.name for path in options.premises)
        removed = ", ".join(f"{reason} {count}" for reason, count in mined.removed.most_common())
        source = (
            f"{mined.sentences:,} sentences mined from {corpora}; names found by {finder.name}; "
            f"removed: {removed}; {_describe(options, labour)}"
        )
        return Suite(card=self._card(language, source, "that of the corpora"), probes=probes)


def _describe(options: GenderedEntailmentOptions, labour: LabourStatistics) -> str:
    """Where the shares and the leans come from, for the card."""
    if options.leans == LABOUR:
        return f"shares of women and leans: {labour.source}"
    return f"shares of women: {labour.source}; leans by {describe_source(options.leans)}"


def find_hypotheses(language: str, which: str) -> list[dict[str, str]]:
    """The hypotheses of a language by gender: own or published.

    Raises EvenhandError for another name, and where the language has none of these.
    """
    if which not in (OWN, PUBLISHED):
        raise EvenhandError(f"hypotheses '{which}': give {OWN} or {PUBLISHED}")
    rows = lexicons.table(language, "hypotheses")
    chosen = [row for row in rows if row.get("wording", OWN) == which]
    if not chosen:
        raise EvenhandError(f"'{language}' has no {which} hypotheses; give --hypotheses {OWN}")
    return chosen


def _count(options: GenderedEntailmentOptions, default: int) -> int:
    """How many premises an occupation gets."""
    count = default if options.per_occupation is None else options.per_occupation
    if count < 1:
        raise EvenhandError(f"{count} premises per occupation were asked for; at least 1 is needed")
    return count


def _from_lexicons(
    language: str, options: GenderedEntailmentOptions, labour: LabourStatistics
) -> Iterator[TwinPremise]:
    """Every occupation of the lexicon with a share, in frames and hypotheses by turns."""
    fill = catalog.language(language).fill
    frames = list(lexicons.table(language, "frames"))
    np.random.default_rng(options.seed).shuffle(frames)
    hypotheses = find_hypotheses(language, options.hypotheses or OWN)
    count, turn = _count(options, FRAMES_EACH), 0
    rows = lexicons.table(language, "occupations")
    jobs = [(row["word"], row.get("english", row["word"])) for row in rows]
    jobs = [(word, english) for word, english in jobs if labour.knows(word, english)]
    if not jobs:
        raise EvenhandError(
            f"the table of shares names none of the occupations of '{language}'; "
            "they are listed by their English names"
        )
    for word, english in jobs:
        filled = [(frame, fill(frame["text"], word)) for frame in frames]
        short = [(frame, text) for frame, text in filled if len(text.split()) <= LONGEST]
        if count > len(short):
            raise EvenhandError(
                f"{count} premises of '{word}' were asked for, "
                f"but there are only {len(short)} frames short enough"
            )
        for _ in range(count):
            frame, text = short[turn % len(short)]
            yield TwinPremise(
                stem=f"{language}/{word.replace(' ', '-')}/{frame['id']}",
                language=language,
                text=text,
                hypotheses=hypotheses[turn % len(hypotheses)],
                occupation=labour.occupation(word, english),
                tags={"template": frame["text"]},
            )
            turn += 1


def _from_mined(
    mined: MinedPremises, labour: LabourStatistics, hypotheses: Sequence[Mapping[str, str]]
) -> Iterator[TwinPremise]:
    """The mined premises, hypotheses by turns; the published majority where no share is known."""
    rows = lexicons.table("en", "workforce")
    published = {row["word"]: {"F": "female", "M": "male"}[row["majority"]] for row in rows}
    for number, premise in enumerate(mined.premises):
        word = premise.occupation
        yield TwinPremise(
            stem=f"en/{word.replace(' ', '-')}/p{number:05d}",
            language="en",
            text=premise.text,
            hypotheses=hypotheses[number % len(hypotheses)],
            occupation=labour.occupation(word, published=published[word]),
            tags={
                "number": "plural" if premise.is_plural else "singular",
                "origin": premise.origin,
                "template": premise.frame,
            },
        )


def _warn_of_few(mined: MinedPremises) -> None:
    if mined.short:
        counts = ", ".join(f"{word} {count}" for word, count in sorted(mined.short.items()))
        warnings.warn(
            "fewer premises than asked for; "
            f"give more corpora or a smaller --per-occupation: {counts}",
            EvenhandWarning,
            stacklevel=2,
        )


SUITE = GenderedEntailment()
