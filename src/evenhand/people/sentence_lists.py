"""Lists of sentences where people and a model agree or differ, or where only one of them leans.

How strongly a sentence leans is the rank of |score| among all sentences that both answered, as a
share from 0 to 1 (ties at their mean), for people and for the model. Ranks and not the numbers
themselves: PB has no bound, and one extreme sentence would outweigh what people say.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Bools, Floats, Probe


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """The scores from which people or a model count as leaning, and below which as not leaning."""

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
        return "____".join(self.probe.around_blank)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceList:
    """The first sentences of a list, and how many there are in all."""

    sentences: tuple[Sentence, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SentenceLists:
    """Four lists of one model beside the people."""

    agree: SentenceList  # same direction, strongest first
    differ: SentenceList  # opposite directions, strongest first
    people_only: SentenceList  # people lean, the model does not
    model_only: SentenceList

    def by_name(self) -> Mapping[str, SentenceList]:
        """The lists in the order of a report."""
        return {
            "agree": self.agree,
            "differ": self.differ,
            "people_only": self.people_only,
            "model_only": self.model_only,
        }


def strength(scores: Floats) -> Floats:
    """How strongly each sentence leans among these, above 0 and up to 1.

    Mean ranks of |score| over their number.
    """
    return np.asarray(stats.rankdata(np.abs(scores)) / max(len(scores), 1))


def list_sentences(
    probes: Sequence[Probe], people: Floats, odds: Floats, thresholds: Thresholds, count: int
) -> SentenceLists:
    """The lists of sentences that both answered; equal ones in the order of the suite.

    count: how many sentences a list holds.
    """
    if count < 0:
        raise EvenhandError(f"count is {count}; give how many sentences a list shows, 0 or more")
    of_people, of_model = strength(people), strength(odds)
    side = np.sign(people) * np.sign(odds)
    limits = thresholds

    def first(is_meant: Bools, worth: Floats) -> SentenceList:
        order = [int(i) for i in np.argsort(-worth, kind="stable") if is_meant[i]]
        shown = tuple(
            Sentence(probe=probes[i], people=float(people[i]), odds=float(odds[i]))
            for i in order[:count]
        )
        return SentenceList(sentences=shown, total=len(order))

    return SentenceLists(
        agree=first(side > 0, of_people * of_model),
        differ=first(side < 0, of_people * of_model),
        people_only=first(
            (np.abs(people) >= limits.people_lean) & (np.abs(odds) < limits.model_near),
            of_people * (1 - of_model),
        ),
        model_only=first(
            (np.abs(people) < limits.people_near) & (np.abs(odds) >= limits.model_lean),
            of_model * (1 - of_people),
        ),
    )
