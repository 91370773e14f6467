"""How far apart are two models on the same probes, and how sure can one be? Paired: only probes that both answered, cluster by cluster."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand import __version__
from evenhand.core.answers import Answers
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.measure import Measure
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.engine.estimating import choose, estimate, fitting, generator
from evenhand.stats.bootstrap import FEW, Method, cluster_totals
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.paired import paired_intervals, permutation_p, permuted_differences


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One of the models: its short name, what it said, what it scores on all that it answered."""

    name: str
    answers: Answers
    estimates: tuple[Estimate, ...]
    sanity: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One measure of one model against the same of the reference, on the probes that both answered."""

    measure: str
    model: str  # the short name of the other
    reference: Estimate
    other: Estimate
    difference: Interval  # other - reference
    distance: Interval  # |other - fair| - |reference - fair|: below 0, the other is nearer to fair
    p: float
    adjusted: float
    probes: int  # that both answered and the measure reads
    clusters: int
    signature: str
    note: str = ""  # why something is NaN, or rough

    @property
    def differing_fields(self) -> dict[str, tuple[str | None, str | None]]:
        """In what do the signatures of the two values differ?"""
        return Signature.parse(self.reference.signature).differences(
            Signature.parse(self.other.signature)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A measure that one model allows and the other does not."""

    measure: str
    model: str  # the short name of the other, whichever of the two does not allow it
    reason: str  # names the one that does not


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several models on one suite; the first is the reference."""

    suite: Suite
    models: tuple[Contestant, ...]
    differences: tuple[Difference, ...]
    left_out: tuple[LeftOut, ...]
    tests: int  # p values that were adjusted together
    seed: int
    resamples: int
    permutations: int
    level: float
    method: Method

    @property
    def reference(self) -> Contestant:
        """What the others are compared with."""
        return self.models[0]

    def against(self, name: str) -> list[Difference]:
        """The differences of one model from the reference."""
        return [d for d in self.differences if d.model == name]


def answered_by(answers: Answers) -> NDArray[np.bool_]:
    """Which probes did it answer? A probe with fewer options than others has fewer numbers."""
    widest = max((p.width for p in answers.probes), default=1)
    if all(p.kind == "pair" or p.width == widest for p in answers.probes):
        return np.asarray(np.isfinite(answers.values).all(axis=1))
    spread = answers.values.shape[1] // widest
    rows = zip(answers.probes, answers.values, strict=True)
    return np.asarray(
        [np.isfinite(row[: probe.width * spread]).all() for probe, row in rows], dtype=bool
    )


def _restricted(answers: Answers, is_kept: NDArray[np.bool_], beside: str) -> Answers:
    """The answers without those that are not kept, and a trait that says so: it is another number than that of all answers."""
    values = np.where(is_kept[:, None], answers.values, np.nan)
    return dataclasses.replace(
        answers, values=values, traits={**answers.traits, "only": f"answered by {beside} too"}
    )


def _both(
    measure: Measure, suite: Suite, pair: tuple[Contestant, Contestant], settings: Mapping[str, Any]
) -> tuple[list[Answers], list[Estimate]]:
    """The answers and the estimates of two models on the probes that both answered."""
    is_answered = [answered_by(c.answers) for c in pair]
    is_common = is_answered[0] & is_answered[1]
    said, found = [], []
    for contestant, mine, beside in zip(pair, is_answered, reversed(pair), strict=True):
        whole = next((e for e in contestant.estimates if e.measure == measure.name), None)
        is_all = bool((mine == is_common).all())
        said.append(
            contestant.answers
            if is_all
            else _restricted(contestant.answers, is_common, beside.answers.respondent)
        )
        found.append(whole if whole and is_all else estimate(measure, suite, said[-1], **settings))
    return said, found


def _why(names: Sequence[str], found: Sequence[Estimate], probes: int, clusters: int) -> str:
    """What must be known of a difference: why it is NaN, or rough?"""
    if not probes:
        return "no probe was answered by both"
    if empty := [
        f"{name}: {e.note}"
        for name, e in zip(names, found, strict=True)
        if not np.isfinite(e.value)
    ]:
        return "; ".join(empty)
    if clusters < 2:
        return "one cluster only: there is neither interval nor p value"
    return (
        f"only {clusters} clusters: the interval is rough, and p cannot fall below {2.0 ** (1 - clusters):.2g}"
        if clusters < FEW
        else ""
    )


def differ(
    measure: Measure,
    suite: Suite,
    reference: Contestant,
    other: Contestant,
    *,
    permutations: int,
    **settings: Any,
) -> Difference:
    """How far apart are two models by one measure?"""
    said, found = _both(measure, suite, (reference, other), settings)
    is_read = np.asarray(
        [not measure.strata or p.stratum in measure.strata for p in suite.probes], dtype=bool
    )
    probes = [p for p, read in zip(suite.probes, is_read, strict=True) if read]
    evidence = [measure.evidence(probes, a.values[is_read]) for a in said]
    totals = cluster_totals(np.hstack(evidence), [p.cluster for p in probes])
    sums = totals[:, : evidence[0].shape[1]], totals[:, evidence[0].shape[1] :]
    seed = settings["seed"]
    # the generator of `estimate`: the resamples are those of the two values' own intervals
    apart, distance = paired_intervals(
        *sums,
        measure.combine,
        measure.fair,
        generator(seed, measure.name),
        **{k: v for k, v in settings.items() if k != "seed"},
    )
    p = float("nan")
    if len(totals) > 1:
        p = permutation_p(
            apart.value,
            permuted_differences(
                *sums, measure.combine, generator(seed, f"{measure.name}/swap"), permutations
            ),
        )
    common = int((is_read & answered_by(said[0]) & answered_by(said[1])).sum())
    return Difference(
        measure=measure.name,
        model=other.name,
        reference=found[0],
        other=found[1],
        difference=apart,
        distance=distance,
        p=p,
        adjusted=p,
        probes=common,
        clusters=len(totals),
        signature="",
        note=_why((reference.name, other.name), found, common, len(totals)),
    )


def _sign(comparison: Comparison, found: Difference, other: Answers) -> str:
    """Everything that the difference depends on."""
    suite, first = comparison.suite, comparison.reference.answers
    traits = {
        k: (first.traits.get(k, "none"), other.traits.get(k, "none"))
        for k in {**first.traits, **other.traits}
    }
    return str(
        Signature.of(
            measure=found.measure,
            suite=suite.reference,
            lang=suite.card.language,
            reference=first.respondent,
            other=other.respondent,
            **{k: a if a == b else f"{a} vs {b}" for k, (a, b) in traits.items()},
            probes=f"{found.probes} both",
            ci=f"{comparison.method}{comparison.level * 100:g}x{comparison.resamples}/paired cluster",
            test=f"swap x{comparison.permutations}/cluster",
            adjusted=f"bh/{comparison.tests}",
            seed=comparison.seed,
            evenhand=__version__,
        )
    )


def _refusals(suite: Suite, contestant: Contestant) -> dict[str, str]:
    """The measures that a model's labels do not suffice for, and why."""
    labels = contestant.answers.labels
    given = {*labels, *(label.partition(":")[0] for label in labels)}
    return {
        m.name: f"needs {', '.join(sorted(m.labels - given))}; {contestant.name} gives {', '.join(labels)}"
        for m in fitting(suite, labels)[1]
    }


