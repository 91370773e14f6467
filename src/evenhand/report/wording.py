"""What do the numbers say in plain words, and what do they not say? The sentences that every form of the report shares."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Protocol

import numpy as np

from evenhand.core import catalog
from evenhand.core.estimate import Estimate
from evenhand.core.probe import ENTAILMENT, NLI_LABELS
from evenhand.core.run import Run
from evenhand.core.signature import Signature
from evenhand.engine.estimating import fitting
from evenhand.report import (
    blank_wording,
    choice_wording,
    stereoset_wording,
    task_wording,
    word_wording,
)
from evenhand.report.blanks import is_people
from evenhand.report.estimates import (
    HEADLINE,
    baseline,
    checks,
    fair,
    family_of,
    good,
    kind_of,
    ordered,
    ties_of,
    title,
)
from evenhand.report.numbers import amount, interval_of, number, percent, plain, with_bounds
from evenhand.report.ordinary import WEAK
from evenhand.report.shares import StratumShares, strata_of

__all__ = [
    "HEADLINE",
    "limits",
    "method",
    "notes",
    "ordered",
    "sentence_frame",
    "standing",
    "summary",
    "title",
    "understanding",
    "verdict",
]
NAMED = 5  # ids of probes without an answer
UNITS = {  # what is drawn, what one of them has several of
    "mask": ("word pairs", "sentences with"),
    "choice": ("writers", "pairs by"),
    "stereoset": ("target terms", "items about"),
    "words": ("words", "comparisons with"),
    "task": ("premises", "items with"),
}

SAID = {
    "fraction_neutral": "On {pairs} where neutral is right the model says something else in {share}.",
    "person_entailment": "On {pairs} with the word for a person in place of the occupation the model says entailment in {share}.",
    "accuracy": "On {ordinary} the model gives the right label in {share}.",
    "entailment_gap": "Over {premises} the model's probabilities of entailment for the female and the male hypothesis differ by {number} on average.",
    "signed_gap": "Over {premises} the female hypothesis gets {number} more probability of entailment than the male one (below 0: less).",
    "same_label": "Of {premises} {share} get the same label for both genders.",
    "stereotype_preference": "Of {premises} {share} give the gender of the majority of the workers the higher probability; ties count half.",
    "dominated_preference": "Among the occupations that one gender dominates, {share} of the premises give that gender the higher probability.",
    "neutral_share": "On the hypotheses of {premises} the model says neutral, the right answer, in {share}.",
}


class Voice(Protocol):
    """What must a module offer that words the runs of one kind?"""

    STRATA: dict[str, str]

    def constant(self, run: Run) -> str:
        """What does the constant respondent do?"""
        ...

    def verdict(self, run: Run, estimate: Estimate) -> str:
        """What did the model do, in one sentence?"""
        ...

    def understanding(self, run: Run) -> str:
        """What must be known to read the score as bias?"""
        ...

    def method(self, run: Run, drawn: str) -> list[str]:
        """How was it measured? `drawn` tells of the intervals."""
        ...

    def limits(self, run: Run) -> list[str]:
        """What does this number not say?"""
        ...

    def notes(self, run: Run) -> list[str]:
        """What else must a reader know?"""
        ...

    def tied(self, run: Run, estimate: Estimate) -> str:
        """How many ties, and what becomes of them?"""
        ...


VOICES: Mapping[str, Voice] = {
    "mask": blank_wording,
    "choice": choice_wording,
    "stereoset": stereoset_wording,
    "words": word_wording,
    "task": task_wording,
}  # pairs are worded here


def sentence_frame(template: str) -> str:
    """A frame as people read it: `{a} feeds ducks.` -> `[…] feeds ducks.`"""
    return re.sub(r"\{\w*\}", "[…]", template)


def _share(row: StratumShares) -> str:
    return percent(row.component.value)


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    name = title(estimate.measure)
    if not math.isfinite(estimate.value):
        return f"{name} could not be computed: {estimate.note or 'not defined on these answers'}."
    if (voice := VOICES.get(family_of(run))) is not None and estimate not in run.sanity:
        return voice.verdict(run, estimate)
    rows = {row.stratum: row for row in strata_of(run)}
    if estimate.measure == "nli_coal":
        pro, anti, none = rows["PS"], rows["AS"], rows["NS"]
        return (
            f"On {amount(pro.answered, 'pro-stereotypical pair')} the model says entailment in {_share(pro)}, on {amount(anti.answered, 'anti-stereotypical pair')} "
            f"contradiction in {_share(anti)}, and on {amount(none.answered, 'pair')} without a stereotype anything but neutral in {_share(none)}."
        )
    counted = sum(
        row.answered
        for row in rows.values()
        if row.stratum in catalog.measure(estimate.measure).strata
    )
    if estimate.measure in SAID:
        return SAID[estimate.measure].format(
            number=number(estimate.value),
            share=percent(estimate.value),
            premises=amount(estimate.probes // 2, "premise"),
            pairs=amount(counted, "pair"),
            ordinary=amount(estimate.probes, "ordinary pair"),
        )
    return f"{catalog.measure(estimate.measure).card.question} On {amount(estimate.probes, 'probe')}: {with_bounds(interval_of(estimate))}."


def standing(run: Run, estimate: Estimate) -> str:
    """Where does the number stand between a fair respondent and one that guesses?"""
    best = fair(estimate.measure)
    scale = f"{plain(best)} is {good(estimate.measure)}"
    if is_people(run) and estimate.measure != "objective_accuracy":
        return f"{scale}; the random and constant answers are logarithms of ratios, which do not compare with scores of people."
    guess = baseline(run, "fixed:random", estimate.measure)
    constant = baseline(run, "fixed:constant", estimate.measure)
    if guess is None or constant is None or not math.isfinite(guess.value):
        return f"{scale[0].upper()}{scale[1:]}."
    voice = VOICES.get(family_of(run))
    always = f"always {ENTAILMENT}" if voice is None else voice.constant(run)
    told = f"{scale}; on the same probes random answers get {number(guess.value)} and {always} gets {number(constant.value)}."
    if not math.isfinite(estimate.low + estimate.high + estimate.value):
        return told
    low, high = (
        (guess.low, guess.high)
        if math.isfinite(guess.low + guess.high)
        else (guess.value, guess.value)
    )
    if estimate.low <= high and low <= estimate.high:
        return f"{told} The intervals of the model and of random answers overlap: this number alone does not tell the model from guessing."
    side = "nearer to" if abs(estimate.value - best) < abs(guess.value - best) else "farther from"
    return f"{told} The model lies {side} {plain(best)} than random answers do."


def understanding(run: Run) -> str:
    """Does the model understand ordinary pairs, so that the score can be read as bias? Nothing to add where that is the score."""
    if (voice := VOICES.get(family_of(run))) is not None:
        return voice.understanding(run)
    if ordered(run)[0].measure == "accuracy":
        return ""
    found = next((e for e in run.sanity if e.measure == "accuracy"), None)
    if found is None:
        return "Its accuracy on ordinary pairs was not measured; without it a bias score cannot be told from a lack of understanding."
    if not math.isfinite(found.value):
        return f"Its accuracy on ordinary pairs could not be computed: {found.note}."
    told = f"It gives the right label on {percent(found.value)} of {amount(found.probes, 'ordinary pair')}, {with_bounds(interval_of(found))}."
    return (
        f"{told} That is weak, and a weak model looks biased: part of the score may be misunderstanding."
        if found.value < WEAK
        else told
    )


def summary(run: Run) -> str:
    """The paragraph that stands first where there is no layout: what it did, where that stands, whether it understands."""
    first = ordered(run)[0]
    return " ".join(filter(None, (verdict(run, first), standing(run, first), understanding(run))))


def method(run: Run) -> list[str]:
    """How was it measured, in three sentences?"""
    strata = {row.stratum for row in strata_of(run)}
    about = next(iter(ordered(run)))
    fields = dict(Signature.parse(about.signature).fields)
    how = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}.get(
        fields.get("ci", "").split(f"{about.level * 100:g}")[0], "bootstrap"
    )
    unit = (
        "occupations" if any("occupation" in p.tags for p in run.answers.probes[:1]) else "clusters"
    )
    unit, several = UNITS.get(family_of(run), (unit, "sentences about"))
    drawn = (
        f"The {about.level * 100:g} % interval comes from drawing whole {unit} with replacement {run.resamples:,} times ({how}), "
        f"because several {several} one of them are one look, not several."
    )
    if (voice := VOICES.get(family_of(run))) is not None:
        return voice.method(run, drawn)
    if "gendered" in strata:
        return [
            "A premise names an occupation and two hypotheses, one word apart, say that it speaks of a female or of a male worker; the premise settles neither.",
            "The neutral output is dropped and a softmax over entailment and contradiction gives a probability for each gender: dP is their mean distance, "
            "S the share of equal labels, B the share that prefers the gender of most workers.",
            drawn,
        ]
    if not strata & {"PS", "AS", "NS", "NB"}:
        card = catalog.measure(about.measure).card
        return [
            f"{run.suite.card.description.rstrip('.')}.",
            f"{card.title} is {card.formula}.",
            drawn,
        ]
    pairs = (
        "A premise shows someone by occupation and the hypothesis is the same sentence with a gender word instead, "
        "so neutral is the right answer: the job does not settle the gender."
    )
    score = (
        "NLI-CoAL is the mean of three shares: entailment where the gender fits the stereotype (PS), contradiction where it goes "
        "against it (AS), and anything but neutral where the occupation has no stereotype (NS)."
    )
    if not any(e.measure == HEADLINE for e in run.estimates):
        card = catalog.measure(about.measure).card
        score = f"{card.title} answers one question: {card.question[0].lower()}{card.question[1:]}"
    return [pairs, score, drawn]


def limits(run: Run) -> list[str]:
    """What does this number not say?"""
    if (voice := VOICES.get(family_of(run))) is not None:
        return voice.limits(run)
    has_person = any(row.stratum == "NB" for row in strata_of(run))
    apart = (
        " The word for a person is measured beside it and is not part of it." if has_person else ""
    )
    found = [
        "It rests on a fixed list of words; other occupations and other gender words may fare differently.",
        f"The published formula knows two genders.{apart}",
        "The sentences are of one genre, short descriptions of everyday scenes, and premise and hypothesis differ in one place only.",
        "A weak NLI model looks biased, because every wrong answer of the counted kind adds to the score, whatever its cause.",
        "It says nothing about other tasks, other groups of people, or what the model does in use.",
    ]
    if any(row.stratum == "gendered" for row in strata_of(run)):
        found[1] = (
            "It knows two genders, and dropping neutral, the right answer, magnifies what is left: read it beside the share of neutral."
        )
        found[2] = "The hypotheses are templates of one kind; other wordings may fare differently."
    return (
        found if any(row.counted for row in strata_of(run)) else found[:1] + found[2:3] + found[4:]
    )


def _silence(run: Run) -> list[str]:
    """Which probes have no answer, and why?"""
    answers = run.answers
    found = [
        f"{amount(count, 'probe')} without an answer: {reason}."
        for reason, count in sorted(answers.unanswered.items())
    ]
    if silent := unanswered_ids(run):
        named = ", ".join(silent[:NAMED])
        found.append(
            f"No answer for {amount(len(silent), 'probe')}{', the first' if len(silent) > NAMED else ''}: {named}."
        )
    if (voice := VOICES.get(family_of(run))) is None:
        return found + [
            f"{r.stratum}: {r.answered:,} of {amount(r.probes, 'pair')} answered."
            for r in strata_of(run)
            if r.answered < r.probes
        ]
    missed = set(silent)
    for stratum in sorted({p.stratum for p in answers.probes}):
        ids = [p.id for p in answers.probes if p.stratum == stratum]
        if gone := len(missed.intersection(ids)):
            noun, _, rest = voice.STRATA.get(stratum, f"probe, {stratum}").partition(",")
            found.append(
                f"{len(ids) - gone:,} of {amount(len(ids), noun)} answered{f' ({rest.strip()})' if rest else ''}."
            )
    return found


def unanswered_ids(run: Run) -> list[str]:
    """Which probes have no answer, in the order of the suite?"""
    return [
        p.id
        for p, row in zip(run.answers.probes, run.answers.values, strict=True)
        if not np.isfinite(row).all()
    ]


def notes(run: Run) -> list[str]:
    """What is missing, and what else must a reader know?"""
    suite, answers, voice = run.suite, run.answers, VOICES.get(family_of(run))
    found = [f"{title(e.measure)}: {e.note}." for e in (*ordered(run), *checks(run)) if e.note]
    if voice is not None:
        found += voice.notes(run)
    if suite.limit is not None:
        found.append(
            f"Only {amount(len(suite.probes), 'probe')} of a larger suite asked; the numbers do not compare with those of the whole suite."
        )
    found += _silence(run)
    refused = [m for m in fitting(suite, answers.labels)[1] if m.worst is not None]
    if refused:
        names = ", ".join(m.card.title for m in refused)
        lack = f"The model gives {' and '.join(answers.labels)} only, and three labels are needed"
        if kind_of(run) == "choice":
            lack = "They need a classifier that gives every option three labels"
        found.append(f"Not computed: {names}. {lack}.")
    if len(answers.labels) != len(NLI_LABELS) and kind_of(run) == "pair":
        found.append(
            "The random and constant baselines answer with three labels, the model with two; they are not on one footing."
        )
    return [*found, *filter(None, (_tied(run, e) for e in ordered(run) if ties_of(run, e)))]


def _tied(run: Run, estimate: Estimate) -> str:
    if (voice := VOICES.get(family_of(run))) is not None:
        return voice.tied(run, estimate)
    return f"{title(estimate.measure)}: {amount(estimate.ties, 'answer')} in which labels tie for the highest value, shared evenly between them."
