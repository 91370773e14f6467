"""What a mitigation changed, what it cost and what it does not show, in plain sentences.

Values are in percent, changes in percentage points.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from evenhand.core import catalog
from evenhand.core.measure import Measure
from evenhand.core.text import MISSING, counted, in_points, levels_in_points, p_value, points
from evenhand.mitigate.anchors import UNSEEN
from evenhand.mitigate.compare import default_suites
from evenhand.mitigate.methods import ANCHORS, PLUS
from evenhand.mitigate.records import (
    ACCURACY,
    BEFORE,
    NONE,
    Asked,
    Change,
    Mitigation,
    Part,
    Score,
)


def measure_of(name: str) -> Measure:
    """The measure with this name."""
    return catalog.measure(name)


def short(measure: str) -> str:
    """The short name of a measure."""
    return measure_of(measure).card.short


def is_shown(record: Mitigation, change: Change) -> bool:
    """Whether the change is shown, after the correction for all comparisons."""
    return math.isfinite(change.adjusted) and change.adjusted <= 1 - record.level


def distance_ratio(before: Score, after: Score) -> float:
    """The distance from fair after, as a share of the distance before; NaN where it was fair."""
    best = measure_of(before.measure).fair
    far = abs(before.value - best)
    return abs(after.value - best) / far if far > 0 else math.nan


def models(record: Mitigation) -> list[str]:
    """`before` and the methods."""
    return [BEFORE, *dict.fromkeys(t.method for t in record.trained)]


def seeds(record: Mitigation) -> int:
    """The training runs of each method."""
    return 1 + max((t.run for t in record.trained), default=0)


def over_seeds(record: Mitigation, asked: Asked, measure: str, model: str) -> str:
    """`19.3 (17.9 to 21.0)`: the mean over the training runs, the lowest and the highest value."""
    values = [s.value for s in record.runs(asked.name, asked.part, measure, model)]
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return MISSING
    mean, low, high = (points(v) for v in (sum(values) / len(values), min(values), max(values)))
    return f"{mean} ({low} to {high})"


def suites(record: Mitigation, part: Part = "all") -> list[Asked]:
    """The suites that were asked; part: `unseen` occupations or `dev` files instead."""
    return [a for a in record.asked if a.part == part]


def measures_on(record: Mitigation, asked: Asked) -> list[str]:
    """The measures of a suite, in the order of their family."""
    names = {s.measure for s in record.scores if (s.asked, s.part) == (asked.name, asked.part)}
    return [
        m.name for family in catalog.families().values() for m in family.measures if m.name in names
    ]


def headline_on(record: Mitigation, asked: Asked) -> str | None:
    """The measure that a suite is about: the first of its family."""
    return next(iter(measures_on(record, asked)), None)


def methods(record: Mitigation, *, has_anchors: bool | None = None) -> list[str]:
    """The methods without the control; has_anchors: only those with, or without, anchors."""
    names = [m for m in models(record)[1:] if m != NONE]
    if has_anchors is None:
        return names
    return [n for n in names if (ANCHORS in n.split(PLUS)) is has_anchors]


def where(asked: Asked) -> str:
    """`occupation-nli`, `occupation-nli (unseen occupations)`."""
    return f"{asked.name} ({UNSEEN})" if asked.part == "unseen" else asked.name


def change_text(change: Change) -> str:
    """`-12.3 [-15.0, -9.8]`."""
    return in_points(change.interval, is_signed=True)


def movement(record: Mitigation, asked: Asked, measure: str, model: str) -> str:
    """How a method moved a measure.

    `NLI-CoAL on occupation-nli falls from 42.1 to 20.3 % (0.48 of before; -21.8 [-25.0, -18.2]
    points, adjusted p <0.001)`.
    """
    before, after = (record.score(asked.name, asked.part, measure, m) for m in (BEFORE, model))
    change = record.change(asked.name, asked.part, measure, model)
    what = f"{short(measure)} on {where(asked)}"
    if before is None or after is None or change is None or not math.isfinite(change.value):
        return f"{what} was not measured"
    apart = f"{change_text(change)} points, adjusted p {p_value(change.adjusted)}"
    levels = levels_in_points(before.value, after.value)
    if not is_shown(record, change):
        return f"{what}: no change shown, {levels[0]} before, {levels[1]} % after ({apart})"
    verb = "falls" if change.value < 0 else "rises" if change.value > 0 else "stays"
    ratio = distance_ratio(before, after)
    of_what = "" if measure_of(measure).fair == 0 else "the distance from fair of "
    share = f"{ratio:.2f} of {of_what}before; " if math.isfinite(ratio) else ""
    return f"{what} {verb} from {levels[0]} to {levels[1]} % ({share}{apart})"


def cost(record: Mitigation, asked: Asked, model: str) -> str:
    """`accuracy on snli-dev -0.4 [-0.9, 0.1] points, no change shown`."""
    change = record.change(asked.name, asked.part, ACCURACY, model)
    if change is None:
        return f"accuracy on {asked.name} was not measured"
    doubt = "" if is_shown(record, change) else ", no change shown"
    return f"accuracy on {asked.name} {change_text(change)} points{doubt}"


def _beyond_control(record: Mitigation, asked: Asked, measure: str, model: str) -> str:
    """How far the method is from the control; empty where there is no control."""
    change = record.change(asked.name, asked.part, measure, model, NONE)
    if change is None or not math.isfinite(change.value):
        return ""
    verdict = "not shown to differ from more training alone"
    if is_shown(record, change):
        verdict = "beyond what more training does"
    return f"{change_text(change)} points, {verdict}"


def summary(record: Mitigation, model: str) -> list[str]:
    """What one method did to each suite's headline measure, what it cost, and the control."""
    heads = [(a, m) for a in suites(record) if (m := headline_on(record, a))]
    lines = [f"{movement(record, a, m, model)}." for a, m in heads]
    costs = "; ".join(cost(record, a, model) for a in suites(record, "dev"))
    lines.append(f"Cost: {costs}.")
    beyond = [
        f"{short(m)} on {where(a)} {text}"
        for a, m in heads
        if (text := _beyond_control(record, a, m, model))
    ]
    if beyond:
        lines.append(f"Against the control: {'; '.join(beyond)}.")
    if seeds(record) > 1:
        spread = "; ".join(_seed_spread(record, a, m, model) for a, m in heads)
        lines.append(f"Over {seeds(record)} seeds, mean (lowest to highest) in percent: {spread}.")
    return lines


