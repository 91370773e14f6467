"""Writing a document to a folder, all files or none; printing it on a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from evenhand.core.chart import Chart
from evenhand.core.checksums import MANIFEST, manifest_text
from evenhand.core.document import Document
from evenhand.core.files import staged
from evenhand.report.html import to_html
from evenhand.report.latex import to_latex
from evenhand.report.markdown import to_markdown
from evenhand.report.terminal import print_document

__all__ = ["print_document", "write_document"]

NOTHING: Mapping[str, str | bytes] = {}


def write_document(
    document: Document,
    folder: Path,
    *,
    extra: Mapping[str, str | bytes] = NOTHING,
    has_figures: bool = False,
    has_script: bool = True,
) -> Path:
    """Write NAME.html, NAME.md and NAME.tex; returns the path of the page to open.

    extra: further files by name, such as results.json. has_figures: also every chart, in each of
    PICTURE_FORMS. has_script: the page has the explorer of its probes and charts that answer to
    pointer and keyboard. The digests of all files go to manifest.json, which is written last.
    Raises StorageError where the disk refuses; no file is written then.
    """
    page = f"{document.name}.html"
    files: dict[str, str | bytes] = {
        page: to_html(document, has_script=has_script),
        f"{document.name}.md": to_markdown(document),
        f"{document.name}.tex": to_latex(document),
        **(figure_files(document.charts) if has_figures else {}),
        **extra,
    }
    raw = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}
    with staged(folder) as stage:
        for name, content in raw.items():
            (stage / name).write_bytes(content)
        (stage / MANIFEST).write_text(manifest_text(folder, raw), encoding="utf-8", newline="")
    return folder / page


def figure_files(charts: Iterable[Chart]) -> dict[str, str | bytes]:
    """Every chart in each of PICTURE_FORMS, by file name; one that cannot be drawn is left out."""
    from evenhand.report.charts import PICTURE_FORMS, picture_files

    files: dict[str, str | bytes] = {}
    for chart in charts:
        name, count = chart.name, 1
        while f"{name}{PICTURE_FORMS[0]}" in files:
            count += 1
            name = f"{chart.name}-{count}"
        try:
            drawn = picture_files(chart, PICTURE_FORMS)
            files |= {f"{name}{form}": content for form, content in drawn.items()}
        except Exception:
            continue  # the page says so in its place
    return files
