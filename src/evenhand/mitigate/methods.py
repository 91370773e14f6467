"""How can a model be made to lean less? Every method changes the pairs that it is trained on, or adds to them; a new one is one entry of the table.

Combinations are written with a plus: `swap+anchors`. Whatever the order they are named in, they are applied in that of the table.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from evenhand import lexicons
from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.protocols import Language
from evenhand.languages.swapping import swap_pair
from evenhand.mitigate.anchors import AnchorPlan, write_anchors
from evenhand.mitigate.records import NONE
from evenhand.train.corpus import Pair

PLUS = "+"
SCOPES = ("all", "occupations")


@dataclass(frozen=True, slots=True, kw_only=True)
class Materials:
    """What the methods work with; twins are kept, since several methods ask for the same."""

    language: Language
    plan: AnchorPlan | None = None
    share: float = 0.05  # of anchors, as a share of the pairs
    scope: str = "all"  # which pairs get a swapped copy: all with a gender word, or those that name an occupation
    seed: int = 0
    twins: dict[tuple[str, str], tuple[str, str] | None] = field(default_factory=dict)

    def twin(self, pair: Pair) -> tuple[str, str] | None:
        """Premise and hypothesis with the genders swapped; None where there is nothing to swap."""
        key = (pair.premise, pair.hypothesis)
        if key not in self.twins:
            found = swap_pair(self.language, *key)
            self.twins[key] = (found.premise, found.hypothesis) if found.is_changed else None
        return self.twins[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """One way: what it is in words, and what it makes of the pairs."""

    name: str
    description: str
    change: Callable[[Sequence[Pair], Materials], list[Pair]]
    is_paired: bool = (
        False  # the logits of a pair and of its twin are pulled together while training
    )
    has_anchors: bool = False


def _append_swapped(pairs: Sequence[Pair], given: Materials) -> list[Pair]:
    is_named = names_occupation(given.language.code) if given.scope == "occupations" else None
    chosen = [p for p in pairs if is_named is None or is_named(p)]
    return [*pairs, *(Pair(*twin, p.label) for p in chosen if (twin := given.twin(p)))]


def _append_anchors(pairs: Sequence[Pair], given: Materials) -> list[Pair]:
    assert given.plan is not None
    return [
        *pairs,
        *write_anchors(
            given.plan,
            given.language,
            round(given.share * len(pairs)),
            np.random.default_rng([given.seed, 1]),
        ),
    ]


def _add_twins(pairs: Sequence[Pair], given: Materials) -> list[Pair]:
    return [replace(p, twin=given.twin(p)) for p in pairs]


METHODS = {
    method.name: method
    for method in (  # in the order in which they are applied: anchors get twins too
        Method(
            name=NONE,
            description="trained on the same files with nothing changed: what more training alone does",
            change=lambda pairs, _: list(pairs),
        ),
        Method(
            name="swap",
            description="gender-swapped copies are added (Sharma, Dey, Sinha 2021)",
            change=_append_swapped,
        ),
        Method(
            name="anchors",
            description="jobs against either gender are added, labelled neutral, beside pairs where gender does decide",
            change=_append_anchors,
            has_anchors=True,
        ),
        Method(
            name="pairing",
            description="the logits of a pair and of its gender-swapped twin are pulled together while training",
            change=_add_twins,
            is_paired=True,
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
        """Does the training pull twins together?"""
        return any(part.is_paired for part in self.parts)

    @property
    def has_anchors(self) -> bool:
        """Are there anchors?"""
        return any(part.has_anchors for part in self.parts)

    def apply(self, pairs: Sequence[Pair], given: Materials) -> list[Pair]:
        """What the model is trained on."""
        found = list(pairs)
        for part in self.parts:
            found = part.change(found, given)
        return found


def find_methods(names: str | Sequence[str]) -> list[Combination]:
    """`none,swap,swap+anchors` as combinations, each once; an error suggests close names."""
    found: dict[tuple[str, ...], Combination] = {}
    for told in names.split(",") if isinstance(names, str) else names:
        words = [word.strip() for word in told.split(PLUS)]
        for word in words:
            if word not in METHODS:
                raise UnknownNameError("method", word, METHODS)
        if NONE in words and len(words) > 1:
            raise EvenhandError(
                f"method '{told.strip()}': none is the control and cannot be combined; write none,{words[-1]} for both apart"
            )
        parts = tuple(method for name, method in METHODS.items() if name in words)
        found.setdefault(
            tuple(part.name for part in parts),
            Combination(name=PLUS.join(dict.fromkeys(words)), parts=parts),
        )
    return list(found.values())


def names_occupation(language: str) -> Callable[[Pair], bool]:
    """Does a pair name an occupation of the lexicon, in the singular or in the plural?"""
    words = sorted(
        {row["word"] for row in lexicons.table(language, "occupations")}, key=len, reverse=True
    )
    inside = "|".join(map(re.escape, words))
    pattern = re.compile(
        rf"(?<![\w-])(?:{inside})s?(?![\w-])" if words and words[0].isascii() else inside,
        re.IGNORECASE,
    )
    return lambda pair: pattern.search(f"{pair.premise} {pair.hypothesis}") is not None
