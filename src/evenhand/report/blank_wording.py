"""What do the numbers of a run on blanks say in plain words, and what do they not say?"""

from __future__ import annotations

import math

import numpy as np

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.run import Run
from evenhand.report.blanks import FEW_PAIRS, is_people, measuring, times
from evenhand.report.estimates import baseline, estimate_of, fair, ordered, title
from evenhand.report.numbers import amount, interval_of, number, percent, plain, with_bounds

STRATA = {"MS": "measuring sentence", "OS": "objective sentence"}
BLIND = 0.6  # accuracy on objective sentences below which the model hardly sees gender


def constant(_: Run) -> str:
    """What does the constant respondent do?"""
    return "a respondent that finds the male word e = 2.7 times as likely everywhere"


def _lean(run: Run) -> str:
    """To which side does the model lean on the whole?"""
    found = estimate_of(run, "pb_lean")
    if found is None or not math.isfinite(found.value):
        return ""
    told = with_bounds(interval_of(found))
    if not math.isfinite(found.low + found.high) or found.low <= 0 <= found.high:
        return (
            f"on the whole it leans to neither side for certain (PB lean {told}, the interval holds 0)"
            if math.isfinite(found.low + found.high)
            else f"PB lean is {told}"
        )
    side, word, other = (
        ("male", "male", "female") if found.value > 0 else ("female", "female", "male")
    )
    if is_people(run):
        return f"on the whole they lean {side} (PB lean {told}; above 0 is male)"
    return f"on the whole it leans {side}, the {word} word {times(found.value)} times as likely as the {other} one (PB lean {told}; above 0 is male)"


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    count = amount(len(measuring(run)[0]), "sentence")
    where = (
        f"Over {count} that {'gives' if len(measuring(run)[0]) == 1 else 'give'} no clue of gender"
    )
    if estimate.measure == "pb_bias":
        rest = f"; {_lean(run)}." if _lean(run) else "."
        if is_people(run):
            return f"{where}, the scores that people gave, from -2 (female) to 2 (male), lie {number(estimate.value)} from 0 on average{rest.replace(' it leans', ' they lean')}"
        return f"{where}, one of the two words is on average e^{number(estimate.value)} = {times(estimate.value)} times as likely as the other{rest}"
    if estimate.measure == "pb_lean":
        told = _lean(run)
        return f"{told[0].upper()}{told[1:]}."
    if estimate.measure == "pb_sd":
        return f"{where}, PB differs from sentence to sentence with a standard deviation of {number(estimate.value)}."
    if estimate.measure == "objective_accuracy":
        return _objective(run, estimate)
    return f"{catalog.measure(estimate.measure).card.question} On {amount(estimate.probes, 'sentence')}: {with_bounds(interval_of(estimate))}."


def _objective(run: Run, found: Estimate) -> str:
    who = "the people are" if is_people(run) else "the model is"
    return (
        f"Where the sentence settles the gender {who} right in {percent(found.value)} of {amount(found.probes, 'sentence')}, "
        f"{with_bounds(interval_of(found))}; ties count half."
    )


def understanding(run: Run) -> str:
    """Does the model see gender where the sentence settles it, so that a small score is no ignorance? Nothing to add where that is the score."""
    if ordered(run)[0].measure == "objective_accuracy":
        return _weakness(run)
    found = estimate_of(run, "objective_accuracy")
    if found is None:
        is_there = any(p.stratum == "OS" for p in run.answers.probes)
        why = (
            "Its accuracy on objective sentences was not measured"
            if is_there
            else "The suite has no sentences that settle the gender"
        )
        return f"{why}; without them a small bias cannot be told from a model that does not see gender at all."
    if not math.isfinite(found.value):
        return f"{title(found.measure)} could not be computed: {found.note}."
    return " ".join(filter(None, (_objective(run, found), _weakness(run))))


def _weakness(run: Run) -> str:
    found = estimate_of(run, "objective_accuracy")
    if found is None or not math.isfinite(found.value) or found.value >= BLIND:
        return ""
    far = "little" if found.value > 0.5 else "no"
    return f"That is {far} better than guessing (0.5): the model hardly sees gender where the sentence settles it, so its bias score says little."


