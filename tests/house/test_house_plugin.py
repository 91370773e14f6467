"""The second test of the house: a plug-in family gets all that a built-in one gets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SUPPORT = Path(__file__).resolve().parent.parent / "support"
QUICK = ("--resamples", "100")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder on Python's path in which the family is installed as a package would be."""
    module = (SUPPORT / "plugin_family.py").read_text(encoding="utf-8")
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "towns_plugin.py").write_text(module, encoding="utf-8")
    info = tmp_path / "site" / "towns-1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: towns\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    points = "[evenhand.families]\ntowns = towns_plugin\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    return tmp_path


def evenhand(folder: Path, *words: str) -> str:
    path = os.pathsep.join(filter(None, (str(folder / "site"), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", *words],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8", "COLUMNS": "120"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_family_of_one_folder_gets_a_full_report(folder: Path) -> None:
    out = evenhand(
        folder, "audit", "fixed:stereotyped", "--suite", "towns", *QUICK, "--out", "run", "-v"
    )
    assert "The model prefers the north in 100 % of the sentences." in out
    assert "Weather changes." in out
    names = {p.name for p in (folder / "run").iterdir()}
    assert {"report.html", "report.md", "report.tex", "results.json", "answers.parquet"} <= names
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "Preference by sky" in page and page.count("<svg") >= 4  # scores and skies, two widths
    assert "the bounds say what so many skies cannot exclude" in page
    assert "writers" not in page and "occupation" not in page
    results = json.loads((folder / "run" / "results.json").read_text(encoding="utf-8"))
    assert results["family"] == "towns"
    assert [(e["measure"], e["value"]) for e in results["estimates"]] == [("town_preference", 1.0)]
    assert {b["by"] for b in results["breakdowns"]} == {"sky"}
    assert r"\begin{tabular}" in (folder / "run" / "report.tex").read_text(encoding="utf-8")


def test_it_is_compared_like_any_other(folder: Path) -> None:
    models = ("fixed:stereotyped", "fixed:fair")
    text = evenhand(folder, "compare", *models, "--suite", "towns", *QUICK, "--json")
    (suite,) = json.loads(text)["suites"]
    (difference,) = suite["differences"]
    assert difference["measure"] == "town_preference"
    assert difference["difference"]["value"] == -0.5
    assert difference["clusters"] == 5


def test_it_is_listed_shown_built_and_measured(folder: Path) -> None:
    assert "towns" in evenhand(folder, "list", "families")
    assert "nobody (2026)" in evenhand(folder, "show", "town_preference")
    evenhand(folder, "suites", "build", "towns", "--out", "towns.jsonl")
    evenhand(folder, "audit", "fixed:random", "--suite", "towns.jsonl", *QUICK, "--out", "again")
    page = (folder / "again" / "report.html").read_text(encoding="utf-8")
    assert "whole skies are taken as drawn at random" in page
    assert "several hours of one of them" in page
    text = evenhand(folder, "measure", "again/answers.parquet", *QUICK, "--json")
    fields = json.loads(text)
    assert fields["family"] == "towns"
    assert fields["estimates"][0]["measure"] == "town_preference"


def test_its_function_is_importable(folder: Path) -> None:
    path = os.pathsep.join(filter(None, (str(folder / "site"), os.environ.get("PYTHONPATH"))))
    code = "import evenhand; print(evenhand.measures.town_preference([2, 1, 1], [1, 2, 1]))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.stdout == "0.5\n"
