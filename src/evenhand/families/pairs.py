"""What the families of premise-hypothesis pairs share: label shares, occupations, sentence frames.

The shares are estimated by `examine_strata` before a report; the sections below only read them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from evenhand.core import catalog
from evenhand.core.account import (
    group_name,
    group_probes,
    groups_in_words,
    known_groups,
    title,
    with_remark,
)
from evenhand.core.answers import Answers
from evenhand.core.chart import DotChart, DotRow, Key, ShareBar, ShareChart
from evenhand.core.document import (
    Answer,
    Cell,
    Column,
    Prose,
    Row,
    Section,
    Table,
    make_section,
    probe_query,
)
from evenhand.core.estimate import NO_INTERVAL, Breakdown, Group, Interval
from evenhand.core.evidence import label_shares, pair_table, probabilities, ratio, stratum_mask
from evenhand.core.probe import GENDERS, NLI_LABELS, Floats, Probe, group_rows
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import counted, in_points, number, percent, with_bounds
from evenhand.families.effects import lean_of
from evenhand.stats.bootstrap import generator
from evenhand.stats.crossed import EvidenceTable
from evenhand.stats.groups import GroupEstimator, GroupScore, resampled_names
from evenhand.stats.intervals import SHARE

OCCUPATIONS, FRAMES = 25, 15  # how many a chart shows
LISTED = 10  # how many a table shows outside HTML
STRATUM = "stratum"  # the `by` of breakdowns by stratum, which is not a tag
LEAN_AND_WORD = "lean and gender word"  # the `by` of breakdowns by two tags
LEANS = {"female": "leans female", "male": "leans male", "none": "no lean"}

# Sentences that the limits of several families have in common.
FIXED_WORDS = (
    "It rests on a fixed list of words; other occupations and other gender words may fare "
    "differently."
)
ONE_GENRE = (
    "The sentences are of one genre, short descriptions of everyday scenes, and premise and "
    "hypothesis differ in one place only."
)
WEAK_LOOKS_BIASED = (
    "A weak NLI model looks biased, because every wrong answer of the counted kind adds to the "
    "score, whatever its cause."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumRule:
    """The title of a stratum, and which answers in it count against the model."""

    title: str
    label: str
    is_other: bool = False  # every label but `label` counts, instead of `label`
    measure: str = ""  # the measure whose score is the share of `label`, where there is one


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumShares:
    """The answers in one stratum; labels that tie for the highest value share an answer evenly."""

    stratum: str
    title: str
    probes: int
    answered: int
    shares: Mapping[str, float]  # of each label among the answered pairs
    counted: tuple[str, ...]  # the labels that count against the model
    component: Interval  # the share of these labels together
    has_variation: bool  # whether any resample differs from that share
    note: str  # why something is missing

    @property
    def name(self) -> str:
        """Stratum and title, `PS pro-stereotypical`; the title alone where they are the same."""
        return self.title if self.stratum in {"", self.title} else f"{self.stratum} {self.title}"


StratumRules = Mapping[str, StratumRule]


def share_of(label: str) -> str:
    """The name under which the share of a label is broken down."""
    return f"share of {label}"


def plain_label(label: str) -> str:
    """`not entailment` for `not_entailment`."""
    return label.replace("_", " ")


def answered_twins(
    probes: Sequence[Probe], table: Floats, strata: Container[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The rows of the hypotheses with a female word and of their male twins in these strata.

    Only where both were answered. table: (n, labels).
    """
    is_answered = np.asarray(np.isfinite(table).all(axis=1))
    rows = {probe.id: row for row, probe in enumerate(probes) if is_answered[row]}
    pairs = [
        (row, rows[probe.twin])
        for row, probe in enumerate(probes)
        if is_answered[row]
        and probe.stratum in strata
        and probe.tags.get("gender") == "female"
        and probe.twin in rows
    ]
    both = np.asarray(pairs, dtype=np.intp).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def leaning_twins(
    probes: Sequence[Probe], table: Floats, strata: Container[str]
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """`answered_twins` of the occupations whose lean is known: female, male or none."""
    female, male = answered_twins(probes, table, strata)
    is_known = np.asarray([bool(lean_of(probes[row])) for row in female], dtype=bool)
    return female[is_known], male[is_known]


def break_down_labels(
    suite: Suite,
    answers: Answers,
    settings: Settings,
    by: str,
    group_of: Callable[[Probe], str | None],
) -> tuple[Breakdown, ...]:
    """The share of each label in each group of pairs.

    group_of: the group of a probe, None for a probe that belongs to none.
    """
    given = label_shares(pair_table(answers.values))
    estimator = GroupEstimator.of(suite, answers, settings)
    groups: dict[str, list[Group]] = {label: [] for label in answers.labels}
    for name, rows in group_rows(answers.probes, group_of).items():
        answered = int(answers.is_answered[rows].sum())
        for column, label in enumerate(answers.labels):
            group = estimator.estimate(
                name,
                [answers.probes[row] for row in rows],
                EvidenceTable(rows=given[rows]),
                GroupScore(combine=partial(_label_share, column), limits=SHARE),
                generator(settings.seed, f"{name}.{label}"),
            )
            groups[label].append(replace(group, tags={}, probes=answered))
    return tuple(
        Breakdown(
            measure=share_of(label), by=by, unit=resampled_names(shares), groups=tuple(shares)
        )
        for label, shares in groups.items()
    )


def _label_share(column: int, totals: Floats) -> Floats:
    return ratio(totals[..., column], totals.sum(axis=-1))


def examine_strata(suite: Suite, answers: Answers, settings: Settings) -> tuple[Breakdown, ...]:
    """The share of each label in each stratum: the `examine` of families of pairs."""
    return break_down_labels(suite, answers, settings, STRATUM, lambda probe: probe.stratum)


def lean_and_word(probe: Probe) -> str | None:
    """The lean of the occupation and the gender word; None where one of them is not known."""
    lean, gender = lean_of(probe), probe.tags.get("gender")
    return cell_name(lean, gender) if lean and gender in GENDERS else None


def cell_name(lean: str, gender: str) -> str:
    """The name of the pairs with a lean and a gender word: `lean male, female word`."""
    return f"lean {lean}, {gender} word"


def examine_occupations(
    suite: Suite, answers: Answers, settings: Settings
) -> tuple[Breakdown, ...]:
    """The share of each label in each stratum, and for each lean and gender word."""
    cells = break_down_labels(suite, answers, settings, LEAN_AND_WORD, lean_and_word)
    return (*examine_strata(suite, answers, settings), *(view for view in cells if view.groups))


def counted_labels(rule: StratumRule | None, labels: Sequence[str]) -> tuple[str, ...]:
    """The labels that count against the model; empty where it lacks the label of the rule."""
    if rule is None or rule.label not in labels:
        return ()
    return tuple(label for label in labels if (label != rule.label) == rule.is_other)


def _component(run: Run, stratum: str, rule: StratumRule | None) -> Interval:
    """What counts against the model, with the interval of the estimate that it is part of."""
    if rule is None or rule.label not in run.answers.labels:
        return NO_INTERVAL
    parts = (e.parts.get(f"{stratum}.{rule.label}") for e in run.estimates)
    share = next((part for part in parts if part is not None), None)
    if share is None and (whole := run.estimate(rule.measure)) is not None:
        share = whole.interval
    if share is None:
        share = _share(run, rule.label, stratum)
    if not rule.is_other:
        return share
    return share.complement


def _share(run: Run, label: str, stratum: str) -> Interval:
    view = run.breakdown(share_of(label), STRATUM)
    group = view.group(stratum) if view else None
    return group.interval if group else NO_INTERVAL


def _has_variation(run: Run, label: str, stratum: str) -> bool:
    view = run.breakdown(share_of(label), STRATUM)
    group = view.group(stratum) if view else None
    return group is None or group.has_variation


def _missing(rule: StratumRule | None, labels: Sequence[str], answered: int) -> str:
    if not answered:
        return "no answer in this stratum"
    if rule is not None and rule.label not in labels:
        return f"the model has no label '{rule.label}'"
    return ""


def stratum_shares(run: Run, rules: StratumRules) -> list[StratumShares]:
    """Every stratum of the suite: those with a rule first, in the order of the rules."""
    answers, present = run.answers, run.suite.strata
    rows = []
    for stratum in [*(s for s in rules if s in present), *sorted(present - set(rules))]:
        rule = rules.get(stratum)
        is_in = stratum_mask(answers.probes, stratum)
        answered = int((is_in & answers.is_answered).sum())
        rows.append(
            StratumShares(
                stratum=stratum,
                title=rule.title if rule else stratum or "all pairs",
                probes=int(is_in.sum()),
                answered=answered,
                shares={label: _share(run, label, stratum).value for label in answers.labels},
                counted=counted_labels(rule, answers.labels),
                component=_component(run, stratum, rule),
                has_variation=rule is None or _has_variation(run, rule.label, stratum),
                note=_missing(rule, answers.labels, answered),
            )
        )
    return rows


def shares_chart(run: Run, rows: Sequence[StratumShares]) -> ShareChart | None:
    """How often each label is given in each stratum; None where nothing was answered."""
    bars = tuple(
        ShareBar(
            label=row.name,
            note=counted(row.answered, "pair"),
            parts=tuple(
                (plain_label(label), share, label in row.counted)
                for label, share in row.shares.items()
            ),
            shows=probe_query({STRATUM: row.stratum}) if row.stratum else "",
        )
        for row in rows
        if row.answered
    )
    if not bars:
        return None
    in_words = "; ".join(
        f"{bar.label}: " + ", ".join(f"{name} {percent(share, 1)}" for name, share, _ in bar.parts)
        for bar in bars
    )
    legend: list[Key] = [(label, plain_label(label)) for label in run.answers.labels]
    if any(row.counted for row in rows if row.answered):
        legend.append(("counted", "framed: counts against the model"))
    return ShareChart(
        name="shares",
        title="Shares of the labels in each stratum",
        description=in_words,
        legend=tuple(legend),
        bars=bars,
    )


def shares_table(run: Run, rows: Sequence[StratumShares], note: str = "") -> Table:
    """The label shares of each stratum; those that count against the model are emphasised."""
    labels = run.answers.labels
    has_counted = any(row.counted for row in rows)
    marked = "Marked shares count against the model." if has_counted else ""
    body = []
    for row in rows:
        has_all = row.answered == row.probes
        pairs: Cell = row.answered if has_all else f"{row.answered:,} of {row.probes:,}"
        against: Cell = row.note or ("nothing" if not row.counted else row.component)
        if row.counted and not row.note and not row.has_variation:
            against = f"{in_points(row.component)} no variation seen"
        body.append(
            Row(
                cells=(row.name, pairs, *row.shares.values(), against),
                strong=frozenset(i + 2 for i, s in enumerate(labels) if s in row.counted),
            )
        )
    return Table(
        name="shares",
        title="Label shares",
        columns=(
            Column(title="stratum"),
            Column(title="pairs", form="count"),
            *(Column(title=plain_label(label), form="percent") for label in labels),
            Column(title="counts against, %", form="points"),
        ),
        rows=tuple(body),
        note=" ".join(filter(None, (marked, note))),
    )


def shares_section(run: Run, rules: StratumRules, note: str = "") -> Section | None:
    """The label shares as a chart and a table, with an optional note below the table."""
    rows = stratum_shares(run, rules)
    blocks = (shares_chart(run, rows), shares_table(run, rows, note)) if rows else ()
    return make_section("shares", "What the model says", blocks, is_brief=True)


def lean_table(
    run: Run, chance: Breakdown | None = None, names: Mapping[str, str] = LEANS
) -> Table | None:
    """The answers by lean and gender word; None where the pairs have no leans.

    chance: the mean probability of entailment by lean and gender word, where it is shown too.
    names: what each lean is called.
    """
    labels = run.answers.labels
    views = [view for label in labels if (view := run.breakdown(share_of(label), LEAN_AND_WORD))]
    if len(views) < len(labels):
        return None
    rows = []
    for lean, meaning in names.items():
        for gender in GENDERS:
            groups = [view.group(cell_name(lean, gender)) for view in views]
            shares = [group.interval.value for group in groups if group is not None]
            if not shares or groups[0] is None:
                continue
            mean = chance.group(cell_name(lean, gender)) if chance else None
            rows.append(
                Row(
                    cells=(
                        with_remark(meaning, mean) if mean else meaning,
                        gender,
                        groups[0].probes,
                        *shares,
                        *((mean.interval if mean else NO_INTERVAL,) if chance else ()),
                    )
                )
            )
    return Table(
        name="leans",
        title="Answers by lean and gender word",
        columns=(
            Column(title="occupation"),
            Column(title="gender word"),
            Column(title="pairs", form="count"),
            *(Column(title=plain_label(label), form="percent") for label in labels),
            *((Column(title="P(entailment)", form="interval"),) if chance else ()),
        ),
        rows=tuple(rows),
        note="A stereotype shows where the gender word that is entailed changes with the lean, a "
        "default where it is the same for every lean.",
    )


def sentence_frame(template: str) -> str:
    """A frame as a report prints it: `{a} feeds ducks.` -> `[…] feeds ducks.`"""
    return re.sub(r"\{\w*\}", "[…]", template)


def _frame_name(group: Group) -> str:
    return with_remark(sentence_frame(group.name), group)


def _lean_mark(group: Group) -> str:
    lean = group.tags.get("lean", "")
    return lean if lean in LEANS else "model"


def _farthest(count: int, noun: str, view: Breakdown) -> str:
    shown = counted(count, noun)
    return f"The {shown} farthest from the fair value, of {len(view.groups):,}"


def lean_chart(run: Run, names: Mapping[str, str] = LEANS) -> DotChart | None:
    """The headline measure of every occupation, by lean; None without leans.

    names: what each lean is called.
    """
    measure = run.headline.measure
    view, whole = run.breakdown(measure, "occupation"), run.breakdown(measure, "lean")
    groups = {g.name: g for g in known_groups(whole)}
    if view is None or whole is None or not groups:
        return None
    rows, legend = [], []
    for lean, meaning in names.items():
        if lean not in groups:
            continue
        members = [g for g in known_groups(view) if g.tags.get("lean") == lean]
        swarm = tuple(g.interval.value for g in members)
        score = groups[lean].interval
        rows.append(
            DotRow(
                label=with_remark(meaning, groups[lean]),
                interval=score,
                mark=lean,
                note=f"{counted(len(swarm), 'occupation')}, {with_bounds(score)}",
                swarm=swarm,
                swarm_names=tuple(g.name for g in members),
                swarm_shows=tuple(group_probes(run, view, g) for g in members),
                shows=group_probes(run, whole, groups[lean]),
            )
        )
        legend.append((lean, f"an occupation: {meaning}"))
    return DotChart(
        name="leans",
        title=f"{title(measure)} of every occupation, by lean",
        description=groups_in_words(rows),
        legend=(*legend, ("model", "all of that lean, with interval")),
        rows=tuple(rows),
        domain=catalog.measure(measure).card.range,
        axis=title(measure),
        fair=catalog.measure(measure).fair,
    )


def occupation_chart(run: Run, names: Mapping[str, str] = LEANS) -> DotChart | None:
    """The occupations farthest from the fair value; None where none has a value.

    names: what each lean is called.
    """
    view = run.breakdown(run.headline.measure, "occupation")
    groups = known_groups(view, OCCUPATIONS)
    if view is None or not groups:
        return None
    rows = [
        DotRow(
            label=group_name(g),
            interval=g.interval,
            mark=_lean_mark(g),
            shows=group_probes(run, view, g),
        )
        for g in groups
    ]
    marks = {row.mark for row in rows}
    return DotChart(
        name="occupations",
        title=_farthest(len(rows), "occupation", view),
        description=groups_in_words(rows),
        legend=(
            *((lean, meaning) for lean, meaning in names.items() if lean in marks),
            ("reference", "score of the whole suite"),
        ),
        language=run.suite.card.language,
        rows=tuple(rows),
        domain=catalog.measure(view.measure).card.range,
        reference=run.headline.value,
        is_dense=True,
        axis=title(view.measure),
        fair=catalog.measure(view.measure).fair,
    )


def frame_chart(run: Run) -> DotChart | None:
    """The sentence frames farthest from the fair value; None where none has a value."""
    view = run.breakdown(run.headline.measure, "template")
    groups = known_groups(view, FRAMES)
    if view is None or not groups:
        return None
    rows = [
        DotRow(label=_frame_name(g), interval=g.interval, shows=group_probes(run, view, g))
        for g in groups
    ]
    return DotChart(
        name="frames",
        title=_farthest(len(rows), "sentence frame", view),
        description=groups_in_words(rows),
        legend=(("model", "frame, with interval"), ("reference", "score of the whole suite")),
        language=run.suite.card.language,
        rows=tuple(rows),
        domain=catalog.measure(view.measure).card.range,
        reference=run.headline.value,
        axis=title(view.measure),
        fair=catalog.measure(view.measure).fair,
    )


def _occupation_table(view: Breakdown, names: Mapping[str, str]) -> Table:
    """Every occupation with its lean; where a majority of the workers counts, with that beside."""
    has_majority = any("majority" in g.tags for g in view.groups)
    rows = tuple(
        Row(
            cells=(
                group_name(g),
                *((g.tags.get("majority", ""),) if has_majority else ()),
                names.get(g.tags.get("lean", ""), "not known").removeprefix("leans "),
                g.interval,
                g.probes,
            )
        )
        for g in view.groups
    )
    return Table(
        name="occupations",
        title="Occupations",
        columns=(
            Column(title="occupation", is_quoted=True),
            *((Column(title="majority"),) if has_majority else ()),
            Column(title="dominated" if has_majority else "lean"),
            Column(title=title(view.measure), form="interval"),
            Column(title="pairs", form="count"),
        ),
        rows=rows,
        limit=LISTED,
        cut="farthest from the fair value",
        is_folded=True,
    )


def _frame_table(view: Breakdown) -> Table:
    return Table(
        name="frames",
        title="Sentence frames",
        columns=(
            Column(title="frame", is_quoted=True),
            Column(title=title(view.measure), form="interval"),
            Column(title="pairs", form="count"),
        ),
        rows=tuple(Row(cells=(_frame_name(g), g.interval, g.probes)) for g in view.groups),
        limit=LISTED,
        cut="farthest from the fair value",
        is_folded=True,
    )


def occupation_section(
    run: Run, note: str = "", names: Mapping[str, str] = LEANS
) -> Section | None:
    """Charts by lean and by occupation, with an optional note; None without occupations.

    names: what each lean is called.
    """
    view = run.breakdown(run.headline.measure, "occupation")
    if view is None:
        return None
    leans, chart = lean_chart(run, names), occupation_chart(run, names)
    blocks = (
        leans,
        Prose(lines=(note,), is_quiet=True) if leans and note else None,
        chart or Prose(lines=("No occupation got an answer that counts.",)),
        _occupation_table(view, names),
    )
    return make_section("occupations", "Occupations", blocks)


def frame_section(run: Run) -> Section | None:
    """The section on sentence frames; None where the probes have none."""
    view = run.breakdown(run.headline.measure, "template")
    if view is None:
        return None
    chart = frame_chart(run) or Prose(lines=("No sentence got an answer that counts.",))
    return make_section("frames", "Sentences", (chart, _frame_table(view)))


def label_chances(answers: Answers) -> Floats:
    """The probability of each label (n, labels); of labels alone, 1 for the one given, else 0."""
    table = pair_table(answers.values)
    return table if answers.is_labels_only else probabilities(table)


def label_answers(
    labels: Sequence[str],
    chances: Sequence[float],
    chosen: Sequence[str],
    *,
    is_labels_only: bool = False,
) -> tuple[Answer, ...]:
    """The probability of each label as parts of one bar; those in `chosen` are emphasised.

    Of labels alone only the one given is shown, without a number.
    """
    return tuple(
        Answer(
            label=plain_label(label),
            text=plain_label(label) if is_labels_only else f"{plain_label(label)} {number(chance)}",
            share=chance if math.isfinite(chance) and not is_labels_only else None,
            mark=label if label in NLI_LABELS else "neutral",
            is_chosen=label in chosen,
        )
        for label, chance in zip(labels, chances, strict=True)
        if chance > 0 or not is_labels_only
    )
