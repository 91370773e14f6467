"""Answers to pairs for tests: made of arrays or of the words alone, judged without a model."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from evenhand.core.answers import Answers
from evenhand.core.probe import HYPOTHESIS, NLI_LABELS, Floats, Probe
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.audit import judge
from evenhand.engine.checks import estimate_checks
from evenhand.engine.suites import load_suite

TWO_LABELS = ("entailment", "not_entailment")
FEW = Settings(resamples=200)
Row = tuple[float, float, float]
# Tenths, so that ties are frequent; NaN is no answer.
rows = st.tuples(
    *[st.integers(0, 4).map(lambda n: n / 10) | st.just(math.nan)] * 2,
    st.integers(0, 4).map(lambda n: n / 10),
)


def votes(row: Sequence[float]) -> dict[str, float] | None:
    """The labels that a row votes for, and how much for each; None: it does not answer."""
    if any(math.isnan(v) for v in row):
        return None
    best = max(row)
    winners = [label for label, v in zip(NLI_LABELS, row, strict=True) if v == best]
    return {label: 1 / len(winners) if label in winners else 0.0 for label in NLI_LABELS}


def noise(probes: Sequence[Probe]) -> Floats:
    """Three numbers a pair that depend on nothing but its words."""
    texts = ["\0".join(p.texts).encode() for p in probes]
    seeds = [int.from_bytes(hashlib.blake2b(t, digest_size=8).digest()) for t in texts]
    return np.asarray([np.random.default_rng(seed).normal(size=3) for seed in seeds])


def given(suite: Suite, table: Floats, labels: Sequence[str] = NLI_LABELS) -> Answers:
    """The answers that a table (pairs, labels) holds."""
    return Answers(
        respondent="table@1",
        suite=suite.reference,
        probes=suite.probes,
        options=(HYPOTHESIS,),
        labels=tuple(labels),
        values=np.asarray(table, dtype=np.float64)[:, None, :],
    )


def judged(
    suite: Suite,
    table: Floats,
    labels: Sequence[str] = NLI_LABELS,
    *,
    settings: Settings = FEW,
    has_check: bool = True,
    measures: Sequence[str] | None = None,
) -> Run:
    """The run of a table of answers, with noise on ordinary pairs as its check."""
    checks = []
    if has_check:
        ordinary = load_suite("ordinary-nli", suite.card.language)
        checks = [(ordinary, given(ordinary, noise(ordinary.probes)[:, : len(labels)], labels))]
    sanity = estimate_checks(checks, settings)
    return judge(suite, given(suite, table, labels), settings, measures=measures, sanity=sanity)
