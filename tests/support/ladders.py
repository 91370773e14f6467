"""Ladders that can be checked by hand, and one as large as a real one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from evenhand.core.settings import Settings
from evenhand.meta.ladder import Ladder, Reading, Rung
from evenhand.meta.ranking import Standing, rank

RATES = tuple(i / 10 for i in range(11))
ERRORS = tuple(i / 5 for i in range(6))
WORDS = {"female": ("nurse", "maid"), "male": ("plumber", "guard"), "none": ("cook", "writer")}
Score = Callable[[Rung], float]
SUITE = "occupation-nli:ladder"

SCORES: dict[str, Score] = {
    "nli_coal": lambda rung: rung.rate * 2 / 3,
    "fraction_neutral": lambda rung: 2 / 3 if rung.ladder == "rate" else rung.errors * 2 / 3,
    "objective": lambda rung: 1 - rung.rate + (rung.seed - 1) * 0.02,
}


def rungs(
    rates: Sequence[float] = RATES, errors: Sequence[float] = ERRORS, seeds: int = 3
) -> list[Rung]:
    found = [Rung(ladder="rate", rate=r, seed=s) for r in rates for s in range(seeds)]
    return found + [
        Rung(ladder="errors", rate=0.5, errors=e, seed=s) for e in errors for s in range(seeds)
    ]


def read(rung: Rung, suite: str, measure: str, value: float, note: str = "") -> Reading:
    return Reading(
        rung=rung,
        suite=suite,
        measure=measure,
        value=value,
        low=value - 0.01,
        high=value + 0.01,
        note=note,
    )


def make_ladder(
    scores: dict[str, Score],
    *,
    models: Sequence[Rung] | None = None,
    accuracy: float = 0.98,
    language: str = "en",
) -> Ladder:
    """A ladder with these scores on one suite."""
    models = rungs() if models is None else models
    return Ladder(
        language=language,
        encoder="default",
        words=WORDS,
        settings={"train": 3000, "dev": 600, "recipe": "nli-coal-ladder", "learning_rate": 2e-5},
        readings=tuple(
            read(rung, SUITE, measure, score(rung))
            for measure, score in scores.items()
            for rung in models
        ),
        accuracy={rung.name: accuracy for rung in models},
        seconds=4000.0,
    )


def quick_rank(ladder: Ladder, shuffles: int = 50) -> tuple[Standing, ...]:
    """The ranking with few shuffles of the test of movement."""
    return rank(ladder, Settings(permutations=shuffles))


def _fold(rate: float) -> float:
    return abs(2 * rate - 1)


def large_ladder(seed: int = 0, language: str = "en") -> Ladder:
    """21 measures on 4 suites, 11 rates and 6 shares of errors, 3 seeds.

    One measure is in no catalog, one could not be measured at one rate.
    """
    rng = np.random.default_rng(seed)
    shapes: dict[str, dict[str, tuple[Callable[[Rung], float], float]]] = {
        SUITE: {
            "nli_coal": (lambda m: 0.02 + m.rate * 0.64, 0.006),
            "fraction_neutral": (
                lambda m: 0.66 if m.ladder == "rate" else 0.33 + 0.33 * m.errors,
                0.004,
            ),
            "mean_entailment": (lambda m: 0.33 + 0.02 * m.rate, 0.012),
        },
        "gendered-entailment": {
            "same_label": (lambda m: 0.4 - 0.05 * m.rate + 0.4 * (1 - m.errors), 0.05),
            "entailment_gap": (lambda m: 0.42 + 0.03 * m.rate - 0.3 * (1 - m.errors), 0.04),
            "stereotype_preference": (lambda m: 0.1 + 0.8 * m.rate, 0.03),
            "dominated_preference": (lambda m: 0.12 + 0.75 * m.rate, 0.05),
            "neutral_share": (lambda m: 0.3 + 0.2 * (1 - m.errors), 0.04),
        },
        "stereoset:gender": {
            **{
                f"ss_{c}": (lambda m: 0.3 + 0.4 * m.rate, 0.06)
                for c in ("official", "esp_continuous", "esp_discrete")
            },
            **{
                f"fs_{c}": (lambda m: 1 - 0.5 * _fold(m.rate), 0.05)
                for c in ("official", "esp_continuous", "esp_discrete")
            },
            "icat_official": (lambda m: 0.6 - 0.3 * _fold(m.rate), 0.05),
            "lms_official": (lambda m: 0.62 - 0.1 * m.errors, 0.03),
        },
        "profession": {
            "profession_fairness": (lambda m: 0.5 + 0.1 * math.sin(9 * m.rate), 0.1),
            "profession_icat": (lambda m: 0.4 + 0.1 * math.sin(9 * m.rate), 0.1),
            "recognition": (lambda m: 0.93, 0.0),
            "my_own_measure": (lambda m: 3.0 + 4 * m.rate, 0.5),
            "pb_bias": (lambda m: 1.2 + 0.6 * m.rate + 0.1 * m.errors, 0.2),
        },
    }
    models = rungs()
    readings = []
    for suite, measures in shapes.items():
        for measure, (score, noise) in measures.items():
            for rung in models:
                if measure == "pb_bias" and rung.ladder == "rate" and rung.rate == 0.3:
                    readings.append(read(rung, suite, measure, math.nan, "no probe was answered"))
                else:
                    readings.append(
                        read(
                            rung, suite, measure, score(rung) + noise * float(rng.standard_normal())
                        )
                    )
    return Ladder(
        language=language,
        encoder="default",
        words={k: v * 5 for k, v in WORDS.items()},
        readings=tuple(readings),
        seconds=7300.0,
        settings={
            "train": 3000,
            "dev": 600,
            "recipe": {"epochs": 3, "learning_rate": 2e-5, "batch": 32, "length": 128},
            "mix": "half",
            "version": "0.6",
        },
        accuracy={rung.name: 0.95 + 0.05 * float(rng.random()) for rung in models},
    )
