"""A folder of runs: whole ones with their headline, all others with the reason."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from quick import load, quick_audit, quick_compare

from evenhand.core.plain import to_json
from evenhand.core.text import with_bounds
from evenhand.engine.asking_state import state_path
from evenhand.engine.audit_document import audit_document
from evenhand.engine.compare_document import comparison_document, comparison_fields
from evenhand.engine.results import run_files
from evenhand.report.run_list import RunLine, to_run_list
from evenhand.report.write import write_document
from evenhand.view.folders import RunFolder


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run, a comparison in a deeper folder, and what is neither."""
    root = tmp_path_factory.mktemp("all") / "runs"
    run = quick_audit("fixed:random", load(limit=60))
    document = audit_document(run)
    for name in ("whole", "no-manifest", "changed", "cut", "other-json"):
        write_document(document, root / name, extra=run_files(run, document))
    (root / "no-manifest" / "manifest.json").unlink()
    (root / "changed" / "answers.parquet").write_bytes(b"PAR1")
    os.truncate(root / "cut" / "manifest.json", 40)
    other = root / "other-json"
    write_document(document, other, extra={"results.json": '{"estimates": []}\n'})
    compared = quick_compare(["fixed:random", "fixed:stereotyped"], [run.suite])
    files = {"comparison.json": to_json(comparison_fields(compared))}
    write_document(comparison_document(compared), root / "deep" / "both", extra=files)
    (root / "foreign").mkdir()
    (root / "foreign" / "notes.txt").write_text("hello", encoding="utf-8")
    (root / "empty").mkdir()
    (root / ".hidden").mkdir()
    return root


def by_place(root: Path) -> dict[str, RunLine]:
    return {line.place: line for line in RunFolder(root).lines()}


def test_a_whole_run_has_its_model_suite_headline_date_and_page(runs: Path) -> None:
    line = by_place(runs)["whole"]
    fields = json.loads((runs / "whole" / "results.json").read_text(encoding="utf-8"))
    assert line.title == fields["model"]["identity"] == "fixed:random@0"
    assert line.suite == "occupation-nli 1.0, en"
    first = quick_audit("fixed:random", load(limit=60)).headline
    assert line.headline == f"NLI-CoAL {with_bounds(first.interval)}"
    assert line.date == time.strftime("%Y-%m-%d %H:%M", time.localtime(_written(runs / "whole")))
    assert line.address == "/whole/report.html" and not line.is_faulty


def _written(folder: Path) -> float:
    return (folder / "manifest.json").stat().st_mtime


def test_a_comparison_is_listed_in_its_folder(runs: Path) -> None:
    line = by_place(runs)["deep/both"]
    assert line.title == "fixed:stereotyped against fixed:random"
    assert line.suite == "occupation-nli" and line.address == "/deep/both/comparison.html"
    assert "deep" not in by_place(runs)


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("no-manifest", "half-written: it has results.json but no manifest.json"),
        ("changed", "answers.parquet: is not the file that was written with this run"),
        ("cut", "damaged: manifest.json: is not the manifest of a run"),
        ("other-json", "results.json is not that of a run (IndexError"),
        ("foreign", "no run of evenhand: there is no results.json."),
        ("empty", "empty: there is no results.json."),
    ],
)
def test_what_is_no_whole_run_says_why(runs: Path, place: str, reason: str) -> None:
    line = by_place(runs)[place]
    assert reason in line.note and line.is_faulty
    assert str(runs) not in line.note  # no path of this machine
    assert line.title == place and not line.headline


def test_hidden_folders_and_links_out_are_not_followed(runs: Path, tmp_path: Path) -> None:
    assert ".hidden" not in by_place(runs)
    root = tmp_path / "root"
    root.mkdir()
    (root / "out").symlink_to(runs / "whole", target_is_directory=True)
    (root / "loop").symlink_to(root / "loop")
    lines = by_place(root)
    assert set(lines) == {"out", "loop"}
    assert all("leads out of this folder" in line.note for line in lines.values())


def test_a_run_that_is_asked_comes_first_with_its_progress(tmp_path: Path) -> None:
    fields = {"model": "m", "suite": "s", "done": 40, "total": 90, "state": "asking"}
    path = state_path(tmp_path / "m-s-en")
    path.write_text(json.dumps({**fields, "updated": time.time()}), encoding="utf-8")
    (tmp_path / "old").mkdir()
    first, second = RunFolder(tmp_path).lines()
    assert (first.title, first.done, first.total, first.note) == ("m", 40, 90, "asking.")
    assert first.place == "m-s-en" and not first.is_faulty and second.place == "old"
    path.write_text(json.dumps({**fields, "updated": time.time() - 600}), encoding="utf-8")
    line = RunFolder(tmp_path).lines()[0]
    assert line.note == "asking, but no news for 10 minutes." and line.is_faulty
    stopped = {**fields, "state": "stopped", "updated": time.time()}
    path.write_text(json.dumps(stopped), encoding="utf-8")
    assert RunFolder(tmp_path).lines()[0].note == "stopped: the same command goes on from there."
    path.write_text("{", encoding="utf-8")
    assert [line.place for line in RunFolder(tmp_path).lines()] == ["old"]


def test_a_changed_file_is_seen_again(runs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "one"
    folder.mkdir(parents=True)
    watched = RunFolder(tmp_path / "runs")
    assert watched.lines()[0].is_faulty
    for path in (runs / "whole").iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    assert watched.lines()[0].title == "fixed:random@0"
    (folder / "results.json").write_text("{}", encoding="utf-8")
    assert "is not the file that was written" in watched.lines()[0].note


@pytest.mark.parametrize(
    "text", ["", "null", "[" * 100_000, "{}", '{"estimates": [7]}', "\x00\xff", '"text"', "1e999"]
)
def test_nothing_in_a_folder_stops_the_list(tmp_path: Path, text: str) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    for name in ("results.json", "comparison.json", "manifest.json"):
        (folder / name).write_text(text, encoding="latin-1")
        (line,) = RunFolder(tmp_path).lines()
        assert line.is_faulty and line.note
    assert "odd" in to_run_list([line], "runs")


def test_the_page_of_runs_is_escaped() -> None:
    evil = '<script>alert(1)</script>" onload="1'
    line = RunLine(title=evil, suite=evil, headline=evil, place=evil, note=evil, done=1, total=3)
    page = to_run_list([line], evil)
    assert page.count("<script") == 1 and 'onload="1' not in page  # its own script
    assert '<progress max="3" value="1"' in page and "1 of 3 probes" in page
    assert "Nothing here yet." in to_run_list([], "runs")
