"""The report of a mitigation says what its numbers say, in words, tables and charts."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from document_text import document_text
from mitigations import MODELS, make_mitigation
from rich.console import Console

from evenhand.core.chart import DotChart, ScatterChart
from evenhand.core.document import Table
from evenhand.core.estimate import Interval
from evenhand.core.plain import to_json
from evenhand.core.text import points
from evenhand.mitigate import wording
from evenhand.mitigate.document import head, level_tables, mitigation_document, report_fields
from evenhand.mitigate.records import BEFORE, FILE, read_mitigation
from evenhand.report.cells import row_texts
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.write import print_document, write_document

RECORD = make_mitigation()
DOCUMENT = mitigation_document(RECORD)
CHARTS = [
    "trade-off-nli_coal-occupation-nli-snli-dev",
    "trade-off-entailment_gap-sharma2021-snli-snli-dev",
    "levels-nli_coal-occupation-nli",
    "levels-entailment_gap-sharma2021-snli",
    "levels-stereotype_preference-sharma2021-snli",
]


def test_the_first_lines_name_the_method_nearest_to_fair_with_its_cost() -> None:
    assert DOCUMENT.lead == (
        "With anchors, NLI-CoAL on occupation-nli falls from 42.0 to 18.0 % (0.43 of before; "
        "-24.0 [-25.3, -22.7] points, adjusted p <0.001), the nearest to fair of 3 methods; "
        "against the control -23.0 [-24.3, -21.7] points, beyond what more training does; "
        "accuracy on snli-dev -0.2 [-0.5, 0.1] points, no change shown.",
        "With pairing, dP on sharma2021:snli falls from 27.0 to 11.0 % (0.41 of before; "
        "-16.0 [-17.3, -14.7] points, adjusted p <0.001), the nearest to fair of 3 methods; "
        "against the control -15.5 [-16.8, -14.2] points, beyond what more training does; "
        "accuracy on snli-dev -0.5 [-0.8, -0.2] points.",
    )
    assert DOCUMENT.title == "Mitigation of default"
    assert DOCUMENT.subtitle == "English, 3 methods and the control; default@123"


def test_what_is_not_shown_is_said() -> None:
    control = wording.summary(RECORD, "none")
    assert control[0] == (
        "NLI-CoAL on occupation-nli: no change shown, 42.0 before, 41.0 % after "
        "(-1.0 [-2.3, 0.3] points, adjusted p 0.500)."
    )
    assert not any("control" in line for line in control)
    assert wording.summary(RECORD, "swap")[-1] == (
        "Against the control: NLI-CoAL on occupation-nli -5.0 [-6.3, -3.7] points, "
        "beyond what more training does; dP on sharma2021:snli -5.5 [-6.8, -4.2] points, "
        "beyond what more training does."
    )
    wide = make_mitigation(wide=0.9)
    assert wording.lead(wide) == [
        "No method is shown to bring NLI-CoAL on occupation-nli nearer to fair.",
        "No method is shown to bring dP on sharma2021:snli nearer to fair.",
    ]
    uncontrolled = make_mitigation((BEFORE, "swap"))
    assert any("The control was not trained" in line for line in wording.not_shown(uncontrolled))
    assert not any("The control" in line for line in wording.not_shown(RECORD))


def test_a_small_change_that_is_shown_is_printed() -> None:
    """It read: falls from 0.0 to 0.0 % (0.25 of before; 0.0 [0.0, 0.0] points, ...)."""
    tiny = {BEFORE: 0.0004, "swap": 0.0001}
    scores = tuple(
        replace(s, value=tiny.get(s.model, s.value)) if s.measure == "nli_coal" else s
        for s in RECORD.scores
    )
    changes = tuple(
        replace(c, value=-0.0003, low=-0.0005, high=-0.0001, adjusted=0.0001)
        if (c.measure, c.model, c.against) == ("nli_coal", "swap", BEFORE)
        else c
        for c in RECORD.changes
    )
    record = replace(RECORD, scores=scores, changes=changes)
    assert wording.summary(record, "swap")[0] == (
        "NLI-CoAL on occupation-nli falls from 0.04 to 0.01 % (0.25 of before; "
        "-0.03 [-0.05, -0.01] points, adjusted p <0.001)."
    )
    tables = [texts(table)["swap"] for table in level_tables(record)]
    assert any("-0.03 [-0.05, -0.01]" in cells for cells in tables)


def test_unseen_occupations_and_published_suites_are_told_apart() -> None:
    assert wording.generality(RECORD) == [
        "anchors: NLI-CoAL on occupation-nli (unseen occupations) falls from 43.0 to 21.0 % "
        "(0.49 of before; -22.0 [-23.3, -20.7] points, adjusted p <0.001); 60 occupations.",
        "sharma2021:snli, published by others: dP is nearer to fair with swap, pairing, anchors.",
    ]


def test_the_document_says_every_sentence() -> None:
    text = document_text(DOCUMENT)
    for method in MODELS[1:]:
        assert all(line in text for line in wording.summary(RECORD, method))
    for line in (*wording.generality(RECORD), *wording.not_shown(RECORD), *wording.method(RECORD)):
        assert line in text
    assert "Anchors: nurse, guard." in text and "Not anchors: baker." in text
    assert "train: snli.jsonl, 38,000 pairs, SHA-256 000000000000" in text


def test_one_name_a_measure_on_the_whole_page() -> None:
    text = document_text(DOCUMENT) + to_json(report_fields(RECORD))
    assert "ΔP" not in text and "DP" not in text
    assert wording.method(RECORD)[2] == (
        "Acc (Accuracy): 100 is right; NLI-CoAL: 0 is fair; "
        "FN (Fraction Neutral): 0 is fair; person (Person entailment): 100 is fair; "
        "dP (entailment gap): 0 is fair; S (same label): 100 is fair; "
        "B (stereotype preference): 50 is fair. All in percent."
    )


@pytest.mark.parametrize(
    ("value", "plain", "signed"),
    [
        (0.1234, "12.3", "+12.3"),
        (-0.0001, "0.0", "-0.01"),
        (0.0001, "0.0", "+0.01"),
        (0.0, "0.0", "0.0"),
        (-0.02, "-2.0", "-2.0"),
        (float("nan"), "n/a", "n/a"),
    ],
)
def test_percent_never_has_a_signed_nothing(value: float, plain: str, signed: str) -> None:
    assert (points(value), points(value, is_signed=True)) == (plain, signed)


def texts(table: Table) -> dict[str, list[str]]:
    """By model, what the table prints."""
    return {str(row.cells[0]): row_texts(row, table.columns) for row in table.rows}


def test_the_tables_have_the_shape_of_the_papers() -> None:
    tables = list(level_tables(RECORD))
    assert [table.title for table in tables] == [
        "occupation-nli: 4,000 pairs, 141 occupations",
        "sharma2021:snli: 4,000 pairs, 141 occupations",
        "occupation-nli (unseen occupations): 4,000 pairs, 60 occupations",
    ]
    sharma = tables[1]
    heads = ["model", "Acc (↑)", "change", "dP (↓)", "change", "S (↑)", "change", "B (→50)"]
    assert [c.title for c in sharma.columns] == [*heads, "change"]
    rows = texts(sharma)
    assert list(rows) == list(MODELS)
    assert rows[BEFORE][1::2] == [
        "80.0 [79.5, 80.5]",
        "27.0 [25.0, 29.0]",
        "72.0 [70.0, 74.0]",
        "71.0 [69.0, 73.0]",
    ]
    assert rows[BEFORE][2::2] == [""] * 4
    assert rows["pairing"][1:5] == ["79.5", "-0.5 [-0.8, -0.2]", "11.0", "-16.0 [-17.3, -14.7]"]
    strong = {str(row.cells[0]): row.strong for row in sharma.rows}
    assert strong == {
        BEFORE: frozenset(),
        "none": frozenset(),
        "swap": {4, 6, 8},
        "pairing": {2, 4, 6, 8},
        "anchors": {4, 6, 8},
    }
    out = io.StringIO()
    print_document(DOCUMENT, Console(file=out, width=120))
    assert "*-16.0 [-17.3, -14.7]" in out.getvalue()
    assert "With anchors, NLI-CoAL" in out.getvalue()


def test_which_way_is_better_is_what_the_measure_says() -> None:
    names = ("nli_coal", "person_entailment", "stereotype_preference", "signed_gap")
    heads = [head(name) for name in names]
    assert heads == ["NLI-CoAL (↓)", "person (↑)", "B (→50)", "Signed gap (→0)"]


def test_accuracy_on_several_files_has_a_table_of_its_own() -> None:
    record = make_mitigation()
    asked = record.asked[-1]
    both = (*record.asked, replace(asked, name="mnli-dev"))
    tables = list(level_tables(replace(record, asked=both)))
    assert tables[-1].title == "Accuracy on held-out pairs: snli-dev 4,000, mnli-dev 4,000"
    heads = [c.title for c in tables[-1].columns]
    assert heads == ["model", "snli-dev", "change", "mnli-dev", "change"]


def test_markdown_and_latex_hold_every_cell() -> None:
    markdown, latex = to_markdown(DOCUMENT), to_latex(DOCUMENT)
    for table in level_tables(RECORD):
        for model, cells in texts(table).items():
            values = [cell.partition(" ")[0] for cell in cells[1:]]
            assert any(
                model in line and all(value in line for value in values)
                for line in markdown.splitlines()
            )
            assert any(
                line.startswith(model) and all(value in line for value in values)
                for line in latex.splitlines()
            )
    assert r"dP ($\downarrow$)" in latex and latex.count(r"\begin{table}") == 3
    shown = [line for line in latex.splitlines() if not line.startswith("%")]
    assert all(line.isascii() for line in shown)


def test_charts_show_the_trade_off_and_every_model_before_and_after() -> None:
    charts = {chart.name: chart for chart in DOCUMENT.charts}
    assert list(charts) == CHARTS
    labels = ["before", "none (control)", "swap", "pairing", "anchors"]
    for chart in charts.values():
        if isinstance(chart, ScatterChart):
            assert [point.label for point in chart.points] == labels
        else:
            assert isinstance(chart, DotChart)
            assert [row.label for row in chart.rows] == labels
    trade_off, levels = charts[CHARTS[0]], charts[CHARTS[2]]
    assert "anchors: accuracy -0.2 points, NLI-CoAL 18.0 %" in trade_off.description
    assert isinstance(trade_off, ScatterChart)
    assert trade_off.reference_x == 0.0
    assert trade_off.reference_y == pytest.approx(42.0)
    assert trade_off.points[0].x == Interval(0.0, 0.0, 0.0)
    assert trade_off.points[-1].y == pytest.approx((18.0, 16.0, 20.0))
    assert isinstance(levels, DotChart)
    assert levels.reference == pytest.approx(42.0)
    assert levels.rows[0].mark == "model"
    assert ("series-1", "on unseen occupations only") in levels.legend
    ((unseen, mark),) = levels.rows[-1].others
    assert unseen == pytest.approx(21.0) and mark == "series-1"
    assert levels.title == "NLI-CoAL on occupation-nli, percent (0 is fair)"
    preference = charts[CHARTS[-1]]
    assert isinstance(preference, DotChart) and preference.base == 50.0


def test_everything_is_written_at_once_and_reads_back(tmp_path: Path) -> None:
    files = {FILE: to_json(report_fields(RECORD))}
    page = write_document(
        DOCUMENT, tmp_path / "out", extra=files, has_figures=True, has_script=False
    )
    names = {p.name for p in page.parent.iterdir()}
    assert {"mitigation.html", "mitigation.md", "mitigation.tex", "mitigation.json"} <= names
    assert {f"{name}.svg" for name in CHARTS} <= names
    text = page.read_text(encoding="utf-8")
    assert text.count("<figure") == 5 and "What is not shown" in text
    assert "http" not in re.sub(r'xmlns="[^"]*"', "", text)
    for name in CHARTS:
        picture = (page.parent / f"{name}.svg").read_text(encoding="utf-8")
        words = re.findall(r"<text[^>]*>([^<]*)</text>", picture)
        assert all(any(model in word for word in words) for model in MODELS), (name, words)
        assert not any("e+" in word for word in words)
    stored = page.parent / FILE
    fields = json.loads(stored.read_text(encoding="utf-8"))
    assert fields["words"]["lead"] == list(DOCUMENT.lead)
    assert read_mitigation(stored).scores == RECORD.scores


def test_the_spread_between_seeds_stands_in_the_tables_and_sentences() -> None:
    record = make_mitigation()
    assert wording.seeds(record) == 1
    assert "over seeds" not in document_text(mitigation_document(record))
    apart = {"none": 0.01, "swap": -0.02}  # how far the second run is from the first
    asked = wording.suites(record)[0]
    measure = wording.headline_on(record, asked)
    assert measure is not None
    further = tuple(
        replace(score, run=1, value=score.value + apart.get(score.model, 0.0))
        for score in record.scores
        if score.model != BEFORE
    )
    trained = tuple(replace(t, run=1) for t in record.trained)
    seeded = replace(record, scores=(*record.scores, *further), trained=(*record.trained, *trained))
    assert wording.seeds(seeded) == 2 and wording.models(seeded) == wording.models(record)
    first = record.score(asked.name, "all", measure, "swap")
    assert first is not None and seeded.score(asked.name, "all", measure, "swap") == first
    low, mean, high = (points(first.value + step) for step in (-0.02, -0.01, 0.0))
    spread = f"{mean} ({low} to {high})"
    assert wording.over_seeds(seeded, asked, measure, "swap") == spread
    table = next(iter(level_tables(seeded)))
    assert [c.title for c in table.columns].count("over seeds") == (len(table.columns) - 1) // 3
    assert spread in texts(table)["swap"]
    line = wording.summary(seeded, "swap")[-1]
    assert line.startswith("Over 2 seeds") and spread in line and "control" in line
    assert any("first of 2 training runs" in line for line in wording.not_shown(seeded))
    assert not any("One training run" in line for line in wording.not_shown(seeded))
