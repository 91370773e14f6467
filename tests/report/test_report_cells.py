"""A cell reads the same in every form; a table is cut where there is little room."""

from __future__ import annotations

import math
from typing import get_args

import pytest
from documents import about, score_table, word_table

from evenhand.core.document import Cell, Column, Form
from evenhand.core.estimate import NO_INTERVAL, Interval
from evenhand.report.cells import (
    bounds_text,
    cell_text,
    is_numeric,
    limited,
    printable,
    row_texts,
    value_text,
)

GAP = Interval(-0.123, -0.15, -0.098)


@pytest.mark.parametrize(
    ("cell", "form", "text"),
    [
        ("as it is", "count", "as it is"),
        (1410, "count", "1,410"),
        (math.nan, "count", "n/a"),
        (0.4524, "number", "0.452"),
        (0.5, "short", "0.5"),
        (1.0, "text", "1"),
        (0.013, "signed", "+0.013"),
        (0.0, "signed", "0.000"),
        (0.0004, "p", "<0.001"),
        (0.421, "percent", "42.1 %"),
        (0.99999, "percent", ">99.9 %"),
        (about(0.452), "interval", "0.452 [0.432, 0.472]"),
        (Interval(0.5, math.nan, math.nan), "interval", "0.500 [n/a]"),
        (NO_INTERVAL, "interval", "n/a"),
        (about(0.013, 0.012), "signed interval", "+0.013 [0.001, 0.025]"),
        (about(0.0004, 0.0002), "signed interval", "+0.0004 [0.0002, 0.0006]"),
        (0.0004, "signed", "+0.0004"),
        (NO_INTERVAL, "signed interval", "n/a"),
        (about(0.452), "bounds", "[0.432, 0.472]"),
        (NO_INTERVAL, "bounds", "[n/a]"),
        (0.421, "points", "42.1"),
        (about(0.421), "points", "42.1 [40.1, 44.1]"),
        (GAP, "signed points", "-12.3 [-15.0, -9.8]"),
        (about(0.0004, 0.0002), "signed points", "+0.04 [0.02, 0.06]"),
        (about(0.452), "number", "0.452"),
    ],
)
def test_a_cell_in_the_form_of_its_column(cell: Cell, form: Form, text: str) -> None:
    assert cell_text(cell, form) == text


@pytest.mark.parametrize("form", get_args(Form))
def test_every_form_takes_numbers_intervals_and_nothing(form: Form) -> None:
    for cell in (3, 0.25, math.nan, about(0.2), NO_INTERVAL):
        assert "nan" not in cell_text(cell, form)


def test_a_value_and_its_bounds_are_the_cell() -> None:
    assert value_text(about(0.452), "interval") == "0.452"
    assert bounds_text(about(0.452), "interval") == "[0.432, 0.472]"
    assert value_text(GAP, "signed points") == "-12.3"
    assert bounds_text(GAP, "signed points") == "[-15.0, -9.8]"
    assert value_text(about(0.0004, 0.0002), "signed points") == "+0.04"
    assert bounds_text(about(0.0004, 0.0002), "signed points") == "[0.02, 0.06]"
    assert bounds_text(0.4, "number") == bounds_text("x", "interval") == ""
    assert value_text(about(0.452), "bounds") == "[0.432, 0.472]"


def test_a_heading_fills_its_row() -> None:
    table = score_table()
    assert row_texts(table.rows[0], table.columns) == ["One way", "", "", "", ""]
    assert row_texts(table.rows[2], table.columns) == ["gone", "n/a", "[n/a]", "0", "n/a"]
    assert not is_numeric(Column(title="a"))
    assert is_numeric(Column(title="a", form="p"))


def test_a_cut_table_says_which_rows_it_shows() -> None:
    title, rows = limited(word_table(30))
    assert title == "Words: the 25 farthest from 0, of 30"
    assert [row.cells[0] for row in rows] == ["all", *(f"word {i}" for i in range(25))]
    title, rows = limited(word_table(25))
    assert title == "Words"
    assert len(rows) == 26


def test_nothing_in_a_text_steers_the_terminal() -> None:
    assert printable("a\x1b[31mb\x07") == "a\ufffd[31mb\ufffd"
    assert printable("left\u202eright") == "left\ufffdright"
    assert printable("two\nlines\u2028here") == "two lines here"
    assert printable("\udc80") == "\ufffd"
    assert printable("\u5973 caf\xe9 👩\u200d🔬") == "\u5973 caf\xe9 👩\u200d🔬"
