"""Which output of a classifier means which label: read from its config, else found by testing.

It is tested with unmistakable pairs, and never guessed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand import lexicons
from evenhand.core.errors import LabelError
from evenhand.core.probe import (
    CONTRADICTION,
    ENTAILMENT,
    NEUTRAL,
    NLI_LABELS,
    NOT_ENTAILMENT,
    Floats,
)

TWO_LABELS = (ENTAILMENT, NOT_ENTAILMENT)
CLEAR = 0.75  # the share of the sanity pairs that the winning order must get right
MARGIN = 0.20  # and how much more than the next
_SPELLINGS = {
    ENTAILMENT: set(
        "entailment entail entails entailed e ent true yes 含意 蕴含 蕴涵 推論".split()
    ),
    NEUTRAL: set("neutral n neu unknown undetermined maybe neither 中立 无关".split()),
    CONTRADICTION: set(
        "contradiction contradict contradicts contradictory contradicted c con false no".split()
    )
    | {"矛盾"},
    NOT_ENTAILMENT: set(
        "notentailment notentailed nonentailment nonentailed noentailment notentail".split()
    ),
}


@dataclass(frozen=True, slots=True)
class LabelOrder:
    """`columns[i]` is the output of the model that means `labels[i]`."""

    labels: tuple[str, ...]
    columns: tuple[int, ...]
    how: str  # config, user, sanity pairs

    def __str__(self) -> str:
        return "".join(
            f"{label[0]}{column}" for label, column in zip(self.labels, self.columns, strict=True)
        )


def standard_label(spelling: str) -> str | None:
    """The standard name of a label in any spelling; None for one that says nothing (LABEL_0)."""
    squeezed = re.sub(r"[\W_\d]+", "", spelling.strip().lower())
    return next((name for name, known in _SPELLINGS.items() if squeezed in known), None)


def labels_of(count: int) -> tuple[str, ...]:
    """The labels of a classifier with this many outputs; LabelError where it cannot be one."""
    if count == len(NLI_LABELS):
        return NLI_LABELS
    if count == len(TWO_LABELS):
        return TWO_LABELS
    raise LabelError(
        f"the model has {count} outputs; "
        "an NLI model has three (entailment, neutral, contradiction) or two"
    )


def from_user(label_map: Mapping[str, int], count: int) -> LabelOrder:
    """The order that the user states: `entailment=0,neutral=1,contradiction=2`."""
    labels = labels_of(count)
    columns: dict[str, int] = {}
    for name, column in label_map.items():
        standard = standard_label(name)
        if standard is None or standard not in labels:
            raise LabelError(f"label map: '{name}' is none of {', '.join(labels)}")
        columns[standard] = column
    if sorted(columns) != sorted(labels) or sorted(columns.values()) != list(range(count)):
        shown = ", ".join(f"{k}={v}" for k, v in label_map.items())
        raise LabelError(
            f"label map '{shown}' is not a permutation: give each of {', '.join(labels)} "
            f"one of the numbers 0 to {count - 1}, once"
        )
    return LabelOrder(labels, tuple(columns[label] for label in labels), "user")


def from_config(names: Mapping[int, str], count: int) -> LabelOrder | None:
    """The order that the config's id2label states; None where it is generic.

    Raises LabelError where it contradicts itself.
    """
    standard = {column: standard_label(name) for column, name in names.items()}
    if all(name is None for name in standard.values()):
        return None
    labels = labels_of(count)
    columns = {name: column for column, name in standard.items() if name is not None}
    if sorted(columns) != sorted(labels) or sorted(columns.values()) != list(range(count)):
        shown = ", ".join(f"{k}: {v}" for k, v in sorted(names.items()))
        raise LabelError(
            f"the labels of the model's config ({shown}) are not {', '.join(labels)}; "
            f"state them with --label-map {example_map(labels)}"
        )
    return LabelOrder(labels, tuple(columns[label] for label in labels), "config")


def example_map(labels: Sequence[str]) -> str:
    """What a label map looks like."""
    return ",".join(f"{label}={i}" for i, label in enumerate(labels))


def from_sanity(
    ask: Callable[[list[tuple[str, str]]], Floats], count: int, language: str
) -> LabelOrder:
    """The order under which the model gets the built-in sanity pairs right.

    ask: raw outputs for (premise, hypothesis) pairs. Raises LabelError where it is not clear.
    """
    labels = labels_of(count)
    rows = lexicons.table(language, "sanity")
    values = ask([(row["premise"], row["hypothesis"]) for row in rows])
    # no answer is a wrong answer
    is_known = np.isfinite(values).all(axis=1)
    outputs = np.where(is_known, np.nan_to_num(values).argmax(axis=1), -1)
    gold = [
        row["label"] if count == len(NLI_LABELS) or row["label"] == ENTAILMENT else NOT_ENTAILMENT
        for row in rows
    ]
    shares = {}
    for columns in itertools.permutations(range(count)):
        given = [labels[columns.index(output)] if output >= 0 else "" for output in outputs]
        shares[columns] = _mean_recall(given, gold, labels)
    ranked = sorted(shares, key=lambda columns: -shares[columns])
    best, second = (shares[columns] for columns in ranked[:2])
    if best < CLEAR or best - second < MARGIN:
        evidence = "; ".join(f"{LabelOrder(labels, c, '')} {shares[c]:.0%}" for c in ranked)
        raise LabelError(
            f"the model's config does not name its labels and {len(rows)} sanity pairs do not "
            f"tell them apart (share right by order: {evidence}). "
            f"State them with --label-map {example_map(labels)}"
        )
    return LabelOrder(labels, ranked[0], f"sanity pairs {best:.0%} against {second:.0%}")


def _mean_recall(given: Sequence[str], gold: Sequence[str], labels: Sequence[str]) -> float:
    """The share right, averaged over labels: a more frequent label does not help."""
    pairs = list(zip(given, gold, strict=True))
    return float(np.mean([np.mean([a == g for a, g in pairs if g == label]) for label in labels]))
