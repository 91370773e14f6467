"""Words, sentences and suites of a ladder.

All models share the words; some sentences are not trained on but kept for the asking. The suites
are every built-in one that an NLI model can answer, or those that the user names, restricted to the
words of the ladder: those trained on where the bias is planted in the form of the suite, and others
where it is planted in another form.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenhand import lexicons
from evenhand.core import catalog
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Kind, Probe
from evenhand.core.protocols import Language, SuiteOptions
from evenhand.core.suite import Suite, SuiteCard
from evenhand.engine.suites import limited, load_suite
from evenhand.families.nli_coal.published import SUITE as AUTHORS_SUITE
from evenhand.families.nli_coal.suite import (
    LEANS,
    OTHER_GENDER,
    SUITE,
    ask_pairs,
    find_stratum,
    frames,
    occupations,
)
from evenhand.meta.forms import SUITE_FORM, Form, Frame, find_form, form_frames
from evenhand.meta.options import LIMIT, WORDS

ASKED = 10  # sentences per word that the models are asked: 200 + 200 + 200 pairs with 10 words
NO_LEAN = LEANS[-1]
KINDS: tuple[Kind, ...] = ("pair", "choice")  # that an NLI model answers
AUTHORS_VARIANT = "downsampled"  # the authors' evaluation set of the same words
CHECKED = 8  # sentences of another form that are kept to see whether its bias was learnt
# the words that the sentences of a check are about
TRAINED_WORDS, HELD_OUT_WORDS = "trained words", "held-out words"

Words = Mapping[str, tuple[str, ...]]  # by lean


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What all models of a ladder share."""

    language: str
    words: Words  # that are trained on
    frames: tuple[Frame, ...]  # to train on
    asked: Mapping[str, str]  # by id: frames of the suite that no model is trained on
    source: str = "lexicons of evenhand"
    form: str = SUITE_FORM.name
    held_out: Words = field(default_factory=dict)  # asked about; empty: those trained on
    checked: tuple[Frame, ...] = ()  # of the form itself, that no model is trained on

    @property
    def asked_words(self) -> Words:
        """The words that the suites ask about."""
        return self.held_out or self.words


def make_plan(
    language: str,
    *,
    words: int | None = None,
    seed: int = 0,
    captions: Sequence[Path] = (),
    form: str = SUITE_FORM.name,
) -> Plan:
    """The words and sentences of a language, from its lexicons or from captions.

    words: of each lean that are trained on; None: as many as the form has. The same for the same
    seed. Raises EvenhandError where the language has too few.
    """
    chosen_form = find_form(form)
    count = chosen_form.words if words is None else words
    if chosen_form.is_held_out:
        if captions:
            raise EvenhandError(
                f"--captions gives the sentences of the form '{SUITE_FORM.name}'; leave it out of "
                f"--planted {form}, which has its own"
            )
        return _held_out_plan(language, chosen_form, count, seed)
    return _suite_plan(language, count, seed, captions)


def _suite_plan(language: str, words: int, seed: int, captions: Sequence[Path]) -> Plan:
    """The plan of the suite's own form: trained and asked words are the same."""
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
    rest = [
        Frame(id=name, premise=texts[name], lead=lead)
        for lead in leads
        for name in names
        if name not in kept
    ]
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


def _held_out_plan(language: str, form: Form, words: int, seed: int) -> Plan:
    """The plan of another form: what is asked is that of the suite's form with its words.

    The words that are trained on have no word in common with those asked about: where a truck
    driver is asked about, no taxi driver is trained on.
    """
    own = form_frames(language, form.name)
    asked = _suite_plan(language, WORDS, seed, ())
    rng = np.random.default_rng(seed)
    trained = choose_words(language, words, rng, apart=all_words(asked.words))
    own = tuple(own[i] for i in rng.permutation(len(own)))
    return Plan(
        language=language,
        words=trained,
        frames=own[CHECKED:],
        asked=asked.asked,
        form=form.name,
        held_out=asked.words,
        checked=own[:CHECKED],
    )


def all_words(words: Words) -> frozenset[str]:
    """The occupations of every lean."""
    return frozenset(word for group in words.values() for word in group)


