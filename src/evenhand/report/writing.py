"""Where does a report go? Into a folder, all files or none."""

from __future__ import annotations

from pathlib import Path

from evenhand.core.records import Run
from evenhand.core.storage import staged


def write(run: Run, folder: Path) -> Path:
    """Write report.html, results.json, report.md, report.tex, suite.jsonl and answers.parquet; returns the path of the page to open."""
    from evenhand.engine.answers import write_answers
    from evenhand.report.html import to_html
    from evenhand.report.latex import to_latex
    from evenhand.report.markdown import to_markdown
    from evenhand.report.results import results_text
    from evenhand.suites.files import probe_lines

    texts = {
        "report.html": to_html(run), "results.json": results_text(run), "report.md": to_markdown(run), "report.tex": to_latex(run),
        "suite.jsonl": probe_lines(run.suite),
    }  # fmt: skip
    with staged(folder) as stage:
        for name, text in texts.items():
            (stage / name).write_text(text, encoding="utf-8", newline="\n")
        write_answers(run.answers, stage / "answers.parquet")
    return folder / "report.html"
