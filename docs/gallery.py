"""The gallery: charts of small runs of the embedded model, drawn when the documentation is built.

    python docs/gallery.py FOLDER     write gallery.md and its pictures there

Every chart that a report can draw of these runs stands on the page once, with the command that
makes it. The runs are small so that they take seconds; their numbers are for looking at charts.
"""

from __future__ import annotations

import sys
from pathlib import Path

import evenhand as eh
from evenhand.core.chart import Chart
from evenhand.engine.audit_document import audit_document
from evenhand.engine.compare import ComparisonOptions
from evenhand.engine.compare_document import comparison_document
from evenhand.report.charts import picture_file

MODEL = "default"
SETTINGS = eh.Settings(resamples=1000)
AUDITS = {"occupation-nli": 400, "gendered-entailment": 400, "profession": 240}  # suite -> probes
COMPARED = (MODEL, "fixed:male-default")
SHOWN = {  # what a chart is good for, by the name of the chart
    "scores": "Every measure with its interval, beside the fair value and what rules score.",
    "shares": "What the model says in each stratum; the framed part counts against it.",
    "leans": "Every occupation as a dot, by the gender to which it leans.",
    "occupations": "The occupations farthest from fair, each with its own interval.",
    "frames": "The sentences farthest from fair: a frame that stands out may itself be biased.",
    "sorts": "The share of pairs that the male word wins, by the stereotype of the profession.",
    "words": "The same for every single word.",
    "recognised": "Whether the model knows the gender of gendered words at all.",
}
HEAD = """# Gallery

Charts of reports, drawn from small runs when this page was built. The runs ask only a few probes,
so that the intervals are wide: look at the charts, not at the numbers. Every chart of a report is
written as SVG, PDF and PNG by `evenhand table`; in a report it links to the probes behind it.
"""


def _section(folder: Path, prefix: str, charts: list[Chart]) -> list[str]:
    """The pictures of these charts, and the Markdown that shows them."""
    lines = []
    for chart in charts:
        name = f"{prefix}-{chart.name}.svg"
        (folder / name).write_text(str(picture_file(chart, ".svg")), encoding="utf-8")
        kind = chart.name.partition("-")[0]
        lines += [f"**{chart.title}.** {SHOWN.get(kind, '')}".strip(), ""]
        lines += [f"![{chart.title}](gallery/{name})", ""]
    return lines


def write_gallery(folder: Path) -> None:
    """Write gallery.md, and its pictures into gallery/."""
    pictures = folder / "gallery"
    pictures.mkdir(parents=True, exist_ok=True)
    lines = [HEAD]
    for suite, limit in AUDITS.items():
        run = eh.audit(MODEL, eh.load_suite(suite, limit=limit), settings=SETTINGS)
        command = f"evenhand audit {MODEL} --suite {suite} --limit {limit} --out runs/gallery"
        lines += [f"## {suite}", "", "```console", command, "```", ""]
        lines += _section(pictures, suite, list(audit_document(run).charts))
    suite, limit = next(iter(AUDITS.items()))
    options = ComparisonOptions(suites=(suite,), limit=limit)
    document = comparison_document(eh.compare(list(COMPARED), options, SETTINGS))
    command = f"evenhand compare {' '.join(COMPARED)} --suite {suite} --limit {limit}"
    lines += ["## Two models", "", "```console", command, "```", ""]
    lines += _section(pictures, "compare", list(document.charts))
    (folder / "gallery.md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    write_gallery(Path(sys.argv[1]))