def _seed_spread(record: Mitigation, asked: Asked, measure: str, model: str) -> str:
    """The values of all runs, and whether each of them is nearer to fair than each of the control.

    `NLI-CoAL on occupation-nli 19.3 (17.9 to 21.0), control 17.4 (16.9 to 18.0), which overlap`.
    """
    own = f"{short(measure)} on {where(asked)} {over_seeds(record, asked, measure, model)}"
    if model == NONE or NONE not in models(record):
        return own
    fair = measure_of(measure).fair
    apart = [
        [abs(s.value - fair) for s in record.runs(asked.name, asked.part, measure, name)]
        for name in (model, NONE)
    ]
    verdict = "which overlap"
    if max(apart[0]) < min(apart[1]):
        verdict = "every run nearer to fair than the control's"
    elif min(apart[0]) > max(apart[1]):
        verdict = "every run farther from fair than the control's"
    return f"{own}, control {over_seeds(record, asked, measure, NONE)}, {verdict}"


def lead(record: Mitigation) -> list[str]:
    """For each suite the method that is nearest to fair among those whose change is shown.

    Each sentence has its cost, and what more training alone does.
    """
    lines = []
    for asked in suites(record):
        measure = headline_on(record, asked)
        if measure is None:
            continue
        good = [m for m in methods(record) if _is_nearer(record, asked, measure, m)]
        if not good:
            lines.append(
                f"No method is shown to bring {short(measure)} on {asked.name} nearer to fair."
            )
            continue
        best = min(good, key=lambda m: _distance(record, asked, measure, m))
        costs = "; ".join(cost(record, a, best) for a in suites(record, "dev"))
        beyond = _beyond_control(record, asked, measure, best)
        against = f"; against the control {beyond}" if beyond else ""
        count = counted(len(methods(record)), "method")
        lines.append(
            f"With {best}, {movement(record, asked, measure, best)}, "
            f"the nearest to fair of {count}{against}; {costs}."
        )
    return lines


def _distance(record: Mitigation, asked: Asked, measure: str, model: str) -> float:
    score = record.score(asked.name, asked.part, measure, model)
    return abs(score.value - measure_of(measure).fair) if score else math.inf


def _is_nearer(record: Mitigation, asked: Asked, measure: str, model: str) -> bool:
    change = record.change(asked.name, asked.part, measure, model)
    return change is not None and is_shown(record, change) and change.nearer_high < 0


def generality(record: Mitigation) -> list[str]:
    """Whether it holds on occupations that were not anchors, and on sets that others published."""
    return [*_unseen(record), *_published(record)]


