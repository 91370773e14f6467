"""Does the report of a ladder tell the same numbers in every form, in plain words, and doubt where doubt is due?"""

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
from ladders import SCORES, SUITE, large_ladder, make_ladder, read, rungs
from rich.console import Console

from evenhand.meta.climb import Climb
from evenhand.meta.files import ladder_json, read_ladder
from evenhand.meta.ranking import rank
from evenhand.meta.records import Ladder
from evenhand.report.ladder import (
    accuracy_told,
    has_learnt,
    name_of,
    notes,
    seconds_told,
    slug,
    summary,
    verdict,
    write_ladder_report,
)
from evenhand.report.ladder_figures import draw, first_scores, fixed_rate
from evenhand.report.ladder_languages import coefficient, table2
from evenhand.report.ladder_page import beside_the_paper
from evenhand.report.ladder_panels import Line, LinePanel, line_panels, ticks
from evenhand.report.ladder_tables import facts, print_ladder, row_of, to_latex, to_markdown

FIGURES = ["ranking", "scores", "suite-occupation-nli-ladder"]


def printed(ladder: Ladder, width: int) -> str:
    out = io.StringIO()
    print_ladder(
        ladder, rank(ladder, resamples=200), Console(file=out, width=width, color_system=None)
    )
    return out.getvalue()


@pytest.fixture(scope="module")
def large() -> Ladder:
    return large_ladder()


def test_every_form_has_the_same_numbers(tmp_path: Path) -> None:
    ladder = make_ladder(SCORES)
    standings = rank(ladder, resamples=200)
    page = write_ladder_report(ladder, standings, tmp_path / "out")
    assert page == tmp_path / "out" / "ladder.html"
    there = sorted(p.name for p in page.parent.iterdir())
    assert there == sorted(
        [
            *(f"ladder.{form}" for form in ("html", "json", "md", "tex")),
            *(f"{n}.{form}" for n in FIGURES for form in ("png", "svg")),
        ]
    )
    told = json.loads((page.parent / "ladder.json").read_text("utf-8"))
    assert [(s["measure"], s["finding"], s["is_moved"]) for s in told["standings"]] == [
        ("nli_coal", "found", False),
        ("objective", "found", False),
        ("fraction_neutral", "not", True),
    ]
    last = told["standings"][-1]
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
    assert ladder_json(read_ladder(page.parent)) == ladder_json(ladder)
    text = html.unescape(page.read_text("utf-8"))
    forms = {
        name: (page.parent / f"ladder.{name}").read_text("utf-8") for name in ("md", "tex")
    } | {
        "html": text,
        "terminal": printed(ladder, 140),
    }
    for name, form in forms.items():
        for needed in ("-1.000", "0.667", "0.020", "NLI-CoAL", "Fraction Neutral"):
            assert needed in form, (name, needed)
    assert "constant score" in text
    assert text.count('<svg class="wide"') == text.count('<svg class="narrow"') == 3
    assert not re.findall(r"(?:src|href)=", text)  # needs nothing but itself
    assert (page.parent / "scores.png").read_bytes().startswith(b"\x89PNG")
    assert (page.parent / "scores.svg").read_text("utf-8").startswith("<svg xmlns=")


def test_what_is_said_first() -> None:
    ladder = make_ladder(SCORES)
    found, missed, moved = summary(ladder, rank(ladder, resamples=200))
    assert (
        found
        == "2 of 3 measures found the bias (Pearson's r with the bias rate 0.9 or more in size): NLI-CoAL (1.000) and objective (-1.000)."
    )
    assert missed == "Fraction Neutral gave one score at every rate: no correlation."
    assert (
        moved == "Fraction Neutral (by 0.667) was moved by mere errors, with the bias rate fixed."
    )
    assert summary(ladder, ()) == ["No measure has a reading along the bias rates."]


