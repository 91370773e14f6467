"""What is a ladder? Models that differ in one known thing, and what every measure says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

LadderName = Literal["rate", "errors"]
LADDERS: tuple[LadderName, ...] = ("rate", "errors")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rung:
    """One model: the bias rate that it is trained to have, the share of the other stereotyped words that it gets wrong without bias, and its seed."""

    ladder: LadderName
    rate: float
    errors: float = 1.0
    seed: int = 0

    @property
    def step(self) -> float:
        """What varies along the ladder."""
        return self.rate if self.ladder == "rate" else self.errors

    @property
    def name(self) -> str:
        """The name of its folder."""
        return f"rate-{self.rate:.2f}-errors-{self.errors:.2f}-seed-{self.seed}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What one measure says of one model on one suite; NaN with a note where it says nothing."""

    rung: Rung
    suite: str  # name of the suite, with its variant
    measure: str
    value: float
    low: float
    high: float
    coverage: float = 1.0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ladder:
    """All that was measured, and how it was made."""

    language: str
    encoder: str
    words: Mapping[
        str, tuple[str, ...]
    ]  # lean -> the occupations that were trained on and asked about
    settings: Mapping[str, Any] = field(default_factory=dict)  # sizes, recipe, seeds, versions
    readings: tuple[Reading, ...] = ()
    accuracy: Mapping[str, float] = field(
        default_factory=dict
    )  # by the name of the rung: on its own dev set
    seconds: float = 0.0  # of training and asking, all models together
