"""Does the report on people and models tell the same numbers in every form, also where something is missing?"""

from __future__ import annotations

import html
import io
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from people_room import make_people, make_suite, say
from rich.console import Console

from evenhand.people.compare import PeopleComparison, compare_people, gather_people
from evenhand.report.people_figures import agreement_figure, figures
from evenhand.report.people_models import people_text, to_json, write_people
from evenhand.report.people_page import to_html
from evenhand.report.people_tables import grids, print_people, to_latex, to_markdown
from evenhand.report.people_wording import lead, notes, verdict

SUITE = make_suite(measuring=80)
PEOPLE = make_people(SUITE)


def compared(count: int = 3, **settings: object) -> PeopleComparison:
    score = gather_people(PEOPLE).score
    noise = np.random.default_rng(2).normal(size=len(score))
    models = [
        say(SUITE, "<b>near & dear</b>", score + noise / 5),
        say(SUITE, "noise_1", noise),
        say(SUITE, "mirror", -score),
    ]
    return compare_people(PEOPLE[:count], models, resamples=300, **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> PeopleComparison:
    return compared()


def printed(comparison: PeopleComparison, width: int = 100) -> str:
    out = io.StringIO()
    print_people(comparison, Console(file=out, width=width, color_system=None))
    return out.getvalue()


def forms(comparison: PeopleComparison) -> list[str]:
    page = html.unescape(to_html(comparison, figures(comparison))).replace("\u00a0", " ")
    return [
        page,
        to_markdown(comparison).replace("\\", ""),
        to_latex(comparison).replace("\\", ""),
        printed(comparison, 400),
    ]


@pytest.fixture(scope="module")
def shown(found: PeopleComparison) -> list[str]:
    return forms(found)


def test_every_form_has_the_numbers_of_the_json(found: PeopleComparison, shown: list[str]) -> None:
    told = to_json(found)
    assert json.loads(people_text(found)) == told
    wanted = [
        f"{x['value']:.3f} [{x['low']:.3f}, {x['high']:.3f}]"
        for m in told["models"]
        for x in (m["pearson"], m["spearman"], m["accuracy"])
    ]
    wanted += [f"{told['agreement']['alpha'][s]['value']:.3f}" for s in ("MS", "OS")]
    wanted += [f"{p['pearson']['value']:.3f}" for p in told["agreement"]["pairs"]]
    for form in shown:
        for number in wanted:
            assert number.replace("-0.000", "0.000") in form


def test_what_is_said_fits_the_numbers(found: PeopleComparison) -> None:
    near, noise, mirror = found.models
    assert "leans with the people" in verdict(found, near)
    assert "no relation with the people is shown" in verdict(found, noise)
    assert "leans against the people" in verdict(found, mirror)
    said = " ".join(lead(found))
    assert "In the same 80 sentences" in said
    assert "one person against the mean of the others has r = " in said
    assert "the people together are right in 100 %" in said.replace("100.0", "100")
    every = found.agreement.everybody.shares if found.agreement else {}
    assert f"a man in {every['male'] * 100:.1f} %" in said


def test_names_are_text_and_no_markup(found: PeopleComparison) -> None:
    page = to_html(found, figures(found))
    assert "<b>near" not in page
    assert "&lt;b&gt;near &amp; dear" in page
    assert page.count("<script") == 0
    assert "noise\\_1" in to_markdown(found)
    assert "noise\\_1" in to_latex(found)


def test_lists_and_thresholds_are_printed(found: PeopleComparison, shown: list[str]) -> None:
    page, markdown, _, terminal = shown
    for form in (page, markdown, terminal):
        assert "People's |score| at least 0.75, model's |PB| below 0.1" in form
        assert (
            "Model's |PB| at least 0.693 (one word 2 times as likely), people's |score| below 0.25"
            in form
        )
    first = found.models[0].lists.agree.sentences[0]
    assert first.probe.around[1] in page
    assert first.text.replace("_", "") in markdown.replace("_", "")


def test_what_was_drawn_again_stands_beside_the_numbers(
    found: PeopleComparison, shown: list[str]
) -> None:
    for form in shown:
        assert form.count("word pairs drawn again, 300 times.") >= 3  # alpha, pairs, leanings
        assert "Intervals and p over 4 word pairs" in form
    told = to_json(found)
    assert (told["unit"], told["agreement"]["unit"], told["agreement"]["pairs_interval"]) == (
        "pair",
        "pair",
        "percentile",
    )


def test_one_person_and_nobody_known() -> None:
    alone = compared(count=1)
    assert agreement_figure(alone) is None
    assert any("no unit was judged by two people" in n for n in notes(alone))
    for form in forms(alone):
        assert "n/a" in form
    score = gather_people(PEOPLE).score
    whole = compare_people(
        [say(SUITE, "people:s", score)], [say(SUITE, "same", score)], resamples=100
    )
    assert [g.name for g in grids(whole)] == ["pearson", "spearman", "sides", "accuracy"]
    assert to_json(whole)["agreement"] is None
    assert "not who said what" in to_html(whole, figures(whole))


def test_many_people_still_fit() -> None:
    crowd = compare_people(
        make_people(SUITE, 16), [say(SUITE, "m", np.arange(88.0))], resamples=100
    )
    drawn = figures(crowd)
    assert all("NaN" not in figure.wide for figure in drawn)
    page = html.unescape(to_html(crowd, drawn))
    assert "All 240 pairs of people are in people.json." in page
    assert "by Fisher's z" in page
    assert len(to_json(crowd)["agreement"]["pairs"]) == 2 * 16 * 15 / 2
    assert "more rows are in the report" not in printed(crowd)
    more = compare_people(make_people(SUITE, 40), [say(SUITE, "m", np.arange(88.0))], resamples=100)
    assert "10 more rows are in the report" in printed(more)


def test_a_model_without_a_single_common_sentence(tmp_path: Path) -> None:
    silent = compare_people(PEOPLE, [say(SUITE, "silent", np.full(88, np.nan))], resamples=100)
    page = write_people(silent, tmp_path / "out")
    assert (
        "could not be set beside the people: 0 measuring sentences were answered by both"
        in page.read_text("utf-8")
    )
    assert not (tmp_path / "out" / "people-models.svg").exists()


def test_files_are_light_svg_and_whole(found: PeopleComparison, tmp_path: Path) -> None:
    write_people(found, tmp_path / "out")
    for name in ("accuracy", "agreement", "correlations", "models"):
        assert (tmp_path / "out" / f"people-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "var(" not in (tmp_path / "out" / f"people-{name}.svg").read_text("utf-8")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_tables_are_set_by_latex(found: PeopleComparison, tmp_path: Path) -> None:
    (tmp_path / "people.tex").write_text(to_latex(found), encoding="utf-8")
    text = "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}\\input{people.tex}\\end{document}"
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
