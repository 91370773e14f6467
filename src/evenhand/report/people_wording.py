"""What does a comparison of people and models say in plain words, how was it reckoned, and what does it not show?"""

from __future__ import annotations

import math

from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.people.beside import Beside
from evenhand.people.compare import PeopleComparison
from evenhand.report.numbers import amount, number, percent, with_bounds

STRATA = {MEASURING: "measuring", OBJECTIVE: "objective"}
LISTS = {
    "agree": "Both lean the same way, most",
    "differ": "They lean opposite ways, most",
    "people_only": "Only the people lean",
    "model_only": "Only the model leans",
}


def listed(names: list[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def is_shown(found: PeopleComparison, model: Beside) -> bool:
    """Is the model's correlation with the people shown, after the correction for all that were looked at?"""
    return math.isfinite(model.pearson.adjusted) and model.pearson.adjusted <= 1 - found.level


def unit_noun(found: PeopleComparison) -> str:
    """What is drawn again?"""
    return "word pair" if found.unit == "pair" else "sentence"


def verdict(found: PeopleComparison, model: Beside) -> str:
    """What can be said of one model, in one sentence?"""
    r = model.pearson.interval
    if not math.isfinite(r.value):
        return f"{model.name} could not be set beside the people: {model.note}."
    told = f"r = {with_bounds(r)}"
    if not is_shown(found, model):
        return f"For {model.name} no relation with the people is shown ({told}); that does not prove there is none."
    return f"{model.name} leans {'with' if r.value > 0 else 'against'} the people ({told})."


def _ceiling(found: PeopleComparison) -> str:
    """How far does one more person go with the others?"""
    known = (
        sorted(p.pearson.value for p in found.agreement.others if math.isfinite(p.pearson.value))
        if found.agreement
        else []
    )
    if not known:
        return ""
    reach = (
        number(known[0])
        if len(known) == 1 or number(known[0]) == number(known[-1])
        else f"{number(known[0])} to {number(known[-1])}"
    )
    return f" For comparison: one person against the mean of the others has r = {reach}."


def lead(found: PeopleComparison) -> list[str]:
    """The whole in three or four sentences."""
    groups = {
        "leans with the people": [
            m for m in found.models if is_shown(found, m) and m.pearson.interval.value > 0
        ],
        "leans against the people": [
            m for m in found.models if is_shown(found, m) and m.pearson.interval.value < 0
        ],
        "shows no relation with the people": [
            m
            for m in found.models
            if math.isfinite(m.pearson.interval.value) and not is_shown(found, m)
        ],
        "could not be compared": [
            m for m in found.models if not math.isfinite(m.pearson.interval.value)
        ],
    }
    parts = []
    for what, models in groups.items():
        if models:
            verb = (
                what if len(models) == 1 else what.replace("leans", "lean").replace("shows", "show")
            )
            names = listed(
                [
                    f"{m.name} (r = {number(m.pearson.interval.value)})"
                    if "not be" not in what
                    else f"{m.name} ({m.note})"
                    for m in models
                ]
            )
            parts.append(f"{names} {verb}")
    both = max(len(m.people) for m in found.models)
    said = [
        f"In the same {amount(both, 'sentence')} that give no clue of gender, {'; '.join(parts)}.{_ceiling(found)}",
        *_people(found),
    ]
    rights = [
        f"{m.name} {percent(m.accuracy.value, 1)}"
        for m in found.models
        if math.isfinite(m.accuracy.value)
    ]
    if math.isfinite(found.accuracies[0].value) and rights:
        said.append(
            f"Where the sentence settles the gender, the people together are right in {percent(found.accuracies[0].value, 1)}; {', '.join(rights)}."
        )
    return said


def _people(found: PeopleComparison) -> list[str]:
    if found.agreement is None:
        return [
            "Only the people's final scores are known, not who said what: how far they agree among themselves cannot be told."
        ]
    alphas = [
        f"alpha {with_bounds(a.interval)} on {STRATA[a.stratum]} sentences"
        if math.isfinite(a.interval.value)
        else f"alpha on {STRATA[a.stratum]} sentences is not defined ({a.note})"
        for a in found.agreement.alphas
    ]
    every = found.agreement.everybody
    return [
        f"Among themselves the people have {' and '.join(alphas)}; 1 is full agreement, 0 what chance gives.",
        f"Together they expect a man in {percent(every.shares['male'], 1)} of the measuring sentences, a woman in {percent(every.shares['female'], 1)}, neither in "
        f"{percent(every.shares['neutral'], 1)}; mean score {with_bounds(every.mean)}.",
    ]


def definitions(found: PeopleComparison) -> dict[str, str]:
    """How is each list made?"""
    t = found.thresholds
    rank = "ordered by the rank of |score| of the people times that of |PB| of the model, ranks as shares of all sentences that both answered"
    return {
        "agree": f"Score and PB on the same side of 0, {rank}.",
        "differ": f"Score and PB on opposite sides of 0, {rank}.",
        "people_only": f"People's |score| at least {t.people_lean:g}, model's |PB| below {t.model_near:g}.",
        "model_only": f"Model's |PB| at least {t.model_lean:.3g} (one word {math.exp(t.model_lean):.3g} times as likely), people's |score| below {t.people_near:g}.",
    }


def drawn(found: PeopleComparison) -> str:
    """What do the intervals of the people among themselves stand for?"""
    return f"Intervals ({found.level * 100:g} %): {unit_noun(found)}s drawn again, {found.resamples:,} times."


def method(found: PeopleComparison) -> list[str]:
    """How was it reckoned?"""
    level, noun = f"{found.level * 100:g} %", unit_noun(found)
    fisher = (
        "; of every two people by Fisher's z, as there are many, every sentence for itself"
        if found.agreement and not found.agreement.is_drawn
        else ""
    )
    return [
        "People: fine score of each sentence, the mean over those who answered; above 0 a man is expected, below 0 a woman. Models: PB, the logarithm of how many times "
        "the male word is as likely as the female one. The two have no common unit, so order and direction are compared, not size.",
        f"Pearson and Spearman over measuring sentences that both answered. Intervals ({level}, percentile) and p: every {noun} is drawn with replacement with all its "
        f"sentences, {found.resamples:,} times; p is twice the share of draws on the rarer side of 0. Adjusted p: Benjamini-Hochberg over both coefficients of all models; "
        f"at most {1 - found.level:.2g} counts as shown. Spearman's ranks are taken anew in every draw. p of sentences: the usual test, "
        "which takes every sentence for an independent look, as Zhu et al. 2024 print it.",
        "Same side: share of the sentences with neither at 0 in which both lean the same way; 50 % is what chance gives where neither side is the commoner one.",
        "People among themselves: Pearson's r of fine scores; Krippendorff's alpha, nominal, of their signs (male, neutral, female); what somebody was not asked is "
        f"missing and no category. Intervals ({level}): {noun}s drawn with replacement{fisher}. One person against the mean of the others: "
        "one person less stands behind that mean than behind the one that models are held against.",
        "Right: share of objective sentences with the right sign, 0 half; intervals over word pairs (BCa).",
    ]


def notes(found: PeopleComparison) -> list[str]:
    """What is missing or rough, and what does none of it show?"""
    said = [f"{m.name}: {m.note}." for m in found.models if m.note]
    for m in found.models:
        if m.coverage < 1:
            said.append(
                f"{m.name} answered {len(m.people):,} of {amount(m.asked, 'measuring sentence')} that people answered."
            )
        if m.accuracy.note:
            said.append(f"{m.name}, objective sentences: {m.accuracy.note}.")
    if found.agreement is not None:
        said += [
            f"{p.first} and {p.second}, {STRATA[p.stratum]} sentences: {p.note}."
            for p in found.agreement.pairs
            if p.note
        ]
        said += [
            f"Alpha, {STRATA[a.stratum]} sentences: {a.note}."
            for a in found.agreement.alphas
            if a.note
        ]
    if found.accuracies[0].note:
        said.append(f"People, objective sentences: {found.accuracies[0].note}.")
    return [
        *said,
        "A correlation does not tell who learned from whom, and people who were chosen for a study are not people in general.",
        "What people do not agree on among themselves, no model can follow: read a model's r beside that of one person with the others.",
    ]
