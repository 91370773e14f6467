"""The published tables of Sharma, Dey, Sinha (2021) fit the measures that bear their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evenhand.core import catalog

COLUMNS = {"S": "same_label", "dP": "entailment_gap", "B": "stereotype_preference"}


def test_every_printed_number_is_one_that_its_measure_can_have(
    golden: Callable[[str], dict[str, Any]],
) -> None:
    table = golden("sharma_tables")
    rows = [
        row
        for part in ("before", "after_gender_swap")
        for models in table[part].values()
        for row in models.values()
    ]
    assert len(rows) == 12
    for row in rows:
        assert set(row) == {"acc", *COLUMNS}
        for column, measure in COLUMNS.items():
            low, high = catalog.measure(measure).card.range
            assert 100 * low <= row[column] <= 100 * high


def test_the_paper_s_columns_are_the_short_names() -> None:
    assert {catalog.measure(m).card.short: m for m in COLUMNS.values()} == COLUMNS


def test_what_the_swap_did_in_the_paper(golden: Callable[[str], dict[str, Any]]) -> None:
    table = golden("sharma_tables")
    change = {
        (data, model): table["after_gender_swap"][data][model]["dP"] / row["dP"]
        for data, models in table["before"].items()
        for model, row in models.items()
    }
    fallen = {key for key, ratio in change.items() if ratio < 1}
    assert change["MNLI(I)", "BERT"] == pytest.approx(14.6 / 24.09)
    # by a third or more: one of six
    assert {key for key, ratio in change.items() if ratio <= 2 / 3} == {("MNLI(I)", "BERT")}
    assert fallen == set(change) - {("SNLI(I)", "RoBERTa"), ("MNLI(I)", "BART")}
