"""Every form of the report of an audit tells the same numbers, and what is missing is said."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from runs import (
    cells,
    deaf_to_men,
    few,
    hostile,
    noise,
    printed,
    silent,
    two_labels,
    undecided,
)

from evenhand.core.run import Run
from evenhand.core.suite import read_suite
from evenhand.engine.audit import audit
from evenhand.engine.audit_document import audit_document
from evenhand.engine.results import run_fields, run_files
from evenhand.engine.suites import load_suite
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.write import write_document

FILES = [
    "answers.parquet",
    "manifest.json",
    "report.html",
    "report.md",
    "report.tex",
    "results.json",
    "suite.card.json",
    "suite.jsonl",
]


def short(model: Callable[..., object] | str, limit: int = 60) -> Run:
    return audit(model, load_suite("occupation-nli", limit=limit), settings=few(50))


@pytest.fixture(scope="module")
def run() -> Run:
    return audit(noise, load_suite("occupation-nli", limit=600), settings=few(200))


def one_measure() -> Run:
    suite = load_suite("occupation-nli", limit=60)
    return audit(noise, suite, measures=["person_entailment"], settings=few(50))


CASES: dict[str, Callable[[], Run]] = {
    "three probes": lambda: short(noise, 3),
    "one probe": lambda: short(noise, 1),
    "one measure": one_measure,
    "two labels": two_labels,
    "no answer": lambda: short(silent),
    "half an answer": lambda: short(deaf_to_men),
    "all tied": lambda: short(undecided),
    "ordinary pairs": lambda: audit("fixed:random", load_suite("ordinary-nli"), settings=few(50)),
}


@pytest.mark.parametrize("name", CASES)
def test_every_run_can_be_told(name: str, tmp_path: Path) -> None:
    run = CASES[name]()
    document = audit_document(run)
    folder = tmp_path / "report"
    page = write_document(document, folder, extra=run_files(run, document), has_script=False)
    assert sorted(path.name for path in folder.iterdir()) == FILES
    assert not list(tmp_path.glob(".report*"))
    texts = [(folder / name).read_text("utf-8") for name in FILES[2:5]]
    forms = [*texts, printed(run, 80), printed(run, 120)]
    for form in forms:
        assert not re.search(r"\bnan\b", form, flags=re.IGNORECASE)
        assert "None" not in form
    for estimate in run.estimates:
        if not math.isfinite(estimate.value):
            for form in forms:
                assert estimate.note in " ".join(html.unescape(form).split())
    assert page == folder / "report.html"


def test_every_form_prints_the_same_score(run: Run) -> None:
    document = audit_document(run)
    forms = [to_html(document, has_script=False), to_markdown(document), to_latex(document)]
    for estimate in (*run.estimates, *run.sanity):
        for form in (*forms, printed(run, 80), printed(run, 120)):
            assert f"{estimate.value:.3f}" in form
            assert f"[{estimate.low:.3f}, {estimate.high:.3f}]" in form
    for estimate in (*run.estimates, *run.sanity):
        assert f"% signature {estimate.signature}" in forms[2]
        assert estimate.signature in printed(run, 80)


def test_results_hold_every_number_and_null_for_none(run: Run) -> None:
    results = json.loads(str(run_files(run, audit_document(run))["results.json"]))
    assert [e["value"] for e in results["estimates"]] == [e.value for e in run.estimates]
    assert [e["signature"] for e in results["estimates"]] == [e.signature for e in run.estimates]
    counts = [len(view.groups) for view in run.breakdowns]
    assert [len(view["groups"]) for view in results["breakdowns"]] == counts
    levels = [dict(g.levels) for view in run.breakdowns for g in view.groups]
    assert [g["levels"] for view in results["breakdowns"] for g in view["groups"]] == levels
    assert any(levels)
    assert results["suite"]["digest"] == run.suite.digest
    assert results["suite"]["limit"] == 600
    assert list(results["baselines"]) == [
        "fixed:random",
        "fixed:constant",
        "fixed:male-default",
        "fixed:female-default",
        "fixed:stereotyped",
    ]
    first = results["baselines"]["fixed:random"][0]
    assert list(first) == ["measure", "value", "low", "high", "draws", "note"]
    assert first["value"] == pytest.approx(4 / 9) and first["low"] < 4 / 9 < first["high"]
    assert results["baselines"]["fixed:constant"][0]["draws"] == 0
    quiet = short(silent)
    empty = json.loads(str(run_files(quiet, audit_document(quiet))["results.json"]))
    assert {e["value"] for e in empty["estimates"]} == {None}
    assert all(e["note"] for e in empty["estimates"])
    assert all(g["value"] is None for view in empty["breakdowns"] for g in view["groups"])
    assert empty["coverage"] == 0


def test_only_timing_differs_between_two_runs() -> None:
    one, two = short(noise), short(noise)
    before, after = (run_fields(run, audit_document(run)) for run in (one, two))
    assert list(before) == list(after)
    for key in before:
        if key != "timing":
            assert json.dumps(before[key]) == json.dumps(after[key]), key
    assert to_latex(audit_document(one)) == to_latex(audit_document(two))


def test_an_empty_stratum_is_said_to_be_empty() -> None:
    run = short(silent)
    page = to_html(audit_document(run), has_script=False)
    assert "no answer in this stratum" in page
    assert "No occupation got an answer that counts." in page
    assert '<p class="value missing">n/a</p>' in page
    measured = [row for row in cells(page) if row[0] in {"NLI-CoAL", "PS pro-stereotypical"}]
    assert measured
    assert not any(cell.startswith("0.000 [") for row in cells(page) for cell in row)
    assert "[n/a]" in printed(run, 80)


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_never_cuts_a_number(run: Run, width: int) -> None:
    text = printed(run, width, is_terminal=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


@pytest.mark.parametrize("lang", ["ja", "zh"])
def test_words_are_marked_with_their_language(lang: str) -> None:
    suite = load_suite("occupation-nli", lang, limit=90)
    document = audit_document(audit("fixed:stereotyped", suite, settings=few(50)))
    page = to_html(document)
    assert f'<div class="texts" lang="{lang}"><p>' in page
    assert f'<figure lang="{lang}" data-place="' in page
    lines = [line for line in to_latex(document).splitlines() if not line.startswith("%")]
    assert all(line.isascii() for line in lines)


def test_a_hostile_suite_stays_words() -> None:
    run = audit(noise, hostile(), settings=few(50))
    document = audit_document(run)
    page = to_html(document, has_script=False)
    assert "<script" not in page
    assert to_html(document).count("<script") == 5  # three of the charts, two of the explorer
    assert "alert('x')" not in to_html(document).partition("<script")[2]
    assert "<b>female" not in page
    assert "&lt;script&gt;" in page
    lines = [line for line in to_latex(document).splitlines() if not line.startswith("%")]
    assert not any(r"\input" in line for line in lines)
    markdown = to_markdown(document)
    assert "<script" not in markdown.partition("```")[0].replace("\\<", "")
    for line in markdown.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) in {4, 5, 6, 7, 8}
    assert "alert('x')" in printed(run, 120)


def test_the_suite_beside_the_report_is_the_one_asked(run: Run, tmp_path: Path) -> None:
    document = audit_document(run)
    page = write_document(document, tmp_path / "r", extra=run_files(run, document))
    asked = page.parent / "suite.jsonl"
    assert read_suite(asked).probes == run.suite.probes
    assert load_suite(str(asked), "en").digest == run.suite.digest
