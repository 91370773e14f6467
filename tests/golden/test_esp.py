"""Table 4 of Luo and Glass 2023 obeys its definition, but for four misprints.

iCAT = LMS * FS / 100, and recognition * fairness / 100.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

TABLE = "esp_table4"
FACTORS = {  # printed product -> what it is the product of
    "intra_icat": ("intra_lms", "intra_fs"),
    "inter_icat": ("inter_lms", "inter_fs"),
    "prof_icat": ("recog_mean", "prof_mean"),
    "emo_icat": ("recog_mean", "emo_mean"),
}
MISPRINTS = {
    ("RoBERTa", "intra_icat"),
    ("RoBERTa", "inter_icat"),
    ("DeBERTa", "prof_icat"),
    ("BERT-Ent-Score", "emo_icat"),
}

Golden = Callable[[str], dict[str, Any]]


class Product(NamedTuple):
    """A printed product beside the one that its printed factors have."""

    model: str
    name: str
    printed: float
    computed: float


def products(table: dict[str, Any]) -> Iterator[Product]:
    for row in table["rows"]:
        for name, (left, right) in FACTORS.items():
            yield Product(row["model"], name, row[name], row[left] * row[right] / 100)


def noted(table: dict[str, Any]) -> set[tuple[str, str]]:
    return {
        (row["model"], note.partition(":")[0])
        for row in table["rows"]
        for note in row.get("anomalies", ())
    }


def test_the_table_is_whole(golden: Golden) -> None:
    rows = golden(TABLE)["rows"]
    assert len(rows) == len({row["model"] for row in rows}) == 13
    names = {
        "model",
        *FACTORS,
        *(f for pair in FACTORS.values() for f in pair),
        "recog_std",
        "prof_std",
        "emo_std",
    }
    assert all(row.keys() - {"anomalies"} == names for row in rows)
    assert all(0 <= row[name] <= 100 for row in rows for name in names - {"model"})


def test_the_identities_hold_but_for_the_misprints(golden: Golden) -> None:
    table = golden(TABLE)
    every = list(products(table))
    assert len(every) == 13 * len(FACTORS)
    for product in every:
        if (product.model, product.name) not in noted(table):
            computed = pytest.approx(product.computed, abs=table["tolerance"])
            assert product.printed == computed, product


def test_the_misprints_are_misprints(golden: Golden) -> None:
    table = golden(TABLE)
    assert noted(table) == MISPRINTS
    off = {
        (p.model, p.name): p
        for p in products(table)
        if abs(p.printed - p.computed) > table["tolerance"]
    }
    assert off.keys() == MISPRINTS
    notes = {
        (row["model"], note.partition(":")[0]): note
        for row in table["rows"]
        for note in row.get("anomalies", ())
    }
    for key, product in off.items():
        assert f"printed {product.printed:g}," in notes[key]
        assert notes[key].endswith(f"= {product.computed:.2f}")
