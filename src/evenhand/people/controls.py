"""Which sentences does a part of a study ask, and which of them check the person? Counted by the study, drawn by the seed.

Everybody gets the same measuring sentences in the same batch, so that agreement can be seen before the study ends; which type, which controls and in which
order is drawn for each person. A part of n questions has n x consistency_controls sentences that are asked in both types and n x accuracy_controls questions
from objective sentences, but no more than leave others for a second attempt. As many are right for a man as for a woman, and each person goes through them in
an order of their own, part after part, attempt after attempt: in one part none comes again before all of its gender had their turn. The trial has measuring
sentences of its own; where the suite is so small that batches ask all of it, they ask the trial's sentences again.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from evenhand.study.study import Study
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import GENDERS, Probe
from evenhand.core.suite import Suite
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE

TRIAL = "trial"
APART = 50


class PlanError(EvenhandError):
    """A study that cannot be asked with its sentences; `key` is the setting that is to blame."""

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
        """How many measuring sentences?"""
        return self.pairs + self.single

    @property
    def questions(self) -> int:
        """How many questions in all?"""
        return self.accuracy + 2 * self.pairs + self.single


def draw(*names: object) -> np.random.Generator:
    """Random numbers that belong to a name: the same on every machine and in every run."""
    return np.random.default_rng(
        int.from_bytes(hashlib.sha256("\0".join(map(str, names)).encode()).digest()[:16], "big")
    )


def gold_gender(probe: Probe) -> str:
    """The gender that an objective sentence settles; "" for any other."""
    if probe.stratum != OBJECTIVE:
        return ""
    told = probe.tags.get("gold", "")
    if told in GENDERS:
        return told
    fair = probe.tags.get("fair", "")
    return GENDERS[int(fair)] if fair in ("0", "1") else ""


def gold_genders(suite: Suite) -> dict[str, str]:
    """Probe id -> the gender that is right, for the sentences that accuracy questions come from."""
    return {probe.id: gold for probe in suite.probes if (gold := gold_gender(probe))}


def measuring(suite: Suite) -> list[Probe]:
    """The sentences that the study is about: those of the measuring stratum, or of a suite without strata all."""
    return [
        p for p in suite.probes if p.stratum == MEASURING or (not p.stratum and not gold_gender(p))
    ]


def most_controls(suite: Suite) -> int:
    """How many accuracy questions may a part have? Half of the objective sentences of the rarer gender, and as many of the other: a second attempt has others."""
    counts = Counter(gold_genders(suite).values())
    return 2 * (min(counts[gender] for gender in GENDERS) // 2) or max(1, counts.total() // 2)


def count_mix(study: Study, size: int, most: int, key: str = "batch") -> Mix:
    """What a part of `size` questions with at most so many accuracy questions consists of; a share above 0 means at least one."""
    shares = (study.accuracy_controls, study.consistency_controls if len(study.types) == 2 else 0.0)
    accuracy, pairs = (max(1, int(size * share + 1e-9)) if share > 0 else 0 for share in shares)
    accuracy = min(accuracy, most)
    single = size - accuracy - 2 * pairs
    if single < 0:
        raise PlanError(
            key,
            f"{key} is {size}: too few for {accuracy} accuracy and 2 x {pairs} consistency questions; ask more, or lower the shares",
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


def count_parts(study: Study, suite: Suite) -> dict[str, Mix]:
    """The parts of a study in order, trial, batch-1, batch-2 ..., and what each consists of."""
    room, most = len(measuring(suite)), most_controls(suite)
    mix = count_mix(study, study.batch, most)
    batches = study.batches or ceil(room / max(1, mix.sentences))
    covered = min(
        room, batches * mix.sentences
    )  # spread evenly: no short last batch with hardly a control in it
    parts = {TRIAL: count_mix(study, study.trial, most, TRIAL)} if study.trial else {}
    return parts | {
        f"batch-{k + 1}": _fitted(mix, (k + 1) * covered // batches - k * covered // batches)
        for k in range(batches)
    }


def list_parts(study: Study, suite: Suite) -> tuple[str, ...]:
    """The parts of a study in order."""
    return tuple(count_parts(study, suite))


def largest_part(study: Study, suite: Suite, wanted: int) -> int:
    """How many questions can a part have, at most `wanted`, with the sentences that there are? 0 where none fits."""
    room, most = len(measuring(suite)), most_controls(suite)
    for size in range(wanted, 0, -1):
        try:
            mix = count_mix(study, size, most)
        except PlanError:  # too small for its own controls, and so is every smaller one
            return 0
        if mix.sentences <= room:
            return size
    return 0


def check_plan(study: Study, suite: Suite) -> None:
    """PlanError where the sentences do not suffice for what the study wants."""
    room = len(measuring(suite))
    if not room:
        raise PlanError(
            "suite",
            f"the suite '{study.suite}' has no measuring sentence (stratum {MEASURING}); choose another",
        )
    if study.accuracy_controls > 0 and not gold_genders(suite):
        raise PlanError(
            "accuracy_controls",
            f"the suite '{study.suite}' has no objective sentence (stratum {OBJECTIVE} with a tag gold), where accuracy questions come from; "
            "add some, or set accuracy_controls = 0 and do without",
        )
    for key, size in (("trial", study.trial), ("batch", study.batch)):
        mix = (
            count_mix(study, size, most_controls(suite), key)
            if size or key == "batch"
            else Mix(0, 0, 0)
        )
        if mix.sentences > room:
            fit = largest_part(study, suite, size)
            advice = f"give at most {fit}" if fit else "lower the shares of controls"
            raise PlanError(
                key,
                f"{key} is {size} questions, which take {mix.sentences} measuring sentences, but the suite has {room}; {advice}",
            )
    if study.batches and study.batches > (fill := ceil(room / max(1, mix.sentences))):
        raise PlanError(
            "batches",
            f"batches is {study.batches}, but {room} measuring sentences fill only {fill} batches of {study.batch} questions",
        )
    for part, mix in count_parts(study, suite).items() if study.apart else ():
        if mix.pairs and study.apart and study.apart > (most := mix.questions - mix.pairs):
            raise PlanError(
                "apart",
                f"apart is {study.apart}, but {part} has {mix.pairs} pairs in {mix.questions} questions; give at most {most}",
            )


class Selection(NamedTuple):
    """The sentences of one part for one person."""

    single: tuple[Probe, ...]
    pairs: tuple[Probe, ...]
    accuracy: tuple[Probe, ...]  # those about a man first


def select(study: Study, suite: Suite, annotator: str, part: str, attempt: int) -> Selection:
    """Which sentences does the part ask this person, and in which role?"""
    check_plan(study, suite)
    mixes = count_parts(study, suite)
    if part not in mixes:
        raise EvenhandError(
            f"the study '{study.name}' has no part '{part}'; it has {next(iter(mixes))} to {next(reversed(mixes))}"
        )
    if attempt < 1:
        raise EvenhandError(f"attempt is {attempt}; the first is 1")
    mine = _shuffled(
        _sentences(study, suite, mixes, part, attempt), draw(study.seed, annotator, part, "pairs")
    )
    pairs = _turn(mine, mixes[part].pairs, attempt)
    chosen = {probe.id for probe in pairs}
    accuracy = _select_accuracy(
        suite, mixes, part, attempt, draw(study.seed, annotator, "accuracy")
    )
    return Selection(tuple(p for p in mine if p.id not in chosen), tuple(pairs), tuple(accuracy))


def _sentences(
    study: Study, suite: Suite, mixes: Mapping[str, Mix], part: str, attempt: int
) -> list[Probe]:
    """The measuring sentences of a part, the same for everybody. The trial takes them from the end, where the batches come last or not at all."""
    order = _shuffled(measuring(suite), draw(study.seed, "sentences"))
    if part == TRIAL:
        return _turn(order[::-1], mixes[part].sentences, attempt)
    first = sum(mixes[name].sentences for name in _before(mixes, part) if name != TRIAL)
    return order[first : first + mixes[part].sentences]


def _before(mixes: Mapping[str, Mix], part: str) -> list[str]:
    return list(mixes)[: list(mixes).index(part)]


def _select_accuracy(
    suite: Suite, mixes: Mapping[str, Mix], part: str, attempt: int, rng: np.random.Generator
) -> list[Probe]:
    """The objective sentences of a part: half of them right for a man, half for a woman as long as there are both, so that nobody passes by one answer."""
    gold = gold_genders(suite)
    order = _shuffled([p for p in suite.probes if p.id in gold], rng)
    male, female = ([p for p in order if gold[p.id] == gender] for gender in GENDERS)
    odd = int(rng.integers(2))  # which gender has one more where the number is odd

    def divide(mix: Mix) -> tuple[int, int]:
        women = min(mix.accuracy - min((mix.accuracy + odd) // 2, len(male)), len(female))
        return mix.accuracy - women, women

    found: list[Probe] = []
    for place, pool in enumerate((male, female)):
        count = divide(mixes[part])[place]
        first = (
            sum(divide(mixes[name])[place] for name in _before(mixes, part)) + (attempt - 1) * count
        )
        found += [pool[(first + i) % len(pool)] for i in range(count)]
    return found


def _shuffled(probes: Sequence[Probe], rng: np.random.Generator) -> list[Probe]:
    return [probes[i] for i in rng.permutation(len(probes))]


def _turn(probes: Sequence[Probe], count: int, attempt: int) -> list[Probe]:
    """The next `count` of them for each attempt, from the start again when all had their turn."""
    return [probes[((attempt - 1) * count + i) % len(probes)] for i in range(count)]
