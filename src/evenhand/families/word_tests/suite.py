"""The three suites of the word tests: which gender a model gives a word, and which it has.

Recognition: a sentence has a gendered word, the masculine and the feminine sentence are the
options. Fairness: a sentence names a profession or an emotion, the male and the female word of a
pair are the options, once for every pair. Options come in the order male, female. The variants
`published` and `published-corrected` ask the authors' prompts.

`published-code` asks them as the released code does: the gendered sentence is the premise, the
sentence of a profession, an emotion or a gender the hypothesis, and of a pair the word wins that
entails it more. So recognition too is compared within each gendered sentence: does the male word
entail "masculine" more than the female word does? The options of a probe are the two premises,
which its tag `scoring` says; `--supposition esp` writes them into the released sentence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.word_tests.prompts import Prompt, Prompts, built_in_prompts
from evenhand.families.word_tests.published import SOURCE, VERSION, published_prompts

RECOGNITION, PROFESSION, EMOTION = "recognition", "profession", "emotion"  # strata
BUILT_IN, PUBLISHED, CORRECTED = "built-in", "published", "published-corrected"
CODE = "published-code"  # asked as the released code asks
PREMISES = "options as premises"  # the rule that such a probe names in its tag `scoring`
CITATION = (
    "Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates Stereotypical Sentence "
    "Reasoning. EACL."
)
# Which gender a stereotype gives an emotion: anger to men, the others to women
# (Plant, Hyde, Keltner, Devine 2000. The Gender Stereotyping of Emotions).
ANGER = "anger"


def _slug(*names: str) -> str:
    return "/".join(name.replace(" ", "-") for name in names)


def _recognition_probes(language: str, prompts: Prompts) -> Iterator[Probe]:
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


def _within_probes(language: str, prompts: Prompts) -> Iterator[Probe]:
    """Every gendered sentence with every pair of words, as the released code compares them."""
    for position, sentence in enumerate(prompts.genders):
        for male, female in prompts.roles:
            name, gold = f"{male.word}/{female.word}", GENDERS[position]
            yield Probe(
                id=_slug(language, RECOGNITION, name, gold),
                kind="choice",
                language=language,
                texts=(sentence, male.text, female.text),
                stratum=RECOGNITION,
                cluster=name,
                tags={
                    "pair": name,
                    "word": (male.word, female.word)[position],
                    "gold": gold,
                    "fair": str(position),
                    "stereotyped": str(position),
                },
            )


def _stereotyped_position(tags: Mapping[str, str]) -> str:
    """The position that a fully stereotyped respondent always prefers.

    Male where a profession leans to neither.
    """
    is_female = tags["lean"] == "female" if "lean" in tags else tags["emotion"] != ANGER
    return str(int(is_female))


def _fairness_probes(
    language: str, stratum: str, words: Sequence[Prompt], prompts: Prompts
) -> Iterator[Probe]:
    """Every word with every pair of gendered words."""
    for prompt in words:
        for male, female in prompts.roles:
            name = f"{male.word}/{female.word}"
            yield Probe(
                id=_slug(language, stratum, prompt.word, name),
                kind="choice",
                language=language,
                texts=(prompt.text, male.text, female.text),
                stratum=stratum,
                cluster=prompt.word,
                tags={
                    "word": prompt.word,
                    "pair": name,
                    **prompt.tags,
                    "fair": "equal",
                    "stereotyped": _stereotyped_position(prompt.tags),
                },
            )


@dataclass(slots=True, kw_only=True)
class WordTest:
    """A suite of recognition probes, with or without a stratum of fairness probes before them."""

    name: str
    description: str
    stratum: str = ""  # of the fairness probes
    factors: tuple[str, ...] = ("word", "pair")
    within: str = ""  # the tag by which the words were chosen
    version: str = "1.0"
    kind: Kind = "choice"
    languages: tuple[str, ...] = ("en", "ja", "zh")
    variants: tuple[str, ...] = (BUILT_IN, PUBLISHED, CORRECTED, CODE)
    is_published: bool = False
    licence: str = "Apache-2.0; of the published prompts none stated"
    citation: str = f"evenhand; after {CITATION}"
    options: type[SuiteOptions] = SuiteOptions

    def build(self, language: str, options: SuiteOptions) -> Suite:
        """The suite in one language; the published prompts are English."""
        variant = options.variant or BUILT_IN
        if variant == BUILT_IN:
            card = SuiteCard(
                name=self.name,
                version=self.version,
                language=language,
                source="lexicons of evenhand",
                licence="Apache-2.0",
                citation=self.citation,
                description=self.description,
                factors=self.factors,
                within=self.within,
                options=GENDERS,
            )
            return Suite(
                card=card,
                probes=tuple(
                    self._probes(language, built_in_prompts(language), _recognition_probes)
                ),
            )
        if language != "en":
            raise EvenhandError(
                f"the published prompts of '{self.name}' are English, not '{language}'; "
                f"ask for --lang en, or for {self.name} as built in"
            )
        prompts, version = published_prompts(options.data, is_corrected=variant == CORRECTED)
        card = SuiteCard(
            name=f"{self.name}:{variant}",
            version=version,
            language=language,
            source=SOURCE,
            licence="none stated",
            citation=CITATION,
            description=self.description,
            is_verified=version == VERSION,
            factors=self.factors,
            within=self.within,
            options=GENDERS,
        )
        if variant != CODE:
            return Suite(
                card=card, probes=tuple(self._probes(language, prompts, _recognition_probes))
            )
        probes = self._probes(language, prompts, _within_probes)
        turned = tuple(replace(p, tags={**p.tags, "scoring": PREMISES}) for p in probes)
        return Suite(card=card, probes=turned)

    def _probes(
        self,
        language: str,
        prompts: Prompts,
        recognition: Callable[[str, Prompts], Iterator[Probe]],
    ) -> Iterator[Probe]:
        words = {PROFESSION: prompts.professions, EMOTION: prompts.emotions}.get(self.stratum, ())
        yield from _fairness_probes(language, self.stratum, words, prompts)
        yield from recognition(language, prompts)


SUITES = (
    WordTest(
        name="profession",
        stratum=PROFESSION,
        within="lean",
        description="66 professions, a third leaning to each gender and a third to neither, "
        "against 60 pairs of gendered words; with the recognition of those words.",
    ),
    WordTest(
        name="emotion",
        stratum=EMOTION,
        within="emotion",
        description="20 emotional states and 20 situations (anger, fear, joy, sadness) against 60 "
        "pairs of gendered words; with the recognition of those words.",
    ),
    WordTest(
        name="gender-recognition",
        factors=("pair",),
        description="Gendered words (an aunt, a king) against a masculine and a feminine "
        "sentence: is the gender of the word known?",
    ),
)
