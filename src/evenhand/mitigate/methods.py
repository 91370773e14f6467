"""The methods: each changes the pairs that a model is trained on, or adds to them.

A new method is one entry of the table METHODS. Combinations are written with a plus:
`swap+anchors`. They are applied in the order of the table, whatever the order in which they are
named.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand import lexicons
from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.protocols import Language
from evenhand.languages.names import NameFinder
from evenhand.languages.swapping import swap_pair
from evenhand.mitigate.anchors import AnchorPlan, write_anchors
from evenhand.mitigate.records import NONE

PLUS = "+"
ANCHORS = "anchors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """What the methods work with; twins are cached, as several methods need the same ones."""

    language: Language
    plan: AnchorPlan | None = None
    share: float = 0.05  # of anchors, as a share of the pairs
    people: NameFinder | None = None  # whose pronouns are left: those of the persons it finds
    seed: int = 0
    twins: dict[tuple[str, str], tuple[str, str] | None] = field(default_factory=dict)

    def twin(self, pair: Pair) -> tuple[str, str] | None:
        """Premise and hypothesis with the genders swapped; None where nothing is swapped."""
        key = (pair.premise, pair.hypothesis)
        if key not in self.twins:
            swapped = swap_pair(self.language, *key, people=self.people)
            both = (swapped.premise, swapped.hypothesis)
            self.twins[key] = both if swapped.is_changed else None
        return self.twins[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way to mitigate: its description, and how it changes the training pairs."""

    name: str
    description: str
    change: Callable[[Sequence[Pair], Materials], list[Pair]]
    is_paired: bool = False  # the logits of a pair and of its twin are pulled together
    has_anchors: bool = False
    has_twins: bool = False  # pairs are swapped for it


def _append_swapped(pairs: Sequence[Pair], materials: Materials) -> list[Pair]:
    copies = [Pair(*twin, p.label) for p in pairs if (twin := materials.twin(p))]
    return [*pairs, *copies]


def _append_swapped_occupations(pairs: Sequence[Pair], materials: Materials) -> list[Pair]:
    chosen = list(filter(names_occupation(materials.language.code), pairs))
    return [*pairs, *_append_swapped(chosen, materials)[len(chosen) :]]


def _append_anchors(pairs: Sequence[Pair], materials: Materials) -> list[Pair]:
    assert materials.plan is not None
    count = round(materials.share * len(pairs))
    rng = np.random.default_rng([materials.seed, 1])
    return [*pairs, *write_anchors(materials.plan, materials.language, count, rng)]


def _add_twins(pairs: Sequence[Pair], materials: Materials) -> list[Pair]:
    return [replace(p, twin=materials.twin(p)) for p in pairs]


METHODS = {
    method.name: method
    for method in (  # in the order in which they are applied: anchors get twins too
        Method(
            name=NONE,
            description="trained on the same files with nothing changed: "
            "what more training alone does",
            change=lambda pairs, _: list(pairs),
        ),
        Method(
            name="swap",
            description="gender-swapped copies of all pairs with a gender word are added",
            change=_append_swapped,
            has_twins=True,
        ),
        Method(
            name="swap-occupations",
            description="gender-swapped copies of the pairs that name an occupation are added "
            "(Sharma, Dey, Sinha 2021)",
            change=_append_swapped_occupations,
            has_twins=True,
        ),
        Method(
            name=ANCHORS,
            description="jobs against either gender are added, labelled neutral, "
            "beside pairs where gender does decide",
            change=_append_anchors,
            has_anchors=True,
        ),
        Method(
            name="pairing",
            description="the logits of a pair and of its gender-swapped twin are pulled together "
            "while training",
            change=_add_twins,
            is_paired=True,
            has_twins=True,
        ),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Combination:
    """One or several methods at once."""

    name: str
    parts: tuple[Method, ...]

    @property
    def is_paired(self) -> bool:
        """Whether the training pulls twins together."""
        return any(part.is_paired for part in self.parts)

    @property
    def has_anchors(self) -> bool:
        """Whether there are anchors."""
        return any(part.has_anchors for part in self.parts)

    @property
    def has_twins(self) -> bool:
        """Whether pairs are swapped."""
        return any(part.has_twins for part in self.parts)

    @property
    def description(self) -> str:
        """What its methods do, in words."""
        return "; ".join(part.description for part in self.parts)

    def apply(self, pairs: Sequence[Pair], materials: Materials) -> list[Pair]:
        """What the model is trained on."""
        changed = list(pairs)
        for part in self.parts:
            changed = part.change(changed, materials)
        return changed


def find_methods(names: str | Sequence[str]) -> list[Combination]:
    """`none,swap,swap+anchors` as combinations, each once; an error suggests close names."""
    combinations: dict[tuple[str, ...], Combination] = {}
    for name in names.split(",") if isinstance(names, str) else names:
        words = [word.strip() for word in name.split(PLUS)]
        for word in words:
            if word not in METHODS:
                raise UnknownNameError("method", word, METHODS)
        if NONE in words and len(words) > 1:
            raise EvenhandError(
                f"method '{name.strip()}': none is the control and cannot be combined; "
                f"write none,{words[-1]} for both apart"
            )
        if {"swap", "swap-occupations"} <= set(words):
            raise EvenhandError(
                f"method '{name.strip()}': swap copies the pairs of swap-occupations too; "
                "write swap,swap-occupations for both apart"
            )
        parts = tuple(method for key, method in METHODS.items() if key in words)
        combinations.setdefault(
            tuple(part.name for part in parts),
            Combination(name=PLUS.join(dict.fromkeys(words)), parts=parts),
        )
    return list(combinations.values())


def names_occupation(language: str) -> Callable[[Pair], bool]:
    """A function that says whether a pair names an occupation of the lexicon, or several."""
    rows = lexicons.table(language, "occupations")
    words = sorted({row["word"] for row in rows}, key=len, reverse=True)
    inside = "|".join(map(re.escape, words))
    if words and words[0].isascii():
        inside = rf"(?<![\w-])(?:{inside})s?(?![\w-])"
    pattern = re.compile(inside, re.IGNORECASE)
    return lambda pair: pattern.search(f"{pair.premise} {pair.hypothesis}") is not None
