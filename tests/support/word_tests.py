"""The word tests for tests: the suites by name, and a hand-made one with known winners."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.probe import GENDERS, NLI_LABELS, SCORE, Floats, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard

LANGUAGES = ("en", "ja", "zh")
SUITES = ("gender-recognition", "profession", "emotion")
WINS = {  # word -> lean, who wins beside each pair: 1 male, 0 female, 0.5 neither
    "nurse": ("female", (0, 0, 0, 0)),
    "judge": ("none", (1, 0, 1, 0)),
    "soldier": ("male", (1, 1, 1, 0.5)),
}
GOLD = (("male", 1.0), ("female", 2.0), ("female", -1.0), ("male", 0.0))  # male option's number


def build(name: str, language: str = "en", variant: str = "", data: Path | None = None) -> Suite:
    """A suite as it comes, or as published."""
    suite: Suite = catalog.suite(name).build(language, SuiteOptions(variant=variant, data=data))
    return suite


def answers_of(suite: Suite, values: Floats, respondent: str = "mine") -> Answers:
    """Answers of (comparisons, 2, 4 or 6 numbers); those without a number were too long."""
    labels = values.shape[1] // len(GENDERS)
    silence = Silence(status=Status.TOO_LONG, reason="too long")
    return Answers(
        respondent=respondent,
        suite=suite.reference,
        probes=suite.probes,
        options=GENDERS,
        labels=NLI_LABELS[:labels] if labels > 1 else (SCORE,),
        values=values.reshape(len(values), len(GENDERS), labels),
        silences={int(i): silence for i in np.flatnonzero(np.isnan(values).any(axis=1))},
    )


def _choice(name: str, texts: tuple[str, ...], stratum: str, cluster: str, **tags: str) -> Probe:
    return Probe(
        id=name,
        kind="choice",
        language="en",
        texts=texts,
        stratum=stratum,
        cluster=cluster,
        tags=tags,
    )


def hand_made() -> tuple[Suite, Floats]:
    """Three professions with four pairs each and four gendered words; one number an option."""
    probes: list[Probe] = []
    values: list[list[float]] = []
    for word, (lean, wins) in WINS.items():
        for place, win in enumerate(wins):
            number = 1.0 + len(probes)
            probes.append(
                _choice(
                    f"{word}{place}",
                    (f"A {word}.", f"He {place}.", f"She {place}."),
                    "profession",
                    word,
                    word=word,
                    pair=f"he{place}/she{place}",
                    lean=lean,
                    fair="equal",
                    stereotyped="0",
                )
            )
            values.append({1: [number, 0.0], 0: [0.0, number], 0.5: [2.0, 2.0]}[win])
    for place, (gold, male) in enumerate(GOLD):
        probes.append(
            _choice(
                f"r{place}",
                (f"Word {place}.", "Masculine.", "Feminine."),
                "recognition",
                f"p{place // 2}",
                word=f"w{place}",
                pair=f"p{place // 2}",
                gold=gold,
                fair="0",
                stereotyped="0",
            )
        )
        values.append([male, 0.0])
    card = SuiteCard(
        name="own",
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Own.",
        options=GENDERS,
        factors=("word", "pair"),
    )
    return Suite(card=card, probes=tuple(probes)), np.asarray(values)
