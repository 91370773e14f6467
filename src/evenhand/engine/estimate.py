"""Estimates: which measures fit a suite, their values with intervals, as a whole and by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answers import Answers, answered_rows
from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Breakdown, Estimate, Group, Relation
from evenhand.core.evidence import stratum_mask
from evenhand.core.family import Grouping
from evenhand.core.measure import Measure
from evenhand.core.probe import Bools, Floats, Probe, group_rows, shared_tags
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.stats.bootstrap import (
    FEW,
    cluster_totals,
    generator,
    group_settings,
    interval,
    intervals,
)
from evenhand.stats.correlation import correlate


def applicable_measures(
    suite: Suite, options: Sequence[str], labels: Sequence[str]
) -> tuple[list[Measure], list[Measure]]:
    """The measures for a suite, in two lists: those that the labels suffice for, and the others.

    In the order of a report: those of the suite's family first.
    """
    candidates = [
        m
        for m in catalog.measures().values()
        if m.kind == suite.kind
        and (not m.strata or m.strata & suite.strata)
        and m.required <= suite.strata
        and m.options <= {*options}
    ]
    if candidates:
        family = catalog.family_of(suite, candidates)
        candidates.sort(key=lambda m: family.measure_rank(m.name))
    return (
        [m for m in candidates if m.labels <= {*labels}],
        [m for m in candidates if not m.labels <= {*labels}],
    )


def choose_measures(
    suite: Suite, options: Sequence[str], labels: Sequence[str], names: Sequence[str] | None = None
) -> list[Measure]:
    """The measures to compute: the named ones, or all that apply.

    Raises MeasureError where a named one does not apply, or no measure of bias does.
    """
    usable, refused = applicable_measures(suite, options, labels)
    works = ", ".join(m.name for m in usable) or "none on this suite"
    given = ", ".join(labels)
    if names:
        chosen = [catalog.measure(name) for name in names]
        for measure in chosen:
            if measure in refused:
                needed = ", ".join(sorted(measure.labels))
                raise MeasureError(
                    f"{measure.name} needs the labels {needed}; the model gives {given}. "
                    f"Would work: {works}"
                )
            if measure not in usable:
                strata = ", ".join(sorted(measure.strata))
                raise MeasureError(
                    f"{measure.name} does not apply to {suite.card.name}: "
                    f"it has no stratum of {strata}"
                )
        return sorted(chosen, key=usable.index)
    is_about_bias = any(m.worst is not None for m in usable)
    if not usable or (any(m.worst is not None for m in refused) and not is_about_bias):
        needs = ", ".join(m.name for m in refused) or "every measure"
        raise MeasureError(
            f"the model gives {given}; {needs} cannot be computed on {suite.card.name}. "
            f"Would work: {works}"
        )
    return usable


def read_mask(measure: Measure, probes: Sequence[Probe]) -> Bools:
    """Which probes belong to the strata that a measure reads."""
    if not measure.strata:
        return np.ones(len(probes), dtype=bool)
    return stratum_mask(probes, *measure.strata)


def _why_empty(measure: Measure, probes: Sequence[Probe], evidence: Floats) -> str:
    """Why a score is NaN."""
    present = {p.stratum for p in probes}
    # a variant of a choice suite has only one of the strata that its measures read
    wanted = measure.strata & present if measure.kind == "choice" and present else measure.strata
    if missing := sorted(wanted - present):
        return f"no probes in {', '.join(missing)}"
    answered = {p.stratum for p, row in zip(probes, evidence, strict=True) if row.any()}
    unanswered = sorted(wanted - answered)
    return f"no answer in {', '.join(unanswered)}" if unanswered else "not defined on these answers"


def signature_of(measure: Measure, suite: Suite, answers: Answers, settings: Settings) -> Signature:
    """The signature of an estimate: everything that the number depends on."""
    return Signature.of(
        measure=measure.name,
        suite=suite.reference,
        lang=suite.card.language,
        model=answers.respondent,
        **answers.traits,
        ci=f"{settings.method}{settings.level * 100:g}x{settings.resamples}/cluster",
        seed=settings.seed,
        evenhand=__version__,
    )


def estimate(measure: Measure, suite: Suite, answers: Answers, settings: Settings) -> Estimate:
    """The measure's value on the answers with its cluster-bootstrap interval."""
    is_read = read_mask(measure, answers.probes)
    probes = [p for p, read in zip(answers.probes, is_read, strict=True) if read]
    values = answers.values[is_read]
    evidence = measure.evidence(probes, values)
    totals = cluster_totals(evidence, [p.cluster for p in probes])
    parts = intervals(
        totals,
        lambda sums: {"": measure.combine(sums), **measure.parts(sums)},
        generator(settings.seed, measure.name),
        settings,
    )
    score = parts.pop("")
    note = ""
    if not np.isfinite(score.value):
        note = _why_empty(measure, probes, evidence)
    elif len(totals) < 2:
        note = "one cluster only: there is no interval"
    elif len(totals) < FEW:
        note = f"only {len(totals)} clusters: the interval is rough"
    return Estimate(
        measure=measure.name,
        value=score.value,
        low=score.low,
        high=score.high,
        level=settings.level,
        probes=len(probes),
        clusters=len(totals),
        coverage=float(answers.is_answered[is_read].mean()) if probes else float("nan"),
        ties=measure.ties(probes, values),
        signature=str(signature_of(measure, suite, answers, settings)),
        note=note,
        parts=parts,
    )


def break_down(
    measure: Measure, answers: Answers, grouping: Grouping, settings: Settings
) -> Breakdown:
    """The measure group by group, the farthest from fair first."""

    def name_of(probe: Probe) -> str | None:
        is_read = not measure.strata or probe.stratum in measure.strata
        return probe.tags.get(grouping.by) if is_read else None

    groups = []
    for name, rows in group_rows(answers.probes, name_of).items():
        probes, values = [answers.probes[r] for r in rows], answers.values[rows]
        units = [p.tags.get(grouping.unit) or p.texts[0] or " / ".join(p.texts) for p in probes]
        score = interval(
            cluster_totals(measure.evidence(probes, values), units),
            measure.of_group,
            generator(settings.seed, f"{measure.name}/{name}"),
            group_settings(settings),
        )
        answered = int(answered_rows(probes, values).sum())
        groups.append(Group(name=name, tags=shared_tags(probes), interval=score, probes=answered))
    groups.sort(
        key=lambda g: (
            not np.isfinite(g.interval.value),
            -abs(g.interval.value - measure.fair),
            g.name,
        )
    )
    return Breakdown(measure=measure.name, by=grouping.by, unit=grouping.unit, groups=tuple(groups))


def relate(view: Breakdown, against: str, settings: Settings) -> Relation | None:
    """The correlation of the groups' values with the figure that their tag `against` holds.

    Groups are resampled for the intervals. None where fewer than three groups have a figure.
    """
    points = tuple(g for g in view.groups if against in g.tags and np.isfinite(g.interval.value))
    if len(points) < 3:
        return None
    x = np.asarray([float(g.tags[against]) for g in points])
    y = np.asarray([g.interval.value for g in points])
    rng = generator(settings.seed, f"{view.measure}~{against}")
    both = correlate(x, y, rng, settings)
    is_known = np.isfinite(both["pearson"].value)
    return Relation(
        measure=view.measure,
        by=view.by,
        against=against,
        points=points,
        pearson=both["pearson"],
        spearman=both["spearman"],
        note="" if is_known else "no correlation: the value is the same in every group",
    )
