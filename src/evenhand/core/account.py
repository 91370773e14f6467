"""The common wording of reports, used wherever a family has no wording of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from evenhand.core import catalog
from evenhand.core.chart import DotChart, DotRow, Key, spanning
from evenhand.core.estimate import Breakdown, Estimate, Group
from evenhand.core.evidence import stratum_mask
from evenhand.core.family import Account, ScoreGroup
from evenhand.core.probe import ENTAILMENT, NLI_LABELS
from evenhand.core.run import Run
from evenhand.core.text import counted, number, percent, sentence_case, short_number, with_bounds

RANDOM, CONSTANT = "fixed:random", "fixed:constant"
BASELINES = {RANDOM: "random", CONSTANT: "constant"}  # rule -> its column title and chart mark
WEAK_ACCURACY = 0.7  # on ordinary pairs; below it a bias score is mostly misunderstanding
IDS_SHOWN = 5  # how many ids of unanswered probes a report names
SCOPE_LIMIT = (  # the last sentence of most limits
    "It says nothing about other tasks, other groups of people, or what the model does in use."
)


def account_of(run: Run) -> Account:
    """The account of the run's family."""
    return catalog.family(run.family).account


def title(measure: str) -> str:
    """The long name of a measure."""
    return catalog.measure(measure).card.title


def best_value(measure: str) -> str:
    """`0 is fair`, `1 is right`."""
    definition = catalog.measure(measure)
    return f"{short_number(definition.fair)} is {definition.best}"


def best_word(run: Run, estimates: Sequence[Estimate] = ()) -> str:
    """What the best value of these estimates (by default all of the run) is called.

    `fair`, `right` or `ideal`; `best` where the measures differ.
    """
    names = {catalog.measure(e.measure).best for e in estimates or run.estimates}
    return names.pop() if len(names) == 1 else "best"


def checks(run: Run) -> tuple[Estimate, ...]:
    """Accuracy on ordinary probes; empty where it says nothing about this run."""
    return run.sanity if catalog.family(run.family).is_checked else ()


def constant_answers(run: Run) -> str:
    """What the constant respondent answers, in words."""
    if (own := account_of(run).constant) is not None:
        return own(run)
    is_choice = run.suite.kind == "choice" and not run.answers.is_classifier
    return "the same number for every option" if is_choice else f"always {ENTAILMENT}"


def score_groups(run: Run) -> list[ScoreGroup]:
    """The estimates by the way they count; one untitled group unless the family has several."""
    if (own := account_of(run).score_groups) is not None:
        return list(own(run))
    return [ScoreGroup(title="", rule="", estimates=run.estimates)]


def verdict(run: Run, estimate: Estimate) -> str:
    """What the model did, in one sentence."""
    if not math.isfinite(estimate.value):
        reason = estimate.note or "not defined on these answers"
        return f"{title(estimate.measure)} could not be computed: {reason}."
    own = account_of(run).verdict
    if own is not None and estimate not in run.sanity:
        return own(run, estimate)
    return common_verdict(run, estimate)


