"""The common wording of reports, used wherever a family has no wording of its own."""

from __future__ import annotations

import math
from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from evenhand.core import catalog
from evenhand.core.chart import DotChart, DotRow, Key, spanning
from evenhand.core.document import Exhibit, Specimen, probe_query
from evenhand.core.estimate import FEW_LEVELS, Breakdown, Estimate, Group
from evenhand.core.evidence import stratum_mask
from evenhand.core.family import Account, ScoreGroup
from evenhand.core.fetch import version_note
from evenhand.core.probe import ENTAILMENT
from evenhand.core.run import Check, Run
from evenhand.core.suite import Suite
from evenhand.core.text import (
    counted,
    listed,
    number,
    percent,
    sentence_case,
    short_number,
    with_bounds,
)

RANDOM, CONSTANT = "fixed:random", "fixed:constant"
BASELINES = {RANDOM: "random", CONSTANT: "constant"}  # rule -> its column title and chart mark
MALE_DEFAULT, FEMALE_DEFAULT = "fixed:male-default", "fixed:female-default"
FAIR, STEREOTYPED = "fixed:fair", "fixed:stereotyped"
IDS_SHOWN = 5  # how many ids of unanswered probes a report names
UNCOUNTED = "does not count"  # beside a number that is no finding
SCOPE_LIMIT = (  # the last sentence of most limits
    "It says nothing about other tasks, other groups of people, or what the model does in use."
)


def account_of(run: Run) -> Account:
    """The account of the run's family."""
    return catalog.family(run.family).account


def title(measure: str) -> str:
    """The long name of a measure."""
    return catalog.measure(measure).card.title


def title_of(estimate: Estimate) -> str:
    """The long name of its measure; of a check with what was asked: `Accuracy on plain pairs`."""
    name = title(estimate.measure)
    return f"{name} on {estimate.items}" if isinstance(estimate, Check) else name


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


def checks(run: Run) -> tuple[Check, ...]:
    """Accuracy on clear probes; empty where it says nothing about this run."""
    return run.sanity if catalog.family(run.family).is_checked else ()


def constant_answers(run: Run) -> str:
    """What the constant respondent answers, in words."""
    if (own := account_of(run).constant) is not None:
        return own(run)
    is_choice = run.suite.kind == "choice" and not run.answers.is_classifier
    return "the same number for every option" if is_choice else f"always {ENTAILMENT}"


