"""Words, sentences and suites of a ladder.

All models share the words; some sentences are not trained on but kept for the asking. The suites
are every built-in one that an NLI model can answer, or those that the user names, restricted to the
words of the ladder.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.suites import limited, load_suite
from evenhand.families.nli_coal.published import SUITE as AUTHORS_SUITE
from evenhand.families.nli_coal.suite import LEANS, SUITE, ask_pairs, frames, occupations
from evenhand.meta.options import LIMIT, WORDS

ASKED = 10  # sentences per word that the models are asked: 200 + 200 + 200 pairs with 10 words
NO_LEAN = LEANS[-1]
KINDS: tuple[Kind, ...] = ("pair", "choice")  # that an NLI model answers
AUTHORS_VARIANT = "downsampled"  # the authors' evaluation set of the same words


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all models of a ladder share."""

    language: str
    words: Mapping[str, tuple[str, ...]]  # by lean
    frames: tuple[
        tuple[str, str], ...
    ]  # to train on: (lead, frame); the lead is a sentence before it, or empty
    asked: Mapping[str, str]  # by id: frames that no model is trained on
    source: str = "lexicons of evenhand"

    @property
    def all_words(self) -> frozenset[str]:
        """The occupations of every lean."""
        return frozenset(word for group in self.words.values() for word in group)


def make_plan(
    language: str, *, words: int = WORDS, seed: int = 0, captions: Sequence[Path] = ()
) -> Plan:
    """The words and sentences of a language, from its lexicons or from captions.

    The same for the same seed. Raises EvenhandError where the language has too few.
    """
    if not lexicons.has_table(language, "leads"):
        known = ", ".join(lexicons.languages_with("leads"))
        raise EvenhandError(
            f"there are no bias-controlled sets in '{language}'; there are in {known}"
        )
    rng = np.random.default_rng(seed)
    chosen = choose_words(language, words, rng)
    texts = frames(language, tuple(captions))
    names = sorted(texts)
    kept = [names[i] for i in sorted(rng.permutation(len(names))[:ASKED])]
    leads = ["", *(row["text"] for row in lexicons.table(language, "leads") if not captions)]
    rest = [(lead, texts[name]) for lead in leads for name in names if name not in kept]
    source = "lexicons of evenhand"
    if captions:
        source = f"frames mined from {', '.join(p.name for p in captions)}"
    return Plan(
        language=language,
        words=chosen,
        frames=tuple(rest),
        asked={name: texts[name] for name in kept},
        source=source,
    )


def choose_words(language: str, count: int, rng: np.random.Generator) -> dict[str, tuple[str, ...]]:
    """`count` occupations of each lean.

    First those that the profession test asks about too, so that its measures take part. Raises
    EvenhandError where there are too few.
    """
    if count < 1:
        raise EvenhandError(
            f"--words is {count}; give at least 1 of each lean (the paper has {WORDS})"
        )
    shared: set[str] = set()
    if lexicons.has_table(language, "professions"):
        shared = {row["word"] for row in lexicons.table(language, "professions")}
    rows = occupations(language)
    chosen = {}
    for lean in LEANS:
        words = sorted(row["word"] for row in rows if row["lean"] == lean)
        if len(words) < count:
            which = "no lean" if lean == NO_LEAN else f"the lean {lean}"
            raise EvenhandError(
                f"too few words for the ladder: '{language}' has {len(words)} occupations of "
                f"{which}, {count} are needed; give --words {len(words)} or fewer"
            )
        drawn = [words[i] for i in rng.permutation(len(words))]
        chosen[lean] = tuple(sorted(sorted(drawn, key=lambda word: word not in shared)[:count]))
    return chosen


def asked_suite(plan: Plan) -> Suite:
    """The pairs that the models are asked: every word in every sentence that was kept back."""
    language = catalog.language(plan.language)
    rows = {row["word"]: row for row in occupations(plan.language)}
    probes: list[Probe] = []
    for lean in LEANS:
        for word in plan.words[lean]:
            for name, text in plan.asked.items():
                probes += ask_pairs(language, rows[word], name, text)
    card = SuiteCard(
        name=f"{SUITE.name}:ladder",
        version=SUITE.version,
        language=plan.language,
        source=plan.source,
        licence=SUITE.licence,
        citation=SUITE.citation,
        description="The words of a ladder in sentences that its models were not trained on.",
    )
    return Suite(card=card, probes=tuple(probes))


def suites_of(
    plan: Plan, names: Sequence[str] = (), *, data: Path | None = None, limit: int = LIMIT
) -> tuple[Suite, ...]:
    """The suites that are named, or all that fit.

    The first is always the occupation suite, in sentences that no model was trained on; for the
    authors' sets it is their own evaluation set of the same words.
    """
    is_published = not plan.asked
    options = SuiteOptions(data=data)
    suites = [asked_suite(plan)]
    if is_published:
        suites = [load_suite(f"{AUTHORS_SUITE.name}:{AUTHORS_VARIANT}", plan.language, options)]
    for name in names if names or is_published else fitting_suites(plan.language):
        if name.partition(":")[0] != SUITE.name:
            suites.append(restrict(load_suite(name, plan.language, options), plan, limit))
    return tuple(suites)


def fitting_suites(language: str) -> list[str]:
    """The built-in suites of a language that NLI models answer, including those of plug-ins."""
    return [
        source.name
        for source in catalog.entries("suites").values()
        if not source.is_published and source.kind in KINDS and language in source.languages
    ]


def occupation_of(probe: Probe) -> str | None:
    """The occupation that a probe is about; None where it is about something else."""
    word = probe.tags.get("word") if "lean" in probe.tags else None
    return probe.tags.get("occupation") or word


def restrict(suite: Suite, plan: Plan, limit: int) -> Suite:
    """The probes about the words of the ladder, at most `limit`.

    All words where the suite is not about occupations. Raises EvenhandError where none is left.
    """
    words = {None, *plan.all_words}
    about = tuple(p for p in suite.probes if occupation_of(p) in words)
    if not about:
        raise EvenhandError(
            f"{suite.card.name} has none of the ladder's words; leave it out of --suites"
        )
    return limited(Suite(card=suite.card, probes=about), limit, 0)
