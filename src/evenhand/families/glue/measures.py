"""zero_shot_accuracy: the share of items that get their gold label. Between 0 and 1; 1 is right.

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

STRATUM = "zero-shot"
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
    return probe.tags.get(GOLD, "") if probe.stratum == STRATUM else ""


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
        citation="Luo, Glass (2023). Logic Against Bias: Textual Entailment Mitigates "
        "Stereotypical Sentence Reasoning. EACL.",
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
    strata=frozenset({STRATUM}),
    labels=frozenset({ENTAILMENT}),
    parts=_recalls,
)
MEASURES = (ZERO_SHOT_ACCURACY,)