def _unseen(record: Mitigation) -> Iterator[str]:
    anchored, rest = methods(record, has_anchors=True), suites(record, "unseen")
    if not anchored:
        return
    if not rest:
        yield (
            "Every occupation of the suites was an anchor or akin to one: "
            "nothing can be said of unseen occupations."
        )
    for asked in rest:
        if measure := headline_on(record, asked):
            for model in anchored:
                moved = movement(record, asked, measure, model)
                yield f"{model}: {moved}; {asked.clusters} occupations."


def _published(record: Mitigation) -> Iterator[str]:
    asked_published = [a for a in suites(record) if a.is_published]
    if not asked_published:
        known = " or ".join(default_suites(record.language, is_published=True))
        add = f"add {known} with --suite and --data" if known else "add one with --suite"
        yield f"No published suite was asked; {add} to see whether it holds there."
    for asked in asked_published:
        if measure := headline_on(record, asked):
            good = [m for m in methods(record) if _is_nearer(record, asked, measure, m)]
            verdict = "not shown to be nearer to fair with any method"
            if good:
                verdict = f"nearer to fair with {', '.join(good)}"
            yield f"{asked.name}, published by others: {short(measure)} is {verdict}."


def not_shown(record: Mitigation) -> list[str]:
    """What the results do not show."""
    lines = [
        f"{model}: {short(measure)} on {where(asked)} is farther from fair than before "
        f"({change_text(change)} points)."
        for asked in (*suites(record), *suites(record, "unseen"))
        for measure in measures_on(record, asked)
        for model in methods(record)
        if (change := record.change(asked.name, asked.part, measure, model))
        and is_shown(record, change)
        and change.nearer_low > 0
    ]
    lines += [
        "A lower score is a lower score on these probes: occupations and two genders in short "
        "sentences. It does not make a model fair.",
        _seed_limit(record),
    ]
    if NONE not in models(record):
        lines.append(
            "The control was not trained: what more training alone does cannot be told from what "
            "a method does. Add none to --methods."
        )
    if not record.occupations and methods(record, has_anchors=True):
        lines.append("The anchors' occupations are not recorded.")
    return lines


def _seed_limit(record: Mitigation) -> str:
    if seeds(record) == 1:
        return (
            "One training run a method: how much another seed would change is not in the "
            "intervals, which are over occupations and premises."
        )
    return (
        f"Intervals and tests are those of the first of {seeds(record)} training runs a method; "
        "how far the runs differ stands beside them and is not in the intervals."
    )


def method(record: Mitigation) -> list[str]:
    """How it was measured."""
    settings = record.settings
    recipe = settings["recipe"]
    lines = [
        f"Every method starts from {record.model} and trains on {settings['pairs']:,} pairs by the "
        f"recipe {recipe['name']} ({counted(recipe['epochs'], 'epoch')}, learning rate "
        f"{recipe['learning_rate']:g}), changed or added to as it says; all models are then asked "
        "the same, and compared with the one of before on the probes that both answered.",
        f"Intervals ({record.level * 100:g} %): clusters (occupations; premises, of accuracy) are "
        "drawn with replacement, the same ones for both models. Adjusted p: answers swapped "
        f"between the two models cluster by cluster, {settings['permutations']:,} times, then "
        f"Benjamini-Hochberg over {counted(record.tests, 'comparison')} with the model of before; "
        f"at most {1 - record.level:.2g} counts as shown.",
        _measure_key(record),
    ]
    if words := record.occupations:
        used, unseen = len(words["anchors"]), len(words["unseen"])
        lines.append(
            f"Anchors: {settings['anchors']:.1%} of the pairs, from {settings['frames']:,} "
            f"captions of the training files that no suite uses and {used} of {used + unseen} "
            "occupations of the lexicon. Unseen occupations share neither word nor last word with "
            "any of them."
        )
    return lines


def _measure_key(record: Mitigation) -> str:
    """What the short names mean, and which value is the best."""
    names = [m for asked in suites(record) for m in measures_on(record, asked)]
    if suites(record, "dev"):
        names.insert(0, ACCURACY)
    texts = []
    for name in dict.fromkeys(names):
        measure = measure_of(name)
        card = measure.card
        title = card.title.removeprefix(f"{card.short}, ")
        meaning = f" ({title})" if title != card.short else ""
        texts.append(f"{card.short}{meaning}: {measure.fair * 100:g} is {measure.best}")
    return f"{'; '.join(texts)}. All in percent."