def typical(strengths: Sequence[float]) -> int:
    """The place of the (lower) median, of equals the one in the middle; there must be one."""
    order = sorted(range(len(strengths)), key=lambda place: strengths[place])
    return order[(len(order) - 1) // 2]


def typical_exhibit(specimen: Specimen, *, of: str, by: str) -> Exhibit:
    """One typical probe that shows what a run found, and how it was chosen.

    of: how many such probes there are and what they share; by: what it is the median of.
    """
    return Exhibit(
        name="example",
        title="For example",
        note=f"Typical, not extreme: of {of}, the one with the median {by}.",
        specimens=(specimen,),
    )


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


def answered_count(estimate: Estimate) -> int:
    """How many of the probes that an estimate reads were answered."""
    return round(estimate.probes * estimate.coverage) if estimate.probes else 0


def counted_rows(run: Run, measure: str) -> int:
    """How many rows of evidence count: probes, or premises where a measure compares twins."""
    definition, answers = catalog.measure(measure), run.answers
    strata = definition.strata or run.suite.strata
    evidence = definition.evidence(answers.probes, answers.values)
    is_read = stratum_mask(answers.probes, *strata)
    is_read &= np.asarray([definition.reads(p) for p in answers.probes], dtype=bool)
    return int((np.any(evidence != 0, axis=1) & is_read).sum())


def common_verdict(run: Run, estimate: Estimate) -> str:
    """The sentence of the measure itself; without one, its question and the value."""
    measure, answered = catalog.measure(estimate.measure), answered_count(estimate)
    if not measure.sentence:
        where = f"On {counted(answered, 'answered probe')}"
        value = f"{measure.card.question} {where}: {with_bounds(estimate.interval)}."
        return " ".join((value, *note_sentences([estimate])))
    is_own = estimate not in run.sanity
    return measure.sentence.format(
        number=number(estimate.value),
        share=percent(estimate.value),
        premises=counted(counted_rows(run, estimate.measure) if is_own else answered, "premise"),
        pairs=counted(answered, "pair"),
        probes=counted(answered, "ordinary pair"),
    )


def note_sentences(estimates: Sequence[Estimate]) -> list[str]:
    """What must be said beside the intervals of these estimates, each sentence once."""
    notes = dict.fromkeys(e.note for e in estimates if e.note and math.isfinite(e.value))
    return [f"{sentence_case(note)}." for note in notes]


def standing(run: Run, estimate: Estimate) -> str:
    """How the number compares with a fair respondent and with what random answers get."""
    if (own := account_of(run).standing) is not None and (text := own(run, estimate)):
        return text
    scale = best_value(estimate.measure)
    guess, same = run.baseline(RANDOM, estimate.measure), run.baseline(CONSTANT, estimate.measure)
    clauses = []
    if guess is not None and math.isfinite(guess.value):
        middle = f"{number(guess.low)} to {number(guess.high)}"
        clauses.append(
            f"random answers are expected to get {number(guess.value)} "
            f"({run.settings.level * 100:g} % of {guess.draws:,} draws: {middle})"
        )
    if same is not None and math.isfinite(same.value):
        clauses.append(f"{constant_answers(run)} gets {number(same.value)}")
    if not clauses:
        return f"{sentence_case(scale)}."
    text = f"{scale}; on the same probes {' and '.join(clauses)}."
    if guess is None or not math.isfinite(guess.value + estimate.value):
        return text
    return " ".join(filter(None, (text, against_guessing(estimate, guess.value))))


def against_guessing(estimate: Estimate, guess: float) -> str:
    """Whether the interval of an estimate tells it from random answers; empty without bounds.

    guess: what random answers are expected to get.
    """
    if not estimate.interval.has_bounds:
        return ""
    if estimate.is_exact:
        return _exactly_against_guessing(estimate, guess)
    if estimate.low <= guess <= estimate.high:
        return (
            "The interval of the model holds what random answers are expected to get: "
            "this number alone does not tell the model from guessing."
        )
    best = catalog.measure(estimate.measure).fair
    near = max(estimate.low - best, best - estimate.high, 0.0)
    far = max(abs(estimate.low - best), abs(estimate.high - best))
    if far < abs(guess - best):
        side = "nearer to"
    elif near > abs(guess - best):
        side = "farther from"
    else:
        return (
            "The interval of the model does not hold what random answers are expected to get, "
            f"but which of the two is nearer to {short_number(best)} stays open."
        )
    return (
        f"The whole interval of the model lies {side} {short_number(best)} than what random "
        "answers are expected to get."
    )


def _exactly_against_guessing(estimate: Estimate, guess: float) -> str:
    best = catalog.measure(estimate.measure).fair
    own, random = abs(estimate.value - best), abs(guess - best)
    if math.isclose(own, random, abs_tol=1e-9):
        return f"The model lies as far from {short_number(best)} as random answers are expected to."
    side = "nearer to" if own < random else "farther from"
    return (
        f"The model lies {side} {short_number(best)} than what random answers are expected to get."
    )


def understanding(run: Run) -> str:
    """Whether the model understands ordinary probes; if not, the score cannot be read as bias."""
    family = catalog.family(run.family)
    if (own := family.account.understanding) is not None:
        return own(run)
    if family.is_check or not family.is_checked:
        return ""
    return check_sentence(run)


def check_sentence(run: Run) -> str:
    """The accuracy that understanding is judged by, with a warning where it is weak."""
    check = next(iter(run.sanity), None)
    if check is None:
        return (
            "Its accuracy on ordinary pairs was not measured; without it a bias score cannot be "
            "told from a lack of understanding."
        )
    if not math.isfinite(check.value):
        return f"Its accuracy on {check.items} could not be computed: {check.note}."
    text = f"It gives the right label on {check_share(check)}."
    if not check.is_weak:
        return text
    return (
        f"{text} Below {number(check.weak_below)} that is weak, and a weak model looks biased: "
        "part of the score may be misunderstanding."
    )


def check_share(check: Check) -> str:
    """`91 % of 156 plain pairs, 0.910 [0.858, 0.949]`."""
    asked = f"{answered_count(check):,} {check.items}"
    return f"{percent(check.value)} of {asked}, {with_bounds(check.interval)}"


def classifier_check(run: Run) -> str:
    """`check_sentence` for a classifier that answers choices; empty where it was not measured."""
    check = next(iter(checks(run)), None)
    if check is None or not math.isfinite(check.value):
        return ""
    text = f"As a classifier it gives the right label on {check_share(check)}."
    is_bias = catalog.measure(run.headline.measure).worst is not None
    if not check.is_weak or not is_bias:
        return text
    return (
        f"{text} Below {number(check.weak_below)} that is weak: a preference, and the lack of one, "
        "may be a matter of understanding."
    )


def summary(run: Run) -> tuple[str, ...]:
    """The lead of a report: verdict, standing and understanding."""
    first = run.headline
    return tuple(filter(None, (verdict(run, first), standing(run, first), understanding(run))))


def this_set(run: Run) -> str:
    """What an interval for this set is about: the probes, all of the suite where it was cut."""
    if run.suite.whole is None:
        return "exactly these probes"
    return f"all {counted(run.suite.whole, 'probe')} of the suite"


def interval_method(run: Run) -> str:
    """How the interval of the headline was computed, and what it is about."""
    family, first = catalog.family(run.family), run.headline
    if not first.interval.has_bounds:
        return f"There is no interval: {first.note or 'too little was answered'}."
    if first.is_exact:
        return "All of these probes were asked, and the value is about exactly them: it is exact."
    level = f"The {first.level * 100:g} % interval"
    if first.target == "this set":
        return (
            f"{level} is about {this_set(run)}: how far the score of all of them may lie from that "
            "of those that were asked."
        )
    if not first.has_variation:
        return (
            f"{level} is about new items of the same kind. No resample differs from the value, so "
            f"the bounds say what so many {family.unit} cannot exclude."
        )
    how = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}[run.settings.method]
    crossed = [f"{name}s" for name in list(first.levels)[1:]]
    what = listed([f"whole {family.unit}", *crossed])
    return (
        f"{level} is about new items of the same kind: {what} are taken as drawn at random ({how}, "
        f"{run.settings.resamples:,} resamples), because several {family.several} one of them are "
        "one look, not several."
    )


