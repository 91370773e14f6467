"""Runs on small suites of every family, answered at random in many ways: a Hypothesis strategy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from hypothesis import strategies as st
from stereoset_items import probes_of, suite_of

from evenhand.core.answers import Answers, Silence, Status
from evenhand.core.errors import MeasureError
from evenhand.core.probe import GENDERS, NLI_LABELS, PREFERENCES, SCORE, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import TARGETS, Settings
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.audit import judge
from evenhand.engine.checks import estimate_checks
from evenhand.engine.suites import load_suite
from evenhand.respondents.fixed import RESPONDENT

TWO_LABELS = ("entailment", "not_entailment")
FEW = Settings(resamples=60, permutations=60)
WAYS = ("noise", "ties", "alike", "stereotyped", "fair", "male-default", "mostly right")
MISSING = ("nothing", "some", "most", "a stratum", "all but a cluster", "a gender", "all")


def _card(name: str, options: tuple[str, ...]) -> SuiteCard:
    return SuiteCard(
        name=name,
        version="1",
        language="en",
        source="x",
        licence="x",
        citation="x",
        description="Made for a test.",
        options=options,
    )


def _tasks() -> Suite:
    """Items in the form of GLUE, with all four gold labels."""
    golds = (*NLI_LABELS, "not_entailment", "entailment")
    probes = tuple(
        Probe(
            id=f"t{i}",
            kind="pair",
            language="en",
            texts=(f"Room {i // 2} is open.", f"It has door {i}."),
            stratum="zero-shot",
            cluster=f"p{i // 2}",
            tags={"gold": golds[i % 5], "task": "mnli", "fair": (*NLI_LABELS, "neutral")[i % 4]},
        )
        for i in range(20)
    )
    return Suite(card=_card("tasks", ("hypothesis",)), probes=probes)


def _preferences() -> Suite:
    """Pairs in the form of CrowS-Pairs."""
    probes = tuple(
        Probe(
            id=f"c{i}/{rule}",
            kind="choice",
            language="en",
            texts=("", f"Old sentence {i}.", f"Young sentence {i}."),
            stratum=rule,
            cluster=f"w{i // 2}",
            tags={
                "scoring": rule,
                "bias type": "age" if i % 2 else "gender",
                "direction": "antistereo" if i % 3 == 0 else "stereo",
                "fair": "equal",
                "stereotyped": "0",
            },
        )
        for i in range(10)
        for rule in ("shared", "changed", "whole", "aul", "aula")
    )
    return Suite(card=_card("pairs", PREFERENCES), probes=probes)


def _words(name: str, words: int, pairs: int) -> Suite:
    """A word test cut to a few words and pairs, and the recognition of these."""
    whole = load_suite(name)
    kept = list(dict.fromkeys(p.tags["pair"] for p in whole.probes))[:pairs]
    chosen = [p for p in whole.probes if p.tags["pair"] in kept]
    clusters = [*dict.fromkeys(p.cluster for p in chosen if p.stratum != "recognition")]
    step = max(len(clusters) // max(words, 1), 1)
    shown = {*clusters[::step][:words], *kept}
    return Suite(card=whole.card, probes=tuple(p for p in chosen if p.cluster in shown))


@dataclass(frozen=True, kw_only=True)
class Room:
    """A suite and the labels with which it may be answered."""

    suite: Suite
    labels: tuple[tuple[str, ...], ...]


@cache
def rooms() -> dict[str, Room]:
    """A small suite of every family, by name."""
    three, one = (NLI_LABELS, TWO_LABELS), (SCORE,)
    build: dict[str, tuple[Callable[[], Suite], tuple[tuple[str, ...], ...]]] = {
        "occupation-nli": (lambda: load_suite("occupation-nli", limit=60), three),
        "gendered-entailment": (lambda: load_suite("gendered-entailment", limit=40), three),
        "ordinary-nli": (lambda: load_suite("ordinary-nli", limit=24), three),
        "tasks": (_tasks, three),
        "contextualised": (lambda: load_suite("contextualised", limit=30), (one,)),
        "crows-pairs": (_preferences, (one,)),
        "stereoset": (
            lambda: suite_of(probes_of([*"aabbbcdefgh"] + ["i"] * 6)),
            (one, NLI_LABELS),
        ),
        "profession": (lambda: _words("profession", 6, 4), (one, NLI_LABELS)),
        "emotion": (lambda: _words("emotion", 5, 3), (one, NLI_LABELS)),
        "gender-recognition": (lambda: _words("gender-recognition", 0, 6), (one, NLI_LABELS)),
    }
    return {name: Room(suite=make(), labels=labels) for name, (make, labels) in build.items()}


def _values(suite: Suite, labels: tuple[str, ...], way: str, rng: np.random.Generator) -> Floats:
    """Answers (probe, option, label) given in one of WAYS."""
    options = max(p.option_count for p in suite.probes)
    shape = (len(suite.probes), options, len(labels))
    noise = rng.normal(size=shape) * 2
    if way == "ties":
        return rng.integers(0, 3, size=shape).astype(np.float64)
    if way == "alike":
        return np.broadcast_to(rng.integers(0, 3, size=shape[1:]), shape).astype(np.float64)
    if way == "noise":
        return noise
    rule = "fair" if way == "mostly right" else way
    opening = RespondentOptions(labels=labels if len(labels) > 1 else ())
    ruled = RESPONDENT.open(f"fixed:{rule}", opening).answer(suite.probes).values
    is_ruled = np.isfinite(ruled).all(axis=(1, 2)) & (rng.random(len(ruled)) < 0.85)
    return np.where(is_ruled[:, None, None], np.maximum(ruled, -9.0), noise)


def _is_missing(suite: Suite, what: str, rng: np.random.Generator) -> list[bool]:
    """Which probes have no answer, for one of MISSING."""
    probes = suite.probes
    some, most = rng.random(len(probes)) < 0.25, rng.random(len(probes)) < 0.9
    stratum = rng.choice(sorted(suite.strata))
    cluster = rng.choice(sorted({p.cluster for p in probes}))
    gender = rng.choice(GENDERS)
    is_missing: dict[str, list[bool]] = {
        "nothing": [False] * len(probes),
        "some": some.tolist(),
        "most": most.tolist(),
        "a stratum": [p.stratum == stratum for p in probes],
        "all but a cluster": [p.cluster != cluster for p in probes],
        "a gender": [p.tags.get("gender", p.tags.get("gold")) == gender for p in probes],
        "all": [True] * len(probes),
    }
    return is_missing[what]


def answered(suite: Suite, labels: tuple[str, ...], way: str, missing: str, seed: int) -> Answers:
    """Answers to a suite, given in one of WAYS; one of MISSING has none."""
    rng = np.random.default_rng(seed)
    values = _values(suite, labels, way, rng)
    rows = np.flatnonzero(_is_missing(suite, missing, rng))
    values[rows] = np.nan
    silence = Silence(status=Status.TOO_LONG, reason="longer than the model's 8 tokens")
    return Answers(
        respondent="mine@1",
        suite=suite.reference,
        probes=suite.probes,
        options=suite.card.options,
        labels=labels,
        values=values,
        silences={int(row): silence for row in rows[::2]},
    )


@st.composite
def random_runs(draw: st.DrawFn, name: str) -> Run:
    """A run on the suite of this name."""
    room = rooms()[name]
    labels = draw(st.sampled_from(room.labels))
    seed = draw(st.integers(0, 2**32 - 1))
    way, missing = draw(st.sampled_from(WAYS)), draw(st.sampled_from(MISSING))
    settings = replace(FEW, target=draw(st.sampled_from(TARGETS)))
    answers = answered(room.suite, labels, way, missing, seed)
    checks = []
    if labels != (SCORE,) and draw(st.booleans()):
        ordinary = rooms()["ordinary-nli"].suite
        check_way = draw(st.sampled_from(("noise", "mostly right", "ties")))
        check_missing = draw(st.sampled_from(("nothing", "some", "all")))
        checks = [(ordinary, answered(ordinary, labels, check_way, check_missing, seed + 1))]
    try:
        return judge(room.suite, answers, settings, sanity=estimate_checks(checks, settings))
    except MeasureError:  # two labels do not suffice for any measure of this suite
        three = answered(room.suite, NLI_LABELS, way, missing, seed)
        return judge(room.suite, three, settings)
