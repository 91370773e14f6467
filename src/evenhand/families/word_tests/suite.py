"""What do the word tests ask? Which gender goes with a word, and which gender a gendered word has; shared by three suites.

Recognition: a gendered word is told, the masculine and the feminine sentence are the options. Fairness: a profession or an emotion is told, the male and the female
word of a pair are the options, once for every pair. Options come in the order male, female. The variants `published` and `published-corrected` ask the authors' prompts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

RECOGNITION, PROFESSION, EMOTION = "recognition", "profession", "emotion"
BUILT_IN, PUBLISHED, CORRECTED = "built-in", "published", "published-corrected"
CITATION = "Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates Stereotypical Sentence Reasoning. EACL."
# Which gender a stereotype gives an emotion: anger to men, the others to women (Plant, Hyde, Keltner, Devine 2000. The Gender Stereotyping of Emotions).
ANGER = "anger"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A word in its sentence, and what is known of it."""

    word: str
    text: str
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """Everything that the three suites ask about."""

    genders: tuple[str, str]  # the masculine and the feminine sentence
    roles: tuple[tuple[Prompt, Prompt], ...]  # male, female
    professions: tuple[Prompt, ...]
    emotions: tuple[Prompt, ...]


def own_prompts(language: str) -> Prompts:
    """The prompts of the lexicons."""
    fill = catalog.language(language).fill
    frames = {row["use"]: row["text"] for row in lexicons.table(language, "prompts")}

    def prompt(use: str, word: str, **tags: str) -> Prompt:
        return Prompt(word=word, text=fill(frames[use], word), tags=tags)

    return Prompts(
        genders=(frames["male"], frames["female"]),
        roles=tuple(
            (prompt("role", r["male"]), prompt("role", r["female"]))
            for r in lexicons.table(language, "roles_gendered")
        ),
        professions=tuple(
            prompt("profession", r["word"], lean=r["lean"])
            for r in lexicons.table(language, "professions")
        ),
        emotions=tuple(
            prompt(r["sort"], r["word"], sort=r["sort"], emotion=r["emotion"])
            for r in lexicons.table(language, "emotions")
        ),
    )


def _slug(*names: str) -> str:
    return "/".join(name.replace(" ", "-") for name in names)


def _recognition(language: str, prompts: Prompts) -> Iterator[Probe]:
    """Every gendered word once."""
    for pair in prompts.roles:
        name = f"{pair[0].word}/{pair[1].word}"
        for position, role in enumerate(pair):
            yield Probe(
                id=_slug(language, RECOGNITION, name, GENDERS[position]),
                kind="choice",
                language=language,
                texts=(role.text, *prompts.genders),
                stratum=RECOGNITION,
                cluster=name,
                tags={
                    "pair": name,
                    "word": role.word,
                    "gold": GENDERS[position],
                    "fair": str(position),
                    "stereotyped": str(position),
                },
            )


def _stereotyped(tags: Mapping[str, str]) -> str:
    """The position that a fully stereotyped respondent always prefers; male where a profession leans to neither."""
    return str(int(tags["lean"] == "female" if "lean" in tags else tags["emotion"] != ANGER))


def _fairness(
    language: str, stratum: str, words: Sequence[Prompt], prompts: Prompts
) -> Iterator[Probe]:
    """Every word with every pair of gendered words."""
    for told in words:
        for male, female in prompts.roles:
            name = f"{male.word}/{female.word}"
            yield Probe(
                id=_slug(language, stratum, told.word, name),
                kind="choice",
                language=language,
                texts=(told.text, male.text, female.text),
                stratum=stratum,
                cluster=told.word,
                tags={
                    "word": told.word,
                    "pair": name,
                    **told.tags,
                    "fair": "equal",
                    "stereotyped": _stereotyped(told.tags),
                },
            )


class WordTest:
    """A suite of recognition probes, with or without a stratum of fairness probes before them."""

    name: str
    description: str
    stratum: ClassVar[str] = ""  # profession or emotion
    version = "1.0"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = (BUILT_IN, PUBLISHED, CORRECTED)
    is_published = False
    licence = "Apache-2.0; of the published prompts none stated"
    citation = f"evenhand; after {CITATION}"

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language; the published prompts are English."""
        variant = options.variant or BUILT_IN
        if variant == BUILT_IN:
            card = self._card(
                self.name,
                language,
                self.version,
                "lexicons of evenhand",
                "Apache-2.0",
                self.citation,
            )
            return Suite(card=card, probes=tuple(self._ask(language, own_prompts(language))))
        from evenhand.families.word_tests.published import SOURCE, published_prompts

        if language != "en":
            raise EvenhandError(
                f"the published prompts of '{self.name}' are English, not '{language}'; ask for --lang en, or for {self.name} as built in"
            )
        prompts, version = published_prompts(options.data, is_corrected=variant == CORRECTED)
        card = self._card(
            f"{self.name}:{variant}", language, version, SOURCE, "none stated", CITATION
        )
        return Suite(card=card, probes=tuple(self._ask(language, prompts)))

    def _card(
        self, name: str, language: str, version: str, source: str, licence: str, citation: str
    ) -> SuiteCard:
        return SuiteCard(
            name=name,
            version=version,
            language=language,
            source=source,
            licence=licence,
            citation=citation,
            description=self.description,
            labels=GENDERS,
        )

    def _ask(self, language: str, prompts: Prompts) -> Iterator[Probe]:
        if self.stratum:
            yield from _fairness(
                language,
                self.stratum,
                prompts.professions if self.stratum == PROFESSION else prompts.emotions,
                prompts,
            )
        yield from _recognition(language, prompts)
