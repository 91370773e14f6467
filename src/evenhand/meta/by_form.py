"""Ladders of several forms side by side: was the bias learnt, and which measures find it in which.

All forms are asked the same suites about the same words. A measure that only finds the bias where
it was planted in sentences of its own form has found the sentences and not the bias.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from evenhand import __version__
from evenhand.core.errors import EvenhandError
from evenhand.core.plain import plain
from evenhand.core.settings import Settings
from evenhand.families.nli_coal.measures import STEREOTYPE_EFFECT
from evenhand.meta import wording
from evenhand.meta.forms import find_form
from evenhand.meta.ladder import Ladder
from evenhand.meta.options import LadderOptions
from evenhand.meta.plan import HELD_OUT_WORDS, TRAINED_WORDS, check_name
from evenhand.meta.ranking import Standing, rank
from evenhand.meta.run import Execution, prepare, run_ladder

FORMS_FILE = "forms.json"  # of the report on several forms


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """Whether the models of a ladder learnt the bias, seen on pairs of its own form.

    effects: the stereotype effect by the words that the pairs are about, in sentences that no model
    was trained on. One that learnt its rate has, at every rate r, 2 r - 1 on the words that it was
    trained on.
    """

    accuracy: Mapping[float, float]  # rate -> mean over seeds, on development pairs
    lowest: float  # accuracy of any model
    effects: Mapping[str, Standing]


def find_learning(ladder: Ladder, settings: Settings | None = None) -> Learning:
    """What the checks of a ladder say; without any, the suite itself has the trained words."""
    rates: dict[float, dict[str, float]] = {}
    for reading in ladder.readings:
        rung = reading.rung
        if rung.ladder == "rate" and rung.name in ladder.accuracy:
            rates.setdefault(rung.step, {})[rung.name] = ladder.accuracy[rung.name]
    checked = replace(ladder, readings=ladder.checks or ladder.readings, checks=())
    effects = {s.suite: s for s in rank(checked, settings) if s.measure == STEREOTYPE_EFFECT.name}
    names = {which: check_name(ladder.form, which) for which in (TRAINED_WORDS, HELD_OUT_WORDS)}
    if not ladder.checks:
        names = {TRAINED_WORDS: next(iter(effects), "")}
    known = [v for v in ladder.accuracy.values() if math.isfinite(v)]
    return Learning(
        accuracy={rate: float(np.mean(list(of.values()))) for rate, of in sorted(rates.items())},
        lowest=min(known, default=math.nan),
        effects={which: effects[name] for which, name in names.items() if name in effects},
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRow:
    """One measure on one suite, form by form."""

    measure: str
    suite: str
    by_form: Mapping[str, Standing]

    @property
    def place(self) -> float:
        """The mean of its places over the forms."""
        return float(np.mean([s.rank for s in self.by_form.values()]))

    @property
    def found_in(self) -> tuple[str, ...]:
        """The forms in which it found the bias."""
        return tuple(form for form, s in self.by_form.items() if s.finding == "found")

    @property
    def turns(self) -> bool:
        """Whether it rises with the bias of one form and falls with that of another."""
        signs = {self.by_form[form].pearson.value > 0 for form in self.found_in}
        return len(signs) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class FormRanking:
    """Several ladders of one language and one encoder, by form, and what follows from them."""

    ladders: Mapping[str, Ladder]
    standings: Mapping[str, tuple[Standing, ...]]
    learning: Mapping[str, Learning]
    rows: tuple[FormRow, ...]  # best mean place first

    @property
    def forms(self) -> tuple[str, ...]:
        """The forms in the order in which they were asked for."""
        return tuple(self.ladders)


def rank_forms(ladders: Mapping[str, Ladder], settings: Settings | None = None) -> FormRanking:
    """Rank the measures in every form; a measure that a form has no reading of is left out there.

    Raises EvenhandError where there is no ladder.
    """
    if not ladders:
        raise EvenhandError("no form was named; give --planted, such as captions,coreference")
    standings = {form: rank(ladder, settings) for form, ladder in ladders.items()}
    places = {form: {(s.measure, s.suite): s for s in ranked} for form, ranked in standings.items()}
    keys = dict.fromkeys(key for of in places.values() for key in of)
    rows = [
        FormRow(
            measure=measure,
            suite=suite,
            by_form={
                form: of[measure, suite] for form, of in places.items() if (measure, suite) in of
            },
        )
        for measure, suite in keys
    ]
    return FormRanking(
        ladders=dict(ladders),
        standings=standings,
        learning={form: find_learning(ladder, settings) for form, ladder in ladders.items()},
        rows=tuple(sorted(rows, key=lambda row: (row.place, row.suite, row.measure))),
    )


def run_forms(
    options: LadderOptions, forms: Sequence[str], out: Path, execution: Execution | None = None
) -> dict[str, Ladder]:
    """A ladder for each form, each in a folder of its own name.

    Raises EvenhandError where a form cannot be made, UnknownNameError where there is none of that
    name, before anything is trained.
    """
    by_form = {form: replace(options, form=find_form(form).name) for form in forms}
    for form, own in by_form.items():
        prepare(own, out / form)
    return {form: run_ladder(own, out / form, execution) for form, own in by_form.items()}


def forms_fields(ranking: FormRanking) -> dict[str, Any]:
    """The ranking by form as plain data; the readings are in the ladder of each form."""
    return {
        "evenhand": __version__,
        "forms": list(ranking.forms),
        "ladders": {
            form: {
                "language": ladder.language,
                "encoder": Path(ladder.encoder).name,
                "words": plain(ladder.words),
                "held_out": plain(ladder.held_out),
                "seconds": plain(ladder.seconds),
            }
            for form, ladder in ranking.ladders.items()
        },
        "learning": {form: _learning_fields(of) for form, of in ranking.learning.items()},
        "order": {
            form: [{"measure": s.measure, "suite": s.suite} for s in ranked]
            for form, ranked in ranking.standings.items()
        },
        "measures": [
            {
                "measure": row.measure,
                "title": wording.title(row.measure),
                "suite": row.suite,
                "mean_place": row.place,
                "found_in": list(row.found_in),
                "by_form": {form: _cell_fields(s) for form, s in row.by_form.items()},
            }
            for row in ranking.rows
        ],
    }


def _learning_fields(learning: Learning) -> dict[str, Any]:
    return {
        "accuracy": {f"{rate:g}": plain(value) for rate, value in learning.accuracy.items()},
        "lowest": plain(learning.lowest),
        "stereotype_effect": {
            which: {
                "rates": list(s.rates.steps),
                "means": plain(s.rates.means),
                "pearson": plain(s.pearson.interval),
            }
            for which, s in learning.effects.items()
        },
    }


def _cell_fields(standing: Standing) -> dict[str, Any]:
    return {
        "place": standing.rank,
        "finding": standing.finding,
        "verdict": wording.verdict(standing),
        "is_flat": standing.is_flat,
        "pearson": plain(standing.pearson.interval),
        "spearman": plain(standing.spearman.interval),
        "moved": plain(standing.signal),
        "share": plain(standing.share),
        "note": standing.pearson.note,
    }
