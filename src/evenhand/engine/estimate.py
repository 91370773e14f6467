"""Estimates: which measures fit a suite, their values with intervals, as a whole and by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answers import Answers, answered_rows
from evenhand.core.errors import MeasureError
from evenhand.core.estimate import FEW_LEVELS, Breakdown, Estimate, Relation
from evenhand.core.evidence import stratum_mask
from evenhand.core.family import Grouping
from evenhand.core.measure import Measure
from evenhand.core.probe import Bools, Floats, Probe, group_rows
from evenhand.core.settings import Settings, Target
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite, SuiteCard
from evenhand.core.text import counted
from evenhand.stats.bootstrap import generator
from evenhand.stats.correlation import correlate
from evenhand.stats.crossed import EvidenceTable, Factor, suite_factors
from evenhand.stats.groups import (
    GroupEstimator,
    GroupScore,
    asked_share,
    drawn_factor,
    resampled_names,
)
from evenhand.stats.intervals import Bounds, crossed_intervals, sampled_intervals


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
    """Which probes a measure reads: those of its strata, less those that it passes over."""
    is_read = np.asarray([measure.reads(p) for p in probes], dtype=bool)
    return is_read & stratum_mask(probes, *measure.strata) if measure.strata else is_read


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


def traits_of(measure: Measure, answers: Answers) -> dict[str, str]:
    """What a signature says of the respondent: its traits, the scoring as the measure used it."""
    traits = dict(answers.traits)
    reads_labels = measure.kind == "pair" and not measure.needs_numbers
    scoring = measure.scoring or ("argmax" if reads_labels else "")
    if scoring and answers.is_classifier:
        traits["scoring"] = scoring
    return traits


def signature_of(measure: Measure, suite: Suite, answers: Answers, settings: Settings) -> Signature:
    """The signature of an estimate: everything that the number depends on."""
    return Signature.of(
        measure=measure.name,
        suite=suite.reference,
        lang=suite.card.language,
        model=answers.respondent,
        **traits_of(measure, answers),
        target=settings.target,
        ci=interval_method(suite, settings),
        seed=settings.seed,
        evenhand=__version__,
    )


def interval_method(suite: Suite, settings: Settings) -> str:
    """How intervals are computed, for a signature: `bca95x10000/occupation x template`."""
    factors = " x ".join(suite.card.factors)
    return f"{settings.method}{settings.level * 100:g}x{settings.resamples}/{factors}"


def find_factors(
    measure: Measure, card: SuiteCard, probes: Sequence[Probe], evidence: Floats
) -> list[Factor]:
    """The factors that the suite's card names: the clusters first, then tags."""
    return suite_factors(card, probes, evidence, [measure.part_of(p) for p in probes])


def evidence_table(measure: Measure, probes: Sequence[Probe], evidence: Floats) -> EvidenceTable:
    """The evidence with the clusters that the measure sums first, where it is not linear."""
    if measure.per_cluster is None:
        return EvidenceTable(rows=evidence)
    names = {name: code for code, name in enumerate(sorted({p.cluster for p in probes}))}
    units = np.asarray([names[p.cluster] for p in probes], dtype=np.intp)
    return EvidenceTable(rows=evidence, per_unit=measure.per_cluster, units=units)


def _ends(measure: Measure, part: str = "") -> tuple[float, float]:
    return (0.0, 1.0) if part in measure.shares else measure.card.range


