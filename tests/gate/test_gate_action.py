"""The GitHub Action: its shell steps run as GitHub runs them, in a temporary place."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml
from gate_runs import write_data
from quick import Opening, load, quick_audit

from evenhand.core.run import Run
from evenhand.core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+)\s*\}\}")

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")


class Outcome(NamedTuple):
    code: int
    log: str
    outputs: dict[str, str]
    summary: str


@pytest.fixture(scope="module")
def fair() -> Run:
    few = Settings(resamples=100)
    return quick_audit("fixed:fair", load(limit=60), Opening(cache=False), few)


@pytest.fixture
def act(fair: Run, tmp_path: Path) -> Callable[..., Outcome]:
    """Run the action with these inputs in a project with a run."""
    write_data(fair, tmp_path / "runs" / "mine")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    # pip is asked for, and noted; everything else is this Python
    python.write_text(
        '#!/bin/sh\nif [ "$2" = pip ]; then echo "$@" >>pip.log; exit 0; fi\n'
        f'PYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" "$@"\n',
        encoding="utf-8",
    )
    python.chmod(0o755)

    def run(**given: str) -> Outcome:
        inputs = {k: v.get("default", "") for k, v in ACTION["inputs"].items()}
        inputs |= {name.replace("_", "-"): value for name, value in given.items()}
        files = {n: tmp_path / n for n in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
        for path in files.values():
            path.write_text("", encoding="utf-8")
        code, log = 0, ""
        for step in ACTION["runs"]["steps"]:
            done = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                check=False,
                capture_output=True,
                text=True,
                cwd=tmp_path,
                env={
                    **os.environ,
                    **{k: str(v) for k, v in files.items()},
                    **{k: filled(v, inputs) for k, v in step["env"].items()},
                    "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
                },
            )
            code, log = done.returncode, log + done.stdout + done.stderr
            if code:
                break
        lines = files["GITHUB_OUTPUT"].read_text(encoding="utf-8").splitlines()
        summary = files["GITHUB_STEP_SUMMARY"].read_text(encoding="utf-8")
        return Outcome(code, log, dict(line.split("=", 1) for line in lines), summary)

    return run


def filled(text: str, inputs: dict[str, Any]) -> str:
    def value(match: re.Match[str]) -> str:
        room, _, name = match[1].partition(".")
        return str(inputs[name]) if room == "inputs" else str(ROOT)

    return EXPRESSION.sub(value, text)


def test_a_kept_limit_passes(act: Callable[..., Outcome], tmp_path: Path) -> None:
    done = act(target="runs/mine", options="--max nli_coal=0.25\n--min-coverage 1")
    assert done.code == 0, done.log
    assert done.outputs == {"outcome": "pass", "exit-code": "0"}
    assert "::notice title=evenhand gate::pass: nli_coal is 0.000" in done.log
    assert "The gate passes: 1 rule kept." in done.summary
    verdict = json.loads((tmp_path / "evenhand-gate" / "gate.json").read_text(encoding="utf-8"))
    assert verdict["outcome"] == "pass"
    assert (tmp_path / "evenhand-gate" / "gate.xml").is_file()
    assert (tmp_path / "pip.log").read_text(encoding="utf-8").split()[-1] == str(ROOT)


def test_what_is_not_sure_fails_or_warns(act: Callable[..., Outcome], tmp_path: Path) -> None:
    policy = tmp_path / "my policy.toml"
    policy.write_text('[[rule]]\nmeasure = "nli_coal"\nmax = 0.1\n', encoding="utf-8")
    strict = act(target="runs/mine", policy="my policy.toml", install="none")
    assert (strict.code, strict.outputs["outcome"]) == (3, "not sure")
    assert not (tmp_path / "pip.log").exists()
    mild = act(target="runs/mine", policy="my policy.toml", not_sure="warn", install="evenhand[hf]")
    assert (mild.code, mild.outputs["exit-code"]) == (0, "3")
    assert "::warning title=evenhand gate::not sure: nli_coal is 0.000" in mild.log
    assert (tmp_path / "pip.log").read_text(encoding="utf-8").split()[-1] == "evenhand[hf]"


def test_a_missed_limit_fails_whatever_is_not_sure(
    act: Callable[..., Outcome], tmp_path: Path
) -> None:
    options = "--max nli_coal=0.0001 --target this-set --min-validity 1"
    done = act(target="runs/mine", options=options, not_sure="warn")
    assert (done.code, done.outputs["outcome"]) == (0, "not sure"), done.log
    (tmp_path / "policy.toml").write_text(
        '[[rule]]\nmeasure = "nli_coal"\nmax = 0.1\non = "high"\n', encoding="utf-8"
    )
    done = act(target="runs/mine", policy="policy.toml", not_sure="warn")
    assert (done.code, done.outputs["outcome"]) == (1, "fail")
    assert "::error title=evenhand gate::fail: nli_coal is 0.000" in done.log


def test_an_error_stops_it(act: Callable[..., Outcome]) -> None:
    done = act(target="runs/mine", options="--max nli_cool=0.2")
    assert (done.code, done.outputs["outcome"]) == (2, "error")
    assert "unknown measure 'nli_cool'" in done.log
    done = act(target="runs/mine", options="--max nli_coal=0.2", not_sure="ignore")
    assert done.code == 2 and "not-sure is 'ignore'; give fail or warn" in done.log


def test_an_input_is_never_run_as_a_command(act: Callable[..., Outcome], tmp_path: Path) -> None:
    done = act(target="runs/mine; touch owned", options="$(touch owned) `touch owned`")
    assert done.code == 2
    assert not (tmp_path / "owned").exists()


def test_no_script_holds_an_expression() -> None:
    assert not any(EXPRESSION.search(step["run"]) for step in ACTION["runs"]["steps"])
    assert all(step["shell"] == "bash" for step in ACTION["runs"]["steps"])
