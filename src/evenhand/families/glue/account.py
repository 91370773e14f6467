"""What a report says about a task asked as entailment: labels, and the clearest mistakes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.core import catalog
from evenhand.core.account import answered_count, check_share, checks, score_dot, score_legend
from evenhand.core.chart import DotChart, DotRow
from evenhand.core.document import (
    Column,
    Exhibit,
    Row,
    Section,
    Specimen,
    Table,
    make_section,
    probe_query,
)
from evenhand.core.estimate import NO_INTERVAL, Estimate, Interval
from evenhand.core.evidence import pair_table
from evenhand.core.family import Account
from evenhand.core.run import Run
from evenhand.core.text import counted, number, percent, with_bounds
from evenhand.families.glue.measures import (
    GOLD,
    GOLD_LABELS,
    RECALL,
    STRATUM,
    TASK,
    TWO_WAY,
    TWO_WAY_ACCURACY,
    ZERO_SHOT_ACCURACY,
    ZERO_SHOT_AVERAGE,
    gold_label,
    zero_shot_accuracy,
)
from evenhand.families.pairs import (
    label_answers,
    label_chances,
    plain_label,
    share_of,
)

MISTAKES = 10  # how many are shown


@dataclass(frozen=True, slots=True, kw_only=True)
class GoldShares:
    """The answered items with one gold label, and which labels they get."""

    label: str
    items: int
    shares: Mapping[str, float]
    recall: Interval


def gold_shares(run: Run) -> list[GoldShares]:
    """One row for each gold label that answered items have."""
    whole = run.estimate(ZERO_SHOT_ACCURACY.name)
    parts = whole.parts if whole else {}
    views = {label: run.breakdown(share_of(label), GOLD) for label in run.answers.labels}
    rows = []
    for gold in GOLD_LABELS:
        groups = {label: view.group(gold) for label, view in views.items() if view}
        there = {label: group for label, group in groups.items() if group and group.probes}
        if there:
            rows.append(
                GoldShares(
                    label=gold,
                    items=next(iter(there.values())).probes,
                    shares={label: group.interval.value for label, group in there.items()},
                    recall=parts.get(f"{RECALL}{gold}", NO_INTERVAL),
                )
            )
    return rows


def recall_chart(run: Run, rows: Sequence[GoldShares]) -> DotChart | None:
    """The share of right answers, of all items and by gold label."""
    whole = run.estimate(ZERO_SHOT_ACCURACY.name)
    if whole is None or not rows:
        return None
    dots = [score_dot(run, whole, "all items")]
    dots += [
        DotRow(
            label=f"{plain_label(row.label)}, n = {row.items:,}",
            interval=row.recall,
            note=with_bounds(row.recall),
            shows=probe_query({GOLD: row.label}),
        )
        for row in rows
    ]
    return DotChart(
        name="recalls",
        title="Share of right answers by gold label",
        description="; ".join(f"{dot.label} {dot.note}" for dot in dots),
        legend=score_legend(run, dots, best="1: always right"),
        rows=tuple(dots),
        domain=(0.0, 1.0),
        axis="share of right answers",
        fair=1.0,
    )


def recall_table(run: Run, rows: Sequence[GoldShares]) -> Table | None:
    """Which labels the model gives to the items of each gold label."""
    if not rows:
        return None
    labels = run.answers.labels
    return Table(
        name="recalls",
        title="What the model says, by gold label",
        columns=(
            Column(title="gold label"),
            Column(title="items", form="count"),
            *(Column(title=plain_label(label), form="percent") for label in labels),
            Column(title="right", form="interval"),
        ),
        rows=tuple(
            Row(cells=(plain_label(row.label), row.items, *row.shares.values(), row.recall))
            for row in rows
        ),
    )


def mistakes(run: Run, count: int = MISTAKES) -> Exhibit | None:
    """The wrong answers with the highest probability; None where nothing is wrong."""
    answers = run.answers
    table = pair_table(answers.values)
    counts = ZERO_SHOT_ACCURACY.evidence(answers.probes, answers.values)
    chances, is_labels_only = label_chances(answers), answers.is_labels_only
    wrong = [i for i in range(len(table)) if counts[i, 0] > 0 and counts[i, 1] == 0]
    order = sorted(wrong, key=lambda i: -float(np.max(chances[i])))[:count]
    if not order:
        return None
    specimens = []
    for row in order:
        probe, given = answers.probes[row], int(np.argmax(table[row]))
        label, right = answers.labels[given], plain_label(probe.tags[GOLD])
        chance = "" if is_labels_only else f" with {number(float(chances[row, given]))}"
        shown = label_answers(
            answers.labels,
            [float(c) for c in chances[row]],
            [label],
            is_labels_only=is_labels_only,
        )
        specimens.append(
            Specimen(
                id=probe.id,
                language=probe.language,
                lines=probe.texts,
                summary=f"right is {right}, the model says {plain_label(label)}{chance}",
                answers=shown,
                tag=f"right: {right}",
                quiet=frozenset({1}),
            )
        )
    wrong_answers = counted(len(specimens), "wrong answer")
    return Exhibit(
        name="mistakes",
        title="Mistakes" if is_labels_only else "The mistakes that the model is surest of",
        note=f"The first {wrong_answers}; only labels were given."
        if is_labels_only
        else f"The {wrong_answers} with the highest probability.",
        specimens=tuple(specimens),
    )


def sections(run: Run) -> Sequence[Section]:
    """Labels by gold label, and the mistakes."""
    rows = gold_shares(run)
    shown = mistakes(run)
    made = (
        make_section(
            "labels", "Labels", (recall_chart(run, rows), recall_table(run, rows)), is_brief=True
        ),
        make_section("mistakes", shown.title, (shown,)) if shown else None,
    )
    return [section for section in made if section is not None]


def task_name(run: Run) -> str:
    """`mnli`; empty where the probes do not say, or are of several tasks."""
    names = {p.tags.get("task", "") for p in run.answers.probes}
    return next(iter(names)) if len(names) == 1 else ""


def verdict(run: Run, estimate: Estimate) -> str:
    """On how many items the label is right, and on how many of each gold label."""
    items = counted(answered_count(estimate), "item")
    recalls = ", ".join(
        f"{percent(part.value)} of those that are {plain_label(name.removeprefix(RECALL))}"
        for name, part in estimate.parts.items()
        if name.startswith(RECALL)
    )
    task = f" of {task_name(run).upper()}" if task_name(run) else ""
    if estimate.measure == ZERO_SHOT_AVERAGE.name:
        tasks = [name for name in estimate.parts if name.startswith(TASK)]
        listed_tasks = ", ".join(
            f"{name.removeprefix(TASK).upper()} {number(estimate.parts[name].value)}"
            for name in tasks
        )
        mean = f"is right on {percent(estimate.value)} of the items"
        return f"On average over {counted(len(tasks), 'task')} the model {mean}: {listed_tasks}."
    if estimate.measure == TWO_WAY_ACCURACY.name:
        return (
            f"Between entailment and contradiction alone, {percent(estimate.value)} of {items}"
            f"{task} are decided rightly."
        )
    each = f": {recalls}" if recalls else ""
    return f"The model gives the right label on {percent(estimate.value)} of {items}{task}{each}."


def one_label_shares(run: Run) -> dict[str, float]:
    """On which share of the answered items each label is right; empty where none has a gold label.

    Neutral and contradiction are both right where the gold label is only “not entailment”.
    """
    answers, labels = run.answers, run.answers.labels
    golds = [
        gold
        for probe, is_answered in zip(answers.probes, answers.is_answered, strict=True)
        if is_answered and (gold := gold_label(probe))
    ]
    if not golds:
        return {}
    sure = np.eye(len(labels))
    return {
        label: zero_shot_accuracy(np.tile(sure[place], (len(golds), 1)), golds)
        for place, label in enumerate(labels)
    }


def understanding(run: Run) -> str:
    """How often one label alone can be right, and the accuracy on clear pairs."""
    shares = one_label_shares(run)
    lines = []
    if shares:
        most = max(shares.values())
        labels = ", ".join(plain_label(label) for label, share in shares.items() if share == most)
        lines.append(f"No label alone is right on more than {percent(most)} of them ({labels}).")
    check = next(iter(checks(run)), None)
    if check is not None and math.isfinite(check.value):
        lines.append(f"It gives the right label on {check_share(check)}.")
    return " ".join(lines)


def method(run: Run, drawn: str) -> list[str]:
    """How it was measured; `drawn` says how the intervals were computed."""
    card = catalog.measure(run.headline.measure).card
    return [
        f"{run.suite.card.description.rstrip('.')}.",
        f"{card.title} is the share of answered items that get their gold label; where the gold "
        "label is only “entailment or not”, neutral and contradiction are both “not”.",
        drawn,
    ]


def limits(run: Run) -> list[str]:
    """What the number does not say."""
    return [
        "It says nothing about bias: it tells a fair model from one that understands nothing.",
        *dict.fromkeys(catalog.measure(e.measure).card.caveat for e in run.estimates),
        "The task is put into one wording; another wording may fare differently.",
    ]


def ties(run: Run, estimate: Estimate) -> str:
    """How many items have ties, and how they are counted."""
    items = counted(estimate.ties, "item")
    if estimate.measure == TWO_WAY_ACCURACY.name:
        return f"{items} in which entailment and contradiction tie; they count half."
    return f"{items} in which labels tie for the highest value; they share the answer."


ACCOUNT = Account(
    sections=sections,
    verdict=verdict,
    understanding=understanding,
    method=method,
    limits=limits,
    ties=ties,
    strata={STRATUM: "item", TWO_WAY: "item, two-way"},
)
