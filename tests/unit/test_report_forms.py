"""Is what is missing said, and does every form hold?"""

from __future__ import annotations

import html
import math
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from test_report import cells, deaf_to_men, hostile, noise, printed, silent, two_labels, undecided

import evenhand as eh
from evenhand.core.run import Run
from evenhand.engine.audit import load_suite
from evenhand.report.html import to_html
from evenhand.report.latex import escaped, to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.numbers import percent
from evenhand.report.pairs import most_biased
from evenhand.report.shares import strata_of
from evenhand.report.terminal import folded
from evenhand.report.wording import notes
from evenhand.report.writing import write


@pytest.fixture(scope="module")
def run() -> Run:
    return eh.audit(noise, limit=600, resamples=200)


CASES: dict[str, Callable[[], Run]] = {
    "three probes": lambda: eh.audit(noise, limit=3),
    "one probe": lambda: eh.audit(noise, limit=1),
    "one measure": lambda: eh.audit(noise, limit=60, measures=["person_entailment"], resamples=50),
    "two labels": two_labels,
    "no answer": lambda: eh.audit(silent, limit=60, resamples=50),
    "half an answer": lambda: eh.audit(deaf_to_men, limit=60, resamples=50),
    "all tied": lambda: eh.audit(undecided, limit=60, resamples=50),
    "ordinary pairs": lambda: eh.audit("fixed:random", suite="ordinary-nli", resamples=50),
}


@pytest.mark.parametrize("name", CASES)
def test_every_run_can_be_told(name: str, tmp_path: Path) -> None:
    found = CASES[name]()
    page = write(found, tmp_path / "report")
    names = {
        "report.html",
        "results.json",
        "report.md",
        "report.tex",
        "suite.jsonl",
        "answers.parquet",
    }
    assert {p.name for p in page.parent.iterdir()} == names
    assert not list(tmp_path.glob(".report*"))
    forms = [
        page.read_text("utf-8"),
        to_markdown(found),
        to_latex(found),
        printed(found, 80),
        printed(found, 120),
    ]
    for form in forms:
        assert not re.search(r"\bnan\b", re.sub(r"\\n", "", form), flags=re.IGNORECASE)
        assert "None" not in form
    for estimate in found.estimates:
        if not math.isfinite(estimate.value):
            for form in forms:
                assert (
                    estimate.note in html.unescape(form).replace("\n", " ") or estimate.note in form
                )


def test_an_empty_stratum_is_said_to_be_empty() -> None:
    found = eh.audit(silent, limit=60, resamples=50)
    page = to_html(found)
    assert "no answer in this stratum" in page
    assert "No occupation got an answer that counts." in page
    assert '<p class="value missing">n/a</p>' in page
    assert not any("0.000" in cell for row in cells(page) for cell in row)
    assert "[n/a]" in printed(found, 80)


def test_two_labels_are_told_apart_from_three() -> None:
    found = two_labels()
    told = " ".join(notes(found))
    assert (
        "Not computed: Fraction Neutral, NLI-CoAL. The model gives entailment and not_entailment only"
        in told
    )
    assert "not on one footing" in told
    rows = {r.stratum: r for r in strata_of(found)}
    assert math.isnan(rows["AS"].component.value)
    assert rows["AS"].note == "the model has no label 'contradiction'"
    entailed = [
        bool(v[0] > v[1])
        for p, v in zip(found.answers.probes, found.answers.values, strict=True)
        if p.stratum == "NB"
    ]
    assert rows["NB"].component.value == pytest.approx(1 - np.mean(entailed))
    assert all(pair.probe.stratum == "PS" for pair in most_biased(found))


def test_an_unfinished_report_leaves_nothing(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("evenhand.core.answer_files.write_answers", fail)
    with pytest.raises(Exception, match="No space left"):
        write(run, tmp_path / "report")
    assert list((tmp_path / "report").iterdir()) == []


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_never_cuts_a_number(run: Run, width: int) -> None:
    text = printed(run, width, is_terminal=True)
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text
    for row in strata_of(run):
        assert percent(row.component.value, 1) in text or f"{row.component.value:.3f}" in text
    line = run.estimates[0].signature
    assert line in printed(run, width)  # a file gets it in one line
    assert folded(line, width).replace("\n  ", "") == line


def test_latex_escapes_what_it_cannot_set() -> None:
    assert (
        escaped("a_b & 50 % #1 {x} ~ ^ \\")
        == r"a\_b \& 50\,\% \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert escaped("女") == "{[}U+5973{]}"


@pytest.mark.parametrize("name", ["two labels", "hostile", "whole"])
def test_latex_compiles_with_booktabs_only(name: str, run: Run, tmp_path: Path) -> None:
    found = (
        run
        if name == "whole"
        else eh.audit(noise, suite=hostile(), resamples=50)
        if name == "hostile"
        else two_labels()
    )
    text = to_latex(found)
    assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 2
    for estimate in found.estimates:
        assert f"% signature {' '.join(estimate.signature.split())}" in text
    bodies = re.findall(r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL)
    for columns, body in bodies:
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert all(len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1 for line in rows)
    if shutil.which("pdflatex") is None:
        return
    whole = (
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        + text
        + "\\end{document}\n"
    )
    (tmp_path / "x.tex").write_text(whole, "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_markdown_tables_keep_their_columns() -> None:
    found = eh.audit(noise, suite=hostile(), resamples=50)
    lines = [line for line in to_markdown(found).splitlines() if line.startswith("| ")]
    assert lines
    for line in lines:
        assert len(re.findall(r"(?<!\\)\|", line)) in {5, 7, 11}


def test_the_suite_beside_the_report_is_the_one_asked(run: Run, tmp_path: Path) -> None:
    from evenhand.core.suite import read_suite

    page = write(run, tmp_path / "r")
    assert read_suite(page.parent / "suite.jsonl").probes == run.suite.probes
    assert load_suite(str(page.parent / "suite.jsonl"), "en").digest == run.suite.digest
