"""Which estimates does a report show, in which order, and beside what?"""

from __future__ import annotations

from evenhand.core import catalog
from evenhand.core.records import Estimate, Kind, Run
from evenhand.measures.sentence_preference import SentencePreference
from evenhand.report.numbers import MISSING, number

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
)  # what a report is about
BASELINE_TITLES = {"fixed:random": "random", "fixed:constant": "constant"}
RIGHT = ("accuracy", "objective_accuracy")  # their best value is right, not fair


def kind_of(run: Run) -> Kind:
    """Pairs, blanks or choices?"""
    return run.answers.probes[0].kind if run.answers.probes else "pair"


def title(measure: str) -> str:
    """The name of a measure as it is printed."""
    return catalog.measure(measure).card.title


def fair(measure: str) -> float:
    """The value of a fair respondent."""
    return catalog.measure(measure).fair


def good(measure: str) -> str:
    """What is the best value called?"""
    return "right" if measure in RIGHT else "fair"


def ordered(run: Run) -> list[Estimate]:
    """The estimates, the one that the report is about first."""
    return sorted(run.estimates, key=lambda e: FIRST.index(e.measure) if e.measure in FIRST else len(FIRST))


def estimate_of(run: Run, measure: str) -> Estimate | None:
    """The estimate of one measure, where it was made."""
    return next((e for e in run.estimates if e.measure == measure), None)


def checks(run: Run) -> tuple[Estimate, ...]:
    """Accuracy on ordinary pairs; it says nothing about runs on blanks and choices."""
    return run.sanity if kind_of(run) == "pair" else ()


def baseline(run: Run, respondent: str, measure: str) -> Estimate | None:
    """What did a rule score on the same probes?"""
    return next((e for e in run.baselines.get(respondent, ()) if e.measure == measure), None)


def baseline_number(run: Run, respondent: str, measure: str) -> str:
    """The same, printed."""
    found = baseline(run, respondent, measure)
    return number(found.value) if found else MISSING


def ties_of(run: Run, estimate: Estimate) -> int:
    """How many answers tie? For a choice as its measure compares the two numbers, which may round them first."""
    measure = catalog.measure(estimate.measure)
    if kind_of(run) != "choice" or not isinstance(measure, SentencePreference):
        return estimate.ties
    return int(measure.evidence(run.answers.probes, run.answers.values)[:, 2].sum())
