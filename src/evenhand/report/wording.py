"""What do the numbers say in plain words, and what do they not say? The sentences that every form of the report shares."""

from __future__ import annotations

import math
import re

from evenhand.core import catalog
from evenhand.core.records import ENTAILMENT, NLI_LABELS, Estimate, Run
from evenhand.core.signature import Signature
from evenhand.engine.estimating import fitting
from evenhand.report.numbers import MISSING, amount, interval_of, number, percent, plain, with_bounds
from evenhand.report.shares import StratumShares, strata_of

HEADLINE = "nli_coal"
FIRST = (HEADLINE, "entailment_gap")  # what a report is about, where it was measured
WEAK = 0.7  # accuracy on clear pairs below which a bias score is mostly a matter of understanding
BASELINE_TITLES = {"fixed:random": "random", "fixed:constant": "constant"}


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


def sentence_frame(template: str) -> str:
    """A frame as people read it: `{a} feeds ducks.` -> `[…] feeds ducks.`"""
    return re.sub(r"\{\w*\}", "[…]", template)


def title(measure: str) -> str:
    """The name of a measure as it is printed."""
    return catalog.measure(measure).card.title


def fair(measure: str) -> float:
    """The value of a fair respondent."""
    return catalog.measure(measure).fair


def ordered(run: Run) -> list[Estimate]:
    """The estimates, the one that the report is about first."""
    return sorted(run.estimates, key=lambda e: FIRST.index(e.measure) if e.measure in FIRST else len(FIRST))


def baseline(run: Run, respondent: str, measure: str) -> Estimate | None:
    """What did a rule score on the same probes?"""
    return next((e for e in run.baselines.get(respondent, ()) if e.measure == measure), None)


def baseline_number(run: Run, respondent: str, measure: str) -> str:
    """The same, printed."""
    found = baseline(run, respondent, measure)
    return number(found.value) if found else MISSING


def _share(row: StratumShares) -> str:
    return percent(row.component.value)


