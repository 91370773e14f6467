"""Does a measure follow the real world? Its value group by group against a figure that each group carries, such as the share of women."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.estimate import Breakdown, Relation
from evenhand.core.probe import Probe
from evenhand.engine.estimating import generator
from evenhand.stats.correlation import correlate

AGAINST = "share_women"


def with_shares(answers: Answers, shares: Mapping[str, float]) -> Answers:
    """The answers with another table of shares: occupations that it does not name lose theirs."""

    def tags_of(probe: Probe) -> dict[str, str]:
        kept = {k: v for k, v in probe.tags.items() if k != AGAINST}
        share = shares.get(probe.tags.get("occupation", "").lower())
        return kept if share is None else {**kept, AGAINST: f"{share:g}"}

    return replace(answers, probes=tuple(replace(p, tags=tags_of(p)) for p in answers.probes))


def relate(
    view: Breakdown,
    against: str = AGAINST,
    *,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Relation | None:
    """Pearson and Spearman of the groups' values with their figure, groups resampled; None where fewer than three groups have one."""
    points = tuple(g for g in view.groups if against in g.tags and np.isfinite(g.interval.value))
    if len(points) < 3:
        return None
    x = np.asarray([float(g.tags[against]) for g in points])
    y = np.asarray([g.interval.value for g in points])
    found = correlate(
        x, y, generator(seed, f"{view.measure}~{against}"), resamples=resamples, level=level
    )
    note = (
        ""
        if np.isfinite(found["pearson"].value)
        else "no correlation: the value is the same in every group"
    )
    return Relation(
        measure=view.measure,
        by=view.by,
        against=against,
        points=points,
        pearson=found["pearson"],
        spearman=found["spearman"],
        note=note,
    )