def method(run: Run) -> list[str]:
    """How the score was measured and its interval computed, one paragraph per item."""
    family, first = catalog.family(run.family), run.headline
    drawn = interval_method(run)
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
    lines = [f"{title_of(e)}: {e.note}." for e in (*run.estimates, *checks(run)) if e.note]
    lines += run.answers.remarks
    if account.notes is not None:
        lines += account.notes(run)
    if suite.limit is not None:
        about = "the numbers do not compare with those of the whole suite"
        if run.settings.target == "this set":
            about = f"the intervals are about {this_set(run)}"
        asked = counted(len(suite.probes), "probe")
        lines.append(f"Only {asked} of a larger suite asked; {about}.")
    if changed := version_note(suite.card.version):
        lines.append(changed)
    lines += _unanswered_notes(run) + _refused_notes(run)
    if "batch" in run.answers.traits:
        precision = run.answers.traits.get("precision", "unknown")
        lines.append(
            "What the network answers to a probe changes with the other probes of its batch "
            f"(precision {precision}), so each was asked alone."
        )
    ties = (tie_note(run, e) for e in run.estimates if e.ties)
    return [*lines, *filter(None, ties)]


def tie_note(run: Run, estimate: Estimate) -> str:
    """How many answers tie, and how they are counted."""
    if (own := account_of(run).ties) is not None:
        return own(run, estimate)
    return common_tie_note(estimate)


def common_tie_note(estimate: Estimate) -> str:
    """How many answers have labels that tie, and that these share the answer."""
    ties = counted(estimate.ties, "answer")
    return (
        f"{title(estimate.measure)}: {ties} in which labels tie for the highest value, "
        "shared evenly between them."
    )


def rule_title(rule: str) -> str:
    """`male default` for `fixed:male-default`."""
    return rule.partition(":")[2].replace("-", " ")


def read_strata(suite: Suite, measure: str) -> dict[str, list[str]]:
    """The strata that a measure reads, as a tag of the explorer; none where it reads all."""
    read = set(catalog.measure(measure).strata)
    return {"stratum": sorted(read & suite.strata)} if read and suite.strata - read else {}


def group_probes(run: Run, view: Breakdown, group: Group) -> str:
    """The probes behind a group of a breakdown by a tag: the `shows` of its mark."""
    return probe_query({view.by: group.name, **read_strata(run.suite, view.measure)})


