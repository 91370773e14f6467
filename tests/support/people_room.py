"""People, models and sentences of the tests: small ones, whose numbers can be reckoned by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.probe import GENDERS, SCORE, Floats
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families.contextualised.mask_probe import mask_probe

WORDS = (("he", "she"), ("man", "woman"), ("father", "mother"), ("king", "queen"))


def make_suite(measuring: int = 40, objective: int = 8, name: str = "tiny") -> Suite:
    """Sentences with four word pairs in turn; every second objective one is about a man."""
    probes = [
        mask_probe(
            identity=f"m{i}",
            language="en",
            text=f"Sentence {i}: [BLANK] waits.",
            male=WORDS[i % 4][0],
            female=WORDS[i % 4][1],
        )
        for i in range(measuring)
    ]
    probes += [
        mask_probe(
            identity=f"o{i}",
            language="en",
            text=f"Settled {i}: [BLANK] waits.",
            male=WORDS[i % 4][0],
            female=WORDS[i % 4][1],
            tags={"gold": GENDERS[i % 2]},
        )
        for i in range(objective)
    ]
    card = SuiteCard(
        name=name,
        version="1",
        language="en",
        source="here",
        licence="none",
        citation="none",
        description="",
        options=GENDERS,
    )
    return Suite(card=card, probes=tuple(probes))


def say(suite: Suite, name: str, scores: Sequence[float] | Floats) -> Answers:
    """Answers whose two columns differ by the scores; NaN is no answer."""
    odds = np.asarray(scores, dtype=np.float64)
    values = np.stack([odds, np.where(np.isfinite(odds), 0.0, np.nan)], axis=1)
    return Answers(
        respondent=name,
        suite=suite.reference,
        options=GENDERS,
        labels=(SCORE,),
        probes=suite.probes,
        values=values[:, :, np.newaxis],
    )


def make_people(suite: Suite, count: int = 3, seed: int = 0) -> list[Answers]:
    """People who share half of what they say; right in every objective sentence."""
    rng = np.random.default_rng(seed)
    gold = np.asarray(
        [{"male": 1.5, "female": -1.5}.get(p.tags.get("gold", ""), np.nan) for p in suite.probes]
    )
    shared = rng.normal(size=len(suite.probes))
    people = []
    for number in range(1, count + 1):
        free = np.clip(np.round((shared + rng.normal(size=len(shared))) / 2) / 2, -1.5, 1.5)
        people.append(
            say(suite, f"people:study/annotator-{number}", np.where(np.isfinite(gold), gold, free))
        )
    return people