def test_other_things_that_may_be_said() -> None:
    alone = make_ladder(
        {"nli_coal": SCORES["nli_coal"], "fs_official": lambda rung: abs(2 * rung.rate - 1)},
        models=rungs(errors=()),
    )
    said = summary(alone, rank(alone, resamples=50))
    assert (
        said[1]
        == "StereoSet FS official (0.000) did not (r below 0.5 in size, or its interval holds 0)."
    )
    assert said[2] == "StereoSet FS official follows how strong the bias is, not which way it goes."
    assert (
        said[3] == "Whether mere errors move a measure was not asked: there is no ladder of errors."
    )
    firm = make_ladder({"nli_coal": SCORES["nli_coal"]})
    assert (
        summary(firm, rank(firm, resamples=50))[-1]
        == "Mere errors moved none of them by a third of what bias does, or more."
    )
    flat = make_ladder({"nli_coal": lambda rung: 0.0})
    assert summary(flat, rank(flat, resamples=50))[0].startswith("None of 1 measure found the bias")


def test_a_ladder_that_did_not_learn_proves_nothing() -> None:
    low = make_ladder(SCORES, accuracy=0.98)
    worst = rungs()[4].name
    low = replace(low, accuracy={**low.accuracy, worst: 0.715})
    told = f"1 of 48 models is right on fewer than 90 % of its own development pairs (the lowest, {worst}: 71.5 %)."
    assert accuracy_told(low).startswith(told)
    assert not has_learnt(low)
    assert summary(low, rank(low, resamples=50))[0] == accuracy_told(low)  # before all else
    unknown = replace(low, accuracy={})
    assert "nothing shows that they learnt" in summary(unknown, rank(unknown, resamples=50))[0]
    assert "proves nothing about a measure" in to_markdown(low, rank(low, resamples=50))
    assert (
        accuracy_told(make_ladder(SCORES))
        == "Every model is right on 98.0 % or more of its own development pairs: the rates were learnt."
    )


def test_how_it_was_made() -> None:
    found = dict(facts(make_ladder(SCORES)))
    assert found["words, female"] == "nurse, maid"
    assert found["bias rates"] == "0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1"
    assert found["shares of errors"] == "0, 0.2, 0.4, 0.6, 0.8, 1, at bias rate 0.5"
    assert (found["seeds"], found["train"], found["learning rate"]) == ("0, 1, 2", "3,000", "2e-05")
    assert found["accuracy on own dev pairs"] == "98.0 % on average, 98.0 % to 98.0 %"
    assert found["time"] == "1 h 06 min"
    assert [seconds_told(s) for s in (0, 12.4, 200, 7300, math.nan)] == [
        "not recorded",
        "12 s",
        "3 min 20 s",
        "2 h 01 min",
        "not recorded",
    ]
    assert slug("CrowS-Pairs: gender/en") == "crows-pairs-gender-en"


def test_large_ladders_in_a_terminal(large: Ladder) -> None:
    for width in (80, 100, 140):
        told = printed(large, width)
        assert max(map(len, told.splitlines())) <= width
        assert (
            "! PB bias on profession: no value at bias rate 0.3: no probe was answered."
            in " ".join(told.split())
        )
        assert "not found, moved by errors" in " ".join(told.split())
    standings = rank(large, resamples=200)
    assert [s.rank for s in standings] == list(range(1, 22))
    assert standings[0].measure == "nli_coal"
    assert len(notes(standings)) == 2
    own = next(s for s in standings if s.measure == "my_own_measure")
    assert row_of(own)[0] == "my_own_measure"
    assert verdict(own) == "found"


def test_names_where_a_measure_stands_on_two_suites() -> None:
    one = make_ladder({"entailment_gap": SCORES["nli_coal"]})
    both = replace(
        one,
        readings=(
            *one.readings,
            *(read(r.rung, "other", r.measure, r.value) for r in one.readings),
        ),
    )
    standings = rank(both, resamples=50)
    assert [name_of(s, standings) for s in standings] == [
        f"dP entailment gap on {SUITE}",
        "dP entailment gap on other",
    ]
    assert [f.name for f in draw(both, standings)] == [
        "scores",
        "ranking",
        "suite-occupation-nli-ladder",
        "suite-other",
    ]
    alike = replace(
        one,
        readings=(
            *(read(r.rung, s, r.measure, r.value) for s in ("a:b", "a b") for r in one.readings),
        ),
    )
    assert [f.name for f in draw(alike, rank(alike, resamples=50))][2:] == [
        "suite-a-b-1",
        "suite-a-b-2",
    ]


