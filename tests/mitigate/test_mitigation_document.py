"""Does the report of a mitigation say what its numbers say, in words, tables and figures?"""

from __future__ import annotations

import json
import re
from io import StringIO
from pathlib import Path

import pytest
from mitigations import MODELS, make_mitigation
from rich.console import Console

from evenhand.mitigate.records import BEFORE, read_mitigation
from evenhand.report import mitigation_values as values
from evenhand.report import mitigation_wording as told
from evenhand.report.mitigation import write_mitigation
from evenhand.report.mitigation_figures import figures
from evenhand.report.mitigation_tables import grids, print_mitigation, to_latex, to_markdown

FOUND = make_mitigation()


def test_the_first_lines_name_the_method_nearest_to_fair_with_its_cost() -> None:
    assert told.lead(FOUND) == [
        "With anchors, NLI-CoAL on occupation-nli falls from 42.0 to 18.0 % (0.43 of before; -24.0 [-25.3, -22.7] points, adjusted p <0.001), the nearest to fair of 3 methods; "
        "against the control -23.0 [-24.3, -21.7] points, beyond what more training does; "
        "accuracy on snli-dev -0.2 [-0.5, 0.1] points, no change shown.",
        "With pairing, ΔP on sharma2021:snli falls from 27.0 to 11.0 % (0.41 of before; -16.0 [-17.3, -14.7] points, adjusted p <0.001), the nearest to fair of 3 methods; "
        "against the control -15.5 [-16.8, -14.2] points, beyond what more training does; "
        "accuracy on snli-dev -0.5 [-0.8, -0.2] points.",
    ]


def test_what_is_not_shown_is_said() -> None:
    none = told.summary(FOUND, "none")
    assert (
        none[0]
        == "NLI-CoAL on occupation-nli: no change shown, 42.0 before, 41.0 % after (-1.0 [-2.3, 0.3] points, adjusted p 0.500)."
    )
    assert (
        not any("control" in line for line in none)
        and "beyond what more training does" in told.summary(FOUND, "swap")[-1]
    )
    wide = make_mitigation(wide=0.9)
    assert told.lead(wide) == [
        "No method is shown to bring NLI-CoAL on occupation-nli nearer to fair.",
        "No method is shown to bring ΔP on sharma2021:snli nearer to fair.",
    ]
    assert any(
        "The control was not trained" in line
        for line in told.not_shown(make_mitigation((BEFORE, "swap")))
    )
    assert not any("The control" in line for line in told.not_shown(FOUND))


def test_unseen_occupations_and_published_suites_are_told_apart() -> None:
    assert told.generality(FOUND) == [
        "anchors: NLI-CoAL on occupation-nli (unseen occupations) falls from 43.0 to 21.0 % (0.49 of before; -22.0 [-23.3, -20.7] points, adjusted p <0.001); 60 occupations.",
        "sharma2021:snli, published by others: ΔP is nearer to fair with swap, pairing, anchors.",
    ]


@pytest.mark.parametrize(
    ("value", "plain", "signed"),
    [
        (0.1234, "12.3", "+12.3"),
        (-0.0001, "0.0", "0.0"),
        (0.0001, "0.0", "0.0"),
        (-0.02, "-2.0", "-2.0"),
        (float("nan"), "n/a", "n/a"),
    ],
)
def test_percent_never_has_a_signed_nothing(value: float, plain: str, signed: str) -> None:
    assert (values.percent(value), values.percent(value, is_signed=True)) == (plain, signed)


def test_the_tables_have_the_shape_of_the_papers() -> None:
    found = list(grids(FOUND))
    assert [g.title.split(":")[0] for g in found] == [
        "occupation-nli",
        "sharma2021",
        "occupation-nli (unseen occupations)",
    ]
    assert found[1].heads == ("model", "Acc (↑)", "S (↑)", "ΔP (↓)", "B (→50)")
    assert [name for name, _ in found[1].rows] == list(MODELS)
    before, pairing = (dict(found[1].rows)[name] for name in (BEFORE, "pairing"))
    assert [c.text for c in before] == [
        "80.0 [79.5, 80.5]",
        "72.0 [70.0, 74.0]",
        "27.0 [25.0, 29.0]",
        "71.0 [69.0, 73.0]",
    ]
    assert (
        pairing[2].text == "11.0 (-16.0 [-17.3, -14.7])*"
        and pairing[0].text == "79.5 (-0.5 [-0.8, -0.2])*"
    )
    out = StringIO()
    print_mitigation(FOUND, Console(file=out, width=120))
    assert "-16.0 [-17.3, -14.7]*" in out.getvalue() and "With anchors, NLI-CoAL" in out.getvalue()


def test_markdown_and_latex_hold_every_cell() -> None:
    text, tex = to_markdown(FOUND), to_latex(FOUND)
    for grid in grids(FOUND):
        for name, cells in grid.rows:
            assert any(
                name in line and all(c.value in line for c in cells) for line in text.splitlines()
            )
            assert any(
                line.startswith(name) and all(c.value in line for c in cells)
                for line in tex.splitlines()
            )
    assert r"$\Delta$P ($\downarrow$)" in tex and tex.count(r"\begin{table}") == 3
    assert not [
        line for line in tex.splitlines() if not line.startswith("%") and not line.isascii()
    ]
    assert "nurse, guard" in text


def test_figures_draw_the_trade_off_and_every_model_before_and_after() -> None:
    drawn = {f.name: f for f in figures(FOUND)}
    assert list(drawn) == [
        "trade-off-nli_coal-occupation-nli-snli-dev",
        "trade-off-entailment_gap-sharma2021-snli-snli-dev",
        "levels-nli_coal-occupation-nli",
        "levels-entailment_gap-sharma2021-snli",
        "levels-stereotype_preference-sharma2021-snli",
    ]
    for figure in drawn.values():
        for picture in (figure.wide, figure.narrow):
            texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
            assert all(any(name in text for text in texts) for name in MODELS), (figure.name, texts)
            assert not any("e+" in text for text in texts)
    assert (
        "anchors: accuracy -0.2 points, NLI-CoAL 18.0 %"
        in drawn["trade-off-nli_coal-occupation-nli-snli-dev"].wide
    )
    assert ("whole", "on unseen occupations only") in drawn["levels-nli_coal-occupation-nli"].legend


def test_everything_is_written_at_once_and_reads_back(tmp_path: Path) -> None:
    page = write_mitigation(FOUND, tmp_path / "out")
    names = {p.name for p in page.parent.iterdir()}
    assert {
        "mitigation.html",
        "mitigation.md",
        "mitigation.tex",
        "mitigation.json",
    } <= names and len([n for n in names if n.endswith(".svg")]) == 5
    html = page.read_text(encoding="utf-8")
    assert (
        html.count("<figure") == 5
        and "What is not shown" in html
        and "http" not in re.sub(r'xmlns="[^"]*"', "", html)
    )
    assert json.loads((page.parent / "mitigation.json").read_text(encoding="utf-8"))["words"][
        "lead"
    ] == told.lead(FOUND)
    assert read_mitigation(page.parent / "mitigation.json").scores == FOUND.scores
