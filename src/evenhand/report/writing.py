"""Where does a report go? Into a folder, all files or none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.core.files import staged
from evenhand.core.run import Run

if TYPE_CHECKING:
    from evenhand.report.picture import Figure


def write_files(folder: Path, texts: Mapping[str, str], figures: Sequence[Figure] = ()) -> None:
    """Write texts by name, and figures as .svg and .png, all or none."""
    from evenhand.report.picture import save_figure

    with staged(folder) as stage:
        for name, text in texts.items():
            (stage / name).write_text(text, encoding="utf-8", newline="\n")
        for figure in figures:
            for form in (".svg", ".png"):
                save_figure(figure, stage / f"{figure.name}{form}")


def write(run: Run, folder: Path) -> Path:
    """Write report.html, results.json, report.md, report.tex, suite.jsonl and answers.parquet; returns the path of the page to open."""
    from evenhand.core.answer_files import write_answers
    from evenhand.core.suite import probe_lines
    from evenhand.report.html import to_html
    from evenhand.report.latex import to_latex
    from evenhand.report.markdown import to_markdown
    from evenhand.report.results import results_text

    texts = {
        "report.html": to_html(run),
        "results.json": results_text(run),
        "report.md": to_markdown(run),
        "report.tex": to_latex(run),
        "suite.jsonl": probe_lines(run.suite),
    }
    with staged(folder) as stage:
        for name, text in texts.items():
            (stage / name).write_text(text, encoding="utf-8", newline="\n")
        write_answers(run.answers, stage / "answers.parquet")
    return folder / "report.html"
