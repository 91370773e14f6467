"""The document on people and models: the same numbers in every form, missing ones too."""

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

from evenhand.core.chart import DensityChart, DotChart, GridChart
from evenhand.core.document import Exhibit, Table
from evenhand.core.plain import to_json
from evenhand.core.settings import Settings
from evenhand.people.compare import PeopleComparison, compare_people
from evenhand.people.document import people_document
from evenhand.people.results import people_fields
from evenhand.people.scores import from_answers
from evenhand.people.wording import lead, notes, verdict
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.write import print_document, write_document

SUITE = make_suite(measuring=80)
PEOPLE = make_people(SUITE)
QUICK = Settings(resamples=100)


def compared(count: int = 3) -> PeopleComparison:
    score = from_answers(PEOPLE).final
    noise = np.random.default_rng(2).normal(size=len(score))
    models = [
        say(SUITE, "<b>near & dear</b>", score + noise / 5),
        say(SUITE, "noise_1", noise),
        say(SUITE, "mirror", -score),
    ]
    return compare_people(PEOPLE[:count], models, settings=Settings(resamples=300))


@pytest.fixture(scope="module")
def comparison() -> PeopleComparison:
    return compared()


def printed(comparison: PeopleComparison, width: int = 100) -> str:
    out = io.StringIO()
    print_document(people_document(comparison), Console(file=out, width=width, color_system=None))
    return out.getvalue()


def forms(comparison: PeopleComparison) -> list[str]:
    document = people_document(comparison)
    page = html.unescape(to_html(document, has_script=False)).replace("\u00a0", " ")
    markdown, latex = (form(document).replace("\\", "") for form in (to_markdown, to_latex))
    return [page, markdown, latex, printed(comparison, 400)]


@pytest.fixture(scope="module")
def shown(comparison: PeopleComparison) -> list[str]:
    return forms(comparison)


def table(comparison: PeopleComparison, name: str) -> Table:
    tables = people_document(comparison).blocks(Table)
    return next(t for t in tables if isinstance(t, Table) and t.name == name)


def test_every_form_has_the_numbers_of_the_json(
    comparison: PeopleComparison, shown: list[str]
) -> None:
    fields = people_fields(comparison)
    assert json.loads(to_json(fields)) == fields
    wanted = [
        f"{x['value']:.3f} [{x['low']:.3f}, {x['high']:.3f}]"
        for m in fields["models"]
        for x in (m["pearson"], m["spearman"], m["accuracy"])
    ]
    wanted += [f"{fields['agreement']['alpha'][s]['value']:.3f}" for s in ("MS", "OS")]
    wanted += [f"{p['pearson']['value']:.3f}" for p in fields["agreement"]["pairs"]]
    for form in shown:
        for number in wanted:
            assert number.replace("-0.000", "0.000") in form


def test_tables_hold_the_numbers_of_the_comparison(comparison: PeopleComparison) -> None:
    near, noise, mirror = comparison.models
    rows = table(comparison, "pearson").rows
    assert [row.cells[0] for row in rows] == [m.name for m in comparison.models]
    assert [row.cells[1] for row in rows] == [m.pearson.interval for m in comparison.models]
    assert [row.cells[2:] for row in rows] == [
        (m.pearson.p, m.pearson.adjusted, m.pearson.p_sentences) for m in comparison.models
    ]
    assert [bool(row.strong) for row in rows] == [True, False, True]
    sides = [row.cells for row in table(comparison, "sides").rows]
    assert sides[0] == (near.name, near.same_side, 80, 80, 1.0)
    accuracy = table(comparison, "accuracy").rows
    assert [row.cells[0] for row in accuracy[:4]] == [
        "people together",
        "annotator-1",
        "annotator-2",
        "annotator-3",
    ]
    assert [row.cells[1] for row in accuracy[4:]] == [
        m.accuracy.interval for m in (near, noise, mirror)
    ]
    assert len(table(comparison, "pairs").rows) == 2 * 3 + 3
    assert comparison.agreement is not None
    leanings = table(comparison, "leanings").rows
    assert leanings[0].cells[:3] == ("everybody", 80, comparison.agreement.everybody.mean)


