"""The report of a ladder: the same numbers in every form, plain words, doubt where it is due."""

from __future__ import annotations

import html
import io
import json
import math
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from document_text import chart_texts, document_text, table, table_rows
from ladders import ERRORS, RATES, SCORES, SUITE, large_ladder, make_ladder, quick_rank, read, rungs
from rich.console import Console

from evenhand.core.chart import DotChart, LineChart
from evenhand.core.document import Callout, Facts, Prose
from evenhand.core.plain import to_json
from evenhand.meta.charts import effect_scores, first_scores, fixed_rate, slug
from evenhand.meta.document import ladder_document, report_fields
from evenhand.meta.ladder import FILE, Ladder, ladder_fields, read_ladder
from evenhand.meta.ranking import Series, Standing
from evenhand.meta.table2 import beside_paper, coefficient, table2
from evenhand.meta.wording import (
    accuracy_sentence,
    duration,
    has_learnt,
    name_of,
    notes,
    settings_rows,
    summary,
    verdict,
)
from evenhand.report.latex import to_latex
from evenhand.report.write import print_document, write_document

CHARTS = ["scores", "ranking", "movement", "suite-occupation-nli-ladder"]


def printed(ladder: Ladder, width: int) -> str:
    out = io.StringIO()
    document = ladder_document(ladder, quick_rank(ladder, 200))
    print_document(document, Console(file=out, width=width, color_system=None))
    return out.getvalue()


@pytest.fixture(scope="module")
def large() -> Ladder:
    return large_ladder()


def test_every_form_has_the_same_numbers(tmp_path: Path) -> None:
    ladder = make_ladder(SCORES)
    standings = quick_rank(ladder, 200)
    document = ladder_document(ladder, standings)
    files = {FILE: to_json(report_fields(ladder, standings))}
    page = write_document(
        document, tmp_path / "out", extra=files, has_figures=True, has_script=False
    )
    assert page == tmp_path / "out" / "ladder.html"
    assert sorted(p.name for p in page.parent.iterdir()) == sorted(
        [
            "manifest.json",
            *(f"ladder.{form}" for form in ("html", "json", "md", "tex")),
            *(f"{name}.{form}" for name in CHARTS for form in ("pdf", "png", "svg")),
        ]
    )
    assert ladder_fields(read_ladder(page.parent)) == ladder_fields(ladder)
    forms = {
        name: (page.parent / f"ladder.{name}").read_text("utf-8") for name in ("md", "tex", "html")
    }
    forms["html"] = html.unescape(forms["html"])
    forms["terminal"] = printed(ladder, 140)
    for name, form in forms.items():
        for needed in ("-1.000", "0.667", "0.020", "NLI-CoAL", "Fraction Neutral"):
            assert needed in form, (name, needed)
    assert "constant score" in forms["html"]
    assert forms["html"].count("<figure") == len(CHARTS)
    assert not re.findall(r"(?:src|href)=", forms["html"])  # needs nothing but itself


def test_the_standings_as_plain_data() -> None:
    ladder = make_ladder(SCORES)
    fields = json.loads(to_json(report_fields(ladder, quick_rank(ladder, 200))))
    assert [(s["measure"], s["finding"], s["is_moved"]) for s in fields["standings"]] == [
        ("nli_coal", "found", False),
        ("objective", "found", False),
        ("fraction_neutral", "not", True),
    ]
    last = fields["standings"][-1]
    assert last["pearson"] == {
        "value": None,
        "low": None,
        "high": None,
        "p": None,
        "by_seed": {"0": None, "1": None, "2": None},
        "mean_of_seeds": None,
        "note": "constant score: no correlation",
    }
    assert last["leak_ratio"] is None  # infinite: it has no form in JSON


def test_the_table_of_standings_has_every_number() -> None:
    ladder = make_ladder(SCORES)
    document = ladder_document(ladder, quick_rank(ladder, 200))
    standings = table(document, "standings")
    assert [c.title for c in standings.columns] == (
        "measure rank suite Pearson Spearman Kendall bias seeds errors verdict".split()
    )
    rows = table_rows(document, "standings")
    assert rows[0][3:] == [
        *("1.000 [1.000, 1.000]", "1.000", "1.000", "0.667", "0.000", "0.000", "found"),
    ]
    assert rows[1] == [
        *("objective", "2", SUITE, "-1.000 [-1.000, -1.000]", "-1.000", "-1.000"),
        *("1.000", "0.020", "0.000", "found"),
    ]
    assert rows[2] == [
        *("Fraction Neutral", "3", SUITE, "-", "n/a", "n/a", "0.000", "0.000", "0.667"),
        "constant, moved by errors",
    ]
    assert [set(row.strong) for row in standings.rows] == [{3}, {3}, {8}]
    assert table_rows(document, "seeds")[2] == [
        *("Fraction Neutral", SUITE, "n/a, n/a, n/a", "n/a", "n/a", "[n/a]", "[n/a]", "0.0 %"),
        *("n/a", "1.000", "0.005"),
    ]
    assert document.blocks(Callout) == [
        Callout(text=f"Fraction Neutral on {SUITE}: constant score: no correlation.")
    ]


