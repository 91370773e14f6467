"""A document in a folder: all files or none; a chart that fails costs its figure only."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import vl_convert
from documents import charts, document, dot_chart, histogram_chart

from evenhand.core.chart import Chart, HistogramChart
from evenhand.core.errors import EvenhandError, StorageError
from evenhand.core.plain import plain, to_json
from evenhand.report.charts import PAPER, picture_file, save_chart
from evenhand.report.charts.drawing import DRAWERS
from evenhand.report.charts.runtime import runtime
from evenhand.report.html import to_html
from evenhand.report.write import write_document


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_three_forms_and_what_else_is_given(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    extra: dict[str, str | bytes] = {"results.json": '{"a": "é"}\n', "answers.parquet": b"\x00PAR1"}
    page = write_document(document(), folder, extra=extra)
    assert page == folder / "report.html"
    assert names(folder) == [
        "answers.parquet",
        "manifest.json",
        "report.html",
        "report.md",
        "report.tex",
        "results.json",
    ]
    assert page.read_text("utf-8") == to_html(document())
    assert (folder / "results.json").read_bytes() == '{"a": "é"}\n'.encode()
    assert (folder / "answers.parquet").read_bytes() == b"\x00PAR1"
    assert not list(tmp_path.glob(".run*"))


def test_figures_where_they_are_asked_for(tmp_path: Path) -> None:
    twice = document(dot_chart(), replace(dot_chart(), title="Again"), name="ladder")
    write_document(twice, tmp_path, has_figures=True)
    files = [f"{name}.{form}" for name in ("scores", "scores-2") for form in ("svg", "pdf", "png")]
    forms = {"ladder.html", "ladder.md", "ladder.tex"}
    assert set(names(tmp_path)) == {"manifest.json", *forms, *files}
    assert (tmp_path / "scores.png").read_bytes().startswith(b"\x89PNG")
    assert (tmp_path / "scores.pdf").read_bytes().startswith(b"%PDF")
    assert "Again" in (tmp_path / "scores-2.svg").read_text("utf-8")


def test_a_disk_that_refuses_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_bytes

    def fail(path: Path, data: bytes) -> int:
        if path.suffix == ".md":
            raise OSError(28, "No space left on device")
        return write(path, data)

    monkeypatch.setattr(Path, "write_bytes", fail)
    with pytest.raises(StorageError, match="No space left"):
        write_document(document(), tmp_path / "run")
    assert names(tmp_path / "run") == []


class Riddle(Chart):
    """A kind of chart that nobody knows."""


def test_a_chart_that_fails_costs_its_figure_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(chart: Chart, width: int) -> str:
        raise ZeroDivisionError("no room")

    monkeypatch.setitem(DRAWERS, HistogramChart, fail)
    broken = replace(histogram_chart(), title="Broken", description="in words")
    unknown = Riddle(name="riddle", title="Riddle", description="what it shows")
    page = write_document(document(broken, unknown, dot_chart()), tmp_path, has_figures=True)
    text = page.read_text("utf-8")
    assert text.count('<svg class="wide"') == 1
    assert "The figure “Broken” could not be drawn (ZeroDivisionError: no room)." in text
    assert "What it shows: in words" in text
    assert "Riddle is not a known kind of chart; use one of DotChart, ShareChart" in text
    assert [n for n in names(tmp_path) if n.endswith((".svg", ".png"))] == [
        "scores.png",
        "scores.svg",
    ]


@pytest.mark.parametrize("chart", charts(), ids=lambda chart: chart.name)
def test_every_chart_as_a_file(chart: Chart, tmp_path: Path) -> None:
    for ending, head in ((".svg", b"<svg xmlns"), (".pdf", b"%PDF"), (".png", b"\x89PNG")):
        save_chart(chart, tmp_path / f"figure{ending}")
        assert (tmp_path / f"figure{ending}").read_bytes().startswith(head)
    text = (tmp_path / "figure.svg").read_text("utf-8")
    assert "var(" not in text
    for _, meaning in chart.legend:  # a picture that is shown alone has its key
        assert f">{meaning}</text>" in text


def test_a_form_that_is_not_known_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EvenhandError, match=r"'\.gif'.*ends in \.svg, \.pdf, \.png"):
        save_chart(dot_chart(), tmp_path / "figure.gif")
    assert names(tmp_path) == []
    assert isinstance(picture_file(dot_chart(), ".svg"), str)


def test_a_pdf_is_as_wide_as_a_printed_text() -> None:
    raw = picture_file(dot_chart(), ".pdf")
    assert isinstance(raw, bytes)
    box = re.search(rb"/MediaBox\s*\[\s*0 0 ([\d.]+) ([\d.]+)", raw)
    assert box is not None
    assert float(box[1]) / 72 == pytest.approx(PAPER, abs=0.01)


def test_a_page_may_go_without_a_script(tmp_path: Path) -> None:
    page = write_document(document(dot_chart()), tmp_path, has_script=False)
    text = page.read_text("utf-8")
    assert "<script" not in text
    assert text.count("<svg class=") == 2 + 3  # two widths, and the signs of the legend


def test_the_runtime_is_made_once_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []

    def bundle(snippet: str) -> str:
        made.append(snippet)
        return "const a = '</script>';window.vegaEmbed = a;"

    monkeypatch.setattr(vl_convert, "javascript_bundle", bundle)
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    runtime.__wrapped__()
    text = runtime.__wrapped__()
    assert made == ["window.vegaEmbed = vegaEmbed;"]
    assert "</script" not in text
    (kept,) = (tmp_path / "charts").iterdir()
    assert kept.read_text("utf-8") == text
    kept.write_text(text[:20], "utf-8")  # cut short: it is made again
    assert runtime.__wrapped__() == text
    assert len(made) == 2
    monkeypatch.setenv("EVENHAND_CACHE", str(kept))  # no folder: the page is made all the same
    assert runtime.__wrapped__() == text


def test_a_document_has_a_plain_form() -> None:
    fields = plain(document())
    assert fields == json.loads(to_json(document()))
    scores, words = fields["sections"][0]["blocks"][0], fields["sections"][1]["blocks"][0]
    assert scores["rows"][1]["cells"][:2] == ["tilt", 0.452]
    bounds = {"value": 0.452, "low": 0.432, "high": 0.472}
    assert scores["rows"][1]["cells"][2] == pytest.approx(bounds)
    assert scores["rows"][2]["cells"][1] is None
    assert scores["rows"][1]["strong"] == [1]
    assert words["limit"] == 25
    assert len(fields["sections"][2]["blocks"]) == 8
    assert fields["headline"]["interval"]["value"] == 0.452