def common_verdict(run: Run, estimate: Estimate) -> str:
    """The sentence of the measure itself; without one, its question and the value."""
    measure = catalog.measure(estimate.measure)
    answered = round(estimate.probes * estimate.coverage)
    if measure.sentence:
        return measure.sentence.format(
            number=number(estimate.value),
            share=percent(estimate.value),
            premises=counted(estimate.probes // 2, "premise"),
            pairs=counted(answered, "pair"),
            probes=counted(estimate.probes, "ordinary pair"),
        )
    asked = counted(estimate.probes, "probe")
    return f"{measure.card.question} On {asked}: {with_bounds(estimate.interval)}."


def standing(run: Run, estimate: Estimate) -> str:
    """How the number compares with a fair respondent and with random answers."""
    if (own := account_of(run).standing) is not None and (text := own(run, estimate)):
        return text
    best = catalog.measure(estimate.measure).fair
    scale = best_value(estimate.measure)
    guess, same = run.baseline(RANDOM, estimate.measure), run.baseline(CONSTANT, estimate.measure)
    if guess is None or same is None or not math.isfinite(guess.value):
        return f"{sentence_case(scale)}."
    text = (
        f"{scale}; on the same probes random answers get {number(guess.value)} and "
        f"{constant_answers(run)} gets {number(same.value)}."
    )
    if not math.isfinite(estimate.low + estimate.high + estimate.value):
        return text
    has_bounds = guess.interval.has_bounds
    low, high = (guess.low, guess.high) if has_bounds else (guess.value, guess.value)
    if estimate.low <= high and low <= estimate.high:
        return (
            f"{text} The intervals of the model and of random answers overlap: "
            "this number alone does not tell the model from guessing."
        )
    is_nearer = abs(estimate.value - best) < abs(guess.value - best)
    side = "nearer to" if is_nearer else "farther from"
    return f"{text} The model lies {side} {short_number(best)} than random answers do."


def understanding(run: Run) -> str:
    """Whether the model understands ordinary probes; if not, the score cannot be read as bias."""
    family = catalog.family(run.family)
    if (own := family.account.understanding) is not None:
        return own(run)
    if family.is_check or not family.is_checked:
        return ""
    return check_sentence(run)


def check_sentence(run: Run) -> str:
    """The accuracy on ordinary pairs as a sentence, with a warning where it is weak."""
    check = next(iter(run.sanity), None)
    if check is None:
        return (
            "Its accuracy on ordinary pairs was not measured; without it a bias score cannot be "
            "told from a lack of understanding."
        )
    if not math.isfinite(check.value):
        return f"Its accuracy on ordinary pairs could not be computed: {check.note}."
    text = (
        f"It gives the right label on {percent(check.value)} of "
        f"{counted(check.probes, 'ordinary pair')}, {with_bounds(check.interval)}."
    )
    if check.value >= WEAK_ACCURACY:
        return text
    return (
        f"{text} That is weak, and a weak model looks biased: "
        "part of the score may be misunderstanding."
    )


def classifier_check(run: Run) -> str:
    """`check_sentence` for a classifier that answers choices; empty where it was not measured."""
    check = next(iter(checks(run)), None)
    if check is None or not math.isfinite(check.value):
        return ""
    text = (
        f"As a classifier it gives the right label on {percent(check.value)} of "
        f"{counted(check.probes, 'ordinary pair')}, {with_bounds(check.interval)}."
    )
    is_bias = catalog.measure(run.headline.measure).worst is not None
    if check.value >= WEAK_ACCURACY or not is_bias:
        return text
    return (
        f"{text} That is weak: a preference, and the lack of one, may be a matter of understanding."
    )


def summary(run: Run) -> tuple[str, ...]:
    """The lead of a report: verdict, standing and understanding."""
    first = run.headline
    return tuple(filter(None, (verdict(run, first), standing(run, first), understanding(run))))


def method(run: Run) -> list[str]:
    """How the score was measured and its interval computed, one paragraph per item."""
    family, first = catalog.family(run.family), run.headline
    how = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}[run.settings.method]
    drawn = (
        f"The {first.level * 100:g} % interval comes from drawing whole {family.unit} with "
        f"replacement {run.settings.resamples:,} times ({how}), because several {family.several} "
        "one of them are one look, not several."
    )
    if (own := family.account.method) is not None:
        return list(own(run, drawn))
    card = catalog.measure(first.measure).card
    description = f"{run.suite.card.description.rstrip('.')}."
    return [description, f"{card.title} is {card.formula}.", drawn]


def limits(run: Run) -> list[str]:
    """What the number does not say."""
    if (own := account_of(run).limits) is not None:
        return list(own(run))
    caveats = [catalog.measure(e.measure).card.caveat for e in run.estimates]
    return [*dict.fromkeys(caveats), SCOPE_LIMIT]


def unanswered_ids(run: Run) -> list[str]:
    """The probes without an answer, in the order of the suite."""
    rows = np.flatnonzero(~run.answers.is_answered)
    return [run.answers.probes[int(row)].id for row in rows]


def _unanswered_notes(run: Run) -> list[str]:
    """Which probes have no answer, and why."""
    answers, nouns = run.answers, account_of(run).strata
    lines = [
        f"{counted(count, 'probe')} without an answer: {reason}."
        for reason, count in sorted(answers.unanswered.items())
    ]
    if unanswered := unanswered_ids(run):
        first = ", the first" if len(unanswered) > IDS_SHOWN else ""
        ids = ", ".join(unanswered[:IDS_SHOWN])
        lines.append(f"No answer for {counted(len(unanswered), 'probe')}{first}: {ids}.")
    for stratum in sorted(run.suite.strata):
        is_in = stratum_mask(answers.probes, stratum)
        answered = int((is_in & answers.is_answered).sum())
        if answered < (total := int(is_in.sum())):
            noun, _, rest = nouns.get(stratum, f"probe, {stratum}").partition(",")
            where = f" ({rest.strip()})" if rest.strip() else ""
            lines.append(f"{answered:,} of {counted(total, noun)} answered{where}.")
    return lines


