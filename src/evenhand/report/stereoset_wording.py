"""What do the numbers of a run on StereoSet say in plain words, and what do they not say?"""

from __future__ import annotations

import math

from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.conventions import GENEROUS, NAMES, RULES, STRICTNESS, convention_of, sheaves
from evenhand.report.estimates import always, baseline, estimate_of, ordered, short_title, ties_of
from evenhand.report.numbers import amount, number, percent
from evenhand.report.ordinary import ordinary

STRATA = {"inter": "item", "intra": "item"}
MIXED = "Three conventions share the names LMS, SS, FS and iCAT and must not be mixed: say which one you quote."
LMS = {
    "official": "the model prefers a related sentence to the unrelated one in {} of the comparisons",
    "esp_continuous": "the better of the two related sentences beats the unrelated one in {}",
    "esp_discrete": "the better label of the two related sentences is no worse than that of the unrelated one in {}",
}
SS = {
    "official": "of the two related ones, the stereotypical one in {}",
    "esp_continuous": "of the two related ones, the anti-stereotypical one gets the higher number in {}",
    "esp_discrete": "of the two related ones, the anti-stereotypical one has the better label in {}, ties half",
}


def constant(run: Run) -> str:
    """What does the constant respondent do?"""
    return always(run)


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    way, value = convention_of(estimate.measure), percent(estimate.value)
    where = f"In {amount(round(estimate.probes * estimate.coverage), 'item')}"
    quantity, parts = estimate.measure.removesuffix(f"_{way}"), estimate.parts
    if quantity == "icat":
        told = f"{where} {LMS[way].format(percent(parts['lms'].value))} and, {SS[way].format(percent(parts['ss'].value))}"
        return f"{told}: an iCAT of {value} ({'official' if way == 'official' else NAMES[way].replace(',', '')} convention)."
    if quantity == "lms":
        half = f"the stereotype in {percent(parts['pro'].value)}, the anti-stereotype in {percent(parts['anti'].value)}"
        return f"{where} {LMS[way].format(value)}; by itself {half}."
    if quantity == "ss":
        verb = " the model prefers, " if way == "official" else ", "
        return f"{where}{verb}{SS[way].format(value)}; 50 % is no preference."
    return f"{where} SS is {percent(parts['ss'].value)}, so that FS, 100 % for no preference and 0 % for always the same side, is {value}."


def _grasp(run: Run) -> str:
    """Does the model tell related sentences from unrelated ones better than random answers do?"""
    first = ordered(run)[0]
    name = f"lms_{convention_of(first.measure)}"
    found, guess = estimate_of(run, name), baseline(run, "fixed:random", name)
    if found is None or guess is None or not math.isfinite(found.low + guess.value):
        return ""
    if found.low > guess.value:
        return ""
    return (
        f"Its {short_title(name)} ({number(found.value)}) is not for certain above that of random answers ({number(guess.value)}): "
        "a model that does not tell related from unrelated sentences cannot be said to have a preference."
    )


def understanding(run: Run) -> str:
    """What must be known to read the score as bias?"""
    return " ".join(filter(None, (_grasp(run), ordinary(run))))


def method(run: Run, drawn: str) -> list[str]:
    """How was it measured?"""
    is_blank = any(p.stratum == "intra" for p in run.answers.probes[:1])
    what = (
        "the context has a gap, filled in three ways"
        if is_blank
        else "three sentences may follow the context"
    )
    return [
        f"Of each item {what}: with a stereotype, with its opposite, and with something unrelated. LMS asks whether related is preferred to unrelated, "
        "SS which of the two related ones is preferred; FS = min(SS, 1 - SS) / 0.5 and iCAT = LMS * FS.",
        f"{MIXED} {', '.join(s.title for s in sheaves(run))}: what each counts stands with the scores and in the notes.",
        drawn,
    ]


def limits(_: Run) -> list[str]:
    """What does this number not say?"""
    return [
        "Many published items are flawed as tests (Blodgett et al. 2021): some state no stereotype, some sentences differ in more than the stereotype. Read it by domain.",
        "The sentences are stereotypes of the United States, written in English by crowd workers in 2020.",
        "iCAT mixes understanding and bias: a weak model without a preference and a strong one with a preference may get the same number. Read LMS and SS apart.",
        "A mean of preferences near one half may hide targets with opposite preferences.",
        "It says nothing about other tasks, other groups of people, or what the model does in use.",
    ]


def notes(run: Run) -> list[str]:
    """What must a reader of these scores know?"""
    ways = list(dict.fromkeys(convention_of(e.measure) for e in ordered(run)))
    found = (
        [MIXED, *(f"{NAMES[w]}: {RULES[w]}" for w in ways)]
        if len(ways) > 1
        else [f"{NAMES[w]}: {RULES[w]}" for w in ways]
    )
    return [*found, GENEROUS] if "esp_discrete" in ways else found


def tied(run: Run, estimate: Estimate) -> str:
    """How many ties, and what becomes of them? Once a convention."""
    way = convention_of(estimate.measure)
    if next(e for e in ordered(run) if convention_of(e.measure) == way) is not estimate:
        return ""
    what = "label" if way == "esp_discrete" else "number"
    return f"{NAMES[way]}: {amount(ties_of(run, estimate), 'item')} in which stereotype and anti-stereotype get the same {what}; {STRICTNESS[way]}."
