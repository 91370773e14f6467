"""`evenhand answers pack` and `show`: one small file per model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import QUICK, evenhand


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two suites of one model, one of another."""
    folder = tmp_path_factory.mktemp("runs")
    made = []
    for model, suite in (
        ("fixed:random", "occupation-nli"),
        ("fixed:random", "gendered-entailment"),
        ("fixed:fair", "occupation-nli"),
    ):
        out = folder / f"{model.partition(':')[2]}-{suite}"
        found = evenhand("audit", model, "--suite", suite, *QUICK, "--out", out)
        assert found.code == 0, found.err
        made.append(out)
    return made


def test_one_file_for_each_model(runs: list[Path], tmp_path: Path) -> None:
    found = evenhand("answers", "pack", *runs, "--out", tmp_path, "--json")
    assert found.code == 0, found.err
    packed = json.loads(found.out)
    assert [(Path(p["file"]).name, len(p["suites"])) for p in packed] == [
        ("fixed-random@0.answers.zip", 2),
        ("fixed-fair.answers.zip", 1),
    ]
    for one in packed:
        raw = sum((run / "answers.parquet").stat().st_size for run in runs)
        assert Path(one["file"]).stat().st_size < raw / 4
        for suite in one["suites"]:
            assert len(suite["digest"]) == 64
            assert f"suite:{suite['suite']}" in suite["signature"]
    shown = evenhand("answers", "show", tmp_path, "--json")
    assert [p["suites"] for p in json.loads(shown.out)] == [
        p["suites"] for p in sorted(packed, key=lambda p: p["file"])
    ]
    again = evenhand("answers", "pack", tmp_path, "--out", tmp_path / "again", "--json")
    assert [p["suites"] for p in json.loads(again.out)] == [
        p["suites"] for p in json.loads(shown.out)
    ]


def test_what_cannot_be_packed_is_refused(runs: list[Path], tmp_path: Path) -> None:
    file = tmp_path / "mine.answers.zip"
    several = evenhand("answers", "pack", *runs, "--out", file)
    assert (several.code, "name a folder with --out" in several.err) == (2, True)
    twice = evenhand("answers", "pack", runs[0], runs[0], "--out", tmp_path)
    assert (twice.code, "give one of them" in twice.err) == (2, True)
    nothing = evenhand("answers", "pack", tmp_path, "--out", tmp_path)
    assert (nothing.code, "holds no answers" in nothing.err) == (2, True)
    assert list(tmp_path.iterdir()) == []
    assert evenhand("answers", "pack", runs[2], "--out", file).code == 0
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    damaged = evenhand("answers", "show", file)
    assert (damaged.code, "is damaged or was changed" in damaged.err) == (2, True)