def test_what_is_said_first() -> None:
    ladder = make_ladder(SCORES)
    findings, missed, moved = summary(ladder, quick_rank(ladder, 200))
    assert findings == (
        "2 of 3 measures found the bias (Pearson's r with the bias rate 0.9 or more in size): "
        "NLI-CoAL (1.000) and objective (-1.000)."
    )
    assert missed == "Fraction Neutral gave one score at every rate: no correlation."
    assert (
        moved == "Fraction Neutral (by 0.667) was moved by mere errors, with the bias rate fixed."
    )
    document = ladder_document(ladder, quick_rank(ladder))
    assert document.title == "Which measures find a known bias?"
    assert document.subtitle == "English, default, 48 models"
    assert document.lead == (findings, missed, moved, accuracy_sentence(ladder))
    nothing = ["No measure has a reading along the bias rates."]
    assert summary(ladder, ()) == nothing
    assert ladder_document(ladder, ()).lead[:1] == tuple(nothing)


def test_other_things_that_may_be_said() -> None:
    scores = {
        "nli_coal": SCORES["nli_coal"],
        "fs_official": lambda rung: abs(2 * rung.rate - 1),
    }
    alone = make_ladder(scores, models=rungs(errors=()))
    sentences = summary(alone, quick_rank(alone))
    assert sentences[1:] == [
        "StereoSet FS official (0.000) did not (r below 0.5 in size, or its interval holds 0).",
        "StereoSet FS official follows how strong the bias is, not which way it goes.",
        "Whether mere errors move a measure was not asked: there is no ladder of errors.",
    ]
    firm = make_ladder({"nli_coal": SCORES["nli_coal"]})
    assert summary(firm, quick_rank(firm))[-1] == (
        "Mere errors moved none of them by a third of what bias does, or more."
    )
    flat = make_ladder({"nli_coal": lambda rung: 0.0})
    assert summary(flat, quick_rank(flat))[0].startswith("None of 1 measure found the bias")


def test_a_ladder_that_did_not_learn_proves_nothing() -> None:
    low = make_ladder(SCORES, accuracy=0.98)
    worst = rungs()[4].name
    low = replace(low, accuracy={**low.accuracy, worst: 0.715})
    assert accuracy_sentence(low).startswith(
        "1 of 48 models is right on fewer than 90 % of its own development pairs "
        f"(the lowest, {worst}: 71.5 %)."
    )
    assert not has_learnt(low)
    assert summary(low, quick_rank(low))[0] == accuracy_sentence(low)  # before all else
    unknown = replace(low, accuracy={})
    assert "nothing shows that they learnt" in summary(unknown, quick_rank(unknown))[0]
    text = document_text(ladder_document(low, quick_rank(low)))
    assert text.count("proves nothing about a measure") == 1
    assert accuracy_sentence(make_ladder(SCORES)) == (
        "Every model is right on 98.0 % or more of its own development pairs: "
        "the rates were learnt."
    )


def test_how_it_was_made() -> None:
    ladder = make_ladder(SCORES)
    rows = dict(settings_rows(ladder))
    assert rows["words, female"] == "nurse, maid"
    assert rows["bias rates"] == "0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1"
    assert rows["shares of errors"] == "0, 0.2, 0.4, 0.6, 0.8, 1, at bias rate 0.5"
    assert (rows["seeds"], rows["train"], rows["learning rate"]) == ("0, 1, 2", "3,000", "2e-05")
    assert rows["accuracy on own dev pairs"] == "98.0 % on average, 98.0 % to 98.0 %"
    assert rows["time"] == "1 h 06 min"
    assert ladder_document(ladder, ()).blocks(Facts) == [Facts(rows=tuple(rows.items()))]
    assert [duration(s) for s in (0, 12.4, 200, 7300, math.nan)] == [
        *("not recorded", "12 s", "3 min 20 s", "2 h 01 min", "not recorded"),
    ]
    assert slug("CrowS-Pairs: gender/en") == "crows-pairs-gender-en"


