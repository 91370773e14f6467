"""The halves of StereoSet in one run, each with its domains, as the official script prints them.

In `all` an item weighs by the items that its target term has in both halves; within one half by
those in that half alone. So the scores of a half are computed here, on probes that say so, and are
the same as those of a run on that half.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core.answers import Answers, answered_rows
from evenhand.core.estimate import Breakdown, Group
from evenhand.core.measure import Measure
from evenhand.core.probe import Floats, Probe, group_rows, shared_tags
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.families.stereoset.measures import MEASURES
from evenhand.families.stereoset.suite import HALF_ITEMS
from evenhand.stats.bootstrap import cluster_totals, generator, group_settings
from evenhand.stats.intervals import SHARE, interval

BY_HALF, BY_DOMAIN = "stratum", "half and domain"  # the names of the breakdowns
QUANTITIES = ("lms_", "ss_", "icat_")  # those that the official script prints


def half_and_domain(probe: Probe) -> str:
    """`inter, gender`."""
    return f"{probe.stratum}, {probe.tags.get('domain', '')}"


def examine(suite: Suite, answers: Answers, settings: Settings) -> Sequence[Breakdown]:
    """Every measure by half, and by half and domain; nothing where there is only one half."""
    if HALF_ITEMS not in suite.tags:
        return ()
    probes = [replace(p, tags={**p.tags, "items": p.tags[HALF_ITEMS]}) for p in answers.probes]
    views = []
    for measure in MEASURES:
        if not measure.name.startswith(QUANTITIES) or not measure.labels <= {*answers.labels}:
            continue
        values = measure.readable_values(answers)
        for by, name_of in ((BY_HALF, lambda p: p.stratum), (BY_DOMAIN, half_and_domain)):
            rows = group_rows(probes, name_of)
            groups = tuple(_groups(measure, probes, values, rows, settings))
            views.append(Breakdown(measure=measure.name, by=by, unit="target", groups=groups))
    return views


def _groups(
    measure: Measure,
    probes: Sequence[Probe],
    values: Floats,
    rows_of: dict[str, list[int]],
    settings: Settings,
) -> Iterator[Group]:
    """The score of each group, target terms resampled."""
    for name, rows in rows_of.items():
        own, given = [probes[row] for row in rows], values[np.asarray(rows, dtype=np.intp)]
        totals = cluster_totals(measure.evidence(own, given), [p.cluster for p in own])
        yield Group(
            name=name,
            tags=shared_tags(own),
            interval=interval(
                totals,
                measure.combine,
                generator(settings.seed, f"{measure.name}/half/{name}"),
                group_settings(settings),
                SHARE,
            ),
            probes=int(answered_rows(own, given).sum()),
        )
