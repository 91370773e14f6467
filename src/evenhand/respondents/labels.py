"""Which output of a classifier means which label: stated by its config or user, and tested.

Every order that a config states is tested with unmistakable pairs, and where the config is silent
they decide. It is never guessed.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

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
Ask = Callable[[list[tuple[str, str]]], Floats]  # raw outputs for (premise, hypothesis) pairs
CLEAR = 0.75  # the share of the sanity pairs that the winning order must get right
MARGIN = 0.20  # and how much more than the next
# A config is contradicted where another order is better by a sign test with at most this p value:
# so often at most would a model be refused that mistakes two labels for each other at random.
CONTRADICTED = 0.001
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


@dataclass(frozen=True, slots=True)
class SanityFit:
    """How well one order of labels fits a model's answers to the sanity pairs."""

    order: LabelOrder
    is_right: NDArray[np.bool_]  # one per pair
    recalls: Mapping[str, float]  # the share right of the pairs of each label

    @property
    def mean_recall(self) -> float:
        """The share right, averaged over labels: a more frequent label does not help."""
        return float(np.mean(list(self.recalls.values())))

    @property
    def knows_each_label(self) -> bool:
        """Whether more than half of the pairs of each label are right.

        Of two-label models too, so that neither of the two ways of not being entailed is missed.
        """
        return min(self.recalls.values()) > 0.5

    def __str__(self) -> str:
        by_label = ", ".join(f"{label} {share:.0%}" for label, share in self.recalls.items())
        return f"{self.mean_recall:.0%} ({by_label})"


def from_sanity(ask: Ask, count: int, language: str) -> LabelOrder:
    """The order under which the model gets the built-in sanity pairs right.

    Raises LabelError where it is not clear.
    """
    best, second, *rest = _fit_orders(ask, count, language)
    first, other = best.mean_recall, second.mean_recall
    if first < CLEAR or first - other < MARGIN or not best.knows_each_label:
        evidence = "; ".join(f"{f.order} {f.mean_recall:.0%}" for f in (best, second, *rest))
        raise LabelError(
            f"the model's config does not name its labels and {len(best.is_right)} sanity pairs "
            f"do not tell them apart (share right by order: {evidence}; of the best {best}). "
            f"State them with --label-map {example_map(best.order.labels)}"
        )
    how = f"sanity pairs {first:.0%} against {other:.0%}"
    return LabelOrder(best.order.labels, best.order.columns, how)


def check_stated(order: LabelOrder, ask: Ask, language: str) -> None:
    """Raise LabelError where the sanity pairs clearly contradict the order that a config states.

    Clearly: under another order the model gets more than half of the pairs of each label right,
    and that order is better by a one-sided sign test over the pairs that tell the two apart.
    A weak model whose config is right hardly ever fulfils both.
    """
    best, *rest = _fit_orders(ask, len(order.columns), language)
    stated = next(f for f in (best, *rest) if f.order.columns == order.columns)
    p_value = _sign_test(best.is_right, stated.is_right)
    if best is stated or not best.knows_each_label or p_value > CONTRADICTED:
        return
    raise LabelError(
        f"the model's config says {_map_of(order)}, but its answers to {len(best.is_right)} "
        f"sanity pairs contradict that: {stated} are right by the config's order, {best} by "
        f"{_map_of(best.order)} (sign test p = {p_value:.1g}). State the order: "
        f"--label-map {_map_of(best.order)}, or --label-map {_map_of(order)} to keep the config's"
    )


def _fit_orders(ask: Ask, count: int, language: str) -> list[SanityFit]:
    """Every order of the labels on the sanity pairs of a language, the best first.

    A language without such pairs is tested with the English ones.
    """
    labels = labels_of(count)
    has_own = lexicons.has_table(language, "sanity")
    rows = lexicons.table(language if has_own else "en", "sanity")
    values = ask([(row["premise"], row["hypothesis"]) for row in rows])
    is_known = np.isfinite(values).all(axis=1)  # no answer is a wrong answer
    outputs = np.where(is_known, np.nan_to_num(values).argmax(axis=1), -1)
    gold = np.asarray([row["label"] for row in rows])
    fits = []
    for columns in itertools.permutations(range(count)):
        due = [columns[min(NLI_LABELS.index(label), count - 1)] for label in gold]
        is_right = outputs == np.asarray(due)
        recalls = {label: float(is_right[gold == label].mean()) for label in NLI_LABELS}
        fits.append(SanityFit(LabelOrder(labels, columns, ""), is_right, recalls))
    return sorted(fits, key=lambda fit: -fit.mean_recall)


def _sign_test(first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """The one-sided p value of `first` being right more often where only one of the two is."""
    wins, losses = int((first & ~second).sum()), int((second & ~first).sum())
    count = wins + losses
    return float(sum(comb(count, k) for k in range(wins, count + 1)) / 2**count)


def _map_of(order: LabelOrder) -> str:
    """An order as a label map."""
    pairs = zip(order.labels, order.columns, strict=True)
    return ",".join(f"{label}={column}" for label, column in pairs)
