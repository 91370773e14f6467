"""The male share: how often the male word wins, by word, pair and sort of words."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.estimate import Breakdown, Group
from evenhand.core.evidence import mean_of
from evenhand.core.family import Grouping
from evenhand.core.probe import NLI_LABELS, Floats, Probe, group_rows
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.families.word_tests.measures import male_wins
from evenhand.families.word_tests.suite import RECOGNITION
from evenhand.stats.bootstrap import generator
from evenhand.stats.crossed import EvidenceTable
from evenhand.stats.groups import GroupEstimator, GroupScore, resampled_names
from evenhand.stats.intervals import SHARE

BY_SCORE, BY_LABEL = "male share", "male share by label"  # the names of the breakdowns
EVEN = 0.5  # both sides win equally often
GROUPINGS = (
    Grouping(by="word", unit="pair"),
    Grouping(by="pair", unit="word"),
    Grouping(by="lean", unit="word"),
    Grouping(by="emotion", unit="word"),
    Grouping(by="sort", unit="word"),
)


def examine(suite: Suite, answers: Answers, settings: Settings) -> list[Breakdown]:
    """The male share by word, pair and sort of words; also by label where there are labels."""
    ways = {BY_SCORE: False}
    if {*NLI_LABELS} <= {*answers.labels}:
        ways[BY_LABEL] = True
    estimator = GroupEstimator.of(suite, answers, settings)
    views = []
    for name, is_by_label in ways.items():
        wins = male_wins(answers.values, is_by_label=is_by_label)
        for grouping in GROUPINGS:
            groups = sorted(
                _groups(estimator, answers, wins, grouping),
                key=lambda g: (-abs(g.interval.value - EVEN), g.name),
            )
            if groups:
                view = Breakdown(
                    measure=name,
                    by=grouping.by,
                    unit=resampled_names(groups),
                    groups=tuple(groups),
                )
                views.append(view)
    return views


def _groups(
    estimator: GroupEstimator, answers: Answers, wins: Floats, grouping: Grouping
) -> Iterator[Group]:
    """The share for each value of a tag, over the comparisons that were answered."""

    def name_of(probe: Probe) -> str | None:
        return probe.tags.get(grouping.by) if probe.stratum != RECOGNITION else None

    for name, all_rows in group_rows(answers.probes, name_of).items():
        rows = [row for row in all_rows if np.isfinite(wins[row])]
        if not rows:
            continue
        probes = [answers.probes[row] for row in rows]
        evidence = np.stack([np.ones(len(rows)), wins[rows]], axis=1)
        units = [p.tags.get(grouping.unit, p.id) for p in probes]
        yield estimator.estimate(
            name,
            probes,
            EvidenceTable(rows=evidence),
            GroupScore(combine=mean_of, limits=SHARE, by=grouping.by, unit=(grouping.unit, units)),
            generator(estimator.settings.seed, f"male/{grouping.by}/{name}"),
        )
