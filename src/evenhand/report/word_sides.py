"""Which gender wins beside each word of a word test? The share of comparisons that the male word wins, with intervals, and the clearest comparisons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from evenhand.core import catalog
from evenhand.core.estimate import Interval
from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.core.run import Run
from evenhand.engine.estimating import GROUP_RESAMPLES, generator
from evenhand.measures.labelling import ratio
from evenhand.measures.options import option_scores
from evenhand.measures.word_fairness import RECOGNITION, WordTest, male_wins
from evenhand.report.estimates import ordered
from evenhand.stats.bootstrap import cluster_totals, interval

CLEAR = 0.75  # share of the comparisons from which one side is said to win clearly


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """A word, or a set of words: how often the male word wins beside it."""

    name: str
    tags: Mapping[str, str]
    interval: Interval
    comparisons: int
    words: tuple[str, ...]

    @property
    def is_clear(self) -> bool:
        """Does one gender win in at least three of four comparisons?"""
        return self.interval.value >= CLEAR or self.interval.value <= 1 - CLEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """One answered probe and its numbers, male option first."""

    probe: Probe
    numbers: tuple[float, float]

    @property
    def difference(self) -> float:
        """Above 0 the male option wins."""
        return self.numbers[0] - self.numbers[1]


def is_by_label(run: Run) -> bool:
    """Is the report's first score one of predicted labels?"""
    about = catalog.measure(ordered(run)[0].measure)
    return isinstance(about, WordTest) and about.is_discrete


def stratum_of(run: Run) -> str:
    """`profession` or `emotion`; empty where only recognition is asked."""
    return next((p.stratum for p in run.answers.probes if p.stratum != RECOGNITION), "")


def _answered(run: Run, is_meant: Callable[[Probe], bool]) -> tuple[list[Probe], Floats, Floats]:
    """Probes, who wins, numbers."""
    answers = run.answers
    wins = male_wins(answers.values, is_discrete=is_by_label(run))
    rows = [i for i, p in enumerate(answers.probes) if is_meant(p) and np.isfinite(wins[i])]
    return (
        [answers.probes[i] for i in rows],
        wins[rows],
        option_scores(answers.values[rows], len(GENDERS)),
    )


def sides_by(run: Run, by: str, unit: str) -> list[Side]:
    """The male share for each value of a tag, most male first; the tag `unit` is resampled."""
    probes, wins, _ = _answered(run, lambda p: p.stratum != RECOGNITION and by in p.tags)
    groups: dict[str, list[int]] = {}
    for row, probe in enumerate(probes):
        groups.setdefault(probe.tags[by], []).append(row)
    level = ordered(run)[0].level
    found = []
    for name, rows in sorted(groups.items()):
        inside = [probes[r] for r in rows]
        totals = cluster_totals(
            np.stack([np.ones(len(rows)), wins[rows]], axis=1),
            [p.tags.get(unit, p.id) for p in inside],
        )
        share = interval(
            totals,
            lambda sums: ratio(sums[..., 1], sums[..., 0]),
            generator(run.seed, f"male/{by}/{name}"),
            resamples=GROUP_RESAMPLES,
            level=level,
            method="percentile",
        )
        shared = {
            k: v for k, v in inside[0].tags.items() if all(p.tags.get(k) == v for p in inside)
        }
        words = tuple(dict.fromkeys(p.tags.get("word", "") for p in inside))
        found.append(
            Side(name=name, tags=shared, interval=share, comparisons=len(rows), words=words)
        )
    return sorted(found, key=lambda s: (-s.interval.value, s.name))


def words_of(run: Run) -> list[Side]:
    """Every profession or emotion."""
    return sides_by(run, "word", "pair")


def most_one_sided(run: Run, count: int = 6) -> tuple[list[Comparison], list[Comparison]]:
    """The comparisons that the male word wins by most, and those that the female one does; each word told at most once."""
    probes, _, numbers = _answered(run, lambda p: p.stratum != RECOGNITION)
    found = [
        Comparison(probe=p, numbers=(float(m), float(f)))
        for p, (m, f) in zip(probes, numbers, strict=True)
    ]

    def first(sign: int) -> list[Comparison]:
        taken: dict[str, Comparison] = {}
        for c in sorted(
            (c for c in found if sign * c.difference > 0), key=lambda c: -sign * c.difference
        ):
            taken.setdefault(c.probe.cluster, c)
        return list(taken.values())[:count]

    return first(1), first(-1)


def misjudged(run: Run) -> list[Comparison]:
    """The gendered words whose own gender does not win, the worst first; ties last."""
    probes, wins, numbers = _answered(
        run, lambda p: p.stratum == RECOGNITION and p.tags.get("gold") in GENDERS
    )
    found = []
    for probe, win, (male, female) in zip(probes, wins, numbers, strict=True):
        right = win if probe.tags["gold"] == GENDERS[0] else 1 - win
        if right < 1:
            found.append(Comparison(probe=probe, numbers=(float(male), float(female))))
    return sorted(
        found,
        key=lambda c: (
            -c.difference * (1 if c.probe.tags["gold"] == GENDERS[1] else -1)
            if math.isfinite(c.difference)
            else 0.0
        ),
    )
