"""Which decisions make a ladder? All of them but the machine that it is run on."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import EvenhandError
from evenhand.meta.controlled import check_rate
from evenhand.meta.plan import WORDS
from evenhand.meta.records import Rung
from evenhand.meta.suites import LIMIT

RATES = tuple(round(0.1 * i, 1) for i in range(11))
ERRORS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
FIXED_RATE = 0.3  # of the ladder of errors
SEEDS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LadderOptions:
    """How a ladder is built."""

    language: str = "en"
    encoder: str = "default"
    train: int = 30_000
    dev: int = 3_000
    mix: str = "half"
    words: int = WORDS
    seeds: tuple[int, ...] = tuple(range(SEEDS))
    rates: tuple[float, ...] = RATES
    errors: tuple[float, ...] = ERRORS  # empty: no second ladder
    fixed_rate: float = FIXED_RATE
    error_seeds: int | None = (
        None  # models of each step of the second ladder; None: as many as of the first
    )
    recipe: str = "paper"
    epochs: int | None = None
    learning_rate: float | None = None
    suites: tuple[str, ...] = ()
    data: Path | None = None
    published: Path | None = None  # the authors' sets instead of built ones
    captions: tuple[Path, ...] = field(default=())
    limit: int = LIMIT
    has_weights: bool = False  # are the trained models kept?


def rungs_of(options: LadderOptions) -> list[Rung]:
    """Every model of both ladders; one that both have is trained once."""
    for rate in (*options.rates, options.fixed_rate):
        check_rate(rate, "rates")
    for share in options.errors:
        check_rate(share, "errors")
    if not options.seeds or len(set(options.rates)) < 3:
        raise EvenhandError("a ladder needs at least one seed and three different rates")
    if options.published and options.errors:
        raise EvenhandError("the authors' sets have no ladder of errors; give --errors none")
    first = [
        Rung(ladder="rate", rate=rate, seed=seed)
        for seed in options.seeds
        for rate in options.rates
    ]
    return first + [
        Rung(ladder="errors", rate=options.fixed_rate, errors=e, seed=s)
        for s in options.seeds[: options.error_seeds]
        for e in options.errors
    ]