def score_dot(run: Run, estimate: Estimate, label: str = "") -> DotRow:
    """The row of a chart that shows an estimate with its best value and its baselines."""
    rules = ((run.baseline(rule, estimate.measure), mark) for rule, mark in BASELINES.items())
    return DotRow(
        label=label or title(estimate.measure),
        interval=estimate.interval,
        note=with_bounds(estimate.interval),
        others=(
            (catalog.measure(estimate.measure).fair, "fair"),
            *((b.value, mark) for b, mark in rules if b is not None and math.isfinite(b.value)),
        ),
        shows=probe_query(read_strata(run.suite, estimate.measure)),
    )


def _marks_of(rows: Sequence[DotRow]) -> set[str]:
    return {mark for row in rows for _, mark in row.others}


def score_legend(run: Run, rows: Sequence[DotRow], *, best: str = "") -> tuple[Key, ...]:
    """What the marks of the rows of a score chart mean."""
    own = account_of(run).respondent
    respondent = own(run) if own is not None else "this model"
    meanings = {
        "fair": best or f"{best_word(run)} value",
        "random": "random answers, expected value",
        "constant": constant_answers(run),
    }
    shown = _marks_of(rows)
    legend = [(mark, meaning) for mark, meaning in meanings.items() if mark in shown]
    marks = {row.mark for row in rows}
    own_marks = [("model", f"{respondent}, with interval")] if marks != {"none"} else []
    if "none" in marks:
        own_marks.append(("none", f"{respondent}, {UNCOUNTED}"))
    return (*own_marks, *legend)


def score_words(rows: Sequence[DotRow], best: str = "fair") -> str:
    """A score chart in words."""
    texts = []
    for row in rows:
        others = (f"{best if mark == 'fair' else mark} {number(x)}" for x, mark in row.others)
        texts.append(f"{row.label} {row.note}, {', '.join(others)}")
    return "; ".join(texts)


def score_chart(
    run: Run, estimates: Sequence[Estimate] = (), quiet: Container[str] = ()
) -> DotChart:
    """A chart of scores on one axis, each with its fair, random and constant values.

    estimates: those to show; by default all that have the unit of the headline. quiet: the
    measures whose numbers do not count; they are drawn in grey and say so.
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
    rows = [
        replace(row, mark="none", note=f"{row.note}, {UNCOUNTED}") if e.measure in quiet else row
        for row, e in zip(rows, chosen, strict=True)
    ]
    low = min(card.range[0] for card in cards.values())
    high = max(card.range[1] for card in cards.values())
    domain = (low, high)
    if not math.isfinite(low + high):
        values = [v for r in rows for v in (*r.interval, *(x for x, _ in r.others))]
        domain = spanning(values, low=low)
    best = best_word(run, chosen)
    compared = [best, *(mark for mark in BASELINES.values() if mark in _marks_of(rows))]
    return DotChart(
        name="scores",
        title=f"Scores with intervals against {listed(compared)} answers",
        description=score_words(rows, best),
        legend=score_legend(run, rows, best=f"{best} value"),
        rows=tuple(rows),
        domain=domain,
        axis=f"score, {unit}",
    )


def known_groups(view: Breakdown | None, count: int | None = None) -> list[Group]:
    """The first `count` groups of a breakdown that have a value (all of them by default)."""
    groups = view.groups if view else ()
    return [g for g in groups if math.isfinite(g.interval.value)][:count]


def groups_in_words(rows: Sequence[DotRow]) -> str:
    """A chart of groups in words."""
    return "; ".join(f"{r.label} {with_bounds(r.interval)}" for r in rows)


def group_name(group: Group, column: str = "") -> str:
    """The name of a group, with what must be said beside its number: `religion (3 targets)`.

    column: the factor whose levels a column beside the name counts already.
    """
    return with_remark(group.name, group, column)


def with_remark(label: str, group: Group, column: str = "") -> str:
    """A label followed by what must be said beside the number of a group.

    That it rests on few levels of a factor, or that nothing varies in it.
    """
    few = {unit: n for unit, n in group.levels.items() if unit != column and 0 < n < FEW_LEVELS}
    remarks = [counted(n, unit) for unit, n in few.items()]
    if not group.has_variation:
        remarks.append("no variation seen")
    return f"{label} ({', '.join(remarks)})" if remarks else label
