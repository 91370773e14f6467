"""Which way answers to sentences with a blank lean: shares by side, bars, the most one-sided."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core.chart import Bin
from evenhand.core.probe import Bools, Floats, Probe, group_rows
from evenhand.core.run import Run
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.families.contextualised.measures import gender_signs, log_odds

NEAR = 0.1  # |PB| below which a sentence counts as leaning neither way
STEP = 0.2  # width of a bar, so that the middle one holds |PB| < 0.1
REACH = (1.1, 6.1)  # how far the axis goes at least, and with narrow bars at most
SHOWN = 10  # sentences of each exhibit


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """Shares of the sentences that lean male, female, or less than NEAR either way."""

    sentences: int
    male: float
    near: float
    female: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """One sentence and its PB."""

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
    def male_share(self) -> float:
        """The probability of the male word among the two."""
        return 1 / (1 + math.exp(-max(min(self.odds, 700.0), -700.0)))

    @property
    def text(self) -> str:
        """The sentence with the blank drawn as a line."""
        return "____".join(self.probe.around_blank)


def times(odds: float) -> str:
    """How many times as likely the likelier word is: `1.7`, `1.04`, `12`, `4,402`."""
    ratio = math.exp(min(abs(odds), 700.0))
    if ratio >= 1e6:
        return f"{ratio:.1e}"
    if ratio >= 9.95:
        return f"{ratio:,.0f}"
    return f"{ratio:.1f}" if ratio >= 1.15 else f"{ratio:.2f}"


def _answered(run: Run, stratum: str) -> tuple[list[Probe], Floats]:
    odds, probes = log_odds(run.answers.values), run.answers.probes
    rows = [i for i, p in enumerate(probes) if p.stratum == stratum and np.isfinite(odds[i])]
    return [probes[i] for i in rows], odds[rows]


def measuring(run: Run) -> tuple[list[Probe], Floats]:
    """The answered sentences that give no clue of gender, and their PB."""
    return _answered(run, MEASURING)


def leaning_of(odds: Floats) -> Leaning:
    """Shares of PB values by side; NaN where there are none."""

    def share(is_such: Bools) -> float:
        return float(np.mean(is_such)) if len(odds) else math.nan

    return Leaning(
        sentences=len(odds),
        male=share(odds >= NEAR),
        near=share(np.abs(odds) < NEAR),
        female=share(odds <= -NEAR),
    )


def leaning_by(run: Run, tag: str) -> dict[str, Leaning]:
    """The shares of the measuring sentences by side, for each value of a tag."""
    probes, odds = measuring(run)
    groups = group_rows(probes, lambda probe: probe.tags.get(tag))
    return {name: leaning_of(odds[rows]) for name, rows in groups.items()}


def _farthest(
    probes: Sequence[Probe], odds: Floats, distance: Floats, count: int
) -> list[Completion]:
    """The sentences with the greatest distance above 0; equal ones in the suite's order."""
    order = [int(i) for i in np.argsort(-distance, kind="stable") if distance[i] > 0]
    return [Completion(probe=probes[i], odds=float(odds[i])) for i in order[:count]]


def most_leaning(run: Run, count: int = SHOWN) -> tuple[list[Completion], list[Completion]]:
    """The measuring sentences with the most male and the most female PB."""
    probes, odds = measuring(run)
    return _farthest(probes, odds, odds, count), _farthest(probes, odds, -odds, count)


def most_wrong(run: Run, count: int = SHOWN) -> list[Completion]:
    """The objective sentences with the strongest preference for the wrong word."""
    probes, odds = _answered(run, OBJECTIVE)
    gold = gender_signs([p.tags.get("gold", "") for p in probes])
    return _farthest(probes, odds, -odds * gold, count)


def bins_of(values: Floats, near: float = NEAR) -> tuple[Bin, ...]:
    """Bars of equal width around 0 with the shares of all values by side.

    The outermost two also hold the values beyond them, at most one in a hundred.
    """
    reach = REACH[0]
    if len(values):
        reach = max(float(np.quantile(np.abs(values), 0.99)), REACH[0] - STEP / 2)
    factor = 1
    while reach > REACH[1] * factor:
        factor += 2  # an odd multiple keeps the ends of the middle bar on ends of narrow ones
    step = STEP * factor
    count = math.ceil(round(reach / step - 0.5, 9))
    places = np.clip(np.rint(values / step).astype(np.int64), -count, count)
    sides = {
        "female": values <= -near,
        "none": np.abs(values) < near,
        "male": values >= near,
    }
    whole = max(len(values), 1)
    return tuple(
        Bin(
            low=(place - 0.5) * step,
            high=(place + 0.5) * step,
            shares=tuple(
                (mark, float(np.sum((places == place) & is_side)) / whole)
                for mark, is_side in sides.items()
            ),
        )
        for place in range(-count, count + 1)
    )
