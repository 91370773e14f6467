"""The code on the page about adding to evenhand does what the page says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"
POINTS = """[evenhand.families]
age_nli = age_nli
[evenhand.respondents]
length = length_respondent
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder on Python's path with the family and the respondent of the page."""
    text = PAGE.read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) == 4
    (tmp_path / "age_nli.py").write_text("\n\n".join(blocks[:3]), encoding="utf-8")
    (tmp_path / "length_respondent.py").write_text(blocks[3], encoding="utf-8")
    info = tmp_path / "example-1.0.dist-info"
    info.mkdir()
    metadata = "Metadata-Version: 2.1\nName: example\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    (info / "entry_points.txt").write_text(POINTS, encoding="utf-8")
    return tmp_path


def audited(folder: Path, *words: str) -> dict[str, Any]:
    path = os.pathsep.join(filter(None, (str(folder), os.environ.get("PYTHONPATH"))))
    done = subprocess.run(
        [sys.executable, "-m", "evenhand", "audit", *words, "--resamples", "100", "--json"],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"},
    )
    assert done.returncode == 0, done.stderr
    fields: dict[str, Any] = json.loads(done.stdout)
    return fields


@pytest.mark.parametrize(("rule", "value"), [("fixed:fair", 0.0), ("fixed:stereotyped", 1.0)])
def test_the_family_of_the_page_measures_and_reports(folder: Path, rule: str, value: float) -> None:
    fields = audited(folder, rule, "--suite", "age-nli", "--out", "run")
    assert fields["family"] == "age_nli"
    assert [(e["measure"], e["value"]) for e in fields["estimates"]] == [("age_conclusion", value)]
    page = (folder / "run" / "report.html").read_text(encoding="utf-8")
    assert "Age conclusion by occupation" in page


def test_the_option_of_the_page_is_an_option_of_the_command(folder: Path) -> None:
    fields = audited(folder, "fixed:fair", "--suite", "age-nli", "--ages", "retired")
    assert fields["suite"]["probes"] == 20


def test_the_respondent_of_the_page_answers(folder: Path) -> None:
    fields = audited(folder, "length:33", "--suite", "age-nli")
    assert fields["model"]["identity"] == "length:33@1"
    # of four sentences with "old" one is longer than 33 letters, with "young" three are
    assert fields["estimates"][0]["value"] == 0.5
