"""Which sentences show best where people and a model agree, where they differ, and what only one of them has? With thresholds that are printed.

How strongly a sentence leans: the rank of |score| among all sentences that both answered, as a share from 0 to 1 (ties at their mean), for people and for the
model. Ranks and not the numbers themselves: PB has no bound, and one extreme sentence would outweigh what people say.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """From which score on do people, and a model, lean, and below which do they not? Between the two nothing is said."""

    people_lean: float = 0.75  # half of the farthest fine score
    people_near: float = 0.25
    model_lean: float = math.log(2)  # one word twice as likely as the other
    model_near: float = 0.1  # the words within 11 % of each other

    def __post_init__(self) -> None:
        for near, lean, who in (
            (self.people_near, self.people_lean, "people"),
            (self.model_near, self.model_lean, "model"),
        ):
            if not 0 < near <= lean:
                raise EvenhandError(
                    f"thresholds of the {who}: near {near:g}, lean {lean:g}; give 0 < near <= lean"
                )


@dataclass(frozen=True, slots=True, kw_only=True)
class Sentence:
    """One sentence with what people and the model say of it."""

    probe: Probe
    people: float
    odds: float

    @property
    def text(self) -> str:
        """The sentence with the blank drawn as a line."""
        return "____".join(self.probe.around)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """The first sentences of a list, and how many there are in all."""

    sentences: tuple[Sentence, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """Four lists of one model beside the people."""

    agree: Listed  # same direction, strongest first
    differ: Listed  # opposite directions, strongest first
    people_only: Listed  # people lean, the model does not
    model_only: Listed
    thresholds: Thresholds


def strength(scores: Floats) -> Floats:
    """How strongly does each sentence lean, among these? Mean ranks of |score| over their number, above 0 and up to 1."""
    return np.asarray(stats.rankdata(np.abs(scores)) / max(len(scores), 1))


def list_sentences(
    probes: Sequence[Probe], people: Floats, odds: Floats, thresholds: Thresholds, count: int
) -> Lists:
    """The lists of sentences that both answered; equal ones in the order of the suite."""
    if count < 0:
        raise EvenhandError(f"count is {count}; give how many sentences a list shows, 0 or more")
    theirs, its = strength(people), strength(odds)
    side = np.sign(people) * np.sign(odds)
    t = thresholds

    def first(is_meant: NDArray[np.bool_], worth: Floats) -> Listed:
        order = [int(i) for i in np.argsort(-worth, kind="stable") if is_meant[i]]
        shown = tuple(
            Sentence(probe=probes[i], people=float(people[i]), odds=float(odds[i]))
            for i in order[:count]
        )
        return Listed(sentences=shown, total=len(order))

    return Lists(
        agree=first(side > 0, theirs * its),
        differ=first(side < 0, theirs * its),
        people_only=first(
            (np.abs(people) >= t.people_lean) & (np.abs(odds) < t.model_near), theirs * (1 - its)
        ),
        model_only=first(
            (np.abs(people) < t.people_near) & (np.abs(odds) >= t.model_lean), its * (1 - theirs)
        ),
        thresholds=t,
    )
