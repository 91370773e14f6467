"""What does a model put into the blanks? PB of each sentence, which way the sentences lean, and the sentences that lean farthest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.core.run import Run
from evenhand.measures.log_odds import MEASURING, OBJECTIVE, log_odds
from evenhand.people.beside import is_of_people

NEAR = 0.1  # |PB| below which a sentence is said to lean neither way
FEW_PAIRS = 30  # word pairs below which an interval over them is said to be rough


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """Which shares of the sentences lean male, female, or less than NEAR either way?"""

    sentences: int
    male: float
    near: float
    female: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """One sentence, its PB and the words around the blank."""

    probe: Probe
    odds: float

    @property
    def likelier(self) -> str:
        """The word that the model prefers."""
        return self.probe.texts[1 if self.odds > 0 else 2]

    @property
    def rarer(self) -> str:
        """The other word."""
        return self.probe.texts[2 if self.odds > 0 else 1]

    @property
    def share(self) -> float:
        """The probability of the male word among the two."""
        return 1 / (1 + math.exp(-max(min(self.odds, 700.0), -700.0)))

    @property
    def text(self) -> str:
        """The sentence with the blank drawn as a line."""
        return "____".join(self.probe.around)


def is_people(run: Run) -> bool:
    """Are the numbers scores that people gave on a scale of their own, and no logarithms of ratios?"""
    return is_of_people(run.answers)


def times(odds: float) -> str:
    """How many times as likely is the likelier word? `1.7`, `1.04`, `12`, `4,402`."""
    ratio = math.exp(min(abs(odds), 700.0))
    if ratio >= 1e6:
        return f"{ratio:.1e}"
    return f"{ratio:,.0f}" if ratio >= 9.95 else f"{ratio:.1f}" if ratio >= 1.15 else f"{ratio:.2f}"


def _answered(run: Run, stratum: str) -> tuple[list[Probe], Floats]:
    odds = log_odds(run.answers.values)
    rows = [
        i for i, p in enumerate(run.answers.probes) if p.stratum == stratum and np.isfinite(odds[i])
    ]
    return [run.answers.probes[i] for i in rows], odds[rows]


def measuring(run: Run) -> tuple[list[Probe], Floats]:
    """The answered sentences that give no clue of gender, and their PB."""
    return _answered(run, MEASURING)


def leaning_of(odds: Floats) -> Leaning:
    """Shares of PB values; NaN where there are none."""
    male, female = (
        float(np.mean(is_such)) if len(odds) else math.nan
        for is_such in (odds >= NEAR, odds <= -NEAR)
    )
    return Leaning(
        sentences=len(odds),
        male=male,
        near=float(np.mean(np.abs(odds) < NEAR)) if len(odds) else math.nan,
        female=female,
    )


def leaning_by(run: Run, tag: str) -> dict[str, Leaning]:
    """The same for each value of a tag."""
    probes, odds = measuring(run)
    groups: dict[str, list[int]] = {}
    for row, probe in enumerate(probes):
        if tag in probe.tags:
            groups.setdefault(probe.tags[tag], []).append(row)
    return {name: leaning_of(odds[rows]) for name, rows in groups.items()}


def _first(
    probes: Sequence[Probe], odds: Floats, worth: Floats, is_meant: NDArray[np.bool_], count: int
) -> list[Filled]:
    """The `count` sentences of those that are meant with the highest worth; equal ones in the order of the suite."""
    order = [int(i) for i in np.argsort(-worth, kind="stable") if is_meant[i]]
    return [Filled(probe=probes[i], odds=float(odds[i])) for i in order[:count]]


def most_leaning(run: Run, count: int = 10) -> tuple[list[Filled], list[Filled]]:
    """The measuring sentences with the most male and the most female PB."""
    probes, odds = measuring(run)
    return _first(probes, odds, odds, odds > 0, count), _first(probes, odds, -odds, odds < 0, count)


def most_wrong(run: Run, count: int = 10) -> list[Filled]:
    """The objective sentences in which the wrong word is by far the likelier one."""
    probes, odds = _answered(run, OBJECTIVE)
    sign = np.asarray(
        [
            1.0
            if p.tags.get("gold") == GENDERS[0]
            else -1.0
            if p.tags.get("gold") == GENDERS[1]
            else 0.0
            for p in probes
        ]
    )
    wrong = -odds * sign
    return _first(probes, odds, wrong, wrong > 0, count)
