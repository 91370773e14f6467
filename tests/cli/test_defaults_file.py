"""`evenhand.toml` and `[tool.evenhand]`: defaults of options."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import QUICK, evenhand

AUDIT = ("audit", "fixed:fair", "--suite", "occupation-nli", "--json", "--no-cache")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inner = tmp_path / "project" / "deeper"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    return inner.parent


def settings(*words: object) -> tuple[int, int, str]:
    """Limit and seed of an audit, and what it said of the file."""
    done = evenhand(*AUDIT, *words)
    assert done.code == 0, done.err
    fields = json.loads(done.out)
    said = [line for line in done.err.splitlines() if ".toml" in line]
    return fields["suite"]["limit"], fields["settings"]["seed"], "".join(said)


def test_the_nearest_file_sets_defaults_and_the_command_line_wins(here: Path) -> None:
    (here / "evenhand.toml").write_text("seed = 3\nresamples = 100\n[audit]\nlimit = 60\n")
    line = "evenhand.toml: --seed 3, --resamples 100, --limit 60"
    assert settings() == (60, 3, line)
    assert settings("--seed", 4, "--limit=45") == (45, 4, "evenhand.toml: --resamples 100")
    (here / "deeper" / "evenhand.toml").write_text("[audit]\nlimit = 30\nresamples = 100")
    assert settings()[:2] == (30, 0)


def test_pyproject_serves_too(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool.evenhand.audit]\nlimit = 60\nresamples = 100\n")
    assert settings() == (60, 0, "pyproject.toml: --limit 60, --resamples 100")
    (here / "deeper" / "pyproject.toml").write_text("[tool.other]\nlimit = 1\n")  # not ours
    assert settings()[0] == 60


def test_a_variable_names_the_file_or_none(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (here / "evenhand.toml").write_text("seed = 3\n")
    other = here / "other.toml"
    other.write_text("seed = 5\n")
    monkeypatch.setenv("EVENHAND_CONFIG", str(other))
    assert settings(*QUICK)[1] == 5
    monkeypatch.setenv("EVENHAND_CONFIG", "")
    assert settings(*QUICK)[1] == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("limt = 3", "sets limt, which is no option; did you mean limit?"),
        ("[audit]\nepochs = 3", "sets [audit] epochs, which is no option; see --help"),
        ("trust-remote-code = true", "sets trust-remote-code, which is for the command line alone"),
        ("[compare]\ntrust_remote_code = true", "sets trust-remote-code, which is for the comm"),
        ("seed = ", "cannot be read as TOML: "),
    ],
)
def test_a_bad_file_is_refused(here: Path, text: str, message: str) -> None:
    (here / "evenhand.toml").write_text(text)
    done = evenhand(*AUDIT, *QUICK)
    assert (done.code, done.out) == (2, "")
    assert f"error: {here / 'evenhand.toml'}: {message}" in done.err


def test_an_option_of_another_verb_is_left_to_it(here: Path) -> None:
    (here / "evenhand.toml").write_text("epochs = 3\n")
    assert settings(*QUICK)[2] == ""


def test_a_value_of_the_wrong_type_names_the_option(here: Path) -> None:
    (here / "evenhand.toml").write_text("[audit]\nlimit = 'many'\n")
    done = evenhand(*AUDIT)
    assert done.code == 2 and "Invalid value for '--limit'" in done.err
