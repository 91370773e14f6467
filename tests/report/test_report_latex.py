"""A document as LaTeX: tables that compile with booktabs, comments for the rest."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from documents import SIGNATURE, about, document, score_table, word_table
from runs import EVIL

from evenhand.core.document import Callout, Column, Document, Prose, Row, Section, Table
from evenhand.report.latex import commented, escaped, to_latex


def evil_document() -> Document:
    rows = (
        Row(cells=("[n/a]", about(0.2))),
        Row(cells=("*star", about(0.3))),
        Row(cells=(EVIL, about(0.4))),
    )
    columns = (Column(title=EVIL), Column(title="ΔP (↓)", form="interval"))
    table = Table(name="evil", title=EVIL, columns=columns, rows=rows, note=EVIL)
    return replace(document(table), title=EVIL, subtitle="日本語", lead=(EVIL,))


def test_tables_of_brief_sections_with_captions_and_labels() -> None:
    text = to_latex(document())
    assert re.findall(r"\\label\{(.*?)\}", text) == [
        "tab:evenhand-report-scores",
        "tab:evenhand-report-words",
    ]
    assert r"\multicolumn{5}{l}{\emph{One way}} \\" in text
    assert r"tilt & \textbf{0.452} & [0.432, 0.472] & 1,410 & \textgreater{}99.9\,\% \\" in text
    about_it = "org/model-a@1, towns 1, English, 20 probes."
    first = rf"\caption{{Scores: {about_it} It tilts in 45\,\% of cases. A note below.}}"
    assert first in text
    assert rf"\caption{{Words: the 25 farthest from 0, of 30: {about_it}}}" in text
    assert "word 24" in text
    assert "word 25" not in text
    assert text.startswith("% needs \\usepackage{booktabs}\n% model org/model-a\n")
    assert f"\n% signature {SIGNATURE}\n% signature hidden:1\n" in text
    assert "\n% note 3 probes gone.\n% note Cut.\n" in text
    assert "\n% 0 is fair.\n" in text


def test_a_section_that_is_not_brief_stays_out() -> None:
    points = Prose(lines=("one point",), is_list=True)
    section = Section(name="a", title="A", blocks=(score_table(), points, Callout(text="kept")))
    text = to_latex(replace(document(), sections=(section,)))
    assert r"\begin{table}" not in text
    assert "% note kept" in text
    assert "one point" not in text
    assert "% note one point" in to_latex(document(points))


def test_two_tables_of_one_name_have_two_labels() -> None:
    text = to_latex(document(score_table(), score_table(), name="comparison"))
    assert "{tab:evenhand-comparison-scores}" in text
    assert "{tab:evenhand-comparison-scores-2}" in text


def test_a_wide_table_is_fitted_to_the_column() -> None:
    columns = (Column(title="m"), *(Column(title=f"c{i}", form="interval") for i in range(6)))
    rows = (Row(cells=("x", *[about(0.5)] * 6)),)
    wide = Table(name="wide", title="Wide", columns=columns, rows=rows)
    text = to_latex(document(wide))
    assert r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%" in text
    assert text.startswith("% needs \\usepackage{booktabs,graphicx}\n")
    assert r"\resizebox" not in to_latex(document(word_table()))


def test_latex_escapes_what_it_cannot_set() -> None:
    assert (
        escaped("a_b & 50 % #1 {x} ~ ^ \\")
        == r"a\_b \& 50\,\% \#1 \{x\} \textasciitilde{} \textasciicircum{} \textbackslash{}"
    )
    assert escaped("女") == "{[}U+5973{]}"
    assert escaped("“a” … b–c \x07") == r"``a'' \ldots{} b--c {[}U+FFFD{]}"
    assert escaped("ΔP (↓) →50") == r"$\Delta$P ($\downarrow$) $\to$50"
    assert commented("a\nb\x1b[0m") == "% a b\ufffd[0m"


def test_words_cannot_become_commands() -> None:
    text = to_latex(evil_document())
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    assert not any(r"\input" in line for line in lines)
    assert all(line.isascii() for line in lines)
    assert "{}[n/a] &" in text
    assert "{}*star &" in text
    for columns, body in re.findall(
        r"\\begin\{tabular\}\{(\w+)\}(.*?)\\end\{tabular\}", text, flags=re.DOTALL
    ):
        rows = [line for line in body.splitlines() if line.endswith(r"\\")]
        assert rows
        assert all(len(re.findall(r"(?<!\\)&", line)) == len(columns) - 1 for line in rows)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
@pytest.mark.parametrize("make", [document, evil_document])
def test_latex_compiles(make: Callable[[], Document], tmp_path: Path) -> None:
    head = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n"
    whole = f"{head}{to_latex(make())}\\end{{document}}\n"
    (tmp_path / "x.tex").write_text(whole, "utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "x.tex"],
        cwd=tmp_path,
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]
