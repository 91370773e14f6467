"""Evidence whose rows share the levels of one factor, or of two that are crossed.

Sums of evidence are reweighted level by level (the bootstrap) or made without one level at a time
(the jackknife). Where a score is not linear over its units (a word's min(c, 1 - c)), `per_unit`
turns the sums of each unit into numbers that add up, after they have been reweighted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.evidence import Combine
from evenhand.core.probe import Floats, Probe
from evenhand.core.suite import SuiteCard

Codes = NDArray[np.intp]
BLOCK = 4_000_000  # how many numbers of reweighted units are in memory at once


class Rows(NamedTuple):
    """What is known of each row of evidence besides its levels.

    counts: whether it counts; parts: the part of the score that it belongs to; strata: what was
    fixed when the levels were chosen, such as a lean.
    """

    counts: Sequence[bool]
    parts: Sequence[str]
    strata: Sequence[str]

    @classmethod
    def plain(cls, evidence: Floats) -> Rows:
        """Rows of one part and one stratum; those that are all 0 do not count."""
        blank = [""] * len(evidence)
        return cls(np.any(evidence != 0, axis=1).tolist(), blank, blank)


@dataclass(frozen=True, kw_only=True)
class Factor:
    """What makes rows dependent: the level that each of them has.

    codes: the level of each row; -1 for a row that has none and therefore always counts once.
    groups: the levels of each stratum, which are drawn apart; a factor that is crossed with the
    strata has one group.
    """

    name: str
    codes: Codes
    groups: tuple[Codes, ...]
    smallest: int  # how many levels the smallest part of the score has

    @property
    def levels(self) -> int:
        """How many levels there are."""
        return sum(map(len, self.groups))

    @classmethod
    def of(cls, name: str, labels: Sequence[str], rows: Rows) -> Factor:
        """The factor with these levels, row by row; an empty label is none.

        Levels without any row that counts are not levels.
        """
        strata: dict[str, set[str]] = {}
        parts: dict[str, set[str]] = {}
        for label, is_counted, part, stratum in zip(labels, *rows, strict=True):
            if is_counted and label:
                strata.setdefault(label, set()).add(stratum)
                parts.setdefault(part, set()).add(label)
        code_of = {label: code for code, label in enumerate(sorted(strata))}
        return cls(
            name=name,
            codes=np.asarray([code_of.get(label, -1) for label in labels], dtype=np.intp),
            groups=_groups([sorted(strata[label]) for label in code_of]),
            smallest=min(map(len, parts.values()), default=0),
        )


def suite_factors(
    card: SuiteCard, probes: Sequence[Probe], evidence: Floats, parts: Sequence[str]
) -> list[Factor]:
    """The factors that a suite's card names: the clusters first, then tags.

    parts: the part of the score that each probe belongs to.
    """
    rows = Rows(
        counts=np.any(evidence != 0, axis=1).tolist(),
        parts=parts,
        strata=[p.tags.get(card.within, "") for p in probes],
    )
    levels = [[p.cluster for p in probes]]
    levels += [[p.tags.get(name, "") for p in probes] for name in card.factors[1:]]
    return [
        Factor.of(name, of_probe, rows) for name, of_probe in zip(card.factors, levels, strict=True)
    ]


def _groups(strata: Sequence[list[str]]) -> tuple[Codes, ...]:
    """The levels of each stratum; all together where a level has several, or a stratum one level.

    strata: those of each level.
    """
    by_stratum: dict[str, list[int]] = {}
    for level, names in enumerate(strata):
        by_stratum.setdefault(names[0], []).append(level)
    if any(len(names) > 1 for names in strata) or any(len(g) < 2 for g in by_stratum.values()):
        by_stratum = {"": list(range(len(strata)))} if strata else {}
    return tuple(np.asarray(group, dtype=np.intp) for group in by_stratum.values())


def sum_by(codes: Codes, rows: Floats, count: int) -> Floats:
    """The sum of the rows of each code from 0 to count - 1; rows with code -1 are left out."""
    sums = np.zeros((count, *rows.shape[1:]))
    has_level = codes >= 0
    np.add.at(sums, codes[has_level], rows[has_level])
    return sums


@dataclass(frozen=True, kw_only=True)
class EvidenceTable:
    """Rows of evidence (n, k), and how they become sums that `combine` reads.

    per_unit: turns the sums (..., k) of a unit into numbers (..., m) that add up over units, zeros
    for a unit without evidence; None where evidence adds up as it is. units: the unit of each row.
    """

    rows: Floats
    per_unit: Combine | None = None
    units: Codes | None = None

    @cached_property
    def _unit_sums(self) -> Floats:
        assert self.units is not None
        return sum_by(self.units, self.rows, int(self.units.max(initial=-1)) + 1)

    @cached_property
    def sums(self) -> Floats:
        """The sums over all rows."""
        if self.per_unit is None:
            return np.asarray(self.rows.sum(axis=0))
        return np.asarray(self.per_unit(self._unit_sums).sum(axis=0))

    def _levels_of_units(self, codes: Codes) -> Codes | None:
        """The level of each unit; None where the rows of a unit have different levels."""
        assert self.units is not None
        levels = np.full(len(self._unit_sums), -1, dtype=np.intp)
        levels[self.units] = codes
        return levels if np.array_equal(levels[self.units], codes) else None

    def _additive(self, codes: Codes) -> tuple[Codes, Floats] | None:
        """Levels and rows that add up; None where the factor cuts through the units."""
        if self.per_unit is None:
            return codes, self.rows
        levels = self._levels_of_units(codes)
        return None if levels is None else (levels, self.per_unit(self._unit_sums))

    def reweighted(self, factor: Factor, weights: Floats) -> Floats:
        """The sums for each row of weights (resamples, levels): (resamples, m)."""
        additive = self._additive(factor.codes)
        if additive is not None:
            codes, rows = additive
            fixed = rows[codes < 0].sum(axis=0)
            return np.asarray(weights @ sum_by(codes, rows, factor.levels) + fixed)
        assert self.per_unit is not None
        units, width = self._unit_sums.shape
        cells = self._cells(factor).reshape(factor.levels, units * width)
        fixed = (self._unit_sums - self._cells(factor).sum(axis=0)).reshape(units * width)
        step = max(1, BLOCK // (units * width))
        blocks = []
        for start in range(0, len(weights), step):
            sums = weights[start : start + step] @ cells + fixed
            blocks.append(self.per_unit(sums.reshape(-1, units, width)).sum(axis=1))
        return np.concatenate(blocks)

    def totals(self, factor: Factor) -> Floats:
        """The sums of each level of a factor that the units lie within: (levels, m)."""
        additive = self._additive(factor.codes)
        assert additive is not None, f"{factor.name} cuts through the units"
        return sum_by(*additive, factor.levels)

    def _cells(self, factor: Factor) -> Floats:
        """The sums of each level and unit: (levels, units, k)."""
        assert self.units is not None
        units = len(self._unit_sums)
        codes = np.where(factor.codes >= 0, factor.codes * units + self.units, -1)
        sums = sum_by(codes, self.rows, factor.levels * units)
        return sums.reshape(factor.levels, units, self.rows.shape[1])

    def without_each(self, factor: Factor) -> Floats:
        """The sums without each of the levels: (levels, m)."""
        return self.reweighted(factor, 1.0 - np.eye(factor.levels))

    def without_cells(self, first: Factor, second: Factor) -> Floats:
        """The sums without each combination of levels that occurs: (combinations, m)."""
        has_both = (first.codes >= 0) & (second.codes >= 0)
        pairs = first.codes[has_both] * max(second.levels, 1) + second.codes[has_both]
        names, place = np.unique(pairs, return_inverse=True)
        codes = np.full(len(self.rows), -1, dtype=np.intp)
        codes[has_both] = place
        cells = sum_by(codes, self.rows, len(names))
        if self.per_unit is None:
            return np.asarray(self.sums - cells)
        assert self.units is not None
        unit_of = np.zeros(len(names), dtype=np.intp)
        unit_of[place] = self.units[has_both]  # a level of a unit's own factor lies in one unit
        whole = self._unit_sums[unit_of]
        return np.asarray(self.sums - self.per_unit(whole) + self.per_unit(whole - cells))
