"""The published correlations beside ours are those of Table 2 of Anantaprayoon et al. (2024)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from evenhand.core.text import number
from evenhand.meta.table2 import PUBLISHED, published

COLUMNS = {"nli_coal": "nli_coal", "fraction_neutral": "fn"}


def test_the_published_correlations(golden: Callable[[str], dict[str, Any]]) -> None:
    table = golden("nli_coal_table2")
    assert sorted(PUBLISHED) == sorted(COLUMNS)
    for measure, column in COLUMNS.items():
        assert PUBLISHED[measure] == {row["lang"]: row[column] for row in table["rows"]}


def test_how_they_are_printed() -> None:
    cells = [published("fraction_neutral", code) for code in ("en", "ja", "zh", "ko")]
    assert cells == [-0.263, "-", -0.535, ""]
    assert published("nli_coal", "ja") == 1.0
    assert number(1.0) == "1.000"
    assert published("entailment_gap", "en") == ""
