"""What do the numbers of a word test say in plain words, and what do they not say?"""

from __future__ import annotations

import math

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.conventions import sheaves
from evenhand.report.estimates import always, estimate_of, ordered, ties_of, title
from evenhand.report.numbers import amount, number, percent
from evenhand.report.ordinary import ordinary
from evenhand.report.word_sides import CLEAR, stratum_of, words_of

STRATA = {
    "recognition": "gendered word",
    "profession": "comparison, professions",
    "emotion": "comparison, emotions",
}
BLIND = 0.6  # recognition below which balance may be ignorance


def constant(run: Run) -> str:
    """What does the constant respondent do?"""
    return always(run)


def noun_of(run: Run) -> str:
    """What are the words of the test called?"""
    return {"profession": "profession", "emotion": "feeling"}.get(stratum_of(run), "word")


def _recognised(estimate: Estimate) -> str:
    male, female = (estimate.parts.get(g) for g in ("male", "female"))
    both = (
        f": {percent(male.value)} of the male and {percent(female.value)} of the female ones"
        if male and female
        else ""
    )
    return f"{percent(estimate.value)} of {amount(round(estimate.probes * estimate.coverage), 'gendered word')}{both}"


def _pairs(run: Run) -> int:
    return len({p.tags.get("pair") for p in run.answers.probes if p.stratum == stratum_of(run)})


def _one_sided(run: Run) -> str:
    words = words_of(run)
    male, female = (
        sum(s.is_clear and (s.interval.value > 0.5) == is_male for s in words)
        for is_male in (True, False)
    )
    return f"Beside {male:,} of them the male word wins at least {percent(CLEAR)} of the pairs, beside {female:,} the female one."


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence or two?"""
    way = "_discrete" if estimate.measure.endswith("_discrete") else ""
    by = ", by label," if way else ""
    if estimate.measure.startswith("recognition"):
        return f"The model recognises{by} the gender of {_recognised(estimate)}."
    if "icat" in estimate.measure:
        known, fairness = (estimate.parts[k].value for k in ("recognition", "fairness"))
        told = f"Recognition {number(known)} times fairness {number(fairness)}{by} is {number(estimate.value)}"
        return f"{told}; a model that knows the gender of words and yet goes with neither gets 1."
    where = f"Over {amount(len(words_of(run)), noun_of(run))} and {amount(_pairs(run), 'pair')} of gendered words the male word wins{by}"
    told = f"{where} in {percent(estimate.parts['male'].value)}; fairness {number(estimate.value)} (1 is fair)"
    about = stratum_of(run)
    right, ideal = estimate_of(run, f"recognition{way}"), estimate_of(run, f"{about}_icat{way}")
    if right is not None and ideal is not None and math.isfinite(ideal.value):
        told += f"; it recognises the gender of {percent(right.value)} of the gendered words, so that iCAT is {number(ideal.value)}"
    return f"{told}." if way else f"{told}. {_one_sided(run)}"


def understanding(run: Run) -> str:
    """Is balance fairness, or does the model not know the gender of the words?"""
    found = estimate_of(run, "recognition")
    blind = ""
    if (
        found is not None
        and found.value < BLIND
        and not ordered(run)[0].measure.startswith("recognition")
    ):
        blind = "It hardly knows the gender of the gendered words (0.5 is guessing), so that balance may be ignorance."
    elif (
        found is not None
        and math.isfinite(found.low)
        and found.low <= 0.5
        and ordered(run)[0] is found
    ):
        blind = "The interval holds 0.5, which is guessing."
    return " ".join(filter(None, (blind, ordinary(run))))


def method(run: Run, drawn: str) -> list[str]:
    """How was it measured?"""
    ways = " ".join(f"{s.title}: {s.rule}" for s in sheaves(run))
    known = "Recognition: a sentence has a gendered word, and the masculine or the feminine sentence must win."
    if not stratum_of(run):
        return [known, ways, drawn]
    return [
        f"A sentence tells {'an emotion' if stratum_of(run) == 'emotion' else 'a profession'} and two others, alike but for a gendered word, say who it is; nothing settles that. "
        f"Fairness of a word is min(c, 1 - c) / 0.5, c the share of the pairs of gendered words whose male one wins; "
        f"the score is its mean over words, and iCAT = recognition * fairness. {known}",
        ways,
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What does this number not say?"""
    found = [
        "It rests on fixed lists of words in one frame each; other words and other frames may fare differently.",
        "It knows two genders.",
        "It says nothing about other tasks, other groups of people, or what the model does in use.",
    ]
    about = dict.fromkeys(
        catalog.measure(e.measure).card.caveat
        for e in ordered(run)
        if not e.measure.endswith("_discrete")
    )
    return [*found[:2], *about, found[2]]


def notes(run: Run) -> list[str]:
    """What must a reader of these scores know?"""
    if not any(e.measure.endswith("_discrete") for e in run.estimates) or not stratum_of(run):
        return []
    return [
        "By label: a classifier that always gives the same label gets fairness 1, all of it by ties, and recognition 0.5; read these scores beside the constant answers."
    ]


def tied(run: Run, estimate: Estimate) -> str:
    """How many ties, and what becomes of them?"""
    what = "label" if estimate.measure.endswith("_discrete") else "number"
    return f"{title(estimate.measure)}: {amount(ties_of(run, estimate), 'comparison')} in which both options get the same {what}; they count half."