def test_the_first_figure_shows_what_the_paper_compares(large: Ladder) -> None:
    standings = rank(large, resamples=50)
    assert [s.measure for s in first_scores(standings)] == [
        "nli_coal",
        "fraction_neutral",
    ]  # the third is on no known scale
    assert fixed_rate(large) == "bias rate 0.5"
    assert first_scores(()) == []
    assert draw(large, ()) == []
    (coal, neutral) = beside_the_paper(large, standings)
    assert (coal[0], coal[2]) == ("NLI-CoAL", "0.999")
    assert (neutral[0], neutral[2]) == ("Fraction Neutral", "-0.263")
    assert beside_the_paper(replace(large, language="ko"), standings) == []


def test_marks_lie_where_the_scores_are() -> None:
    climb = Climb(
        steps=(0.0, 0.5, 1.0),
        seeds=(0, 1),
        values=np.asarray([[0.0, 0.4, 1.0], [0.0, 0.6, np.nan]]),
    )
    panel = LinePanel(
        title="t", under="u", lines=(Line(place=0, climb=climb),), domain=(0.0, 1.0), fair=0.0
    )
    chart = line_panels([panel], width=720, columns=1, entries=[("series-0", "score")]).to_dict()

    def rows(mark: str, **settings: object) -> list[dict[str, float]]:
        layer = next(
            x
            for x in chart["layer"]
            if x["mark"]["type"] == mark and all(x["mark"].get(k) == v for k, v in settings.items())
        )
        return list(
            layer["data"]["values"]
            if "values" in layer["data"]
            else chart["datasets"][layer["data"]["name"]]
        )

    a, b, c = rows("line")
    assert b["px"] - a["px"] == pytest.approx(c["px"] - b["px"])
    assert a["y"] - b["y"] == pytest.approx(b["y"] - c["y"])  # means 0, 0.5 and 1
    assert len(rows("point", opacity=0.35)) == 5
    assert ticks((0.0, 1.0)) == [0, 0.5, 1]
    assert ticks((-1.0, 1.0)) == [-1, 0, 1]
    assert ticks((-0.3, 7.6)) == [0, 5]


def test_the_table_of_several_languages() -> None:
    ladders = [make_ladder(SCORES, language=code) for code in ("en", "ja", "zh")]
    found = table2(ladders)
    assert found.markdown.splitlines()[:6] == [
        "| measure | English | 日本語 | 中文 |",
        "| --- | ---: | ---: | ---: |",
        "| NLI-CoAL | 1.000 | 1.000 | 1.000 |",
        "| NLI-CoAL, as published | 0.999 | 1.000 | 0.997 |",
        "| Fraction Neutral | - | - | - |",
        "| Fraction Neutral, as published | -0.263 | - | -0.535 |",
    ]
    assert "-: constant score, no correlation." in found.markdown
    assert r"Fraction Neutral, as published & $-$0.263 & -- & $-$0.535 \\" in found.latex
    assert r"measure & en & ja & zh \\" in found.latex
    assert found.latex.isascii()
    korean = make_ladder({"objective": SCORES["objective"]}, language="ko")
    assert table2([korean]).markdown.splitlines()[-1] == "| objective | -1.000 |"
    few = rank(make_ladder(SCORES, models=rungs(rates=(0, 1))), resamples=50)
    assert [coefficient(s) for s in few] == ["n/a", "n/a", "n/a"]
    assert [verdict(s).partition(",")[0] for s in few] == [
        "no correlation",
        "no correlation",
        "constant",
    ]


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="needs pdflatex")
def test_latex_takes_the_tables(tmp_path: Path) -> None:
    ladder = make_ladder({**SCORES, "my_measure%": SCORES["objective"]})
    both = to_latex(ladder, rank(ladder, resamples=50)) + table2([ladder, ladder]).latex.replace(
        "tab:", "tab:b"
    )
    (tmp_path / "x.tex").write_text(
        rf"\documentclass{{article}}\usepackage{{booktabs,graphicx}}\begin{{document}}{both}\end{{document}}",
        encoding="utf-8",
    )
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert "Overfull" not in done.stdout