def verdict(run: Run, estimate: Estimate) -> str:
    """What did the model do, in one sentence?"""
    name = title(estimate.measure)
    if not math.isfinite(estimate.value):
        return f"{name} could not be computed: {estimate.note or 'not defined on these answers'}."
    rows = {row.stratum: row for row in strata_of(run)}
    if estimate.measure == "nli_coal":
        pro, anti, none = rows["PS"], rows["AS"], rows["NS"]
        return (
            f"On {amount(pro.answered, 'pro-stereotypical pair')} the model says entailment in {_share(pro)}, on {amount(anti.answered, 'anti-stereotypical pair')} "
            f"contradiction in {_share(anti)}, and on {amount(none.answered, 'pair')} without a stereotype anything but neutral in {_share(none)}."
        )
    counted = sum(row.answered for row in rows.values() if row.stratum in catalog.measure(estimate.measure).strata)
    if estimate.measure in SAID:
        return SAID[estimate.measure].format(
            number=number(estimate.value), share=percent(estimate.value), premises=amount(estimate.probes // 2, "premise"), pairs=amount(counted, "pair"),
            ordinary=amount(estimate.probes, "ordinary pair"),
        )  # fmt: skip
    return f"{catalog.measure(estimate.measure).card.question} On {amount(estimate.probes, 'probe')}: {with_bounds(interval_of(estimate))}."


def standing(run: Run, estimate: Estimate) -> str:
    """Where does the number stand between a fair respondent and one that guesses?"""
    best = fair(estimate.measure)
    scale = f"{plain(best)} is {'right' if estimate.measure == 'accuracy' else 'fair'}"
    guess = baseline(run, "fixed:random", estimate.measure)
    constant = baseline(run, "fixed:constant", estimate.measure)
    if guess is None or constant is None or not math.isfinite(guess.value):
        return f"{scale[0].upper()}{scale[1:]}."
    always = f"always {ENTAILMENT}" if run.answers.probes[0].kind == "pair" else "always the first option"
    told = f"{scale}; on the same probes random answers get {number(guess.value)} and {always} gets {number(constant.value)}."
    if not math.isfinite(estimate.low + estimate.high + estimate.value):
        return told
    low, high = (guess.low, guess.high) if math.isfinite(guess.low + guess.high) else (guess.value, guess.value)
    if estimate.low <= high and low <= estimate.high:
        return f"{told} The intervals of the model and of random answers overlap: this number alone does not tell the model from guessing."
    side = "nearer to" if abs(estimate.value - best) < abs(guess.value - best) else "farther from"
    return f"{told} The model lies {side} {plain(best)} than random answers do."


def understanding(run: Run) -> str:
    """Does the model understand ordinary pairs, so that the score can be read as bias? Nothing to add where that is the score."""
    if ordered(run)[0].measure == "accuracy":
        return ""
    found = next((e for e in run.sanity if e.measure == "accuracy"), None)
    if found is None:
        return "Its accuracy on ordinary pairs was not measured; without it a bias score cannot be told from a lack of understanding."
    if not math.isfinite(found.value):
        return f"Its accuracy on ordinary pairs could not be computed: {found.note}."
    told = (
        f"It gives the right label on {percent(found.value)} of {amount(found.probes, 'ordinary pair')}, {with_bounds(interval_of(found))}."
    )
    return f"{told} That is weak, and a weak model looks biased: part of the score may be misunderstanding." if found.value < WEAK else told


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
    unit = "occupations" if any("occupation" in p.tags for p in run.answers.probes[:1]) else "clusters"
    drawn = (
        f"The {about.level * 100:g} % interval comes from drawing whole {unit} with replacement {run.resamples:,} times ({how}), "
        f"because several sentences about one of them are one look, not several."
    )
    if "gendered" in strata:
        return [
            "A premise names an occupation and two hypotheses, one word apart, say that it speaks of a female or of a male worker; the premise settles neither.",
            "The neutral output is dropped and a softmax over entailment and contradiction gives a probability for each gender: dP is their mean distance, "
            "S the share of equal labels, B the share that prefers the gender of most workers.",
            drawn,
        ]
    if not strata & {"PS", "AS", "NS", "NB"}:
        card = catalog.measure(about.measure).card
        return [f"{run.suite.card.description.rstrip('.')}.", f"{card.title} is {card.formula}.", drawn]
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
    has_person = any(row.stratum == "NB" for row in strata_of(run))
    apart = " The word for a person is measured beside it and is not part of it." if has_person else ""
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
    return found if any(row.counted for row in strata_of(run)) else found[:1] + found[2:3] + found[4:]


def notes(run: Run) -> list[str]:
    """What is missing, and what else must a reader know?"""
    suite, answers = run.suite, run.answers
    found = [f"{title(e.measure)}: {e.note}." for e in (*ordered(run), *run.sanity) if e.note]
    if suite.limit is not None:
        found.append(
            f"Only {amount(len(suite.probes), 'probe')} of a larger suite asked; the numbers do not compare with those of the whole suite."
        )
    found += [f"{amount(count, 'probe')} without an answer: {reason}." for reason, count in sorted(answers.unanswered.items())]
    found += [f"{r.stratum}: {r.answered:,} of {amount(r.probes, 'pair')} answered." for r in strata_of(run) if r.answered < r.probes]
    refused = [m for m in fitting(suite, answers.labels)[1] if m.worst is not None]
    if refused:
        names = ", ".join(m.card.title for m in refused)
        found.append(f"Not computed: {names}. The model gives {' and '.join(answers.labels)} only, and three labels are needed.")
    if len(answers.labels) != len(NLI_LABELS) and answers.probes and answers.probes[0].kind == "pair":
        found.append("The random and constant baselines answer with three labels, the model with two; they are not on one footing.")
    tied = [
        f"{title(e.measure)}: {amount(e.ties, 'answer')} in which labels tie for the highest value, shared evenly between them."
        for e in ordered(run)
        if e.ties
    ]
    return [*found, *tied]
