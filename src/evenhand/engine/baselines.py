"""Baselines: what rules that need no model score on the probes that a respondent answered.

Several sets of random answers are drawn. A random respondent answers one cluster independently of
any other, so DRAWS respondents are made of these sets: each takes, cluster by cluster, the evidence
of one of them. Every set is taken equally often, so that a share has exactly its expected value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core.account import CONSTANT, RANDOM
from evenhand.core.answers import Answers
from evenhand.core.estimate import Baseline
from evenhand.core.family import Family
from evenhand.core.measure import Measure
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.engine.estimate import read_mask
from evenhand.respondents.fixed import RESPONDENT, random_draws
from evenhand.stats.bootstrap import generator
from evenhand.stats.crossed import sum_by

SETS = (240, 96, 48)  # how many sets are drawn: the fewer, the more probes there are
ROWS = 150_000  # how many answers all sets together have at most, where the fewest sets allow it
DRAWS = 480  # how many respondents are made of the sets; a multiple of each number of sets
NO_SCALE = "the size of random log-odds is arbitrary"
NO_VALUE = "the rule gives no answer to the probes that were answered and count"
NO_PROBE = "no probe that counts was answered"


class _Reading:
    """One measure on the answered probes that it reads."""

    def __init__(self, measure: Measure, answers: Answers) -> None:
        self.measure = measure
        self.rows = np.flatnonzero(read_mask(measure, answers.probes))
        self.probes = [answers.probes[row] for row in self.rows]
        self.is_answered = answers.is_answered[self.rows]
        code_of: dict[str, int] = {}
        codes = [code_of.setdefault(p.cluster or p.id, len(code_of)) for p in self.probes]
        self.codes, self.clusters = np.asarray(codes, dtype=np.intp), len(code_of)

    @property
    def has_scale(self) -> bool:
        """Whether random answers have a score; not in log-odds, where their size is arbitrary."""
        return self.measure.unit != "log-odds"

    @property
    def missing(self) -> str:
        """Why a rule has no score, where it has none."""
        return NO_VALUE if self.is_answered.any() else NO_PROBE

    def cluster_sums(self, values: Floats) -> Floats:
        """What each cluster adds to the score of a rule with these values: (cluster, k)."""
        read = np.where(self.is_answered[:, None, None], values[self.rows], np.nan)
        sums = sum_by(self.codes, self.measure.evidence(self.probes, read), self.clusters)
        return sums if self.measure.per_cluster is None else self.measure.per_cluster(sums)

    def exact(self, values: Floats) -> Baseline:
        """The score of a rule without chance."""
        value = float(self.measure.combine(self.cluster_sums(values).sum(axis=0)))
        return _baseline(self.measure, (value, value, value), 0, self.missing)

    def expected(self, sets: Sequence[Floats], settings: Settings) -> Baseline:
        """The mean score of random respondents, and the range of those in the middle.

        sets: the `cluster_sums` of several random answers.
        """
        if not self.has_scale:
            return _baseline(self.measure, (math.nan,) * 3, 0, NO_SCALE)
        rng = generator(settings.seed, f"{RANDOM}/{self.measure.name}")
        turns = np.tile(np.arange(len(sets)), DRAWS // len(sets))
        chosen = rng.permuted(np.tile(turns[:, None], self.clusters), axis=0)
        table, places = np.stack(sets), np.arange(self.clusters)
        scores = self.measure.combine(
            np.stack([table[draw, places].sum(axis=0) for draw in chosen])
        )
        known = scores[np.isfinite(scores)]
        if not len(known):
            return _baseline(self.measure, (math.nan,) * 3, 0, self.missing)
        tails = (1 - settings.level) / 2, (1 + settings.level) / 2
        low, high = np.quantile(known, tails)
        mean = round(math.fsum(known) / len(known), 12) + 0.0  # rounding may leave -1e-19
        return _baseline(self.measure, (mean, float(low), float(high)), len(known))


def _baseline(
    measure: Measure, score: tuple[float, float, float], draws: int, missing: str = ""
) -> Baseline:
    """score: the value and its bounds; missing: why there is no value, where it is NaN."""
    value, low, high = score
    note = "" if math.isfinite(value) else missing
    return Baseline(measure=measure.name, value=value, low=low, high=high, draws=draws, note=note)


def score_rules(
    family: Family, answers: Answers, measures: Sequence[Measure], settings: Settings
) -> dict[str, tuple[Baseline, ...]]:
    """By rule, what it scores by each measure: random, constant, the references of the family."""
    kind = answers.probes[0].kind if answers.probes else "pair"
    options = RespondentOptions(labels=answers.labels if answers.is_classifier else ())
    labels = len(RESPONDENT.open(RANDOM, options).labels_for(kind))
    readings = [_Reading(measure, answers) for measure in measures]
    sets: list[list[Floats]] = [[] for _ in readings]
    rng = generator(settings.seed, RANDOM)
    count = next((n for n in SETS if n * len(answers.probes) <= ROWS), SETS[-1])
    count = count if any(reading.has_scale for reading in readings) else 0
    for values in random_draws(answers.probes, labels, count, rng):
        for reading, drawn in zip(readings, sets, strict=True):
            if reading.has_scale:
                drawn.append(reading.cluster_sums(values))
    scored = {
        RANDOM: tuple(
            reading.expected(drawn, settings) for reading, drawn in zip(readings, sets, strict=True)
        )
    }
    for rule in (CONSTANT, *family.references):
        values = RESPONDENT.open(rule, options).answer(answers.probes).values
        scored[rule] = tuple(reading.exact(values) for reading in readings)
    return scored
