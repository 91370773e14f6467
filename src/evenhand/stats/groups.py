"""Intervals of the groups of a breakdown, for the target of the settings.

New items: every factor of the suite is random in a group, except the one that the groups are the
levels of. This set: a group is as uncertain as the share of the suite that was not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.answers import Answers, Status
from evenhand.core.estimate import Group
from evenhand.core.evidence import Combine
from evenhand.core.probe import Floats, Probe, shared_tags
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.stats.bootstrap import group_settings
from evenhand.stats.crossed import EvidenceTable, Factor, Rows, suite_factors
from evenhand.stats.intervals import Range, crossed_intervals, sampled_intervals


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupScore:
    """How the score of a group is made of evidence.

    limits: its ends; by: the tag whose values are the groups; unit: what is random in a group that
    is a level of the only factor, by name, and its level for each probe.
    """

    combine: Combine
    limits: Range
    by: str = ""
    unit: tuple[str, Sequence[str]] = ("", ())


def asked_share(suite: Suite, answers: Answers) -> float:
    """The share of the probes of the whole suite that was asked."""
    asked = sum(status is not Status.NOT_ASKED for status in answers.statuses)
    whole = suite.whole or len(answers.probes)
    return asked / whole if whole else 1.0


def drawn_factor(probes: Sequence[Probe], evidence: Floats) -> Factor:
    """The units in which probes are drawn for `--limit`: a probe with its twin.

    Of choices, all sets of options that are put to one context, which are drawn many at a time.
    """
    units = [
        f"{p.cluster}/{p.texts[0]}"
        if p.kind == "choice" and p.texts[0]
        else min(p.id, p.twin or p.id)
        for p in probes
    ]
    return Factor.of("pair", units, Rows.plain(evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEstimator:
    """Estimates groups of the probes of a run."""

    suite: Suite
    asked: float  # the share of the whole suite
    settings: Settings

    @classmethod
    def of(cls, suite: Suite, answers: Answers, settings: Settings) -> GroupEstimator:
        """The estimator of the groups of these answers."""
        return cls(
            suite=suite, asked=asked_share(suite, answers), settings=group_settings(settings)
        )

    def estimate(
        self,
        name: str,
        probes: Sequence[Probe],
        table: EvidenceTable,
        score: GroupScore,
        rng: np.random.Generator,
        parts: Sequence[str] = (),
    ) -> Group:
        """A group with its interval; `probes` of it is the number of those given.

        parts: the part of the score that each probe belongs to, by default one.
        """
        named = parts or [""] * len(probes)
        every = suite_factors(self.suite.card, probes, table.rows, named)
        is_cluster = {p.cluster for p in probes} == {name}
        factors = [
            factor
            for place, factor in enumerate(every)
            if factor.name != score.by and not (place == 0 and is_cluster)
        ]
        if not factors and score.unit[0]:
            factors = [Factor.of(*score.unit, Rows.plain(table.rows))]
        limits = {"": score.limits}

        def scores(sums: Floats) -> dict[str, Floats]:
            return {"": score.combine(sums)}

        if self.settings.target == "this set":
            drawn = drawn_factor(probes, table.rows)
            found = sampled_intervals(table, drawn, scores, self.asked, self.settings, limits)
        else:
            found = crossed_intervals(
                table, factors or every[:1], scores, rng, self.settings, limits
            )
        return Group(
            name=name,
            tags=shared_tags(probes),
            interval=found[""].interval,
            probes=len(probes),
            levels={f.name: f.smallest for f in factors or every[:1]},
            has_variation=found[""].has_variation,
        )


def resampled_names(groups: Sequence[Group]) -> str:
    """What was random in the groups of a breakdown: `occupation x template`."""
    return " x ".join(dict.fromkeys(name for group in groups for name in group.levels))
