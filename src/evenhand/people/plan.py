"""Plan: how many questions a study asks of each kind, and which sentences a part asks of whom.

Everybody gets the same measuring sentences in the same batch, so that agreement can be seen before
the study ends; types, controls and their order are drawn for each person. A part of n questions has
n x consistency_controls sentences that are asked in both types and n x accuracy_controls questions
from objective sentences, but leaves enough of them for a second attempt. As many are right for a
man as for a woman, and each person goes through them in an order of their own, part after part,
attempt after attempt: within a part none is repeated before all of its gender were used. The trial
has measuring sentences of its own; where the suite is so small that the batches need all of it,
they ask the trial's sentences again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil
from typing import NamedTuple

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Probe
from evenhand.core.suite import Suite
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE

TYPE1, TYPE2 = "type1", "type2"  # two of three words for the gap; how probable, from 1 to 5
TYPES = (TYPE1, TYPE2)
TRIAL = "trial"  # the first part; the others are batch-1, batch-2 ...
TRIAL_SIZE, BATCH_SIZE = 200, 2000
APART = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a study asks, and how well control questions must be answered."""

    name: str
    seed: int = 0
    types: tuple[str, ...] = TYPES
    trial: int = TRIAL_SIZE  # questions, controls among them; 0: no trial
    batch: int = BATCH_SIZE
    batches: int | None = None  # None: as many as the sentences need
    # share of the questions, limited so that other sentences are left for a second attempt
    accuracy_controls: float = 0.1
    # share of the questions that ask a sentence a second time, in the other type
    consistency_controls: float = 0.1
    least_accuracy: float = 0.8
    least_consistency: float = 0.6
    # places from one question of a pair to the other; None: 50, or a fifth of a smaller part
    apart: int | None = None
    # probe id -> the neutral word of Type 1; sentences that are not named have that of the tables
    neutral_words: Mapping[str, str] = field(default_factory=dict)


class PlanError(EvenhandError):
    """A plan that the sentences do not allow; `key` is the setting that causes it."""

    def __init__(self, key: str, reason: str) -> None:
        super().__init__(reason)
        self.key = key


class Mix(NamedTuple):
    """What a part consists of."""

    accuracy: int  # questions from objective sentences
    pairs: int  # sentences asked in both types
    single: int  # sentences asked once

    @property
    def sentences(self) -> int:
        """The number of measuring sentences."""
        return self.pairs + self.single

    @property
    def questions(self) -> int:
        """The number of questions."""
        return self.accuracy + 2 * self.pairs + self.single


class Selection(NamedTuple):
    """The sentences of one part for one person."""

    single: tuple[Probe, ...]
    pairs: tuple[Probe, ...]
    accuracy: tuple[Probe, ...]  # those about a man first


def draw(*names: object) -> np.random.Generator:
    """Random numbers that belong to a name: the same on every machine and in every run."""
    digest = hashlib.sha256("\0".join(map(str, names)).encode()).digest()
    return np.random.default_rng(int.from_bytes(digest[:16], "big"))


def gold_gender(probe: Probe) -> str:
    """The gender that an objective sentence settles; "" for any other."""
    if probe.stratum != OBJECTIVE:
        return ""
    gold = probe.tags.get("gold", "")
    if gold in GENDERS:
        return gold
    fair = probe.tags.get("fair", "")
    return GENDERS[int(fair)] if fair in ("0", "1") else ""


def gold_genders(suite: Suite) -> dict[str, str]:
    """Probe id -> the right gender, for the sentences that accuracy questions come from."""
    return {probe.id: gold for probe in suite.probes if (gold := gold_gender(probe))}


def measuring(suite: Suite) -> list[Probe]:
    """The sentences of the measuring stratum; all of a suite without strata."""
    return [
        p for p in suite.probes if p.stratum == MEASURING or (not p.stratum and not gold_gender(p))
    ]


