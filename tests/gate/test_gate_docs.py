"""The page about the gate: its commands, its policy, its hook and its tests run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from gate_runs import write_data
from quick import Opening, load, quick_audit

from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.gate.policy import _KEYS

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "gate.md").read_text(encoding="utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, flags=re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def audited() -> dict[str, Run]:
    few = Settings(resamples=100, permutations=200)
    opening = Opening(cache=False)
    return {
        name: quick_audit(model, load(limit=60), opening, few)
        for name, model in (("mine", "fixed:fair"), ("before", "fixed:stereotyped"))
    }


@pytest.fixture
def project(audited: dict[str, Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two runs and the policy of the page."""
    monkeypatch.chdir(tmp_path)
    for name, run in audited.items():
        write_data(run, tmp_path / "runs" / name)
    (policy,) = blocks("toml")
    (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    return tmp_path


def test_the_page_lists_every_key_of_a_rule() -> None:
    cells = re.findall(r"^\| (`[^|]+) \|", PAGE, flags=re.MULTILINE)
    listed = {name for cell in cells for name in re.findall(r"`(\w+)`", cell)}
    assert listed == set(_KEYS)


def test_the_tests_of_the_page_run(project: Path) -> None:
    (code,) = blocks("python")
    (project / "test_page.py").write_text(
        code.replace('model="default"', 'model="fixed:fair"'), encoding="utf-8"
    )
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), os.environ.get("PYTHONPATH"))))
    words = ("-p", "no:xdist", "-p", "no:cacheprovider", "-q")
    load_plugin = ("-p", "evenhand.gate.pytest_plugin")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *load_plugin, "test_page.py"],
        check=False,
        capture_output=True,
        text=True,
        cwd=project,
        env={**os.environ, "PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def on_path(folder: Path) -> dict[str, str]:
    """The environment with a command `evenhand` that runs this checkout."""
    folder.mkdir()
    command = folder / "evenhand"
    command.write_text(
        f'#!/bin/sh\nPYTHONPATH="{ROOT / "src"}" exec "{sys.executable}" -m evenhand "$@"\n',
        encoding="utf-8",
    )
    command.chmod(0o755)
    git = {
        f"GIT_{who}_{what}": "x@y" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
    }
    clean = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    return {**clean, **git, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}


def test_the_hook_of_the_page_runs(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("pre_commit")
    (text,) = [block for block in blocks("yaml") if "repos:" in block]
    (project / ".pre-commit-config.yaml").write_text(text, encoding="utf-8")
    place = tmp_path_factory.mktemp("hook")
    environment = {**on_path(place / "bin"), "PRE_COMMIT_HOME": str(place / "home")}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, check=False, capture_output=True, text=True, cwd=project, env=environment
        )

    run("git", "init", "-q", ".")
    run("git", "add", "-A")
    hook = (sys.executable, "-m", "pre_commit", "run", "--all-files")
    done = run(*hook)
    assert done.returncode == 0, done.stdout + done.stderr
    policy = project / "policy.toml"
    policy.write_text('[[rule]]\nmeasure = "nli_coal"\nmax = 0.1\n', encoding="utf-8")
    run("git", "add", "-A")
    done = run(*hook)
    assert done.returncode == 1
    assert "exit code: 3" in done.stdout
    assert "not sure: nli_coal is 0.000" in " ".join(done.stdout.split())


def test_the_hook_of_the_repository_is_one() -> None:
    clientlib = pytest.importorskip("pre_commit.clientlib")
    (hook,) = clientlib.load_manifest(ROOT / ".pre-commit-hooks.yaml")
    assert (hook["id"], hook["entry"]) == ("evenhand-gate", "evenhand gate")
    assert hook["language"] == "python" and hook["pass_filenames"] is False


def test_the_workflow_of_the_page_gives_the_action_what_it_takes() -> None:
    (text,) = [block for block in blocks("yaml") if "jobs:" in block]
    step = yaml.safe_load(text)["jobs"]["bias"]["steps"][-1]
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert set(step["with"]) <= set(action["inputs"])
