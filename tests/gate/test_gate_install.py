"""From nothing to a failed gate with a readable reason: the page's three commands, as typed."""

from __future__ import annotations

import os
import re
import site
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = next(re.finditer(r"^```console\n(pip install \..*?)^```$", PAGE, re.M | re.S))[1]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """The variables of a shell with a new environment that has all that evenhand needs.

    What it needs is linked from the environment of the tests, which saves hundreds of megabytes;
    evenhand itself is not.
    """
    folder = tmp_path / "env"
    venv.create(folder, with_pip=True, symlinks=True)
    (own,) = (folder / "lib").glob("python*/site-packages")
    needs = own / "borrowed"
    needs.mkdir()
    for packages in map(Path, site.getsitepackages()):
        for path in packages.iterdir() if packages.is_dir() else ():
            if "evenhand" not in path.name and path.suffix != ".pth":
                (needs / path.name).symlink_to(path)
    (own / "borrowed.pth").write_text(f"{needs}\n", encoding="utf-8")
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    return {
        **clean,
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PYTHONIOENCODING": "utf-8",
        "COLUMNS": "300",
    }


def typed(
    command: str, folder: Path, environment: dict[str, str]
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command,
        shell=True,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=folder,
        env=environment,
        timeout=1200,
    )


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="the commands are those of a POSIX shell")
def test_three_commands_lead_to_a_failed_gate(environment: dict[str, str], tmp_path: Path) -> None:
    commands = COMMANDS.splitlines()
    assert len(commands) == 3
    install, audit, gate = commands
    done = typed(install, ROOT, environment)
    assert done.returncode == 0, done.stderr
    place = typed("python -c 'import evenhand; print(evenhand.__file__)'", tmp_path, environment)
    assert Path(place.stdout.strip()).is_relative_to(tmp_path / "env")
    done = typed(audit, tmp_path, environment)
    assert done.returncode == 0, done.stderr
    done = typed(gate, tmp_path, environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(
        r"FAIL: nli_coal is 0\.\d{3} \[0\.\d{3}, 0\.\d{3}\], and at most 0\.25 is allowed "
        r"\(0 is fair\): the whole 95 % interval for new items is beyond the limit\.",
        done.stdout,
    )
    assert done.stderr == "gate: fail\n"


def test_the_last_two_commands_say_why_on_fewer_questions(
    tmp_path: Path,
) -> None:
    """The same without installing, on a part of the suite: quick enough for every commit."""
    _, audit, gate = (line.partition("#")[0] for line in COMMANDS.splitlines())
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "COLUMNS": "300"}
    python = f'"{sys.executable}" -m '
    done = typed(f"{python}{audit} --limit 300 --resamples 500", tmp_path, environment)
    assert done.returncode == 0, done.stderr
    done = typed(f"{python}{gate}", tmp_path, environment)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "FAIL: nli_coal is 0." in done.stdout
    assert "the whole 95 % interval for new items is beyond the limit." in done.stdout