def estimate(measure: Measure, suite: Suite, answers: Answers, settings: Settings) -> Estimate:
    """The measure's value on the answers with its intervals for both targets."""
    is_read = read_mask(measure, answers.probes)
    probes = [p for p, read in zip(answers.probes, is_read, strict=True) if read]
    values = measure.readable_values(answers)[is_read]
    evidence = measure.evidence(probes, values)
    table = evidence_table(measure, probes, evidence)
    factors = find_factors(measure, suite.card, probes, evidence)

    def scores(sums: Floats) -> dict[str, Floats]:
        return {"": measure.combine(sums), **measure.parts(sums)}

    rng = generator(settings.seed, measure.name)
    parts = scores(table.sums)
    limits = {part: _ends(measure, part) for part in parts}
    drawn = drawn_factor(probes, evidence)
    by_target: dict[Target, dict[str, Bounds]] = {
        "new items": crossed_intervals(table, factors, scores, rng, settings, limits),
        "this set": sampled_intervals(
            table,
            drawn,
            scores,
            asked_share(suite, answers),
            settings,
            limits,
        ),
    }
    chosen = by_target[settings.target]
    score = chosen.pop("")
    note = ""
    if not np.isfinite(score.interval.value):
        note = (
            measure.why_unreadable(answers)
            or measure.why_empty(probes, values)
            or _why_empty(measure, probes, evidence)
        )
    elif settings.target == "new items":
        note = interval_note(factors, score)
    elif not score.has_variation:
        note = interval_note([drawn], score)
    return Estimate(
        measure=measure.name,
        value=score.interval.value,
        low=score.interval.low,
        high=score.interval.high,
        level=settings.level,
        probes=len(probes),
        clusters=factors[0].levels,
        coverage=float(answers.is_answered[is_read].mean()) if probes else float("nan"),
        ties=measure.ties(probes, values),
        signature=str(signature_of(measure, suite, answers, settings)),
        note=note,
        parts={name: part.interval for name, part in chosen.items()},
        target=settings.target,
        targets={
            target: score.interval if target == settings.target else bounds[""].interval
            for target, bounds in by_target.items()
        },
        levels={f.name: f.smallest for f in factors},
        has_variation=score.has_variation,
    )


def interval_note(factors: Sequence[Factor], score: Bounds) -> str:
    """What must be said beside an interval: too few levels, or no variation; else nothing."""
    first = factors[0]
    if first.levels < 2:
        return f"one {first.name} only: there is no interval"
    if not score.has_variation:
        seen = f"no variation seen among {first.levels:,} {first.name}s"
        if few := _few(factors):
            seen = f"{seen}, only {few} in the smallest part"
        if not score.interval.has_bounds:
            return f"{seen}: there is no interval"
        return f"{seen}: the bounds are what so many cannot exclude"
    return few_levels(factors)


def few_levels(factors: Sequence[Factor]) -> str:
    """Says that a factor has too few levels for a good interval; empty where each has enough."""
    few = _few(factors)
    return f"only {few}: the interval is rough" if few else ""


def _few(factors: Sequence[Factor]) -> str:
    few = [counted(f.smallest, f.name) for f in factors if 0 < f.smallest < FEW_LEVELS]
    return " and ".join(few)


def break_down(
    measure: Measure, suite: Suite, answers: Answers, grouping: Grouping, settings: Settings
) -> Breakdown:
    """The measure group by group, the farthest from fair first.

    Every factor of the suite is random in a group, except the one that the groups are the levels
    of; where there is no other, the unit of the grouping is.
    """

    def name_of(probe: Probe) -> str | None:
        is_read = not measure.strata or probe.stratum in measure.strata
        return probe.tags.get(grouping.by) if is_read else None

    groups = []
    every = measure.readable_values(answers)
    estimator = GroupEstimator.of(suite, answers, settings)
    for name, rows in group_rows(answers.probes, name_of).items():
        probes, values = [answers.probes[r] for r in rows], every[rows]
        units = [p.tags.get(grouping.unit) or p.texts[0] or " / ".join(p.texts) for p in probes]
        group = estimator.estimate(
            name,
            probes,
            evidence_table(measure, probes, measure.evidence(probes, values)),
            GroupScore(
                combine=measure.of_group,
                limits=measure.card.range,
                by=grouping.by,
                unit=(grouping.unit, units),
            ),
            generator(settings.seed, f"{measure.name}/{name}"),
            [measure.part_of(p) for p in probes],
        )
        groups.append(replace(group, probes=int(answered_rows(probes, values).sum())))
    groups.sort(
        key=lambda g: (
            not np.isfinite(g.interval.value),
            -abs(g.interval.value - measure.fair),
            g.name,
        )
    )
    return Breakdown(
        measure=measure.name, by=grouping.by, unit=resampled_names(groups), groups=tuple(groups)
    )


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
