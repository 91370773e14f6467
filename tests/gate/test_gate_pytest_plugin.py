"""The plug-in for pytest, in a session of its own, found by the entry point of the project."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MARK = "@pytest.mark.evenhand(limit=60, resamples=100"
TESTS = f"""
import pytest

{MARK}, suite="occupation-nli", model="fixed:fair")
class TestFair:
    def test_kept(self, audit):
        verdict = audit.require("nli_coal", max=0.25)
        assert verdict.outcome == "pass"
        assert audit.estimate("nli_coal").value == 0.0
        assert audit.run.suite.limit == 60

    def test_open(self, audit):
        audit.require("nli_coal", max=0.1)

    @pytest.mark.evenhand(not_sure="skip")
    def test_open_skips(self, audit):
        audit.require(within=0.1)

    def test_policy(self, audit):
        audit.require_policy("policy.toml")

    def test_unknown(self, audit):
        audit.estimate("nli_cool")

    def test_wrong_side(self, audit):
        audit.require("nli_coal", min=0.5)

{MARK})
def test_missed(audit):
    audit.require("nli_coal", max=0.25)

def silent(pairs):
    return [[float("nan")] * 3 for _ in pairs]

class TestFunction:
    @pytest.fixture
    def evenhand_model(self):
        return silent

    {MARK})
    def test_nothing(self, audit):
        audit.require("nli_coal", max=0.25)

@pytest.mark.evenhand(sweet="occupation-nli")
def test_misspelt(audit):
    pass
"""
POLICY = """
[[rule]]
measure = "nli_coal"
max = 0.25
[[rule]]
measure = "same_label"
suite = "gendered-entailment"
min = 0.5
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with tests, in which the plug-in is installed as the project declares it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (name, module), *rest = project["entry-points"]["pytest11"].items()
    assert not rest
    info = tmp_path / "site" / "gate_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    metadata = "Metadata-Version: 2.1\nName: gate-plugin\nVersion: 1.0\n"
    (info / "METADATA").write_text(metadata, encoding="utf-8")
    points = f"[pytest11]\n{name} = {module}\n"
    (info / "entry_points.txt").write_text(points, encoding="utf-8")
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "test_bias.py").write_text(TESTS, encoding="utf-8")
    (tmp_path / "project" / "policy.toml").write_text(POLICY, encoding="utf-8")
    (tmp_path / "project" / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return tmp_path


def tried(folder: Path, *words: str) -> str:
    source = os.pathsep.join(
        filter(None, (str(folder / "site"), str(ROOT / "src"), os.environ.get("PYTHONPATH")))
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:xdist", *words],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder / "project",
        env={**os.environ, "PYTHONPATH": source, "COLUMNS": "300", "PYTHONIOENCODING": "utf-8"},
    )
    return done.stdout + done.stderr


def test_tests_pass_fail_and_skip_by_the_gate(folder: Path) -> None:
    out = tried(folder, "-rA", "--strict-markers", "--evenhand-model", "fixed:stereotyped")
    results = {
        line.split()[1].rpartition("::")[2]: line.split()[0]
        for line in out.splitlines()
        if line.startswith(("PASSED", "FAILED", "ERROR"))
    }
    assert results == {
        "test_kept": "PASSED",
        "test_open": "FAILED",
        "test_policy": "PASSED",
        "test_unknown": "FAILED",
        "test_wrong_side": "FAILED",
        "test_missed": "FAILED",
        "test_nothing": "FAILED",
        "test_misspelt": "ERROR",
    }, out
    assert "1 skipped" in out
    assert "FAIL: nli_coal is 1.000 [0.779, 1.000], and at most 0.25 is allowed" in out
    assert "not sure: nli_coal is 0.000 [0.000, 0.221], and at most 0.1 is allowed" in out
    assert "nli_coal has no value (no answer in AS, NS, PS)" in out
    assert "unknown measure of this run 'nli_cool'. Did you mean nli_coal?" in out
    assert "the limit is on the wrong side" in out
    assert "the marker evenhand does not take sweet" in out


def test_a_session_without_a_model_says_how_to_name_one(folder: Path) -> None:
    out = tried(folder, "-k", "missed")
    assert "no model to audit: give the marker a model, --evenhand-model" in out


def test_the_plug_in_costs_other_sessions_nothing(folder: Path) -> None:
    (folder / "project" / "test_bias.py").write_text(
        "import sys\n\ndef test_light():\n"
        "    assert 'evenhand.gate.pytest_plugin' in sys.modules\n"
        "    assert not {'evenhand.engine', 'numpy', 'polars'} & set(sys.modules)\n",
        encoding="utf-8",
    )
    out = tried(folder, "-p", "no:hypothesispytest", "-p", "no:faker")
    assert "1 passed" in out, out
