"""What do the answers amount to? Estimates with intervals, and the same group by group."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Breakdown, Estimate, Group
from evenhand.core.measure import Measure
from evenhand.core.probe import Floats, Probe
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.measures.labelling import count_ties
from evenhand.measures.options import option_scores
from evenhand.stats.bootstrap import FEW, Method, cluster_totals, interval, intervals

GROUP_RESAMPLES = 2000


def fitting(suite: Suite, labels: Sequence[str]) -> tuple[list[Measure], list[Measure]]:
    """The measures for these probes: those that these labels suffice for, and those that need more labels."""
    kinds, strata = {p.kind for p in suite.probes}, {p.stratum for p in suite.probes}
    apt = [
        m
        for m in catalog.measures().values()
        if m.kind in kinds and (not m.strata or m.strata & strata)
    ]
    apt = [
        m for m in apt if getattr(m, "required", frozenset()) <= strata
    ]  # a product of two scores needs the probes of both
    given = {
        *labels,
        *(label.partition(":")[0] for label in labels),
    }  # `stereotype:entailment` is an answer about `stereotype`
    return [m for m in apt if m.labels <= given], [m for m in apt if not m.labels <= given]


def choose(
    suite: Suite, answers_labels: Sequence[str], names: Sequence[str] | None
) -> list[Measure]:
    """The measures to compute: those that were named, or all that fit; an error where the labels do not suffice."""
    usable, refused = fitting(suite, answers_labels)
    works = ", ".join(m.name for m in usable) or "none on this suite; try --suite ordinary-nli"
    if names:
        chosen = [catalog.measure(n) for n in names]
        for measure in chosen:
            if measure in refused:
                raise MeasureError(
                    f"{measure.name} needs the labels {', '.join(sorted(measure.labels))}; the model gives {', '.join(answers_labels)}. Would work: {works}"
                )
            if measure not in usable:
                raise MeasureError(
                    f"{measure.name} does not apply to {suite.card.name}: it has no stratum of {', '.join(sorted(measure.strata))}"
                )
        return chosen
    if not usable or (
        any(m.worst is not None for m in refused) and not any(m.worst is not None for m in usable)
    ):
        needs = ", ".join(m.name for m in refused) or "every measure"
        raise MeasureError(
            f"the model gives {', '.join(answers_labels)}; {needs} cannot be computed on {suite.card.name}. Would work: {works}"
        )
    return usable


def _why_empty(measure: Measure, probes: Sequence[Probe], evidence: Floats) -> str:
    """Why is the score NaN?"""
    there = {p.stratum for p in probes}
    wanted = (
        measure.strata & there if measure.kind == "choice" and there else measure.strata
    )  # the variants of a choice suite have one stratum each
    missing = sorted(wanted - there)
    if missing:
        return f"no probes in {', '.join(missing)}"
    counted = {p.stratum for p, row in zip(probes, evidence, strict=True) if row.any()}
    silent = sorted(wanted - counted)
    return f"no answer in {', '.join(silent)}" if silent else "not defined on these answers"


def _count_ties(measure: Measure, probes: Sequence[Probe], values: Floats) -> int:
    """In how many answers do two options share the highest number, as the measure compares them?"""
    if measure.kind == "choice" and probes:
        values = option_scores(values, max(p.width for p in probes))
    decimals: int | None = getattr(
        measure, "decimals", None
    )  # a measure that rounds before it compares has more ties
    return count_ties(values if decimals is None else np.round(values, decimals))


def generator(seed: int, name: str) -> np.random.Generator:
    """Random numbers that depend on the seed and the measure, not on what was computed before."""
    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def sign(
    measure: Measure,
    suite: Suite,
    answers: Answers,
    *,
    seed: int,
    resamples: int,
    level: float,
    method: Method,
) -> Signature:
    """Everything that the number depends on."""
    return Signature.of(
        measure=measure.name,
        suite=suite.reference,
        lang=suite.card.language,
        model=answers.respondent,
        **answers.traits,
        ci=f"{method}{level * 100:g}x{resamples}/cluster",
        seed=seed,
        evenhand=__version__,
    )


def estimate(
    measure: Measure,
    suite: Suite,
    answers: Answers,
    *,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
) -> Estimate:
    """The measure's value on the answers with its cluster-bootstrap interval."""
    is_read = np.asarray(
        [not measure.strata or p.stratum in measure.strata for p in answers.probes], dtype=bool
    )
    probes = [p for p, read in zip(answers.probes, is_read, strict=True) if read]
    values = answers.values[is_read]
    evidence = measure.evidence(probes, values)
    totals = cluster_totals(evidence, [p.cluster for p in probes])
    found = intervals(
        totals,
        lambda sums: {"": measure.combine(sums), **measure.parts(sums)},
        generator(seed, measure.name),
        resamples=resamples,
        level=level,
        method=method,
    )
    score = found.pop("")
    notes = []
    if not np.isfinite(score.value):
        notes.append(_why_empty(measure, probes, evidence))
    elif len(totals) < 2:
        notes.append("one cluster only: there is no interval")
    elif len(totals) < FEW:
        notes.append(f"only {len(totals)} clusters: the interval is rough")
    return Estimate(
        measure=measure.name,
        value=score.value,
        low=score.low,
        high=score.high,
        level=level,
        probes=len(probes),
        clusters=len(totals),
        coverage=float(np.isfinite(values).all(axis=1).mean()) if len(values) else float("nan"),
        ties=_count_ties(measure, probes, values),
        signature=str(
            sign(
                measure, suite, answers, seed=seed, resamples=resamples, level=level, method=method
            )
        ),
        note="; ".join(notes),
        parts=found,
    )


def break_down(
    measure: Measure, answers: Answers, by: str, unit: str, *, seed: int = 0, level: float = 0.95
) -> Breakdown:
    """The measure group by group (tag `by`), worst first; within a group the tag `unit` is resampled."""
    groups: dict[str, list[int]] = {}
    for row, probe in enumerate(answers.probes):
        if by in probe.tags and (not measure.strata or probe.stratum in measure.strata):
            groups.setdefault(probe.tags[by], []).append(row)
    found = []
    for name, rows in sorted(groups.items()):
        probes = [answers.probes[r] for r in rows]
        totals = cluster_totals(
            measure.evidence(probes, answers.values[rows]),
            [p.tags.get(unit) or p.texts[0] or " / ".join(p.texts) for p in probes],
        )
        score = interval(
            totals,
            measure.partial,
            generator(seed, f"{measure.name}/{name}"),
            resamples=GROUP_RESAMPLES,
            level=level,
            method="percentile",
        )
        shared = {
            k: v for k, v in probes[0].tags.items() if all(p.tags.get(k) == v for p in probes)
        }
        answered = int(np.isfinite(answers.values[rows]).all(axis=1).sum())
        found.append(Group(name=name, tags=shared, interval=score, probes=answered))
    found.sort(
        key=lambda g: (
            not np.isfinite(g.interval.value),
            -abs(g.interval.value - measure.fair),
            g.name,
        )
    )
    return Breakdown(measure=measure.name, by=by, unit=unit, groups=tuple(found))


def tags_of(answers: Answers) -> set[str]:
    """Every tag that some probe has."""
    return {tag for probe in answers.probes for tag in probe.tags}
