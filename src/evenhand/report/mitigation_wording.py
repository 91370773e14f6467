"""What did a mitigation change, what did it cost, and what does it not show, in plain words?"""

from __future__ import annotations

import math
from collections.abc import Iterator

from evenhand.mitigate.records import ACCURACY, BEFORE, NONE, Asked, Mitigation
from evenhand.report.comparison import chance
from evenhand.report.estimates import fair
from evenhand.report.mitigation_values import (
    SHORT,
    headline_on,
    is_shown,
    measures_on,
    methods,
    models,
    percent,
    points,
    ratio,
    suites,
    where,
)
from evenhand.report.numbers import amount


def moved(found: Mitigation, asked: Asked, measure: str, model: str) -> str:
    """`NLI-CoAL on occupation-nli falls from 42.1 to 20.3 % (0.48 of before; -21.8 [-25.0, -18.2] points, adjusted p <0.001)`."""
    before, after = (found.score(asked.name, asked.part, measure, m) for m in (BEFORE, model))
    change = found.change(asked.name, asked.part, measure, model, BEFORE)
    if before is None or after is None or change is None or not math.isfinite(change.value):
        return f"{SHORT[measure]} on {where(asked)} was not measured"
    verb = "falls" if change.value < 0 else "rises" if change.value > 0 else "stays"
    told = f"{points(change.interval)} points, adjusted p {chance(change.adjusted)}"
    if not is_shown(found, change):
        return f"{SHORT[measure]} on {where(asked)}: no change shown, {percent(before.value)} before, {percent(after.value)} % after ({told})"
    share = ratio(before, after)
    what = "" if fair(measure) == 0 else "the distance from fair of "
    of = f"{share:.2f} of {what}before; " if math.isfinite(share) else ""
    return f"{SHORT[measure]} on {where(asked)} {verb} from {percent(before.value)} to {percent(after.value)} % ({of}{told})"


def cost(found: Mitigation, asked: Asked, model: str) -> str:
    """`accuracy on snli-dev -0.4 [-0.9, 0.1] points, no change shown`."""
    change = found.change(asked.name, asked.part, ACCURACY, model, BEFORE)
    if change is None:
        return f"accuracy on {asked.name} was not measured"
    said = "" if is_shown(found, change) else ", no change shown"
    return f"accuracy on {asked.name} {points(change.interval)} points{said}"


def _beyond_control(found: Mitigation, asked: Asked, measure: str, model: str) -> str:
    change = found.change(asked.name, asked.part, measure, model, NONE)
    if change is None or not math.isfinite(change.value):
        return ""
    said = (
        "beyond what more training does"
        if is_shown(found, change)
        else "not shown to differ from more training alone"
    )
    return f"{SHORT[measure]} on {where(asked)} {points(change.interval)} points, {said}"


def summary(found: Mitigation, model: str) -> list[str]:
    """What one method did to what every suite is about, what it cost, and how that compares with training alone."""
    heads = [(a, m) for a in suites(found) if (m := headline_on(found, a))]
    said = [f"{moved(found, a, m, model)}." for a, m in heads]
    said.append(f"Cost: {'; '.join(cost(found, a, model) for a in suites(found, 'dev'))}.")
    if beyond := [text for a, m in heads if (text := _beyond_control(found, a, m, model))]:
        said.append(f"Against the control: {'; '.join(beyond)}.")
    return said


def lead(found: Mitigation) -> list[str]:
    """The first lines: for each suite the method that is nearest to fair among those whose change is shown, what training alone does, and its cost."""
    said = []
    for asked in suites(found):
        measure = headline_on(found, asked)
        if measure is None:
            continue
        good = [m for m in methods(found) if _is_nearer(found, asked, measure, m)]
        if not good:
            said.append(
                f"No method is shown to bring {SHORT[measure]} on {asked.name} nearer to fair."
            )
            continue
        best = min(good, key=lambda m: _distance(found, asked, measure, m))
        costs = "; ".join(cost(found, a, best) for a in suites(found, "dev"))
        beyond = _beyond_control(found, asked, measure, best)
        against = (
            f"; against the control {beyond.partition(f'on {where(asked)} ')[2]}" if beyond else ""
        )
        of = amount(len(methods(found)), "method")
        said.append(
            f"With {best}, {moved(found, asked, measure, best)}, the nearest to fair of {of}{against}; {costs}."
        )
    return said