def test_charts_show_the_numbers_of_the_comparison(comparison: PeopleComparison) -> None:
    charts = {chart.name: chart for chart in people_document(comparison).charts}
    assert list(charts) == [
        "people-correlations",
        "people-models",
        "people-agreement",
        "people-accuracy",
    ]
    dots = charts["people-correlations"]
    assert isinstance(dots, DotChart) and comparison.agreement is not None
    assert [r.interval for r in dots.rows] == [
        *(m.pearson.interval for m in comparison.models),
        *(p.pearson for p in comparison.agreement.others),
    ]
    assert [r.is_apart for r in dots.rows] == [False] * 3 + [True, False, False]
    assert (dots.base, dots.sides) == (0.0, ("← against", "with the people →"))
    grid = charts["people-agreement"]
    assert isinstance(grid, GridChart)
    assert grid.names == ("annotator-1", "annotator-2", "annotator-3")
    alpha = comparison.agreement.alpha("MS").interval.value
    assert grid.panels[0].title == f"measuring, alpha {alpha:.3f}"
    pair = comparison.agreement.pair("MS", "annotator-1", "annotator-3")
    assert grid.panels[0].values[0][2] == grid.panels[0].values[2][0] == pair.pearson.value
    assert [row[i] for i, row in enumerate(grid.panels[1].values)] == [1.0] * 3
    density = charts["people-models"]
    assert isinstance(density, DensityChart) and comparison.density is not None
    assert [p.title for p in density.panels] == [m.name for m in comparison.models]
    assert max(c.weight for c in density.panels[0].cells) == 1.0
    accuracy = charts["people-accuracy"]
    assert isinstance(accuracy, DotChart)
    assert (accuracy.domain, accuracy.reference) == ((0.0, 1.0), 0.5)
    assert [r.mark for r in accuracy.rows] == ["random"] * 4 + ["model"] * 3


def test_lists_are_exhibits_of_sentences(comparison: PeopleComparison) -> None:
    exhibits = [b for b in people_document(comparison).blocks(Exhibit) if isinstance(b, Exhibit)]
    assert len(exhibits) == 4 * 3
    agree = comparison.models[0].lists.agree
    first = agree.sentences[0]
    assert exhibits[0].title == f"Both lean the same way, most ({agree.total} sentences)"
    assert [s.id for s in exhibits[0].specimens] == [s.probe.id for s in agree.sentences]
    specimen = exhibits[0].specimens[0]
    assert specimen.lines == (first.probe.texts[0],)
    side = first.probe.texts[1 if first.people > 0 else 2]
    assert specimen.summary.startswith(f"people {first.people:.3f}, rather {side}; PB ")
    assert f"{first.odds:.3f}, {side} " in specimen.summary
    assert [a.label for a in specimen.answers] == ["people", "PB"]


def test_what_is_said_fits_the_numbers(comparison: PeopleComparison) -> None:
    near, noise, mirror = comparison.models
    assert "leans with the people" in verdict(comparison, near)
    assert "no relation with the people is shown" in verdict(comparison, noise)
    assert "leans against the people" in verdict(comparison, mirror)
    sentences = " ".join(lead(comparison))
    assert "In the same 80 sentences" in sentences
    assert "one person against the mean of the others has r = " in sentences
    assert "the people together are right in 100 %" in sentences.replace("100.0", "100")
    every = comparison.agreement.everybody.shares if comparison.agreement else {}
    assert f"a man in {every['male'] * 100:.1f} %" in sentences


def test_names_are_text_and_no_markup(comparison: PeopleComparison) -> None:
    document = people_document(comparison)
    page = to_html(document, has_script=False)
    assert "<b>near" not in page
    assert "&lt;b&gt;near &amp; dear" in page
    assert page.count("<script") == 0
    assert "noise\\_1" in to_markdown(document)
    assert "noise\\_1" in to_latex(document)


