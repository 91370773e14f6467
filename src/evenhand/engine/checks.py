"""Checks of understanding: the accuracy on clear pairs, and on a user's own file of pairs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError
from evenhand.core.measure import Measure
from evenhand.core.protocols import Respondent
from evenhand.core.run import Check
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.estimate import choose_measures, estimate
from evenhand.engine.suites import limited, load_suite

# A model is weak that makes more than this share of the errors of the best constant answer: on
# built-in pairs, all of which are clear, and on a file, whose labels annotators disagree on.
WEAK_ERRORS = 1 / 3
WEAK_FILE_ERRORS = 1 / 2


def load_dev(path: Path, language: str, *, limit: int | None = None, seed: int = 0) -> Suite:
    """A file of labelled pairs as a suite for `ask_checks`.

    limit: the most pairs to keep. Raises InputError naming the first row that is no labelled pair.
    """
    for family in catalog.checks():
        if family.read_labelled is not None:
            return limited(family.read_labelled(path, language), limit, seed)
    raise EvenhandError(f"no installed family reads {path}: leave --dev out")


def require_dev_kind(respondent: Respondent, dev: Suite | None) -> None:
    """Raise EvenhandError where the respondent cannot answer the pairs of the file."""
    if dev is not None and dev.kind not in respondent.kinds:
        kinds = ", ".join(sorted(respondent.kinds))
        raise EvenhandError(
            f"{respondent.identity} answers {kinds} probes, and --dev {dev.card.name} holds "
            f"{dev.kind}s: leave --dev out, or ask a classifier"
        )


def ask_checks(
    respondent: Respondent, suite: Suite, asking: Asking, dev: Suite | None = None
) -> list[tuple[Suite, Answers]]:
    """The respondent's answers to what checks whether it understands such probes.

    The first of them is what understanding is judged by: the user's file, or else the first
    variant of the suite that a family has for this. Without suites that the respondent cannot be
    asked in this language, and without those of the family that is asked anyway.
    """
    checks = [] if dev is None else [(dev, ask_suite(respondent, dev, asking))]
    silent = dataclasses.replace(asking, progress=None)
    stem, language = suite.card.name.partition(":")[0], suite.card.language
    for family in catalog.checks():
        source = family.suites[0]
        can_ask = language in source.languages and source.kind in respondent.kinds
        if can_ask and stem != source.name:
            for variant in source.variants:
                clear = load_suite(f"{source.name}:{variant}", language)
                checks.append((clear, ask_suite(respondent, clear, silent)))
    return checks


def estimate_checks(
    checks: Sequence[tuple[Suite, Answers]], settings: Settings
) -> tuple[Check, ...]:
    """The first measure of each check."""
    return tuple(_estimate_check(suite, answers, settings) for suite, answers in checks)


def _estimate_check(suite: Suite, answers: Answers, settings: Settings) -> Check:
    measure = choose_measures(suite, answers.options, answers.labels)[0]
    stem, _, variant = suite.card.name.partition(":")
    is_file = stem not in catalog.entries("suites")
    share = WEAK_FILE_ERRORS if is_file else WEAK_ERRORS
    judges = is_file or variant == catalog.suite(stem).variants[0]
    constant = _best_constant(measure, answers) if judges else math.nan
    return Check.of(
        estimate(measure, suite, answers, settings),
        items=f"{suite.kind}s of {suite.card.name}" if is_file else f"{variant} {suite.kind}s",
        weak_below=measure.fair - share * (measure.fair - constant),
    )


def _best_constant(measure: Measure, answers: Answers) -> float:
    """The best score of a respondent that gives every answered probe the same label."""
    scores = []
    for place in range(len(answers.labels)):
        values = np.zeros_like(answers.values)
        values[..., place] = 1.0
        values[~answers.is_answered] = np.nan
        evidence = measure.evidence(answers.probes, values)
        scores.append(float(measure.combine(evidence.sum(axis=0))))
    return max(scores)