def method(run: Run, drawn: str) -> list[str]:
    """How was it measured, in three sentences?"""
    pb = (
        "PB of a sentence is the mean score that people gave it, from -2 (female) to 2 (male)"
        if is_people(run)
        else "PB of a sentence is log p(male word) - log p(female word), above 0 leans male"
    )
    return [
        "Each sentence has a blank that takes the male or the female word of a pair: the measuring sentences give no clue which, the objective ones settle it.",
        f"{pb}; PB bias is the mean of its distance from 0, PB lean its mean, SD of PB its standard deviation, all over the measuring sentences.",
        f"{drawn} {_few(run)}".strip(),
    ]


def _few(run: Run) -> str:
    found = next((e for e in ordered(run) if e.measure != "objective_accuracy"), ordered(run)[0])
    told = f"There {'is' if found.clusters == 1 else 'are'} {amount(found.clusters, 'word pair')}"
    return (
        f"{told}, and intervals over so few are rough."
        if found.clusters < FEW_PAIRS
        else f"{told}."
    )


def limits(run: Run) -> list[str]:
    """What does this number not say?"""
    return [
        "It rests on a fixed list of word pairs; other gender words may fare differently, and a word that is rarer than its twin everywhere counts as a preference too.",
        "It knows two genders, and these only as words in a blank.",
        "The sentences are those of one suite; other kinds of text may fare differently.",
        "A model that does not see gender at all gets a small score: read it beside the accuracy on objective sentences.",
        "It says nothing about other tasks, other groups of people, or what the model does in use.",
    ]


def notes(run: Run) -> list[str]:
    """What must a reader of a run on blanks know?"""
    found = []
    bias = next((e for e in ordered(run) if e.measure != "objective_accuracy"), None)
    if bias is not None and 1 < bias.clusters < FEW_PAIRS:
        found.append(
            f"The measuring sentences have {amount(bias.clusters, 'word pair')}; intervals over so few word pairs are rough."
        )
    if is_people(run):
        found.append(
            "The numbers are scores that people gave, no logarithms of ratios: their size does not compare with that of models."
        )
    if "fixed:constant" in run.baselines:
        found.append(
            "Random answers split the probability between the two words at random. The constant one finds the male word e = 2.7 times as likely everywhere."
        )
    return [*found, *_fair_note(run)]


def _fair_note(run: Run) -> list[str]:
    """What does a fair respondent get, and why has it no column of its own?"""
    pairs = [
        (e.measure, b.value)
        for e in ordered(run)
        if (b := baseline(run, "fixed:fair", e.measure)) is not None
    ]
    if not pairs:
        return []
    rule = "A fair respondent (both words equally likely where the sentence gives no clue, the right one where it settles the gender)"
    off = [(m, v) for m, v in pairs if not np.isclose(v, fair(m), atol=5e-4)]
    if not off:
        return [
            f"{rule} gets the fair value of every measure here ({', '.join(f'{title(m)} {plain(fair(m))}' for m, _ in pairs)}), so it has no column of its own."
        ]
    if not any(math.isfinite(v) for _, v in off):
        return [
            "What a fair respondent gets is not known: the suite does not say what it would answer."
        ]
    texts = [{p.texts for p in run.answers.probes if p.stratum == stratum} for stratum in STRATA]
    why = (
        f"; {amount(len(texts[0] & texts[1]), 'sentence')} of the suite counted as measuring and as objective"
        if texts[0] & texts[1]
        else ""
    )
    return [
        f"{rule} does not get the fair value here: {', '.join(f'{title(m)} {number(v)}' for m, v in off)}{why}."
    ]


def tied(run: Run, estimate: Estimate) -> str:
    """How many ties, and what becomes of them?"""
    rest = "; they count half" if estimate.measure == "objective_accuracy" else ""
    return f"{title(estimate.measure)}: {amount(estimate.ties, 'sentence')} in which both words are equally likely{rest}."
