"""A document on a terminal: as wide as it is, no number cut, nothing taken for markup."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace

import pytest
from documents import SIGNATURE, about, document, exhibit, score_table, word_table
from rich.console import Console
from runs import printed

from evenhand.core.document import Callout, Column, Facts, Prose, Row, Table
from evenhand.report.terminal import folded, print_document


def wide_table(rows: int) -> Table:
    columns = (Column(title="measure"), *(Column(title=f"c{i}", form="interval") for i in range(4)))
    filled = tuple(Row(cells=(f"row {i}", *[about(0.5)] * 4)) for i in range(rows))
    return Table(name="wide", title="Wide", columns=columns, rows=filled, note="Note.")


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_brief_sections_fit_the_terminal(width: int) -> None:
    text = printed(document(), width, is_terminal=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    assert text.splitlines()[1].startswith("org/model-a@1  towns 1, English")
    assert "It tilts in 45 % of cases. 0 is fair." in text
    assert "0.452" in text
    assert "[0.432, 0.472]" in text
    assert "[n/a]" in text  # not taken for markup
    assert "Words: the 25 farthest from 0, of 30" in text
    assert "word 24" in text
    for gone in ("word 25", "Figures", "A nurse waits.", "It was asked.", "licence", "hidden:1"):
        assert gone not in text


def test_a_signature_is_folded_between_fields_or_in_one_line() -> None:
    assert SIGNATURE in printed(document(), 60)  # a file gets it in one line
    lines = folded(SIGNATURE, 60)
    assert len(lines) > 1
    assert lines[0] + "".join(line[2:] for line in lines[1:]) == SIGNATURE
    text = printed(document(), 60, is_terminal=True)
    assert "\n".join(lines) in text


def test_notes_are_marked_and_yellow() -> None:
    out = io.StringIO()
    long = "word " * 30
    notes = document(Callout(text=long), Callout(text="short"))
    print_document(notes, Console(file=out, width=60, force_terminal=True, color_system="standard"))
    raw = out.getvalue().splitlines()
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in raw]
    first = next(i for i, line in enumerate(lines) if line.startswith("! word word"))
    assert raw[first].startswith("\x1b[33m!")
    assert lines[first + 1].startswith("  word")
    assert any(line.startswith("! short") for line in lines)


def test_a_wide_table_becomes_two_with_all_its_intervals() -> None:
    assert printed(document(wide_table(3)), 120).count("measure") == 1
    text = printed(document(wide_table(3)), 80)
    assert text.count("measure") == 2
    assert text.count("0.500 [0.480, 0.520]") == 12
    assert "The intervals are in the report." not in text


def test_a_long_wide_table_loses_its_intervals_and_says_so() -> None:
    text = printed(document(wide_table(20)), 80)
    assert text.count("measure") == 1
    assert text.count("0.500") == 80
    assert "[0.480" not in text
    assert "Note. The intervals are in the report." in text


def test_heads_of_several_words_are_folded_and_no_cell_is_cut() -> None:
    heads = (
        "Acc (up)",
        "change",
        "NLI-CoAL (down)",
        "change",
        "FN",
        "change",
        "person (up)",
        "x y",
    )
    columns = (Column(title="model"), *(Column(title=head, form="signed points") for head in heads))
    rows = tuple(
        Row(cells=(name, *[about(-0.24)] * 8), strong=frozenset({2 * i}))
        for i, name in enumerate(("before", "none", "anchors"), 1)
    )
    table = Table(name="levels", title="Levels", columns=columns, rows=rows)
    for width in (76, 80, 100):
        text = printed(document(table), width)
        assert text.count("-24.0") == 24
        assert text.count("*-24.0") == 3
        assert text.count("change") == 3
        assert max(map(len, text.splitlines())) <= width


def test_what_is_set_apart_is_starred_where_it_says_something() -> None:
    assert "*0.452" not in printed(document(score_table()), 80)  # all values are set apart
    columns = (Column(title="m"), Column(title="p", form="p"), Column(title="q", form="p"))
    rows = (Row(cells=("a", 0.01, 0.5), strong=frozenset({1})), Row(cells=("b", 0.2, 0.6)))
    text = printed(document(Table(name="t", title="T", columns=columns, rows=rows)), 80)
    assert "*0.010" in text
    assert "*0.200" not in text
    one = replace(rows[0], strong=frozenset({1, 2}))
    text = printed(document(Table(name="t", title="T", columns=columns, rows=(one,))), 80)
    assert "*0.010" in text
    assert "*0.500" in text


def test_prose_facts_exhibits_and_names_in_other_scripts() -> None:
    table = Table(
        name="t",
        title="T",
        columns=(Column(title="word"), Column(title="n", form="count")),
        rows=(Row(cells=("看護師" * 20, math.nan)),),
    )
    blocks = (
        Prose(lines=("One.", "Two."), is_list=True),
        Facts(rows=(("seed", "0"),)),
        exhibit(),
        table,
    )
    text = printed(document(*blocks), 60, is_terminal=True)
    assert "- One." in text
    assert "seed: 0" in text
    assert "- A nurse waits. / A woman waits.: yes 0.900, no 0.100" in text
    assert "____是护士。" in text
    assert text.count("看") == 20  # folded, not cut
    assert "n/a" in text


def test_a_hostile_name_stays_a_name() -> None:
    evil = replace(document(word_table()), title="[bold red]x[/] \x1b[2J", lead=("[link=a]b",))
    text = printed(evil, 80)
    assert "[bold red]x[/] \ufffd[2J" in text
    assert "[link=a]b" in text


def test_a_long_text_without_spaces_is_folded_and_not_cut() -> None:
    sentence = "她今天早上在医院里给病人打针然后又去学校接孩子回家做饭" * 3
    text = printed(document(Callout(text=sentence)), 60, is_terminal=True)
    assert sentence in "".join(text.split())
    assert "…" not in text
