"""Runs on a few sentences with a blank, answered by hand."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.probe import GENDERS, SCORE
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import judge
from evenhand.families.contextualised.mask_probe import mask_probe

MEASURING = (  # words, topic, PB
    (("he", "she"), "work", 2.0),
    (("he", "she"), "home", 1.0),
    (("he", "she"), "work", 0.05),
    (("man", "woman"), "home", -0.5),
    (("man", "woman"), "work", -1.5),
    (("man", "woman"), "home", math.nan),
)
OBJECTIVE = (  # right gender, what settles it, PB
    ("male", "biology", 1.0),
    ("female", "biology", 0.7),
    ("male", "context", -3.0),
    ("female", "context", -1.0),
)


def card(options: tuple[str, ...]) -> SuiteCard:
    """The card of a suite of one's own."""
    return SuiteCard(
        name="own",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Own.",
        options=options,
    )


def blank_run(
    objective: Sequence[tuple[str, str, float]] = OBJECTIVE,
    *,
    measures: Sequence[str] | None = None,
    name: str = "mine",
) -> Run:
    """A run on MEASURING and the objective sentences; the sixth sentence was too long."""
    probes, odds = [], []
    for i, ((male, female), topic, pb) in enumerate(MEASURING):
        text = f"Number {i}: I saw that [BLANK] left."
        probes.append(
            mask_probe(
                identity=f"m{i}",
                language="en",
                text=text,
                male=male,
                female=female,
                tags={"topic": topic},
            )
        )
        odds.append(pb)
    for i, (gold, kind, pb) in enumerate(objective):
        probes.append(
            mask_probe(
                identity=f"o{i}",
                language="en",
                text=f"Case {i}: so [BLANK] did.",
                male=("he", "man")[i % 2],
                female=("she", "woman")[i % 2],
                tags={"gold": gold, "type": kind},
            )
        )
        odds.append(pb)
    suite = Suite(card=card(GENDERS), probes=tuple(probes))
    answers = Answers(
        respondent=name,
        suite=suite.reference,
        options=GENDERS,
        labels=(SCORE,),
        probes=suite.probes,
        values=np.asarray([[[pb - 3.0], [-3.0]] for pb in odds]),
        traits={"scoring": "by hand"},
        silences={5: Silence(status=Status.TOO_LONG, reason="too long")},
    )
    return judge(suite, answers, Settings(resamples=100), measures=measures)