def choose_words(
    language: str, count: int, rng: np.random.Generator, *, apart: Collection[str] = ()
) -> dict[str, tuple[str, ...]]:
    """`count` occupations of each lean.

    First those that the profession test asks about too, so that its measures take part. apart:
    occupations with which none that is chosen has a word in common; then all others are alike.
    Raises EvenhandError where there are too few.
    """
    if count < 1:
        raise EvenhandError(
            f"--occupations is {count}; give at least 1 of each lean (the paper has {WORDS})"
        )
    shared: set[str] = set()
    taken = {part for word in apart for part in word.split()}
    if not apart and lexicons.has_table(language, "professions"):
        shared = {row["word"] for row in lexicons.table(language, "professions")}
    rows = occupations(language)
    chosen = {}
    for lean in LEANS:
        words = sorted(
            row["word"]
            for row in rows
            if row["lean"] == lean and not taken & set(row["word"].split())
        )
        if len(words) < count:
            which = "no lean" if lean == NO_LEAN else f"the lean {lean}"
            beside = " beside those that are asked about" if apart else ""
            raise EvenhandError(
                f"too few words for the ladder: '{language}' has {len(words)} occupations of "
                f"{which}{beside}, {count} are needed; give --occupations {len(words)} or fewer"
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
        for word in plan.asked_words[lean]:
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


def check_suites(plan: Plan) -> tuple[Suite, ...]:
    """The form's own pairs in sentences that were kept back; none for the suite's own form.

    One suite about the words that are trained on, one about those that are held out.
    """
    if not plan.checked:
        return ()
    return (
        _check_suite(plan, plan.words, TRAINED_WORDS),
        _check_suite(plan, plan.held_out, HELD_OUT_WORDS),
    )


def check_name(form: str, which: str) -> str:
    """The name of the suite that checks a form about these words."""
    return f"{form}, {which}"


def _check_suite(plan: Plan, words: Words, which: str) -> Suite:
    probes = [
        probe
        for lean in LEANS
        for word in words[lean]
        for frame in plan.checked
        for probe in _check_pairs(catalog.language(plan.language), word, lean, frame)
    ]
    card = SuiteCard(
        name=check_name(plan.form, which),
        version=SUITE.version,
        language=plan.language,
        source=plan.source,
        licence=SUITE.licence,
        citation="evenhand",
        description=f"Pairs of the form {plan.form} that no model is trained on: {which}.",
    )
    return Suite(card=card, probes=tuple(probes))


def _check_pairs(language: Language, word: str, lean: str, frame: Frame) -> Iterator[Probe]:
    stem = f"{language.code}/{word.replace(' ', '-')}/{frame.id}"
    for gender, other in OTHER_GENDER.items():
        stratum, fair, stereotyped = find_stratum(lean, gender)
        yield Probe(
            id=f"{stem}/{gender}",
            kind="pair",
            language=language.code,
            texts=frame.fill(language, word, gender),
            stratum=stratum,
            cluster=word,
            twin=f"{stem}/{other}",
            tags={
                "occupation": word,
                "lean": lean,
                "gender": gender,
                "frame": frame.id,
                "fair": fair,
                "stereotyped": stereotyped,
            },
        )


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
    """The probes about the words that are asked about, at most `limit`.

    All words where the suite is not about occupations, but none that is trained on and held out
    of the asking. Raises EvenhandError where none is left.
    """
    words = {None, *all_words(plan.asked_words)}
    trained = _naming(all_words(plan.words) if plan.held_out else ())
    about = tuple(
        p
        for p in suite.probes
        if occupation_of(p) in words and not any(map(trained.search, p.texts))
    )
    if not about:
        raise EvenhandError(
            f"{suite.card.name} has none of the ladder's words; leave it out of --suite"
        )
    return limited(Suite(card=suite.card, probes=about), limit, 0)


def _naming(words: Collection[str]) -> re.Pattern[str]:
    """Finds any of the words, also in the plural; nothing where there are none."""
    names = "|".join(map(re.escape, sorted(words)))
    return re.compile(rf"\b(?:{names})s?\b" if names else r"(?!)", re.IGNORECASE)
