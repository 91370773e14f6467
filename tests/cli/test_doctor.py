"""`evenhand doctor` finds what is broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import evenhand
from models import write_model

from evenhand import __version__
from evenhand.cli import doctor
from evenhand.core.checksums import write_sums

DEFAULT = Path(doctor.__file__).parents[1] / "models" / "default"


@pytest.fixture
def healthy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A default model that is as it should be."""
    monkeypatch.setattr(
        doctor, "_check_model", lambda: "default@0, 90.0% right on plain pairs, 0.1 s"
    )


@pytest.mark.usefixtures("healthy")
def test_a_sound_installation_leaves_with_0_and_says_what_there_is() -> None:
    code, out, err = evenhand("doctor")
    assert (code, err) == (0, "")
    lines = {line[:16].strip(): line[17:] for line in out.splitlines()}
    assert lines["evenhand"].startswith(f"{__version__}, Python 3.")
    assert lines["suites"].startswith("22 built-in suites, ")
    assert lines["suites"].endswith(" probes, clean")
    assert "writable" in lines["cache"]
    assert {"extra hf", "extra train", "extra ja", "extra zh"} <= set(lines)
    assert lines["EVENHAND_DATA"].startswith("not set")


@pytest.mark.usefixtures("healthy")
def test_an_extra_that_is_missing_is_named_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "EXTRAS", {"hf": ("no_such_module",), "ja": ("json",)})
    code, out, _ = evenhand("doctor")
    assert code == 0
    assert "extra hf         not installed (pip install 'evenhand[hf]')" in out
    assert "extra ja         installed" in out


@pytest.mark.usefixtures("healthy")
def test_a_cache_that_cannot_be_written_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "file" / "cache"))
    code, out, err = evenhand("doctor")
    assert code == 1
    assert err.startswith("cache            FAILED: cannot write ")
    assert "default model    default@0" in out  # the other checks still run


def test_a_model_that_understands_nothing_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_model(tmp_path / "models" / "default")
    write_sums(folder, ["model.onnx", "tokenizer.json", "config.json"])
    monkeypatch.setattr("evenhand.respondents.location.files", lambda _: tmp_path)
    code, out, err = evenhand("doctor")
    assert code == 1
    assert "model files      3 files have the SHA-256 that SHA256SUMS states" in out
    assert err.startswith("default model    FAILED: accuracy on plain pairs is only ")


def test_a_model_file_that_is_not_the_installed_one_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One bit of the embedded model could be turned, and nothing said so."""
    folder = write_model(tmp_path / "models" / "default")
    write_sums(folder, ["model.onnx", "tokenizer.json", "config.json"])
    raw = bytearray((folder / "model.onnx").read_bytes())
    raw[len(raw) // 2] ^= 1
    (folder / "model.onnx").write_bytes(bytes(raw))
    monkeypatch.setattr("evenhand.respondents.location.files", lambda _: tmp_path)
    code, _, err = evenhand("doctor")
    assert code == 1
    files, model = err.splitlines()
    assert files.startswith(f"model files      FAILED: the embedded model in {folder} is damaged: ")
    assert "model.onnx has SHA-256 " in files and files.endswith(
        "Install evenhand again, or name another model"
    )
    assert model.startswith(f"default model    FAILED: the embedded model in {folder} is damaged: ")


def test_a_model_that_is_not_there_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evenhand.respondents.location.files", lambda _: tmp_path)
    code, _, err = evenhand("doctor")
    assert code == 1
    assert "default model    FAILED: unknown model 'default'" in err


@pytest.mark.skipif(
    not (DEFAULT / "model.onnx").exists(), reason="the default model is not in this checkout"
)
def test_the_embedded_model_is_sound() -> None:
    code, out, err = evenhand("doctor")
    assert (code, err) == (0, "")
    assert "right on plain pairs" in out
