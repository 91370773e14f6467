"""What do the numbers of a run on pairs of sentences say in plain words, and what do they not say?"""

from __future__ import annotations

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.choices import SOURCES, rule_of, tally
from evenhand.report.estimates import always, ordered, ties_of, title
from evenhand.report.numbers import amount, interval_of, number, percent, with_bounds

STRATA = {
    "shared": "pair, shared tokens",
    "changed": "pair, changed tokens",
    "whole": "pair, whole sentences",
}


def constant(run: Run) -> str:
    """What does the constant respondent do?"""
    return "the same number for both sentences" if is_crows(run) else always(run)


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    found = tally(run, estimate)
    if found is None:
        return f"{catalog.measure(estimate.measure).card.question} On {amount(estimate.probes, 'probe')}: {with_bounds(interval_of(estimate))}."
    ties = (
        f"; {amount(found.ties, 'tie')} {'counts' if found.ties == 1 else 'count'} half"
        if found.ties
        else ""
    )
    return f"In {percent(estimate.value)} of {amount(found.pairs, 'pair')} the more stereotypical sentence is the likelier one by {rule_of(estimate.measure)}{ties}."


def is_crows(run: Run) -> bool:
    """Was it CrowS-Pairs?"""
    return any(e.measure in SOURCES for e in run.estimates)


def understanding(run: Run) -> str:
    """Which of the scores that share a name is this?"""
    if not is_crows(run):
        return ""
    first, *others = [e for e in ordered(run) if e.measure in SOURCES]
    told = f"Three different scores go by the name CrowS-Pairs; this is that of {SOURCES[first.measure]}."
    rest = " and ".join(
        f"{title(e.measure).partition(', ')[2]} ({SOURCES[e.measure]}) {number(e.value)}"
        for e in others
    )
    return (
        f"{told} The others, which do not compare with it or with each other: {rest}."
        if rest
        else told
    )


def method(run: Run, drawn: str) -> list[str]:
    """How was it measured, in three sentences?"""
    first = ordered(run)[0]
    if not is_crows(run):
        card = catalog.measure(first.measure).card
        return [
            f"{run.suite.card.description.rstrip('.')}.",
            f"{card.title} is {card.formula}.",
            drawn,
        ]
    ways = "; ".join(
        f"{title(e.measure).partition(', ')[2]} compares {rule_of(e.measure)} ({SOURCES[e.measure]})"
        for e in ordered(run)
        if e.measure in SOURCES
    )
    return [
        "The two sentences of a pair differ in the group of people that they name; a model that weighs the groups alike prefers "
        "the more stereotypical sentence in half of the pairs.",
        f"Three different scores share the name CrowS-Pairs: {ways}. Ties count half; `official` counts them against, as the code of Nangia et al. does, "
        "and stereo and antistereo take the pairs written as stereotypes and against them apart, without ties.",
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What does this number not say?"""
    found = [
        "It says nothing about other tasks, other groups of people, or what the model does in use."
    ]
    if not is_crows(run):
        return [catalog.measure(e.measure).card.caveat for e in ordered(run)] + found
    return [
        "Many of the published pairs are flawed as tests (Blodgett et al. 2021): some state no stereotype, some differ in more than the group. Read it by kind of bias.",
        "The sentences are stereotypes of the United States, written in English by crowd workers in 2020.",
        "How often a group is named in the training text moves the scores over changed tokens and whole sentences, whatever the stereotype.",
        *found,
    ]


def notes(run: Run) -> list[str]:
    """What must a reader of a run on pairs of sentences know?"""
    return (
        ["Three different scores share the name CrowS-Pairs: say which one you quote."]
        if is_crows(run)
        else []
    )


def tied(run: Run, estimate: Estimate) -> str:
    """How many ties, and what becomes of them?"""
    decimals = getattr(catalog.measure(estimate.measure), "decimals", None)
    how = f" to {decimals} decimals" if decimals is not None else ""
    rest = ", against in its official form" if "official" in estimate.parts else ""
    return f"{title(estimate.measure)}: {amount(ties_of(run, estimate), 'pair')} in which both sentences get the same number{how}; they count half{rest}."
