"""Questions: what one person is asked, and in which order.

The same study, annotator, part and attempt always give the same questions. Type 2 shows a measuring
sentence with the gender that it did not have (drawn where the suite does not say which it had). In
the paper accuracy questions do so as well, and 1 is then always the right answer: somebody who
always presses 1 would pass half of them without reading. Here half of them, drawn, show the right
gender, and both ends of the scale are right equally often.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from evenhand.core.probe import GENDERS, Probe
from evenhand.core.suite import Suite
from evenhand.people.neutral import neutral_word
from evenhand.people.plan import APART, TYPE1, TYPE2, Plan, draw, gold_gender, select

# roles; both questions of a pair have the role consistency
MEASURE, ACCURACY, CONSISTENCY = "measure", "accuracy", "consistency"
OTHER = {"male": "female", "female": "male"}
KEYS = ("male", "female", "neutral")
LIKELIHOODS = ("1", "2", "3", "4", "5")
# where the blank of a Type 1 question is: once in `shown` unless the sentence itself has one
GAP = "____"
T = TypeVar("T")


class Option(NamedTuple):
    """What can be chosen: the key is stored, the text is shown.

    The text is "" for a likelihood, which the interface words in its own language.
    """

    key: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question as one person sees it.

    The id is opaque: it does not tell the role or the sentence.
    """

    id: str
    probe: str
    type: str  # type1 or type2
    role: str  # measure, accuracy or consistency
    shown: str  # type1: the sentence with GAP; type2: the sentence with the swapped word
    options: tuple[Option, ...]  # in displayed order
    gender: str = ""  # type2: the gender of the word that was put in
    span: tuple[int, int] = (0, 0)  # where in `shown` the gap or the swapped word is

    def to_json(self) -> dict[str, Any]:
        """The question as plain data."""
        return {
            "id": self.id,
            "probe": self.probe,
            "type": self.type,
            "role": self.role,
            "shown": self.shown,
            "options": [list(o) for o in self.options],
            "gender": self.gender,
            "span": list(self.span),
        }

    @classmethod
    def from_json(cls, row: Mapping[str, Any]) -> Question:
        """The question that plain data describe; options may be JSON text."""
        options = row["options"]
        if isinstance(options, str):
            options = json.loads(options)
        return cls(
            id=row["id"],
            probe=row["probe"],
            type=row["type"],
            role=row["role"],
            shown=row["shown"],
            options=tuple(Option(*o) for o in options),
            gender=row["gender"],
            span=(row["span"][0], row["span"][1]),
        )


def plan_questions(
    plan: Plan, suite: Suite, annotator: str, part: str, attempt: int = 1
) -> tuple[Question, ...]:
    """The questions of one part in the order in which this annotator sees them."""
    chosen = select(plan, suite, annotator, part, attempt)
    rng = draw(plan.seed, annotator, part, attempt, "questions")

    def ask(probe: Probe, kind: str, role: str, gender: str = "") -> Question:
        names = (str(plan.seed), plan.name, annotator, part, str(attempt), probe.id, kind)
        identity = hashlib.sha256("\0".join(names).encode()).hexdigest()[:20]
        named = plan.neutral_words.get(probe.id)
        own = replace(probe, tags={**probe.tags, "neutral": named}) if named else probe
        return make_question(own, kind, role, rng, identity, gender)

    kinds = _in_random_order(plan.types, len(chosen.single), rng)
    others = [ask(p, kind, MEASURE) for p, kind in zip(chosen.single, kinds, strict=True)]
    # those about a man come first, so that either gender has both types and both ends of the scale
    types = _alternate(plan.types, len(chosen.accuracy), rng)
    is_right = iter(_alternate((True, False), types.count(TYPE2), rng))
    for probe, kind in zip(chosen.accuracy, types, strict=True):
        right = gold_gender(probe)
        gender = "" if kind == TYPE1 else right if next(is_right) else OTHER[right]
        others.append(ask(probe, kind, ACCURACY, gender))
    others = [others[i] for i in rng.permutation(len(others))]
    pairs = [
        tuple(ask(probe, kind, CONSISTENCY) for kind in _in_random_order(plan.types, 2, rng))
        for probe in chosen.pairs
    ]
    size = len(others) + 2 * len(pairs)
    placed: dict[int, Question] = {}
    pair_places = place_pairs(size, len(pairs), least_apart(plan, size), rng)
    for (one, other), places in zip(pairs, pair_places, strict=True):
        placed[places[0]], placed[places[1]] = one, other
    rest = iter(others)
    return tuple(placed[i] if i in placed else next(rest) for i in range(size))


def _alternate(values: Sequence[T], count: int, rng: np.random.Generator) -> list[T]:
    """`count` values in turn, each about equally often; which comes first is random."""
    first = int(rng.integers(len(values)))
    return [values[(first + i) % len(values)] for i in range(count)]


def _in_random_order(values: Sequence[T], count: int, rng: np.random.Generator) -> list[T]:
    """`count` values in random order, each about equally often."""
    ordered = _alternate(values, count, rng)
    return [ordered[i] for i in rng.permutation(count)]


def make_question(
    probe: Probe, kind: str, role: str, rng: np.random.Generator, identity: str, gender: str = ""
) -> Question:
    """One sentence as a question.

    Type 1 has the words in random order; type 2 shows the sentence with a gender, by default the
    one that it did not have.
    """
    before, after = probe.around_blank
    if kind == TYPE1:
        words = dict(zip(KEYS, (*probe.texts[1:3], neutral_word(probe)), strict=True))
        options = tuple(Option(KEYS[i], words[KEYS[i]]) for i in rng.permutation(len(KEYS)))
        gender, word = "", GAP
    else:
        gender = (
            gender or OTHER.get(probe.tags.get("original", "")) or GENDERS[int(rng.integers(2))]
        )
        options = tuple(Option(key, "") for key in LIKELIHOODS)
        word = probe.texts[1 + GENDERS.index(gender)]
    return Question(
        id=identity,
        probe=probe.id,
        type=kind,
        role=role,
        shown=before + word + after,
        options=options,
        gender=gender,
        span=(len(before), len(before) + len(word)),
    )


def least_apart(plan: Plan, size: int) -> int:
    """The least number of places from one question of a pair to the other."""
    return plan.apart if plan.apart is not None else max(1, min(APART, size // 5))


def place_pairs(
    size: int, count: int, apart: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """`count` random pairs of places in `size`.

    The two of each are at least `apart` from each other, or as far as there is room.
    """
    for _ in range(100):
        places = sorted(int(i) for i in rng.choice(size, 2 * count, replace=False))
        if all(places[k + count] - places[k] >= apart for k in range(count)):
            break
    else:  # too crowded for random places: the first ones at the start, the others at the end
        places = [*range(count), *range(size - count, size)]
    firsts, seconds = places[:count], places[count:]
    # exchanged, so that the second ones do not come in the order of the first ones
    for k in rng.permutation(count):
        other = int(rng.integers(count))
        if seconds[other] - firsts[k] >= apart and seconds[k] - firsts[other] >= apart:
            seconds[k], seconds[other] = seconds[other], seconds[k]
    pairs = list(zip(firsts, seconds, strict=True))
    return [pairs[i] for i in rng.permutation(count)]