def most_controls(suite: Suite) -> int:
    """How many accuracy questions a part may have.

    Half of the objective sentences of the rarer gender, and as many of the other, so that a second
    attempt has others.
    """
    counts = Counter(gold_genders(suite).values())
    return 2 * (min(counts[gender] for gender in GENDERS) // 2) or max(1, counts.total() // 2)


def count_mix(plan: Plan, size: int, most: int, key: str = "batch") -> Mix:
    """What a part of `size` questions consists of; a share above 0 means at least one.

    most: how many accuracy questions it may have. Raises PlanError where the size is too small.
    """
    shares = (plan.accuracy_controls, plan.consistency_controls if len(plan.types) == 2 else 0.0)
    accuracy, pairs = (max(1, int(size * share + 1e-9)) if share > 0 else 0 for share in shares)
    accuracy = min(accuracy, most)
    single = size - accuracy - 2 * pairs
    if single < 0:
        raise PlanError(
            key,
            f"{key} is {size}: too few for {accuracy} accuracy and 2 x {pairs} consistency "
            "questions; ask more, or lower the shares",
        )
    return Mix(accuracy, pairs, single)


def _fitted(mix: Mix, sentences: int) -> Mix:
    """The same shares with fewer sentences."""
    if sentences >= mix.sentences:
        return mix
    accuracy, pairs = (
        max(1, round(n * sentences / mix.sentences)) if n else 0 for n in (mix.accuracy, mix.pairs)
    )
    pairs = min(pairs, sentences)
    return Mix(accuracy, pairs, sentences - pairs)


def count_parts(plan: Plan, suite: Suite) -> dict[str, Mix]:
    """The parts in order, trial, batch-1, batch-2 ..., and what each consists of."""
    room, most = len(measuring(suite)), most_controls(suite)
    mix = count_mix(plan, plan.batch, most)
    batches = plan.batches or ceil(room / max(1, mix.sentences))
    # spread evenly: no short last batch with hardly a control in it
    covered = min(room, batches * mix.sentences)
    parts = {TRIAL: count_mix(plan, plan.trial, most, TRIAL)} if plan.trial else {}
    return parts | {
        f"batch-{k + 1}": _fitted(mix, (k + 1) * covered // batches - k * covered // batches)
        for k in range(batches)
    }


def list_parts(plan: Plan, suite: Suite) -> tuple[str, ...]:
    """The names of the parts in order."""
    return tuple(count_parts(plan, suite))


def largest_part(plan: Plan, suite: Suite, wanted: int) -> int:
    """How many questions, at most `wanted`, the sentences allow for a part; 0 where none fits."""
    room, most = len(measuring(suite)), most_controls(suite)
    for size in range(wanted, 0, -1):
        try:
            mix = count_mix(plan, size, most)
        except PlanError:  # too small for its own controls, and so is every smaller one
            return 0
        if mix.sentences <= room:
            return size
    return 0


def check_plan(plan: Plan, suite: Suite) -> None:
    """Raise PlanError where there are not enough sentences for the plan."""
    room, name = len(measuring(suite)), suite.card.name
    if not room:
        raise PlanError(
            "suite",
            f"the suite '{name}' has no measuring sentence (stratum {MEASURING}); choose another",
        )
    if plan.accuracy_controls > 0 and not gold_genders(suite):
        raise PlanError(
            "accuracy_controls",
            f"the suite '{name}' has no objective sentence (stratum {OBJECTIVE} with a tag gold), "
            "where accuracy questions come from; add some, or set accuracy_controls = 0 and do "
            "without",
        )
    _check_sizes(plan, suite, room)
    for part, mix in count_parts(plan, suite).items() if plan.apart else ():
        if mix.pairs and plan.apart and plan.apart > (most := mix.questions - mix.pairs):
            raise PlanError(
                "apart",
                f"apart is {plan.apart}, but {part} has {mix.pairs} pairs in {mix.questions} "
                f"questions; give at most {most}",
            )


def _check_sizes(plan: Plan, suite: Suite, room: int) -> None:
    """Raise PlanError where a part needs more measuring sentences than there are."""
    mix = Mix(0, 0, 0)
    for key, size in (("trial", plan.trial), ("batch", plan.batch)):
        if not size and key == "trial":
            continue
        mix = count_mix(plan, size, most_controls(suite), key)
        if mix.sentences > room:
            fit = largest_part(plan, suite, size)
            advice = f"give at most {fit}" if fit else "lower the shares of controls"
            raise PlanError(
                key,
                f"{key} is {size} questions, which take {mix.sentences} measuring sentences, but "
                f"the suite has {room}; {advice}",
            )
    if plan.batches and plan.batches > (fill := ceil(room / max(1, mix.sentences))):
        raise PlanError(
            "batches",
            f"batches is {plan.batches}, but {room} measuring sentences fill only {fill} batches "
            f"of {plan.batch} questions",
        )


def select(plan: Plan, suite: Suite, annotator: str, part: str, attempt: int) -> Selection:
    """The sentences that a part asks this person, by their role.

    Raises PlanError where the plan does not fit the suite, EvenhandError for an unknown part.
    """
    check_plan(plan, suite)
    mixes = count_parts(plan, suite)
    if part not in mixes:
        raise EvenhandError(
            f"the study '{plan.name}' has no part '{part}'; "
            f"it has {next(iter(mixes))} to {next(reversed(mixes))}"
        )
    if attempt < 1:
        raise EvenhandError(f"attempt is {attempt}; the first is 1")
    own = _shuffled(
        _sentences(plan, suite, mixes, part, attempt), draw(plan.seed, annotator, part, "pairs")
    )
    pairs = _turn(own, mixes[part].pairs, attempt)
    paired = {probe.id for probe in pairs}
    accuracy = _select_accuracy(suite, mixes, part, attempt, draw(plan.seed, annotator, "accuracy"))
    return Selection(tuple(p for p in own if p.id not in paired), tuple(pairs), tuple(accuracy))


def _sentences(
    plan: Plan, suite: Suite, mixes: Mapping[str, Mix], part: str, attempt: int
) -> list[Probe]:
    """The measuring sentences of a part, the same for everybody.

    The trial takes them from the end, which the batches reach last or not at all.
    """
    order = _shuffled(measuring(suite), draw(plan.seed, "sentences"))
    if part == TRIAL:
        return _turn(order[::-1], mixes[part].sentences, attempt)
    first = sum(mixes[name].sentences for name in _before(mixes, part) if name != TRIAL)
    return order[first : first + mixes[part].sentences]


def _before(mixes: Mapping[str, Mix], part: str) -> list[str]:
    return list(mixes)[: list(mixes).index(part)]


def _select_accuracy(
    suite: Suite, mixes: Mapping[str, Mix], part: str, attempt: int, rng: np.random.Generator
) -> list[Probe]:
    """The objective sentences of a part.

    Half of them are right for a man and half for a woman, as long as there are both, so that
    nobody passes by always giving the same answer.
    """
    gold = gold_genders(suite)
    order = _shuffled([p for p in suite.probes if p.id in gold], rng)
    male, female = ([p for p in order if gold[p.id] == gender] for gender in GENDERS)
    odd = int(rng.integers(2))  # which gender has one more where the number is odd

    def divide(mix: Mix) -> tuple[int, int]:
        women = min(mix.accuracy - min((mix.accuracy + odd) // 2, len(male)), len(female))
        return mix.accuracy - women, women

    chosen: list[Probe] = []
    for place, pool in enumerate((male, female)):
        count = divide(mixes[part])[place]
        earlier = sum(divide(mixes[name])[place] for name in _before(mixes, part))
        first = earlier + (attempt - 1) * count
        chosen += [pool[(first + i) % len(pool)] for i in range(count)]
    return chosen


def _shuffled(probes: Sequence[Probe], rng: np.random.Generator) -> list[Probe]:
    return [probes[i] for i in rng.permutation(len(probes))]


def _turn(probes: Sequence[Probe], count: int, attempt: int) -> list[Probe]:
    """The next `count` of them for each attempt, starting over when all were used."""
    return [probes[((attempt - 1) * count + i) % len(probes)] for i in range(count)]
