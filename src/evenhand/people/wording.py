"""The words of a comparison of people and models: what it says, how it was made, what it lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping

from evenhand.core.text import counted, listed, number, percent, with_bounds
from evenhand.families.contextualised.leaning import times
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.people.agreement import PAIR
from evenhand.people.compare import ComparedModel, PeopleComparison
from evenhand.people.sentence_lists import Sentence

STRATA: Mapping[str, str] = {MEASURING: "measuring", OBJECTIVE: "objective"}
LISTS: Mapping[str, str] = {
    "agree": "Both lean the same way, most",
    "differ": "They lean opposite ways, most",
    "people_only": "Only the people lean",
    "model_only": "Only the model leans",
}
NO_ANNOTATORS = "Only the people's final scores are known, not who said what."


def level_text(comparison: PeopleComparison) -> str:
    """`95 %`."""
    return f"{comparison.settings.level * 100:g} %"


def unit_noun(comparison: PeopleComparison) -> str:
    """What is resampled."""
    return "word pair" if comparison.unit == PAIR else "sentence"


def about(comparison: PeopleComparison) -> str:
    """Who was asked what."""
    people = comparison.people
    card, count = people.suite.card, len(people.annotators)
    kinds = [f"{people.strata.count(s):,} {name}" for s, name in STRATA.items()]
    persons = f", {count:,} {'person' if count == 1 else 'people'}" if count else ""
    return (
        f"{people.identity}{persons}, on {card.name} {card.version}, {card.language}, "
        f"{' and '.join(kinds)} sentences"
    )


def verdict(comparison: PeopleComparison, model: ComparedModel) -> str:
    """What can be said of one model, in one sentence."""
    r = model.pearson.interval
    if not math.isfinite(r.value):
        return f"{model.name} could not be set beside the people: {model.note}."
    shown = f"r = {with_bounds(r)}"
    if not comparison.is_shown(model):
        return (
            f"For {model.name} no relation with the people is shown ({shown}); "
            "that does not prove there is none."
        )
    return f"{model.name} leans {'with' if r.value > 0 else 'against'} the people ({shown})."


def _ceiling(comparison: PeopleComparison) -> str:
    """How far one more person goes with the others."""
    others = comparison.agreement.others if comparison.agreement else ()
    known = sorted(p.pearson.value for p in others if math.isfinite(p.pearson.value))
    if not known:
        return ""
    low, high = number(known[0]), number(known[-1])
    reach = low if low == high else f"{low} to {high}"
    return f" For comparison: one person against the mean of the others has r = {reach}."


def _groups(comparison: PeopleComparison) -> str:
    """Which models lean with the people, against them, or neither, in one clause each."""
    groups: dict[str, list[ComparedModel]] = {
        "leans with the people": [],
        "leans against the people": [],
        "shows no relation with the people": [],
        "could not be compared": [],
    }
    for model in comparison.models:
        r = model.pearson.interval.value
        if not math.isfinite(r):
            key = "could not be compared"
        elif not comparison.is_shown(model):
            key = "shows no relation with the people"
        else:
            key = f"leans {'with' if r > 0 else 'against'} the people"
        groups[key].append(model)
    clauses = []
    for clause, models in groups.items():
        if not models:
            continue
        verb = clause
        if len(models) > 1:
            verb = clause.replace("leans", "lean").replace("shows", "show")
        values = [
            m.note if clause == "could not be compared" else f"r = {number(m.pearson.interval[0])}"
            for m in models
        ]
        names = [f"{m.name} ({value})" for m, value in zip(models, values, strict=True)]
        clauses.append(f"{listed(names)} {verb}")
    return "; ".join(clauses)


def lead(comparison: PeopleComparison) -> list[str]:
    """The whole in three or four sentences."""
    both = max(len(m.people) for m in comparison.models)
    lines = [
        f"In the same {counted(both, 'sentence')} that give no clue of gender, "
        f"{_groups(comparison)}.{_ceiling(comparison)}",
        *_people_lines(comparison),
    ]
    together = comparison.accuracies[0].value
    rights = [
        f"{m.name} {percent(m.accuracy.value, 1)}"
        for m in comparison.models
        if math.isfinite(m.accuracy.value)
    ]
    if math.isfinite(together) and rights:
        lines.append(
            "Where the sentence settles the gender, the people together are right in "
            f"{percent(together, 1)}; {', '.join(rights)}."
        )
    return lines


def _people_lines(comparison: PeopleComparison) -> list[str]:
    if comparison.agreement is None:
        return [
            "Only the people's final scores are known, not who said what: "
            "how far they agree among themselves cannot be told."
        ]
    alphas = [
        f"alpha {with_bounds(a.interval)} on {STRATA[a.stratum]} sentences"
        if math.isfinite(a.interval.value)
        else f"alpha on {STRATA[a.stratum]} sentences is not defined ({a.note})"
        for a in comparison.agreement.alphas
    ]
    every = comparison.agreement.everybody
    male, female, neutral = (percent(every.shares[s], 1) for s in ("male", "female", "neutral"))
    return [
        f"Among themselves the people have {' and '.join(alphas)}; "
        "1 is full agreement, 0 what chance gives.",
        f"Together they expect a man in {male} of the measuring sentences, a woman in {female}, "
        f"neither in {neutral}; mean score {with_bounds(every.mean)}.",
    ]


def list_definitions(comparison: PeopleComparison) -> dict[str, str]:
    """How each list of sentences is made."""
    t = comparison.thresholds
    rank = (
        "ordered by the rank of |score| of the people times that of |PB| of the model, "
        "ranks as shares of all sentences that both answered"
    )
    return {
        "agree": f"Score and PB on the same side of 0, {rank}.",
        "differ": f"Score and PB on opposite sides of 0, {rank}.",
        "people_only": f"People's |score| at least {t.people_lean:g}, "
        f"model's |PB| below {t.model_near:g}.",
        "model_only": f"Model's |PB| at least {t.model_lean:.3g} "
        f"(one word {math.exp(t.model_lean):.3g} times as likely), "
        f"people's |score| below {t.people_near:g}.",
    }


def people_say(sentence: Sentence) -> str:
    """The word that people lean to."""
    male, female = sentence.probe.texts[1:3]
    if sentence.people == 0:
        return f"{male} and {female} alike"
    return f"rather {male if sentence.people > 0 else female}"


def model_says(sentence: Sentence) -> str:
    """`奶奶 28 times as likely as 爷爷`."""
    male, female = sentence.probe.texts[1:3]
    ratio = times(sentence.odds)
    if ratio == "1.00":
        return f"{male} and {female} equally likely"
    likelier, rarer = (male, female) if sentence.odds > 0 else (female, male)
    return f"{likelier} {ratio} times as likely as {rarer}"


def drawing(comparison: PeopleComparison) -> str:
    """What the intervals of the people among themselves stand for."""
    return (
        f"Intervals ({level_text(comparison)}): {unit_noun(comparison)}s drawn again, "
        f"{comparison.settings.resamples:,} times."
    )


def method(comparison: PeopleComparison) -> list[str]:
    """How it was computed."""
    level, noun = level_text(comparison), unit_noun(comparison)
    settings, agreement = comparison.settings, comparison.agreement
    fisher = ""
    if agreement is not None and not agreement.is_drawn:
        fisher = "; of every two people by Fisher's z, as there are many, every sentence for itself"
    return [
        "People: fine score of each sentence, the mean over those who answered; above 0 a man is "
        "expected, below 0 a woman. Models: PB, the logarithm of how many times the male word is "
        "as likely as the female one. The two have no common unit, so order and direction are "
        "compared, not size.",
        f"Pearson and Spearman over measuring sentences that both answered. Intervals ({level}, "
        f"percentile) and p: every {noun} is drawn with replacement with all its sentences, "
        f"{settings.resamples:,} times; p is twice the share of draws on the rarer side of 0. "
        "Adjusted p: Benjamini-Hochberg over both coefficients of all models; at most "
        f"{settings.alpha:.2g} counts as shown. Spearman's ranks are taken anew in every draw. "
        "p of sentences: the usual test, which takes every sentence for an independent look, as "
        "Zhu et al. 2024 print it.",
        "Same side: share of the sentences with neither at 0 in which both lean the same way; "
        "50 % is what chance gives where neither side is the commoner one.",
        "People among themselves: Pearson's r of fine scores; Krippendorff's alpha, nominal, of "
        "their signs (male, neutral, female); what somebody was not asked is missing and no "
        f"category. Intervals ({level}): {noun}s drawn with replacement{fisher}. One person "
        "against the mean of the others: one person less stands behind that mean than behind the "
        "one that models are held against.",
        "Right: share of objective sentences with the right sign, 0 half; intervals over word "
        "pairs (BCa).",
    ]


def notes(comparison: PeopleComparison) -> list[str]:
    """What is missing or rough, and what none of it shows."""
    lines = [f"{m.name}: {m.note}." for m in comparison.models if m.note]
    for model in comparison.models:
        if model.coverage < 1:
            asked = counted(model.asked, "measuring sentence")
            lines.append(
                f"{model.name} answered {len(model.people):,} of {asked} that people answered."
            )
        if model.accuracy.note:
            lines.append(f"{model.name}, objective sentences: {model.accuracy.note}.")
    if comparison.agreement is not None:
        lines += [
            f"{p.first} and {p.second}, {STRATA[p.stratum]} sentences: {p.note}."
            for p in comparison.agreement.pairs
            if p.note
        ]
        lines += [
            f"Alpha, {STRATA[a.stratum]} sentences: {a.note}."
            for a in comparison.agreement.alphas
            if a.note
        ]
    if comparison.accuracies[0].note:
        lines.append(f"People, objective sentences: {comparison.accuracies[0].note}.")
    return [
        *lines,
        "A correlation does not tell who learned from whom, and people who were chosen for a study "
        "are not people in general.",
        "What people do not agree on among themselves, no model can follow: read a model's r "
        "beside that of one person with the others.",
    ]


def signatures(comparison: PeopleComparison) -> list[str]:
    """The signatures of all numbers, each once."""
    lines = [
        line
        for m in comparison.models
        for line in (m.pearson.signature, m.spearman.signature, m.accuracy.signature)
    ]
    return list(dict.fromkeys([*lines, *(e.signature for e in comparison.accuracies)]))
