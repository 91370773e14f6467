"""The stereotype and default effects of the profession test, by score and by label.

The tilt of a comparison is the difference of the two shares: 1 where the female word wins, -1 where
the male one does, 0 for a tie. It stands in the row of the comparison, so that professions and
pairs of gendered words can be reweighted alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.evidence import Combine
from evenhand.core.measure import Measure
from evenhand.core.probe import GENDERS, NLI_LABELS, Floats, Probe
from evenhand.families.effects import (
    EffectRule,
    Tilts,
    default_of,
    effect_of,
    lean_of,
    make_effects,
    stereotype_of,
)
from evenhand.families.word_tests.measures import WAYS, Way, checked_wins, male_wins, named
from evenhand.families.word_tests.suite import PROFESSION

TIES = "ties"


def _read_tilts(way: Way, probes: Sequence[Probe], values: Floats) -> Tilts:
    """The tilts of the comparisons of professions that have a lean and an answer."""
    wins = male_wins(values, is_by_label=way.is_by_label)
    leans = [lean_of(p) if p.stratum == PROFESSION else "" for p in probes]
    rows = np.flatnonzero(
        np.isfinite(wins) & np.asarray([bool(lean) for lean in leans], dtype=bool)
    )
    return Tilts(
        rows=rows,
        tilts=1 - 2 * wins[rows],
        leans=[leans[int(row)] for row in rows],
        undecided=np.asarray(wins[rows] == 0.5, dtype=np.float64),
    )


def _ties(way: Way, probes: Sequence[Probe], values: Floats) -> int:
    """In how many comparisons the two options tie."""
    return int(_read_tilts(way, probes, values).undecided.sum())


def _effect_function(way: Way, name: str, combine: Combine, what: str) -> Callable[..., float]:
    def effect(values: ArrayLike, leans: Sequence[str]) -> float:
        return effect_of(combine, 1 - 2 * checked_wins(values, leans, "leans", way), leans)

    text = (
        f"{what}, one row for each profession and pair of words. values: {way.numbers}. leans: "
        '"female", "male" or "none" for each row. Raises MeasureError for any other lean.'
    )
    return named(effect, name, text)


def effect_names(way: str) -> tuple[str, str]:
    """The names of the stereotype and the default effect by one way of comparing (its suffix)."""
    return f"{PROFESSION}_stereotype_effect{way}", f"{PROFESSION}_default_effect{way}"


def _effects(way: Way) -> tuple[Measure, Measure]:
    names = effect_names(way.suffix)
    return make_effects(
        EffectRule(
            names=names,
            titles=(
                f"Profession stereotype effect{way.title}",
                f"Profession default effect{way.title}",
            ),
            shorts=(f"Stereotype effect{way.title}", f"Default effect{way.title}"),
            functions=(
                _effect_function(way, names[0], stereotype_of, "(F - M) / 2 of the tilts"),
                _effect_function(way, names[1], default_of, "-(F + M) / 2 of the tilts"),
            ),
            kind="choice",
            strata=frozenset({PROFESSION}),
            required=frozenset({PROFESSION}),
            options=frozenset(GENDERS),
            labels=frozenset(NLI_LABELS if way.is_by_label else ()),
            needs_numbers=not way.is_by_label,
            tilts=partial(_read_tilts, way),
            formula=f"tilt = 1 where the female word has the {way.better}, -1 where the male one "
            "has, 0 for a tie",
            undecided=TIES,
            ties=partial(_ties, way),
            scoring="argmax" if way.is_by_label else "entailment logit",
        )
    )


EFFECTS = tuple(measure for way in WAYS if not way.label for measure in _effects(way))