def _distance(found: Mitigation, asked: Asked, measure: str, model: str) -> float:
    score = found.score(asked.name, asked.part, measure, model)
    return abs(score.value - fair(measure)) if score else math.inf


def _is_nearer(found: Mitigation, asked: Asked, measure: str, model: str) -> bool:
    change = found.change(asked.name, asked.part, measure, model, BEFORE)
    return change is not None and is_shown(found, change) and change.nearer_high < 0


def generality(found: Mitigation) -> list[str]:
    """Does it hold on occupations that were no anchors, and on sets that others published?"""
    return [*_unseen(found), *_published(found)]


def _unseen(found: Mitigation) -> Iterator[str]:
    anchored, rest = methods(found, has_anchors=True), suites(found, "unseen")
    if not anchored:
        return
    if not rest:
        yield "Every occupation of the suites was an anchor or akin to one: nothing can be said of unseen occupations."
    for asked in rest:
        if measure := headline_on(found, asked):
            for model in anchored:
                yield f"{model}: {moved(found, asked, measure, model)}; {asked.clusters} occupations."


def _published(found: Mitigation) -> Iterator[str]:
    names = [a for a in suites(found) if a.is_published]
    if not names:
        yield "No published suite was asked; add nli-coal or sharma2021 with --suites and --data to see whether it holds there."
    for asked in names:
        if measure := headline_on(found, asked):
            good = [m for m in methods(found) if _is_nearer(found, asked, measure, m)]
            told = (
                f"nearer to fair with {', '.join(good)}"
                if good
                else "not shown to be nearer to fair with any method"
            )
            yield f"{asked.name}, published by others: {SHORT[measure]} is {told}."


def not_shown(found: Mitigation) -> list[str]:
    """What must not be read into it?"""
    said = [
        f"{model}: {SHORT[measure]} on {where(asked)} is farther from fair than before ({points(change.interval)} points)."
        for asked in (*suites(found), *suites(found, "unseen"))
        for measure in measures_on(found, asked)
        for model in methods(found)
        if (change := found.change(asked.name, asked.part, measure, model, BEFORE))
        and is_shown(found, change)
        and change.nearer_low > 0
    ]
    said.append(
        "A lower score is a lower score on these probes: occupations and two genders in short sentences. It does not make a model fair."
    )
    said.append(
        "One training run a method: how much another seed would change is not in the intervals, which are over occupations and premises."
    )
    if NONE not in models(found):
        said.append(
            "The control was not trained: what more training alone does cannot be told from what a method does. Add none to --methods."
        )
    if not found.occupations and methods(found, has_anchors=True):
        said.append("The anchors' occupations are not recorded.")
    return said


def method(found: Mitigation) -> list[str]:
    """How was it measured?"""
    told = found.settings
    said = [
        f"Every method starts from {found.model} and trains on {told['pairs']:,} pairs by the recipe {told['recipe']['name']} "
        f"({amount(told['recipe']['epochs'], 'epoch')}, learning rate {told['recipe']['learning_rate']:g}), "
        "changed or added to as it says; all models are then asked the same, and compared with the one of before on the probes that both answered.",
        f"Intervals ({found.level * 100:g} %): clusters (occupations; premises, of accuracy) are drawn with replacement, the same ones for both models. "
        f"Adjusted p: answers swapped between the two models cluster by cluster, "
        f"{told['permutations']:,} times, then Benjamini-Hochberg over {amount(found.tests, 'comparison')} with the model of before; "
        f"at most {1 - found.level:.2g} counts as shown.",
        "Acc: share of held-out pairs labelled right. S, ΔP, B: same label for both genders, mean difference of P(entailment), "
        "share of premises where the majority gender gets more. "
        "FN: fraction not neutral. person: how often a job is seen to be a person's (100 is right). All in percent.",
    ]
    if words := found.occupations:
        said.append(
            f"Anchors: {told['anchors']:.1%} of the pairs, from {told['frames']:,} captions of the training files that no suite uses and {len(words['anchors'])} of "
            f"{len(words['anchors']) + len(words['unseen'])} occupations of the lexicon. Unseen occupations share neither word nor last word with any of them."
        )
    return said
