"""Inventories: questionnaires whose items the owner of a study supplies, scored by subscale.

Reversed items are turned round; the score of a scale is the mean of its items.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_rows

TOTAL = "total"


class Item(NamedTuple):
    """One statement, in each language that the file has."""

    id: str
    text: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """A questionnaire: statements that are rated from `low` to `high`."""

    name: str
    file: Path
    items: tuple[Item, ...]
    low: int = 1
    high: int = 5
    subscales: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # name -> item ids
    reversed: frozenset[str] = frozenset()  # ids of the items where agreement counts the other way


class Score(NamedTuple):
    """A mean over items, or NaN and why."""

    value: float
    note: str = ""


def read_items(path: Path, languages: tuple[str, ...]) -> tuple[Item, ...]:
    """The statements of a .csv, .tsv or .jsonl file.

    A column `id` and one column per language; InputError with the row that lacks one.
    """
    items: list[Item] = []
    seen: dict[str, int] = {}
    for number, row in read_rows(path):
        columns = ("id", *languages)
        if missing := [c for c in columns if not str(row.get(c) or "").strip()]:
            raise InputError(
                path,
                f"no text in the column '{missing[0]}'; an item has an id and a text in "
                f"{', '.join(languages)}",
                row=number,
            )
        identity = str(row["id"]).strip()
        if identity in seen:
            reason = f"the id '{identity}' was already used in row {seen[identity]}"
            raise InputError(path, reason, row=number)
        seen[identity] = number
        texts = {language: str(row[language]).strip() for language in languages}
        items.append(Item(identity, texts))
    return tuple(items)


def score_inventory(inventory: Inventory, ratings: Mapping[str, object]) -> dict[str, Score]:
    """The mean of each subscale and of all items, reversed items turned round (low + high - value).

    NaN with a reason where an item has no answer; EvenhandError for an unknown item or a rating
    beyond the scale.
    """
    ids = tuple(item.id for item in inventory.items)
    low, high = inventory.low, inventory.high
    if strange := sorted(set(ratings) - set(ids)):
        raise EvenhandError(
            f"the inventory '{inventory.name}' has no item '{strange[0]}'; it has {', '.join(ids)}"
        )
    turned: dict[str, int] = {}
    for identity, value in ratings.items():
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise EvenhandError(
                f"item '{identity}' of '{inventory.name}' was rated {value!r}; "
                f"give a whole number from {low} to {high}"
            )
        turned[identity] = low + high - value if identity in inventory.reversed else value
    scales = {**inventory.subscales, TOTAL: ids}
    return {name: _mean(turned, wanted) for name, wanted in scales.items()}


def _mean(turned: Mapping[str, int], wanted: tuple[str, ...]) -> Score:
    if missing := [i for i in wanted if i not in turned]:
        names = ", ".join(missing)
        note = f"{len(missing)} of {len(wanted)} items not answered: {names}"
        return Score(float("nan"), note)
    return Score(fmean(turned[i] for i in wanted))
