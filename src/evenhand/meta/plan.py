"""Which words and sentences is a ladder made of? The same words for all its models, and sentences that are kept back for the asking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.families import occupation_nli

WORDS = 10  # of each lean, as in the paper
ASKED = 10  # sentences of each word in the suite that the models are asked: 200 + 200 + 200 pairs
LEANS = occupation_nli.LEANS


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all models of a ladder share."""

    language: str
    words: Mapping[str, tuple[str, ...]]  # by lean
    frames: tuple[
        tuple[str, str], ...
    ]  # to train on: a sentence that says when, or nothing, and the frame after it
    asked: Mapping[str, str]  # by id: frames that no model is trained on
    source: str = "lexicons of evenhand"


def make_plan(
    language: str, *, words: int = WORDS, seed: int = 0, captions: Sequence[Path] = ()
) -> Plan:
    """The words and sentences of a language, from its lexicons or from captions; the same for the same seed."""
    if not lexicons.has_table(language, "leads"):
        raise EvenhandError(
            f"there are no bias-controlled sets in '{language}'; there are in {', '.join(lexicons.languages_with('leads'))}"
        )
    rng = np.random.default_rng(seed)
    chosen = choose_words(language, words, rng)
    texts = occupation_nli.frames(language, SuiteOptions(captions=tuple(captions)))
    names = sorted(texts)
    kept = [names[i] for i in sorted(rng.permutation(len(names))[:ASKED])]
    leads = ["", *(row["text"] for row in lexicons.table(language, "leads") if not captions)]
    rest = [(lead, texts[name]) for lead in leads for name in names if name not in kept]
    source = (
        f"frames mined from {', '.join(p.name for p in captions)}"
        if captions
        else "lexicons of evenhand"
    )
    return Plan(
        language=language,
        words=chosen,
        frames=tuple(rest),
        asked={name: texts[name] for name in kept},
        source=source,
    )


def choose_words(language: str, count: int, rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    """`count` occupations of each lean: first those that the profession test asks about too, so that its measures take part."""
    if count < 1:
        raise EvenhandError(
            f"--words is {count}; give at least 1 of each lean (the paper has {WORDS})"
        )
    shared = (
        {row["word"] for row in lexicons.table(language, "professions")}
        if lexicons.has_table(language, "professions")
        else set()
    )
    found = {}
    for lean in LEANS:
        there = sorted(
            row["word"] for row in occupation_nli.occupations(language) if row["lean"] == lean
        )
        if len(there) < count:
            told = "no lean" if lean == "none" else f"the lean {lean}"
            raise EvenhandError(
                f"too few words for the ladder: '{language}' has {len(there)} occupations of {told}, {count} are needed; give --words {len(there)} or fewer"
            )
        drawn = [there[i] for i in rng.permutation(len(there))]
        found[lean] = tuple(sorted(sorted(drawn, key=lambda word: word not in shared)[:count]))
    return found


def asked_suite(plan: Plan) -> Suite:
    """The pairs that the models are asked: every word of the plan in every sentence that was kept back."""
    speaker = catalog.language(plan.language)
    rows = {row["word"]: row for row in occupation_nli.occupations(plan.language)}
    probes: list[Probe] = []
    for lean in LEANS:
        for word in plan.words[lean]:
            for name, text in plan.asked.items():
                probes += occupation_nli.ask_pairs(speaker, rows[word], name, text)
    source = occupation_nli.SUITE
    card = SuiteCard(
        name=f"{source.name}:ladder",
        version=source.version,
        language=plan.language,
        source=plan.source,
        licence=source.licence,
        citation=source.citation,
        description="The words of a ladder in sentences that its models were not trained on.",
    )
    return Suite(card=card, probes=tuple(probes))
