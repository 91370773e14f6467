"""Which sentences does a part of a study ask, and which of them check the person? Counted by the study, drawn by the seed.

Everybody gets the same measuring sentences in the same batch, so that agreement can be seen before the study ends; which type, which controls and in which
order is drawn for each person. A part of n questions has n x accuracy_controls questions from objective sentences and n x consistency_controls sentences
that are asked in both types; a further attempt takes other controls as long as there are any. The trial has questions of its own; where the suite is so small
that batches ask all of it, they ask the trial's sentences again. Where a suite names the original word (cgb), an objective sentence in Type 2 always shows the
wrong one, as in the paper; elsewhere it is drawn, so that both ends of the scale can be right.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import ceil
from typing import NamedTuple

import numpy as np

from evenhand.annotate.study import Study
from evenhand.core.errors import EvenhandError
from evenhand.core.records import GENDERS, Probe, Suite
from evenhand.suites.masking import MEASURING, OBJECTIVE

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
    return np.random.default_rng(int.from_bytes(hashlib.sha256("\0".join(map(str, names)).encode()).digest()[:16], "big"))


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
    return [p for p in suite.probes if p.stratum == MEASURING or (not p.stratum and not gold_gender(p))]


def count_mix(study: Study, size: int, key: str = "batch") -> Mix:
    """What a part of `size` questions consists of; a share above 0 means at least one."""
    shares = (study.accuracy_controls, study.consistency_controls if len(study.types) == 2 else 0.0)
    accuracy, pairs = (max(1, int(size * share + 1e-9)) if share > 0 else 0 for share in shares)
    single = size - accuracy - 2 * pairs
    if single < 0:
        raise PlanError(
            key, f"{key} is {size}: too few for {accuracy} accuracy and 2 x {pairs} consistency questions; ask more, or lower the shares"
        )
    return Mix(accuracy, pairs, single)


def _fitted(mix: Mix, sentences: int) -> Mix:
    """The same shares with fewer sentences."""
    if sentences >= mix.sentences:
        return mix
    accuracy, pairs = (max(1, round(n * sentences / mix.sentences)) if n else 0 for n in (mix.accuracy, mix.pairs))
    pairs = min(pairs, sentences)
    return Mix(accuracy, pairs, sentences - pairs)


def count_batches(study: Study, suite: Suite) -> int:
    """How many batches: as many as the study says, else as many as all sentences need."""
    return study.batches or ceil(len(measuring(suite)) / max(1, count_mix(study, study.batch).sentences))


def largest_part(study: Study, suite: Suite, wanted: int) -> int:
    """How many questions can a part have, at most `wanted`, with the sentences that there are? 0 where none fits."""
    room, controls = len(measuring(suite)), len(gold_genders(suite))
    for size in range(wanted, 0, -1):
        try:
            mix = count_mix(study, size)
        except PlanError:  # too small for its own controls, and so is every smaller one
            return 0
        if mix.sentences <= room and mix.accuracy <= controls:
            return size
    return 0


def check_plan(study: Study, suite: Suite) -> None:
    """PlanError where the sentences do not suffice for what the study wants."""
    room, controls = len(measuring(suite)), len(gold_genders(suite))
    if not room:
        raise PlanError("suite", f"the suite '{study.suite}' has no measuring sentence (stratum {MEASURING}); choose another")
    if study.accuracy_controls > 0 and not controls:
        raise PlanError(
            "accuracy_controls",
            f"the suite '{study.suite}' has no objective sentence (stratum {OBJECTIVE} with a tag gold), where accuracy questions come from; "
            "add some, or set accuracy_controls = 0 and do without",
        )
    for key, size in (("trial", study.trial), ("batch", study.batch)):
        if size or key == "batch":
            _check_part(study, suite, key, size)
    most = ceil(room / max(1, count_mix(study, study.batch).sentences))
    if study.batches and study.batches > most:
        raise PlanError(
            "batches", f"batches is {study.batches}, but {room} measuring sentences fill only {most} batches of {study.batch} questions"
        )
    if study.apart:
        _check_apart(study, suite, study.apart)


def _check_part(study: Study, suite: Suite, key: str, size: int) -> None:
    mix = count_mix(study, size, key)
    needs = (
        (mix.sentences, len(measuring(suite)), "measuring sentences"),
        (mix.accuracy, len(gold_genders(suite)), "objective sentences, each at most once"),
    )
    for wanted, there, what in needs:
        if wanted > there:
            most = largest_part(study, suite, size)
            advice = f"give at most {most}" if most else "lower the shares of controls"
            raise PlanError(key, f"{key} is {size} questions, which take {wanted} {what}, but the suite has {there}; {advice}")


def _check_apart(study: Study, suite: Suite, apart: int) -> None:
    for part in list_parts(study, suite):
        _, mix = _sentences(study, suite, part, 1)
        if mix.pairs and apart > (most := mix.questions - mix.pairs):
            raise PlanError(
                "apart", f"apart is {apart}, but {part} has {mix.pairs} pairs in {mix.questions} questions; give at most {most}"
            )


def list_parts(study: Study, suite: Suite) -> tuple[str, ...]:
    """The parts of a study in order: trial, batch-1, batch-2 ..."""
    return ((TRIAL,) if study.trial else ()) + tuple(f"batch-{k + 1}" for k in range(count_batches(study, suite)))


class Selection(NamedTuple):
    """The sentences of one part for one person."""

    single: tuple[Probe, ...]
    pairs: tuple[Probe, ...]
    accuracy: tuple[Probe, ...]


def select(study: Study, suite: Suite, annotator: str, part: str, attempt: int) -> Selection:
    """Which sentences does the part ask this person, and in which role?"""
    check_plan(study, suite)
    if part not in (known := list_parts(study, suite)):
        raise EvenhandError(f"the study '{study.name}' has no part '{part}'; it has {known[0]} to {known[-1]}")
    if attempt < 1:
        raise EvenhandError(f"attempt is {attempt}; the first is 1")
    sentences, mix = _sentences(study, suite, part, attempt)
    mine = _shuffled(sentences, draw(study.seed, annotator, part, "pairs"))
    pairs = _turn(mine, mix.pairs, attempt)
    chosen = {probe.id for probe in pairs}
    accuracy = _turn(_alternating(suite, draw(study.seed, annotator, part, "accuracy")), mix.accuracy, attempt)
    return Selection(tuple(p for p in mine if p.id not in chosen), tuple(pairs), tuple(accuracy))


def _sentences(study: Study, suite: Suite, part: str, attempt: int) -> tuple[list[Probe], Mix]:
    """The measuring sentences of a part, the same for everybody. The trial takes them from the end, where the batches come last or not at all."""
    order = _shuffled(measuring(suite), draw(study.seed, "sentences"))
    if part == TRIAL:
        mix = count_mix(study, study.trial, TRIAL)
        return _turn(order[::-1], mix.sentences, attempt), mix
    mix, batches, number = count_mix(study, study.batch), count_batches(study, suite), int(part.removeprefix("batch-"))
    covered = min(len(order), batches * mix.sentences)  # spread evenly: no short last batch with hardly a control in it
    sentences = order[(number - 1) * covered // batches : number * covered // batches]
    return sentences, _fitted(mix, len(sentences))


def _shuffled(probes: Sequence[Probe], rng: np.random.Generator) -> list[Probe]:
    return [probes[i] for i in rng.permutation(len(probes))]


def _turn(probes: Sequence[Probe], count: int, attempt: int) -> list[Probe]:
    """The next `count` of them for each attempt, from the start again when all had their turn."""
    return [probes[((attempt - 1) * count + i) % len(probes)] for i in range(count)]


def _alternating(suite: Suite, rng: np.random.Generator) -> list[Probe]:
    """The objective sentences, right for a man and for a woman in turn as long as there are both: nobody passes with one answer for all."""
    gold = gold_genders(suite)
    order = _shuffled([p for p in suite.probes if p.id in gold], rng)
    male, female = ([p for p in order if gold[p.id] == gender] for gender in GENDERS)
    both = [p for pair in zip(male, female, strict=False) for p in pair]
    shortest = len(both) // 2
    return both + male[shortest:] + female[shortest:]
