"""All models asked the same probes, each compared with the first and with the control.

Comparisons are paired, cluster by cluster.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.corpora import Pair
from evenhand.core.estimate import Estimate
from evenhand.core.protocols import Respondent
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.compare import (
    Comparison,
    Contestant,
    Difference,
    Watch,
    adjust,
    compare_answers,
)
from evenhand.engine.estimate import choose_measures, estimate
from evenhand.families.ordinary.suite import pair_probes
from evenhand.mitigate.anchors import AnchorPlan, unseen_part
from evenhand.mitigate.records import BEFORE, NONE, Asked, Change, Part, Score

MEASURES = 3  # the first of a suite's family; each further one costs power in the correction of p
MANY = 2000  # resamples at most for held-out pairs, which have thousands of clusters
FEW = 100  # resamples where only the value is of interest
Opening = Callable[[], Respondent]


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedSuite:
    """One suite, or a file of held-out pairs as one, and what the models answered to it."""

    name: str
    part: Part
    suite: Suite
    is_published: bool = False
    answers: tuple[Answers, ...] = ()  # in the order of the models

    def describe(self) -> Asked:
        """What the record says of it."""
        return Asked(
            name=self.name,
            part=self.part,
            reference=self.suite.reference,
            probes=len(self.suite.probes),
            clusters=len({p.cluster for p in self.suite.probes}),
            is_published=self.is_published,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """Every value, every change, and how many p values were adjusted together."""

    scores: tuple[Score, ...]
    changes: tuple[Change, ...]
    tests: int


def default_suites(language: str, *, is_published: bool = False) -> list[str]:
    """The built-in suites of pairs about bias in a language, the default one first.

    is_published: instead those that others published, of the same families.
    """
    families = sorted(catalog.families().values(), key=lambda f: not f.is_default)
    names = []
    for family in families:
        suites = [s for s in family.suites if s.kind == "pair" and language in s.languages]
        if not family.is_check and any(not s.is_published for s in suites):
            names += [s.name for s in suites if s.is_published is is_published]
    return names


def held_out_suite(name: str, pairs: Sequence[Pair], source: str, language: str) -> Suite:
    """Ordinary pairs as a suite; those that share a premise are one cluster."""
    card = SuiteCard(
        name=name,
        version="1",
        language=language,
        source=source,
        licence="that of the file",
        citation="that of the file",
        description="held-out pairs with their gold labels",
    )
    return Suite(card=card, probes=pair_probes(name, pairs, language))


def ask_all(
    models: Sequence[tuple[str, Opening]],
    suites: Sequence[AskedSuite],
    plan: AnchorPlan | None,
    watch: Watch | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> list[AskedSuite]:
    """The answers of every model to every suite, with one model open at a time.

    Where there were anchors, each suite is followed by the same suite on unseen occupations.
    """
    answers: list[list[Answers]] = [[] for _ in suites]
    probes = sum(len(asked.suite.probes) for asked in suites)
    for number, (name, opening) in enumerate(models, 1):
        say(f"asking {number} of {len(models)}: {name}, {probes:,} pairs")
        respondent = opening()
        for asked, column in zip(suites, answers, strict=True):
            with watch(f"asking {name}: {asked.name}") if watch else nullcontext() as progress:
                column.append(ask_suite(respondent, asked.suite, Asking(progress=progress)))
    answered = []
    for asked, column in zip(suites, answers, strict=True):
        answered.append(dataclasses.replace(asked, answers=tuple(column)))
        if plan is None or asked.part != "all":
            continue
        if rest := unseen_part(asked.suite, column, plan):
            answered.append(
                dataclasses.replace(asked, part="unseen", suite=rest[0], answers=tuple(rest[1]))
            )
    return answered


def compare_models(
    answered: Sequence[AskedSuite], names: Sequence[str], settings: Settings
) -> Compared:
    """Every value; every change from the model before mitigation, and from the control.

    names: of the models, the one before mitigation first; the control may be missing.
    """
    against_before: list[Comparison] = []
    against_control: list[Comparison] = []
    for asked in answered:
        first = asked.answers[0]
        usable = choose_measures(asked.suite, first.options, first.labels)[:MEASURES]
        measures = [m.name for m in usable]
        own = settings
        if asked.part == "dev":
            own = dataclasses.replace(settings, resamples=min(settings.resamples, MANY))
        contestants = [
            Contestant(
                name=name,
                answers=answers,
                estimates=tuple(estimate(m, asked.suite, answers, own) for m in usable),
            )
            for name, answers in zip(names, asked.answers, strict=True)
        ]
        against_before.append(compare_answers(asked.suite, contestants, own, measures))
        control = [c for c in contestants if c.name == NONE]
        others = [c for c in contestants if c.name not in (BEFORE, NONE)]
        if control and others:
            pair = [*control, *others]
            against_control.append(compare_answers(asked.suite, pair, own, measures))
    # each reference has its own family of p values
    compared = [adjust(group) for group in (against_before, against_control) if group]
    return Compared(
        scores=tuple(
            _score(asked, contestant.name, e)
            for asked, comparison in zip(answered, compared[0], strict=True)
            for contestant in comparison.models
            for e in contestant.estimates
        ),
        changes=tuple(
            _change(asked, difference, comparison.reference.name)
            for group in compared
            for asked, comparison in zip(answered, group, strict=True)
            for difference in comparison.differences
        ),
        tests=compared[0][0].tests,
    )


def score_further_runs(
    answered: Sequence[AskedSuite], runs: Sequence[tuple[str, int]], settings: Settings
) -> list[Score]:
    """The values of further training runs, without intervals: they show how far seeds differ.

    runs: method and number of the run, in the order of the answers.
    """
    own = dataclasses.replace(settings, resamples=FEW)
    return [
        dataclasses.replace(
            _score(asked, method, estimate(measure, asked.suite, answers, own)),
            low=math.nan,
            high=math.nan,
            run=run,
        )
        for asked in answered
        for (method, run), answers in zip(runs, asked.answers, strict=True)
        for measure in choose_measures(asked.suite, answers.options, answers.labels)[:MEASURES]
    ]


def _score(asked: AskedSuite, model: str, score: Estimate) -> Score:
    return Score(
        asked=asked.name,
        part=asked.part,
        measure=score.measure,
        model=model,
        value=score.value,
        low=score.low,
        high=score.high,
        signature=score.signature,
        note=score.note,
    )


def _change(asked: AskedSuite, apart: Difference, against: str) -> Change:
    return Change(
        asked=asked.name,
        part=asked.part,
        measure=apart.measure,
        model=apart.model,
        against=against,
        value=apart.difference.value,
        low=apart.difference.low,
        high=apart.difference.high,
        nearer_low=apart.distance.low,
        nearer_high=apart.distance.high,
        p=apart.p,
        adjusted=apart.adjusted,
        note=apart.note,
    )
