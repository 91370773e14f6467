"""The sentences of the picture: gendered words, professions and emotions, each sentence once.

They come from suites of choices: the context names a profession or an emotion (tags word, lean),
the options name a male and a female person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand import lexicons
from evenhand.core.errors import MeasureError
from evenhand.core.probe import GENDERS
from evenhand.core.suite import Suite
from evenhand.families.gendered_entailment.labour import built_in_shares

Sense = Literal["male", "female", "profession", "emotion"]
SORTS: tuple[Sense, ...] = ("profession", "emotion")
SIDES: tuple[Sense, Sense] = ("male", "female")  # in the order of the options
KINDS = (  # in the order of a picture
    *SIDES,
    "profession-male",
    "profession-female",
    "profession-none",
    "emotion",
)
CHOICES: dict[str, tuple[Sense, ...]] = {  # option -> suites whose words are placed
    "profession": ("profession",),
    "emotion": ("emotion",),
    "both": SORTS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """One sentence and what it is about."""

    name: str
    sentence: str
    sense: Sense
    lean: str = ""
    share: float = np.nan  # percent of women among the workers

    @property
    def kind(self) -> str:
        """What it is, with the lean of a profession: `male`, `emotion`, `profession-female`."""
        if self.sense != "profession":
            return self.sense
        return f"profession-{self.lean if self.lean in GENDERS else 'none'}"


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The words, and which of them are pairs (rows of the male and the female word)."""

    words: tuple[Word, ...]
    pairs: tuple[tuple[int, int], ...]
    suites: tuple[str, ...] = field(default=())

    @property
    def gendered(self) -> list[int]:
        """The rows of male and female words."""
        return [i for i, w in enumerate(self.words) if w.sense in GENDERS]

    @property
    def is_female(self) -> NDArray[np.bool_]:
        """Whether each gendered word is female."""
        return np.asarray([self.words[i].sense == "female" for i in self.gendered])

    @property
    def partners(self) -> list[frozenset[int]]:
        """The gendered words that each gendered word is paired with, as positions among them."""
        place = {row: i for i, row in enumerate(self.gendered)}
        return [
            frozenset(place[b if row == a else a] for a, b in self.pairs if row in (a, b))
            for row in self.gendered
        ]

    @property
    def groups(self) -> list[int]:
        """The number of the group of each gendered word.

        Pairs that share a word are one group, because they are not independent.
        """
        group = list(range(len(self.gendered)))
        for position, partners in enumerate(self.partners):
            for other in partners:
                old, new = group[other], group[position]
                group = [new if g == old else g for g in group]
        numbers = {g: i for i, g in enumerate(dict.fromkeys(group))}
        return [numbers[g] for g in group]

    @property
    def sorts(self) -> tuple[Sense, ...]:
        """The sorts of neutral words in the scene: professions, emotions."""
        there = {w.sense for w in self.words}
        return tuple(s for s in SORTS if s in there)

    @property
    def kinds(self) -> dict[str, list[int]]:
        """The rows of every kind of word that is there, gendered words first."""
        kinds: dict[str, list[int]] = {}
        for row, word in enumerate(self.words):
            kinds.setdefault(word.kind, []).append(row)
        return dict(sorted(kinds.items(), key=lambda item: KINDS.index(item[0])))

    def rows(self, sense: Sense) -> list[int]:
        """The rows of one sense."""
        return [i for i, w in enumerate(self.words) if w.sense == sense]


def scene_of(suites: Sequence[tuple[Sense, Suite]]) -> Scene:
    """The scene of the (sense, suite) pairs, where the sense is that of the suite's contexts.

    Probes of other strata (recognition) are left out. Raises MeasureError where a suite does not
    have the options male and female.
    """
    couples: dict[tuple[str, str], tuple[str, ...]] = {}  # sentences -> names
    neutral: dict[str, Word] = {}
    for sense, suite in suites:
        if suite.card.options[:2] != GENDERS:
            options = ", ".join(suite.card.options)
            raise MeasureError(
                f"suite '{suite.card.name}' has the options {options}; a picture needs male, female"
            )
        shares = _shares(suite.card.language) if sense == "profession" else {}
        for probe in (p for p in suite.probes if p.stratum == sense):
            context, male, female = probe.texts[:3]
            named = tuple(probe.tags.get("pair", "").split("/"))
            couples.setdefault((male, female), named if len(named) == 2 else (male, female))
            name = probe.tags.get("word", context)
            word = Word(
                name=name,
                sentence=context,
                sense=sense,
                lean=probe.tags.get("lean", ""),
                share=shares.get(name, np.nan),
            )
            neutral.setdefault(context, word)
    gendered: dict[str, Word] = {}
    for couple, names in couples.items():
        for sentence, name, gender in zip(couple, names, SIDES, strict=True):
            word = Word(name=name, sentence=sentence, sense=gender)
            if gendered.setdefault(sentence, word).sense != gender:
                raise MeasureError(
                    f"'{sentence}' is both a male and a female option: "
                    "a word has one gender in a picture"
                )
    row = {sentence: i for i, sentence in enumerate(gendered)}
    return Scene(
        words=(*gendered.values(), *neutral.values()),
        pairs=tuple((row[a], row[b]) for a, b in couples),
        suites=tuple(s.reference for _, s in suites),
    )


def _shares(language: str) -> dict[str, float]:
    """The share of women by the word of the language.

    The figures are those of the United States, by English name.
    """
    figures = built_in_shares()
    if language == "en":
        return figures
    rows = lexicons.table(language, "occupations")
    return {
        row["word"]: figures[row["english"].lower()]
        for row in rows
        if row["english"].lower() in figures
    }