def test_large_ladders_in_a_terminal(large: Ladder) -> None:
    for width in (80, 100, 140):
        text = printed(large, width)
        assert max(map(len, text.splitlines())) <= width
        flat = " ".join(text.split())
        assert "! PB bias on profession: no value at bias rate 0.3: no probe was answered." in flat
    standings = quick_rank(large, 200)
    assert [s.rank for s in standings] == list(range(1, 22))
    assert standings[0].measure == "nli_coal"
    assert len(notes(standings)) == 2
    assert "not found, moved by errors" in {verdict(s) for s in standings}
    own = next(s for s in standings if s.measure == "my_own_measure")
    assert verdict(own) == "found"
    rows = table_rows(ladder_document(large, standings), "standings")
    assert rows[own.rank - 1][0] == "my_own_measure"


def test_names_where_a_measure_stands_on_two_suites() -> None:
    one = make_ladder({"entailment_gap": SCORES["nli_coal"]})
    again = (read(r.rung, "other", r.measure, r.value) for r in one.readings)
    both = replace(one, readings=(*one.readings, *again))
    standings = quick_rank(both)
    assert [name_of(s, standings) for s in standings] == [
        f"dP entailment gap on {SUITE}",
        "dP entailment gap on other",
    ]
    charts = ladder_document(both, standings).charts
    assert [c.name for c in charts] == [*CHARTS, "suite-other"]
    alike = tuple(
        read(r.rung, suite, r.measure, r.value) for suite in ("a:b", "a b") for r in one.readings
    )
    ladder = replace(one, readings=alike)
    charts = ladder_document(ladder, quick_rank(ladder)).charts
    assert [c.name for c in charts][3:] == ["suite-a-b-1", "suite-a-b-2"]


def test_the_first_chart_shows_what_the_paper_compares(large: Ladder) -> None:
    standings = quick_rank(large)
    # the third is on no known scale
    assert [s.measure for s in first_scores(standings)] == ["nli_coal", "fraction_neutral"]
    assert fixed_rate(large) == "bias rate 0.5"
    assert first_scores(()) == []
    assert ladder_document(large, ()).charts == []
    sentence = beside_paper(large, standings)
    assert re.search(r"NLI-CoAL [\d.]+ here, 0\.999 there; Fraction Neutral ", sentence)
    assert sentence.endswith(" here, -0.263 there.")
    assert beside_paper(replace(large, language="ko"), standings) == ""
    constant = make_ladder(SCORES, language="ja")
    assert beside_paper(constant, quick_rank(constant)).endswith(
        "Fraction Neutral none (constant score) here, none (constant score) there."
    )


def line_chart(ladder: Ladder, standings: tuple[Standing, ...], name: str) -> LineChart:
    charts = ladder_document(ladder, standings).charts
    return next(c for c in charts if isinstance(c, LineChart) and c.name == name)


def test_both_effects_have_a_chart_of_their_own() -> None:
    effects = {
        "stereotype_effect": lambda rung: rung.rate - (1 - rung.rate) * rung.errors,
        "default_effect": lambda rung: 0.0,
    }
    ladder = make_ladder({**SCORES, **effects})
    standings = quick_rank(ladder)
    assert [s.measure for s in effect_scores(standings)] == [*effects]
    document = ladder_document(ladder, standings)
    (section,) = (s for s in document.sections if s.name == "effects")
    chart, prose = section.blocks
    assert isinstance(chart, LineChart) and isinstance(prose, Prose)
    assert section.title == f"Stereotype and default effect on {SUITE} along the ladder"
    rates, errors = chart.panels
    assert rates.domain == errors.domain == (-1.0, 1.0) and rates.fair == errors.fair == 0
    rising, level = (line.means for line in rates.lines)
    assert dict(rising) == pytest.approx({r: 2 * r - 1 for r in RATES})
    assert dict(level) == pytest.approx(dict.fromkeys(RATES, 0.0))
    falling, _ = (line.means for line in errors.lines)
    assert dict(falling) == pytest.approx({e: 0.5 - 0.5 * e for e in ERRORS})
    assert "the stereotype effect falls as they rise" in prose.lines[0]
    verdicts = {row[0]: row[-1] for row in table_rows(document, "standings")}
    assert verdicts["Stereotype effect"] == "found"
    assert verdicts["Default effect"] == "constant"
    assert {"Stereotype effect", "Default effect"} <= {
        row[0] for row in table_rows(document, "table2")
    }


def test_without_both_effects_there_is_no_chart_of_them() -> None:
    ladder = make_ladder(SCORES)
    document = ladder_document(ladder, quick_rank(ladder))
    assert "effects" not in {s.name for s in document.sections}
    assert effect_scores(()) == []