def _refused_notes(run: Run) -> list[str]:
    """Which measures of bias need labels that the model does not give."""
    names = [title(m) for m in run.refused if catalog.measure(m).worst is not None]
    if not names:
        return []
    lack = "They need a classifier that gives every option three labels"
    if run.suite.kind == "pair":
        given = " and ".join(run.answers.labels)
        lack = f"The model gives {given} only, and three labels are needed"
    return [f"Not computed: {', '.join(names)}. {lack}."]


def notes(run: Run) -> list[str]:
    """What is missing, and what else the reader must know."""
    account, suite = account_of(run), run.suite
    lines = [f"{title(e.measure)}: {e.note}." for e in (*run.estimates, *checks(run)) if e.note]
    if account.notes is not None:
        lines += account.notes(run)
    if suite.limit is not None:
        lines.append(
            f"Only {counted(len(suite.probes), 'probe')} of a larger suite asked; "
            "the numbers do not compare with those of the whole suite."
        )
    lines += _unanswered_notes(run) + _refused_notes(run)
    if suite.kind == "pair" and len(run.answers.labels) != len(NLI_LABELS):
        lines.append(
            "The random and constant baselines answer with three labels, the model with two; "
            "they are not on one footing."
        )
    ties = (tie_note(run, e) for e in run.estimates if e.ties)
    return [*lines, *filter(None, ties)]


def tie_note(run: Run, estimate: Estimate) -> str:
    """How many answers tie, and how they are counted."""
    if (own := account_of(run).ties) is not None:
        return own(run, estimate)
    ties = counted(estimate.ties, "answer")
    return (
        f"{title(estimate.measure)}: {ties} in which labels tie for the highest value, "
        "shared evenly between them."
    )


def score_dot(run: Run, estimate: Estimate, label: str = "") -> DotRow:
    """The row of a chart that shows an estimate with its best value and its baselines."""
    rules = ((run.baseline(rule, estimate.measure), mark) for rule, mark in BASELINES.items())
    return DotRow(
        label=label or title(estimate.measure),
        interval=estimate.interval,
        note=with_bounds(estimate.interval),
        others=(
            (catalog.measure(estimate.measure).fair, "fair"),
            *((e.value, mark) for e, mark in rules if e is not None),
        ),
    )


def score_legend(run: Run, *, best: str = "") -> tuple[Key, ...]:
    """What the marks of a score chart mean."""
    own = account_of(run).respondent
    respondent = own(run) if own is not None else "this model"
    return (
        ("model", f"{respondent}, with interval"),
        ("fair", best or f"{best_word(run)} value"),
        ("random", "random answers"),
        ("constant", constant_answers(run)),
    )


def score_words(rows: Sequence[DotRow], best: str = "fair") -> str:
    """A score chart in words."""
    texts = []
    for row in rows:
        others = (f"{best if mark == 'fair' else mark} {number(x)}" for x, mark in row.others)
        texts.append(f"{row.label} {row.note}, {', '.join(others)}")
    return "; ".join(texts)


def score_chart(run: Run, estimates: Sequence[Estimate] = ()) -> DotChart:
    """A chart of scores on one axis, each with its fair, random and constant values.

    estimates: those to show; by default all that have the unit of the headline.
    """
    unit = catalog.measure(run.headline.measure).unit
    same = [e for e in run.estimates if catalog.measure(e.measure).unit == unit]
    chosen = estimates or same
    firsts = {g.estimates[0].measure for g in score_groups(run)[1:]}
    cards = {e.measure: catalog.measure(e.measure).card for e in chosen}
    has_room = run.suite.kind == "pair"  # the other families have many scores with long names
    names = {m: card.title if has_room else card.short for m, card in cards.items()}
    rows = [
        replace(score_dot(run, e, names[e.measure]), is_apart=e.measure in firsts) for e in chosen
    ]
    low = min(card.range[0] for card in cards.values())
    high = max(card.range[1] for card in cards.values())
    domain = (low, high)
    if not math.isfinite(low + high):
        values = [v for r in rows for v in (*r.interval, *(x for x, _ in r.others))]
        domain = spanning(values, low=low)
    best = best_word(run, chosen)
    return DotChart(
        name="scores",
        title=f"Scores with intervals against {best}, random and constant answers",
        description=score_words(rows, best),
        legend=score_legend(run, best=f"{best} value"),
        rows=tuple(rows),
        domain=domain,
    )


def known_groups(view: Breakdown | None, count: int | None = None) -> list[Group]:
    """The first `count` groups of a breakdown that have a value (all of them by default)."""
    groups = view.groups if view else ()
    return [g for g in groups if math.isfinite(g.interval.value)][:count]


def groups_in_words(rows: Sequence[DotRow]) -> str:
    """A chart of groups in words."""
    return "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)
