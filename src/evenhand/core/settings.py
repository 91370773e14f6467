"""Settings: how estimates are computed, in one object."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from evenhand.core.errors import EvenhandError

Method = Literal["percentile", "bca"]
METHODS: tuple[Method, ...] = get_args(Method)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Seed, number of draws, level and method of intervals and tests."""

    seed: int = 0
    resamples: int = 10_000  # of the bootstrap
    permutations: int = 10_000  # of the paired test
    level: float = 0.95
    method: Method = "bca"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise EvenhandError(
                f"level is {self.level}; give a share between 0 and 1, for example 0.95"
            )
        if self.method not in METHODS:
            raise EvenhandError(
                f"'{self.method}' is not an interval method; use {' or '.join(METHODS)}"
            )
        for name in ("resamples", "permutations"):
            if getattr(self, name) < 1:
                raise EvenhandError(f"{name} is {getattr(self, name)}; give at least 1")

    @property
    def alpha(self) -> float:
        """The adjusted p value up to which a difference counts as shown."""
        return 1 - self.level
