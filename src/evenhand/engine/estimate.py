"""Estimates: which measures fit a suite, their values with intervals, as a whole and by group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answers import Answers, answered_rows
from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Breakdown, Estimate, Group, Relation
from evenhand.core.family import Grouping
from evenhand.core.measure import Measure
from evenhand.core.probe import Bools, Floats, Probe
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


def fitting(
    suite: Suite, options: Sequence[str], labels: Sequence[str]
) -> tuple[list[Measure], list[Measure]]:
    """The measures for these probes: those that the answers suffice for, and the others.

    In the order of a report: those of the suite's family first.
    """
    apt = [
        m
        for m in catalog.measures().values()
        if m.kind == suite.kind
        and (not m.strata or m.strata & suite.strata)
        and m.required <= suite.strata
        and m.options <= {*options}
    ]
    if apt:
        family = catalog.family_of(suite, apt)
        apt.sort(key=lambda m: family.measure_rank(m.name))
    return (
        [m for m in apt if m.labels <= {*labels}],
        [m for m in apt if not m.labels <= {*labels}],
    )


def choose(
    suite: Suite, options: Sequence[str], labels: Sequence[str], names: Sequence[str] | None = None
) -> list[Measure]:
    """The measures to compute: those that are named, or all that fit.

    Raises MeasureError where one that is named does not fit, or none about bias does.
    """
    usable, refused = fitting(suite, options, labels)
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
    """Which probes a measure reads."""
    is_read = (not measure.strata or p.stratum in measure.strata for p in probes)
    return np.asarray(list(is_read), dtype=bool)


def _why_empty(measure: Measure, probes: Sequence[Probe], evidence: Floats) -> str:
    """Why a score is NaN."""
    there = {p.stratum for p in probes}
    # the variants of a choice suite have one stratum each
    wanted = measure.strata & there if measure.kind == "choice" and there else measure.strata
    if missing := sorted(wanted - there):
        return f"no probes in {', '.join(missing)}"
    answered = {p.stratum for p, row in zip(probes, evidence, strict=True) if row.any()}
    silent = sorted(wanted - answered)
    return f"no answer in {', '.join(silent)}" if silent else "not defined on these answers"


def signature_of(measure: Measure, suite: Suite, answers: Answers, settings: Settings) -> Signature:
    """Everything that the number depends on."""
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
    rows_of: dict[str, list[int]] = {}
    for row, probe in enumerate(answers.probes):
        if grouping.by in probe.tags and (not measure.strata or probe.stratum in measure.strata):
            rows_of.setdefault(probe.tags[grouping.by], []).append(row)
    groups = []
    for name, rows in sorted(rows_of.items()):
        probes, values = [answers.probes[r] for r in rows], answers.values[rows]
        units = [p.tags.get(grouping.unit) or p.texts[0] or " / ".join(p.texts) for p in probes]
        score = interval(
            cluster_totals(measure.evidence(probes, values), units),
            measure.of_group,
            generator(settings.seed, f"{measure.name}/{name}"),
            group_settings(settings),
        )
        shared = {
            k: v for k, v in probes[0].tags.items() if all(p.tags.get(k) == v for p in probes)
        }
        answered = int(answered_rows(probes, values).sum())
        groups.append(Group(name=name, tags=shared, interval=score, probes=answered))
    groups.sort(
        key=lambda g: (
            not np.isfinite(g.interval.value),
            -abs(g.interval.value - measure.fair),
            g.name,
        )
    )
    return Breakdown(measure=measure.name, by=grouping.by, unit=grouping.unit, groups=tuple(groups))


def relate(view: Breakdown, against: str, settings: Settings) -> Relation | None:
    """Pearson and Spearman of the groups' values with the figure in their tag `against`.

    Groups are resampled. None where fewer than three groups have a figure.
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