def test_lists_and_thresholds_are_printed(comparison: PeopleComparison, shown: list[str]) -> None:
    page, markdown, _, terminal = shown
    for form in (page, markdown, terminal):
        assert "People's |score| at least 0.75, model's |PB| below 0.1" in form
        assert (
            "Model's |PB| at least 0.693 (one word 2 times as likely), people's |score| below 0.25"
            in form
        )
    first = comparison.models[0].lists.agree.sentences[0]
    assert first.probe.around_blank[1] in page
    assert first.text.replace("_", "") in markdown.replace("_", "")


def test_what_was_drawn_again_stands_beside_the_numbers(
    comparison: PeopleComparison, shown: list[str]
) -> None:
    for form in shown:
        assert form.count("word pairs drawn again, 300 times.") >= 3  # alpha, pairs, leanings
        assert "Intervals and p over 4 word pairs" in form
    fields = people_fields(comparison)
    assert (fields["unit"], fields["agreement"]["unit"], fields["agreement"]["pairs_interval"]) == (
        "pair",
        "pair",
        "percentile",
    )


def test_one_person_and_nobody_known() -> None:
    alone = compared(count=1)
    assert "people-agreement" not in [c.name for c in people_document(alone).charts]
    assert any("no unit was judged by two people" in n for n in notes(alone))
    for form in forms(alone):
        assert "n/a" in form
    score = from_answers(PEOPLE).final
    whole = compare_people(
        [say(SUITE, "people:s", score)], [say(SUITE, "same", score)], settings=QUICK
    )
    document = people_document(whole)
    tables = [b.name for b in document.blocks(Table) if isinstance(b, Table)]
    assert tables == ["pearson", "spearman", "sides", "accuracy"]
    assert people_fields(whole)["agreement"] is None
    assert "not who said what" in to_html(document, has_script=False)


def test_many_people_still_fit() -> None:
    model = say(SUITE, "m", np.arange(88.0))
    crowd = compare_people(make_people(SUITE, 16), [model], settings=QUICK)
    page = html.unescape(to_html(people_document(crowd), has_script=False))
    assert "NaN" not in page
    assert "All 240 pairs of people are in people.json." in page
    assert "by Fisher's z" in page.replace("\u00a0", " ")
    assert len(people_fields(crowd)["agreement"]["pairs"]) == 2 * 16 * 15 / 2
    assert "the first 30" not in printed(crowd)
    more = compare_people(make_people(SUITE, 40), [model], settings=QUICK)
    assert "Pearson's r between people: the first 30, of 40" in printed(more)


def test_a_model_without_a_single_common_sentence(tmp_path: Path) -> None:
    silent = compare_people(PEOPLE, [say(SUITE, "silent", np.full(88, np.nan))], settings=QUICK)
    document = people_document(silent)
    page = write_document(document, tmp_path / "out", has_figures=True, has_script=False)
    assert (
        "could not be set beside the people: 0 measuring sentences were answered by both"
        in page.read_text("utf-8").replace("\u00a0", " ")
    )
    assert not (tmp_path / "out" / "people-models.svg").exists()


def test_files_are_light_svg_and_whole(comparison: PeopleComparison, tmp_path: Path) -> None:
    write_document(people_document(comparison), tmp_path / "out", has_figures=True)
    for name in ("accuracy", "agreement", "correlations", "models"):
        assert (tmp_path / "out" / f"people-{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "var(" not in (tmp_path / "out" / f"people-{name}.svg").read_text("utf-8")


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_the_tables_are_set_by_latex(comparison: PeopleComparison, tmp_path: Path) -> None:
    (tmp_path / "people.tex").write_text(to_latex(people_document(comparison)), encoding="utf-8")
    text = (
        "\\documentclass{article}\\usepackage{booktabs,graphicx}\\begin{document}"
        "\\input{people.tex}\\end{document}"
    )
    (tmp_path / "paper.tex").write_text(text, encoding="utf-8")
    subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
    )
