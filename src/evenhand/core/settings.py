"""Settings: how estimates are computed, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from evenhand.core.errors import EvenhandError

Method = Literal["percentile", "bca"]
METHODS: tuple[Method, ...] = get_args(Method)
Target = Literal["new items", "this set"]
TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Seed, number of draws, level, method and target of intervals and tests.

    seed: of everything that is drawn. resamples: of the bootstrap. permutations: of the paired
    test. level: of intervals, and 1 less the p value from which a difference is shown. method: how
    the bootstrap becomes an interval.

    target: what an interval is about. "new items": the score of another set of the same kind and
    size, so that every factor that the suite declares is random. "this set": the score of exactly
    these probes, uncertain only as far as they were not asked.
    """

    seed: int = 0
    resamples: int = 10_000  # of the bootstrap
    permutations: int = 10_000  # of the paired test
    level: float = 0.95
    method: Method = "bca"
    target: Target = "new items"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise EvenhandError(
                f"level is {self.level}; give a share between 0 and 1, for example 0.95"
            )
        if self.method not in METHODS:
            raise EvenhandError(
                f"'{self.method}' is not an interval method; use {' or '.join(METHODS)}"
            )
        if self.target not in TARGETS:
            raise EvenhandError(f"'{self.target}' is not a target; use {' or '.join(TARGETS)}")
        for name in ("resamples", "permutations"):
            if getattr(self, name) < 1:
                raise EvenhandError(f"{name} is {getattr(self, name)}; give at least 1")

    @property
    def alpha(self) -> float:
        """The adjusted p value up to which a difference counts as shown."""
        return 1 - self.level
