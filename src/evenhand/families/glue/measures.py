"""How often items of GLUE get their gold label. Between 0 and 1; 1 is right.

zero_shot_accuracy: the share of items that get their gold label.
two_way_accuracy: of tasks with two gold labels, decided between entailment and contradiction alone,
    the neutral value left out.
zero_shot_average: the mean over tasks of the accuracy, three-way of MNLI and two-way of the others.

Where the gold label is only "entailment or not", neutral and contradiction are both "not"; a
two-label model is right when it says "not" for neutral and contradiction. Labels that tie share
the answer. It says nothing about bias, but tells fairness from ignorance: a model that understands
nothing prefers nobody. Luo, Glass 2023.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from evenhand.core.answers import Answers
from evenhand.core.estimate import Breakdown
from evenhand.core.evidence import (
    TWO_OR_THREE,
    check_names,
    checked_table,
    count_ties,
    label_shares,
    mean_of,
    pair_table,
    ratio,
)
from evenhand.core.measure import Measure, MeasureCard
from evenhand.core.probe import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NLI_LABELS,
    NOT_ENTAILMENT,
    Floats,
    Probe,
)
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.families.pairs import break_down_labels, examine_strata

STRATUM, TWO_WAY = "zero-shot", "two-way"  # three gold labels, two
TASK_NAMES = ("mnli", "mnli-mm", "rte", "qnli", "qqp", "sst2", "cola")
TASK = "task."  # prefix of the parts of the average
CITATION = (
    "Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates Stereotypical Sentence "
    "Reasoning. EACL."
)
GOLD = "gold"  # the tag with the right label
GOLD_LABELS = (*NLI_LABELS, NOT_ENTAILMENT)
RECALL = "recall."  # prefix of the parts: the share of right answers by gold label
_RIGHT = {  # the columns that are right for a gold label: of three labels, of two
    ENTAILMENT: ((1, 0, 0), (1, 0)),
    NEUTRAL: ((0, 1, 0), (0, 1)),
    CONTRADICTION: ((0, 0, 1), (0, 1)),
    NOT_ENTAILMENT: ((0, 1, 1), (0, 1)),
}


def _count_right(table: Floats, gold: Sequence[str]) -> Floats:
    """Ten columns: whether the item counts and is right, then both again for each gold label."""
    shares, labels = label_shares(table), table.shape[1]
    columns = [_RIGHT[g][labels == 2] if g in _RIGHT else (0,) * labels for g in gold]
    right = np.asarray(columns, dtype=np.float64).reshape(len(gold), labels)
    is_gold = np.asarray([[g == c for c in GOLD_LABELS] for g in gold], dtype=np.float64)
    is_gold = is_gold.reshape(len(gold), len(GOLD_LABELS))
    read = is_gold * shares.sum(axis=1, keepdims=True)  # nothing where there is no answer
    hits = read * (shares * right).sum(axis=1, keepdims=True)
    whole = [read.sum(axis=1, keepdims=True), hits.sum(axis=1, keepdims=True)]
    return np.concatenate([*whole, read, hits], axis=1)


def gold_label(probe: Probe) -> str:
    """The gold label of an item of a task; empty for other probes."""
    return probe.tags.get(GOLD, "") if probe.stratum in (STRATUM, TWO_WAY) else ""


def _decide_two_ways(table: Floats, gold: Sequence[str]) -> Floats:
    """Two columns: whether the item counts, and how far it is right (a tie counts half).

    Decided between entailment and contradiction; items with another gold label do not count.
    """
    is_entailed = np.asarray([g == ENTAILMENT for g in gold], dtype=bool)
    is_two_way = np.asarray([g in (ENTAILMENT, NOT_ENTAILMENT) for g in gold], dtype=bool)
    is_counted = is_two_way & np.isfinite(table).all(axis=1)
    yes = (1 + np.sign(np.where(is_counted, table[:, 0] - table[:, -1], 0.0))) / 2
    right = np.where(is_counted, np.where(is_entailed, yes, 1 - yes), 0.0)
    return np.stack([is_counted, right], axis=1).astype(np.float64)


def _two_way_gold(probes: Sequence[Probe]) -> list[str]:
    return [gold_label(p) if p.stratum == TWO_WAY else "" for p in probes]


def _two_way_evidence(probes: Sequence[Probe], values: Floats) -> Floats:
    return _decide_two_ways(pair_table(values), _two_way_gold(probes))


def _two_way_ties(probes: Sequence[Probe], values: Floats) -> int:
    """In how many items entailment and contradiction tie."""
    counts = _two_way_evidence(probes, values)
    return int(((counts[:, 0] > 0) & (counts[:, 1] == 0.5)).sum())


def two_way_accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """The share of rows that entailment against contradiction decides rightly; a tie is half.

    probabilities: (items, 3), columns entailment, neutral, contradiction. gold: entailment or
    not_entailment. Raises MeasureError for any other word.
    """
    table = checked_table(probabilities, gold, what="gold labels")
    check_names(gold, "gold label", (ENTAILMENT, NOT_ENTAILMENT))
    return float(mean_of(_decide_two_ways(table, gold).sum(axis=0)))


def _average_evidence(probes: Sequence[Probe], values: Floats) -> Floats:
    """Two columns for each task: whether the item counts, and how far it is right."""
    table = pair_table(values)
    three = _count_right(table, [gold_label(p) if p.stratum == STRATUM else "" for p in probes])
    counts = three[:, :2] + _decide_two_ways(table, _two_way_gold(probes))
    is_task = np.asarray([[p.tags.get("task") == t for t in TASK_NAMES] for p in probes], bool)
    is_task = is_task.reshape(len(probes), len(TASK_NAMES))
    by_task = is_task[:, :, np.newaxis] * counts[:, np.newaxis, :]
    return by_task.reshape(len(probes), 2 * len(TASK_NAMES))


def _task_shares(totals: Floats) -> Floats:
    """The accuracy of each task (..., tasks); NaN where it has no items."""
    return ratio(totals[..., 1::2], totals[..., ::2])


def _average(totals: Floats) -> Floats:
    """The mean over the tasks that have items."""
    shares = _task_shares(totals)
    is_there = np.isfinite(shares)
    return ratio(np.where(is_there, shares, 0.0).sum(axis=-1), is_there.sum(axis=-1))


def _task_parts(totals: Floats) -> Mapping[str, Floats]:
    shares = _task_shares(totals)
    return {
        f"{TASK}{name}": shares[..., place]
        for place, name in enumerate(TASK_NAMES)
        if totals[..., 2 * place].any()
    }


def _average_ties(probes: Sequence[Probe], values: Floats) -> int:
    """Ties for the highest of three labels, and of the two that decide two-way items."""
    rows = [row for row, p in enumerate(probes) if p.stratum == STRATUM]
    return count_ties(pair_table(values)[rows]) + _two_way_ties(probes, values)


def zero_shot_average(accuracies: ArrayLike) -> float:
    """The mean of the accuracies of tasks, from 0 to 1; those that are NaN are left out."""
    shares = np.asarray(accuracies, dtype=np.float64)
    known = shares[np.isfinite(shares)]
    return float(known.mean()) if known.size else float("nan")


def _evidence(probes: Sequence[Probe], values: Floats) -> Floats:
    return _count_right(pair_table(values), [gold_label(p) for p in probes])


def _recalls(totals: Floats) -> Mapping[str, Floats]:
    """The share that is right of each gold label that the task has."""
    read, hits = np.split(totals[..., 2:], 2, axis=-1)
    return {
        f"{RECALL}{label}": ratio(hits[..., i], read[..., i])
        for i, label in enumerate(GOLD_LABELS)
        if read[..., i].any()
    }


def zero_shot_accuracy(probabilities: ArrayLike, gold: Sequence[str]) -> float:
    """The share of rows whose highest column is right for the gold label.

    probabilities: (items, 2 or 3), columns entailment, neutral, contradiction.
    gold: entailment, neutral, contradiction or not_entailment. Raises MeasureError for any other
    word.
    """
    table = checked_table(probabilities, gold, what="gold labels", columns=TWO_OR_THREE)
    check_names(gold, "gold label", GOLD_LABELS)
    return float(mean_of(_count_right(table, gold).sum(axis=0)))


def examine(suite: Suite, answers: Answers, settings: Settings) -> tuple[Breakdown, ...]:
    """The share of each label over all items, and by gold label."""
    by_gold = break_down_labels(
        suite, answers, settings, GOLD, lambda probe: gold_label(probe) or None
    )
    return (*examine_strata(suite, answers, settings), *by_gold)


ZERO_SHOT_ACCURACY = Measure(
    name="zero_shot_accuracy",
    kind="pair",
    card=MeasureCard(
        title="Zero-shot accuracy",
        short="zero-shot Acc",
        question="Does the model understand a task that it is only told of in words?",
        formula="right / answered",
        range=(0.0, 1.0),
        citation=CITATION,
        caveat="A model that is fair but knows nothing is seen as such here: near the share of "
        "the most frequent label it guesses. On MNLI a model that was trained on MNLI is not "
        "asked zero-shot.",
    ),
    fair=1.0,
    worst=None,
    best="right",
    evidence=_evidence,
    combine=mean_of,
    function=zero_shot_accuracy,
    strata=frozenset({STRATUM, TWO_WAY}),
    labels=frozenset({ENTAILMENT}),
    parts=_recalls,
)
TWO_WAY_ACCURACY = Measure(
    name="two_way_accuracy",
    kind="pair",
    card=MeasureCard(
        title="Two-way accuracy",
        short="two-way Acc",
        question="Does the model understand a task with two answers, where neutral is no choice?",
        formula="right / answered, entailment where its value is above that of contradiction, "
        "ties half",
        range=(0.0, 1.0),
        citation=CITATION,
        caveat="Neutral items count as whatever of the other two is higher; a model that says "
        "neutral throughout is not seen as such here.",
    ),
    fair=1.0,
    worst=None,
    best="right",
    evidence=_two_way_evidence,
    combine=mean_of,
    function=two_way_accuracy,
    strata=frozenset({TWO_WAY}),
    labels=frozenset(NLI_LABELS),
    needs_numbers=True,
    ties=_two_way_ties,
)
ZERO_SHOT_AVERAGE = Measure(
    name="zero_shot_average",
    kind="pair",
    card=MeasureCard(
        title="Zero-shot average",
        short="average",
        question="Does the model understand the tasks that it is only told of in words?",
        formula="mean over tasks of right / answered; MNLI by three labels, the others by "
        "entailment against contradiction",
        range=(0.0, 1.0),
        citation=CITATION,
        caveat="Every task weighs the same, whatever its size; averages over different tasks do "
        "not compare.",
    ),
    fair=1.0,
    worst=None,
    best="right",
    evidence=_average_evidence,
    combine=_average,
    function=zero_shot_average,
    strata=frozenset({STRATUM, TWO_WAY}),
    required=frozenset({STRATUM, TWO_WAY}),
    labels=frozenset(NLI_LABELS),
    needs_numbers=True,
    parts=_task_parts,
    ties=_average_ties,
)
MEASURES = (ZERO_SHOT_ACCURACY, TWO_WAY_ACCURACY, ZERO_SHOT_AVERAGE)
