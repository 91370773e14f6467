"""Which estimates does a report show, in which order, and beside what?"""

from __future__ import annotations

from typing import Literal

import numpy as np

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.probe import Kind
from evenhand.core.run import Run
from evenhand.measures.sentence_preference import SentencePreference
from evenhand.measures.stereoset_scores import StereoSetScore
from evenhand.measures.word_fairness import WordTest, male_wins
from evenhand.report.numbers import MISSING, number

Family = Literal["pair", "mask", "choice", "stereoset", "words", "task"]
CONVENTIONS = ("official", "esp_continuous", "esp_discrete")

HEADLINE = "nli_coal"
FIRST = (
    HEADLINE,
    "entailment_gap",
    "pb_bias",
    "pb_lean",
    "pb_sd",
    "crows_shared",
    "crows_changed",
    "crows_whole",
    *(
        f"{quantity}_{convention}"
        for convention in CONVENTIONS
        for quantity in ("icat", "lms", "ss", "fs")
    ),
    *(
        f"{name}{way}"
        for way in ("", "_discrete")
        for name in (
            "profession_fairness",
            "profession_icat",
            "emotion_fairness",
            "emotion_icat",
            "recognition",
        )
    ),
    "zero_shot_accuracy",
)  # what a report is about
BASELINE_TITLES = {"fixed:random": "random", "fixed:constant": "constant"}
RIGHT = (
    "accuracy",
    "objective_accuracy",
    "zero_shot_accuracy",
    "recognition",
    "recognition_discrete",
    *(f"lms_{c}" for c in CONVENTIONS),
)
# their best value is right, not fair


def kind_of(run: Run) -> Kind:
    """Pairs, blanks or choices?"""
    return run.answers.probes[0].kind if run.answers.probes else "pair"


def family_of(run: Run) -> Family:
    """Which sort of report is it? By kind of probe, and by what its first measure is about."""
    first = ordered(run)[0].measure if run.estimates else ""
    about: object = catalog.measure(first) if first else None
    if isinstance(about, StereoSetScore):
        return "stereoset"
    if isinstance(about, WordTest):
        return "words"
    return "task" if first == "zero_shot_accuracy" else kind_of(run)


def is_classifier(run: Run) -> bool:
    """Does every option of a choice get one number a label?"""
    return any(":" in label for label in run.answers.labels)


def always(run: Run) -> str:
    """What does the constant respondent do on choices and pairs?"""
    return (
        "the same number for every option"
        if kind_of(run) == "choice" and not is_classifier(run)
        else "always entailment"
    )


def title(measure: str) -> str:
    """The name of a measure as it is printed."""
    return catalog.measure(measure).card.title


def fair(measure: str) -> float:
    """The value of a fair respondent."""
    return catalog.measure(measure).fair


def good(measure: str) -> str:
    """What is the best value called?"""
    return "right" if measure in RIGHT else "ideal" if "icat" in measure else "fair"


def best_head(run: Run) -> str:
    """What is the column of best values called? `right` where none of them is about fairness."""
    found = {good(e.measure) for e in run.estimates}
    return (
        "best"
        if len(found) > 1 and family_of(run) in ("stereoset", "words")
        else found.pop()
        if found == {"right"}
        else "fair"
    )


def short_title(measure: str) -> str:
    """`iCAT, official` of `StereoSet iCAT, official`."""
    return title(measure).removeprefix("StereoSet ")


def bare_title(measure: str) -> str:
    """`Fairness, discrete` of `Profession fairness, discrete`: for a picture of one suite."""
    about: object = catalog.measure(measure)
    told = title(measure).split(" ", 1)[1] if isinstance(about, WordTest) else short_title(measure)
    return told if told.startswith("iCAT") else told[:1].upper() + told[1:]


def ordered(run: Run) -> list[Estimate]:
    """The estimates, the one that the report is about first."""
    return sorted(
        run.estimates, key=lambda e: FIRST.index(e.measure) if e.measure in FIRST else len(FIRST)
    )


def estimate_of(run: Run, measure: str) -> Estimate | None:
    """The estimate of one measure, where it was made."""
    return next((e for e in run.estimates if e.measure == measure), None)


def checks(run: Run) -> tuple[Estimate, ...]:
    """Accuracy on ordinary pairs; it says nothing about runs on blanks and on sentences that a language model weighs."""
    return run.sanity if family_of(run) in ("pair", "task", "stereoset", "words") else ()


def baseline(run: Run, respondent: str, measure: str) -> Estimate | None:
    """What did a rule score on the same probes?"""
    return next((e for e in run.baselines.get(respondent, ()) if e.measure == measure), None)


def baseline_number(run: Run, respondent: str, measure: str) -> str:
    """The same, printed."""
    found = baseline(run, respondent, measure)
    return number(found.value) if found else MISSING


def ties_of(run: Run, estimate: Estimate) -> int:
    """How many answers tie? For a choice as its measure compares the numbers: rounded, by label, or the two related options only."""
    measure: object = catalog.measure(estimate.measure)
    answers = run.answers
    if isinstance(measure, SentencePreference):
        return int(measure.evidence(answers.probes, answers.values)[:, 2].sum())
    if isinstance(measure, StereoSetScore):
        return int(np.count_nonzero(measure.evidence(answers.probes, answers.values)[:, 5]))
    if isinstance(measure, WordTest):
        is_read = np.asarray([p.stratum in measure.strata for p in answers.probes], dtype=bool)
        return int(
            np.count_nonzero(
                male_wins(answers.values[is_read], is_discrete=measure.is_discrete) == 0.5
            )
        )
    return estimate.ties
