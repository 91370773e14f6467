"""`--dev FILE` of audit and compare; in meta, counts of pairs have another name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from commands import ONE_SUITE, QUICK, evenhand

from evenhand.core.probe import NLI_LABELS


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    lines = [
        f"{label}\tA dog runs. {i}\tAn animal runs. {i}"
        for i in range(20)
        for label in NLI_LABELS[: 1 + i % 3]
    ]
    path = tmp_path / "dev.tsv.gz"
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    return path


def test_the_accuracy_stands_in_the_report_and_in_the_results(tmp_path: Path, dev: Path) -> None:
    words = ("audit", "fixed:constant", *ONE_SUITE, "--dev", dev, "--out", tmp_path / "run")
    done = evenhand(*words, "--verbose")
    assert done.code == 0, done.err
    results = json.loads((tmp_path / "run" / "results.json").read_text(encoding="utf-8"))
    first = results["sanity"][0]
    assert (first["items"], first["probes"], first["clusters"]) == ("pairs of dev.tsv.gz", 39, 20)
    assert first["value"] == pytest.approx(20 / 39)  # always entailment
    assert first["signature"].startswith("measure:accuracy|suite:dev.tsv.gz@file#")
    report = (tmp_path / "run" / "report.md").read_text(encoding="utf-8")
    for text in (done.out, report):
        assert "51 % of 39 pairs of dev.tsv.gz" in text
        assert "Accuracy on plain pairs" in text and "Accuracy on hard pairs" in text


def test_a_long_file_is_cut(dev: Path) -> None:
    cut = ("--dev", dev, "--dev-limit", 12)
    done = evenhand("compare", "fixed:constant", "fixed:fair", *QUICK, *cut, "--json")
    assert done.code == 0, done.err
    checks = [m["sanity"][0] for m in json.loads(done.out)["suites"][0]["models"]]
    assert [c["probes"] for c in checks] == [12, 12]
    assert checks[1]["value"] == 1.0 and "/12|" in checks[0]["signature"]


@pytest.mark.parametrize("verb", [("audit",), ("compare", "fixed:fair")])
def test_what_cannot_be_read_is_refused(tmp_path: Path, verb: tuple[str, ...]) -> None:
    words = (*verb, "fixed:constant", *QUICK)
    done = evenhand(*words, "--dev", tmp_path / "none.jsonl")
    assert (done.code, done.err.count("there is no such file")) == (2, 1)
    assert "Traceback" not in done.err
    alone = evenhand(*words, "--dev-limit", 5)
    assert alone.code == 2 and "--dev-limit 5 cuts a file that --dev names" in alone.err


@pytest.mark.parametrize("option", ["--dev", "--train"])
def test_a_count_of_pairs_is_no_file(tmp_path: Path, option: str) -> None:
    done = evenhand("meta", "build", "--rate", 0.5, option, 600, "--out", tmp_path / "set")
    assert done.code == 2 and f"{option}-pairs" in done.err
    assert not (tmp_path / "set").exists()
