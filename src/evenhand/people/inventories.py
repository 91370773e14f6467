"""What does a questionnaire say of a person? Items come from the owner's file; evenhand brings the arithmetic: reversed items, subscales, means."""

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
    """The statements of a .csv, .tsv or .jsonl file: a column `id` and one column per language of the interface."""
    items: list[Item] = []
    seen: dict[str, int] = {}
    for number, row in read_rows(path):
        if missing := [
            column for column in ("id", *languages) if not str(row.get(column) or "").strip()
        ]:
            raise InputError(
                path,
                f"no text in the column '{missing[0]}'; an item has an id and a text in {', '.join(languages)}",
                row=number,
            )
        identity = str(row["id"]).strip()
        if identity in seen:
            raise InputError(
                path, f"the id '{identity}' was already used in row {seen[identity]}", row=number
            )
        seen[identity] = number
        items.append(
            Item(identity, {language: str(row[language]).strip() for language in languages})
        )
    return tuple(items)


def score_inventory(inventory: Inventory, given: Mapping[str, object]) -> dict[str, Score]:
    """The mean of each subscale and of all items, reversed items turned (low + high - value); NaN with a reason where an item has no answer."""
    ids = tuple(item.id for item in inventory.items)
    if strange := sorted(set(given) - set(ids)):
        raise EvenhandError(
            f"the inventory '{inventory.name}' has no item '{strange[0]}'; it has {', '.join(ids)}"
        )
    turned: dict[str, int] = {}
    for identity, value in given.items():
        if (
            isinstance(value, bool)
            or not isinstance(value, int)
            or not inventory.low <= value <= inventory.high
        ):
            raise EvenhandError(
                f"item '{identity}' of '{inventory.name}' was rated {value!r}; give a whole number from {inventory.low} to {inventory.high}"
            )
        turned[identity] = (
            inventory.low + inventory.high - value if identity in inventory.reversed else value
        )
    return {
        name: _mean(turned, wanted) for name, wanted in {**inventory.subscales, TOTAL: ids}.items()
    }


def _mean(turned: Mapping[str, int], wanted: tuple[str, ...]) -> Score:
    if missing := [i for i in wanted if i not in turned]:
        return Score(
            float("nan"),
            f"{len(missing)} of {len(wanted)} items not answered: {', '.join(missing)}",
        )
    return Score(fmean(turned[i] for i in wanted))
