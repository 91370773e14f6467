"""Made-up pairs with answers for the explorer: a few, or as many as a page must hold."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from evenhand.core.answers import Answers
from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.suite import Suite, SuiteCard


def few_pairs(rows: list[list[float]], **changes: Any) -> tuple[Suite, Answers]:
    """Pairs with these three numbers each."""
    probes = tuple(
        Probe(
            id=f"p{row}",
            kind="pair",
            language="en",
            texts=(f"A nurse, {row}.", "A woman."),
            stratum="PS" if row % 2 else "AS",
            cluster="nurse",
            tags={"gender": "female", "sort": "state"},
        )
        for row in range(len(rows))
    )
    card = SuiteCard(
        name="few",
        version="1",
        language="en",
        source="",
        licence="",
        citation="",
        description="",
        factors=("occupation",),
    )
    suite = Suite(card=card, probes=probes)
    answers = Answers(
        respondent="model@1",
        suite=suite.reference,
        probes=probes,
        options=("hypothesis",),
        labels=NLI_LABELS,
        values=np.asarray(rows, dtype=np.float64)[:, None, :],
        **changes,
    )
    return suite, answers


def large(count: int) -> tuple[Suite, Answers]:
    """Made-up probes as varied as those of a real suite, with the numbers of a real network."""
    words = [f"word{i:04d}" for i in range(3000)]
    rng = np.random.default_rng(0)
    picks = rng.integers(0, len(words), size=(count, 8))
    probes = tuple(
        Probe(
            id=f"en/{words[row[0]]}/f{row[1] % 70}/{place}",
            kind="pair",
            language="en",
            texts=(
                f"The {' '.join(words[i] for i in row[:6])} near the window.",
                f"The woman {' '.join(words[i] for i in row[2:6])} near the window.",
            ),
            stratum=("PS", "AS", "NS")[place % 3],
            cluster=words[row[0] % 300],
            tags={
                "occupation": words[row[0] % 300],
                "lean": ("female", "male", "none")[place % 3],
                "template": f"frame {row[1] % 70} with some words",
                "gender": ("female", "male")[place % 2],
            },
        )
        for place, row in enumerate(picks.tolist())
    )
    suite, answers = few_pairs([[0, 0, 0]])
    values = rng.normal(scale=3, size=(count, 1, 3)).astype(np.float32).astype(np.float64)
    return replace(suite, probes=probes), replace(answers, probes=probes, values=values)
