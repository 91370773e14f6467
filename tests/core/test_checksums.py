"""Digests of files: of a model's folder, and of a run's."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

import pytest
from documents import document

from evenhand.core.checksums import (
    check_manifest,
    file_sha256,
    manifest_text,
    sum_faults,
    write_sums,
)
from evenhand.core.errors import InputError
from evenhand.report.write import write_document

DATA: dict[str, str | bytes] = {
    "answers.parquet": b"PAR1",
    "results.json": "{}\n",
    "suite.jsonl": "x\n",
}


def write_run(folder: Path, **changed: str | bytes) -> Path:
    write_document(document(), folder, extra={**DATA, **changed})
    return folder


def test_sums_are_those_of_sha256sum(tmp_path: Path) -> None:
    for name in ("b.bin", "a.json"):
        (tmp_path / name).write_bytes(name.encode() * 100_000)
    write_sums(tmp_path, ["b.bin", "a.json"])
    digest = hashlib.sha256(b"a.json" * 100_000).hexdigest()
    assert file_sha256(tmp_path / "a.json") == digest
    lines = (tmp_path / "SHA256SUMS").read_text("utf-8").splitlines()
    assert lines[0] == f"{digest}  a.json" and lines[1].endswith("  b.bin")
    assert sum_faults(tmp_path) == []
    if program := shutil.which("sha256sum"):
        subprocess.run([program, "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path, check=True)


def test_every_fault_of_a_folder_is_named(tmp_path: Path) -> None:
    assert sum_faults(tmp_path) == ["SHA256SUMS is missing"]
    for name in ("a", "b"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    write_sums(tmp_path, ["a", "b"])
    (tmp_path / "a").write_text("c", encoding="utf-8")
    (tmp_path / "b").unlink()
    expected, here = (hashlib.sha256(text).hexdigest()[:16] for text in (b"a", b"c"))
    assert sum_faults(tmp_path) == [
        f"a has SHA-256 {here}..., expected {expected}...",
        "b is missing",
    ]
    (tmp_path / "SHA256SUMS").write_text("", encoding="utf-8")
    assert sum_faults(tmp_path) == ["SHA256SUMS is empty"]
    write_sums(tmp_path, ["a"])
    assert sum_faults(tmp_path, ["a"]) == []
    assert sum_faults(tmp_path, ["a", "b"]) == ["SHA256SUMS does not list b"]


def test_a_manifest_lists_every_file_and_is_written_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    move = Path.replace

    def watch(path: Path, target: Path) -> Path:
        moved.append(target.name)
        return move(path, target)

    monkeypatch.setattr(Path, "replace", watch)
    folder = write_run(tmp_path / "run")
    assert moved[-1] == "manifest.json"
    listing = json.loads((folder / "manifest.json").read_text("utf-8"))["sha256"]
    assert listing == {
        p.name: file_sha256(p) for p in folder.iterdir() if p.name != "manifest.json"
    }
    assert set(listing) == {*DATA, "report.html", "report.md", "report.tex"}
    check_manifest(folder, "answers.parquet")


@pytest.mark.parametrize("name", ["answers.parquet", "results.json", "suite.jsonl"])
def test_a_file_of_another_run_is_refused(tmp_path: Path, name: str) -> None:
    folder = write_run(tmp_path / "one")
    other = write_run(tmp_path / "two", **{name: "of another run"})
    shutil.copy(other / name, folder / name)
    with pytest.raises(InputError, match=f"{name}: is not the file that was written with this run"):
        check_manifest(folder, "answers.parquet")
    (folder / name).unlink()
    with pytest.raises(InputError, match=f"{name}: is missing, but manifest.json of its run"):
        check_manifest(folder, "answers.parquet")


def test_a_writing_that_was_cut_short_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_run(tmp_path / "run")
    move = Path.replace

    def stop(path: Path, target: Path) -> Path:
        if target.name == "report.html":
            raise KeyboardInterrupt
        return move(path, target)

    with monkeypatch.context() as patch:
        patch.setattr(Path, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            write_run(folder, **{"answers.parquet": b"PAR1 of a second run"})
    with pytest.raises(InputError, match="or the last writing was cut short"):
        check_manifest(folder, "answers.parquet")
    write_run(folder)
    check_manifest(folder, "answers.parquet")


def test_two_documents_share_a_folder(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    write_document(document(name="comparison"), folder, extra={"comparison.json": "{}"})
    check_manifest(folder, "answers.parquet")
    (folder / "answers.parquet").write_bytes(b"other")
    with pytest.raises(InputError, match=r"answers\.parquet: is not the file"):
        check_manifest(folder, "answers.parquet")


def test_an_edited_report_and_a_file_that_is_not_listed_do_no_harm(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "report.md").write_text("my remarks", encoding="utf-8")
    (folder / "notes.json").write_text("{}", encoding="utf-8")
    check_manifest(folder, "answers.parquet")
    check_manifest(folder, "annotator-1.parquet")
    check_manifest(tmp_path, "answers.parquet")


def test_a_damaged_manifest_is_refused_and_can_be_replaced(tmp_path: Path) -> None:
    folder = write_run(tmp_path / "run")
    (folder / "manifest.json").write_text('{"sha256": [', encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json: is not the manifest of a run"):
        check_manifest(folder, "answers.parquet")
    assert json.loads(manifest_text(folder, {"a": b""}))["sha256"].keys() == {"a"}
    write_run(folder)
    check_manifest(folder, "answers.parquet")


def test_no_flipped_bit_of_a_manifest_hides_a_file(tmp_path: Path) -> None:
    """A damaged name took its file out of the list, and nothing was checked."""
    folder = write_run(tmp_path / "run")
    (folder / "answers.parquet").write_bytes(b"of another run")
    manifest = folder / "manifest.json"
    raw = manifest.read_bytes()
    for place in range(len(raw)):
        manifest.write_bytes(raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :])
        with pytest.raises(InputError, match=r"manifest\.json: is (not the manifest|damaged)"):
            check_manifest(folder, "answers.parquet")
    for text in ('{"sha256": {}}', '{"sha256": {}, "digest": ""}'):
        manifest.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"manifest\.json: is (not the manifest|damaged)"):
            check_manifest(folder, "answers.parquet")