def test_lines_are_the_means_and_the_seeds() -> None:
    values = {0: (0.0, 0.4, 1.0), 1: (0.0, 0.6, math.nan)}
    ladder = make_ladder(
        {"nli_coal": lambda rung: values[rung.seed][round(2 * rung.rate)]},
        models=rungs(rates=(0, 0.5, 1), errors=(), seeds=2),
    )
    chart = line_chart(ladder, quick_rank(ladder), "scores")
    (panel,) = chart.panels
    assert (panel.domain, panel.fair, panel.subtitle) == ((0.0, 1.0), 0.0, "3 rates, 2 seeds")
    (line,) = panel.lines
    assert line.means == ((0.0, 0.0), (0.5, 0.5), (1.0, 1.0))
    assert line.singles == ((0.0, 0.0), (0.5, 0.4), (1.0, 1.0), (0.0, 0.0), (0.5, 0.6))
    assert chart.legend == (
        ("series-0", "NLI-CoAL, r = 1.000"),
        ("fair", "fair value"),
    )
    alone = Series(steps=(0.0, 1.0), seeds=(0,), values=np.asarray([[0.0, 1.0]]))
    assert alone.means.tolist() == [0.0, 1.0]


def test_the_charts_of_the_ranking() -> None:
    ladder = make_ladder(SCORES)
    document = ladder_document(ladder, quick_rank(ladder, 200))
    ranking, movement = (c for c in document.charts if isinstance(c, DotChart))
    assert [row.label for row in ranking.rows] == [
        "1 NLI-CoAL",
        "2 objective",
        "3 Fraction Neutral",
    ]
    assert [row.note for row in ranking.rows][1:] == ["-1.000 [-1.000, -1.000]", "constant score"]
    assert (ranking.domain, ranking.base, ranking.reference) == ((-1.0, 1.0), 0.0, 0.9)
    assert movement.domain == (0.0, 1.0)
    assert movement.reference == pytest.approx(1 / 3)
    # without bias any error is infinitely more: drawn at the end
    assert [row.interval.value for row in movement.rows] == [0.0, 0.0, 1.0]
    ((seeds, mark),) = movement.rows[1].others
    assert seeds == pytest.approx(0.02) and mark == "random"
    words = chart_texts(document)
    assert words["scores"] == (
        "NLI-CoAL: Pearson 1.000 [1.000, 1.000], moved by errors 0.000; "
        "Fraction Neutral: Pearson n/a, moved by errors 0.667"
    )
    assert words["suite-occupation-nli-ladder"] == (
        "NLI-CoAL: Pearson 1.000 [1.000, 1.000], by errors 0.000; "
        "objective: Pearson -1.000 [-1.000, -1.000], by errors 0.000; "
        "Fraction Neutral: Pearson n/a, by errors 0.667"
    )
    assert "2 objective on occupation-nli:ladder: errors against bias 0.000" in words["movement"]


def test_panels_do_not_repeat_the_name_of_the_family(large: Ladder) -> None:
    chart = line_chart(large, quick_rank(large), "suite-stereoset-gender")
    assert "FS, official" in {panel.title for panel in chart.panels}
    assert {len(panel.lines) for panel in chart.panels} == {2}


def test_the_table_of_several_languages() -> None:
    ladders = [make_ladder(SCORES, language=code) for code in ("en", "ja", "zh")]
    languages = table2(ladders, [quick_rank(ladder) for ladder in ladders])
    assert [c.title for c in languages.columns] == ["measure", "English", "日本語", "中文"]
    rows = [row.cells for row in languages.rows]
    assert rows[0] == ("NLI-CoAL", *[pytest.approx(1.0)] * 3)
    assert rows[1:4] == [
        ("NLI-CoAL, as published", 0.999, 1.000, 0.997),
        ("Fraction Neutral", "-", "-", "-"),
        ("Fraction Neutral, as published", -0.263, "-", -0.535),
    ]
    assert languages.note == "-: constant score, no correlation."
    korean = make_ladder({"objective": SCORES["objective"]}, language="ko")
    only = table2([korean], [quick_rank(korean)])
    (row,) = only.rows
    assert row.cells[0] == "objective" and row.cells[1] == pytest.approx(-1.0)
    assert only.note == ""
    few = quick_rank(make_ladder(SCORES, models=rungs(rates=(0, 1))))
    assert [coefficient(s) for s in few] == ["n/a", "n/a", "n/a"]
    assert [verdict(s).partition(",")[0] for s in few] == [
        *("no correlation", "no correlation", "constant"),
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_takes_the_tables(tmp_path: Path) -> None:
    ladder = make_ladder({**SCORES, "my_measure%": SCORES["objective"]}, language="ja")
    tables = to_latex(ladder_document(ladder, quick_rank(ladder)))
    packages = r"\documentclass{article}\usepackage{booktabs,graphicx}"
    text = rf"{packages}\begin{{document}}{tables}\end{{document}}"
    (tmp_path / "x.tex").write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