def compare_answers(
    suite: Suite,
    contestants: Sequence[Contestant],
    *,
    measures: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    permutations: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
) -> Comparison:
    """Every model against the first by every measure that both allow; p values not adjusted yet."""
    settings: dict[str, Any] = {
        "seed": seed,
        "resamples": resamples,
        "level": level,
        "method": method,
    }
    first, *others = contestants
    usable = choose(suite, first.answers.labels, measures)
    refused = _refusals(suite, first)
    differences, left_out = [], []
    for other in others:
        theirs, not_theirs = choose(suite, other.answers.labels, measures), _refusals(suite, other)
        differences += [
            differ(m, suite, first, other, permutations=permutations, **settings)
            for m in usable
            if m in theirs
        ]
        left_out += [
            LeftOut(measure=m.name, model=other.name, reason=not_theirs[m.name])
            for m in usable
            if m.name in not_theirs
        ]
        left_out += [
            LeftOut(measure=m.name, model=other.name, reason=refused[m.name])
            for m in theirs
            if m.name in refused
        ]
    return Comparison(
        suite=suite,
        models=tuple(contestants),
        differences=tuple(differences),
        left_out=tuple(left_out),
        tests=0,
        permutations=permutations,
        **settings,
    )


def adjust(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The same with p values adjusted over all of them together, and signed."""
    adjusted = iter(benjamini_hochberg([d.p for c in comparisons for d in c.differences]))
    tests = sum(bool(np.isfinite(d.p)) for c in comparisons for d in c.differences)
    done = []
    for comparison in comparisons:
        counted = dataclasses.replace(comparison, tests=tests)
        said = {c.name: c.answers for c in comparison.models}
        found = [
            dataclasses.replace(
                d, adjusted=float(next(adjusted)), signature=_sign(counted, d, said[d.model])
            )
            for d in comparison.differences
        ]
        done.append(dataclasses.replace(counted, differences=tuple(found)))
    return tuple(done)
