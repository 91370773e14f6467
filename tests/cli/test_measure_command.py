"""`evenhand measure` and its neighbours: nothing that is given is ignored or made up."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import ONE_SUITE, QUICK, evenhand

from evenhand.core.probe import NLI_LABELS
from evenhand.core.suite import Suite, write_suite
from evenhand.engine.suites import load_suite

REASON = "it reads probabilities or scores, and only labels were given"
JSON = ("--json", "--resamples", "100")


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


@pytest.fixture(autouse=True)
def plain_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page takes its time and has tests of its own."""
    monkeypatch.setattr("evenhand.report.write.to_html", lambda document, **_: "<!doctype html>")


def error(*words: object) -> str:
    """The one line that the command leaves with, without `error: `."""
    code, out, err = evenhand(*words)
    assert (code, out) == (2, ""), err
    assert err.count("\n") == 1
    return err.removeprefix("error: ").rstrip("\n")


def labelled(path: Path, suite: Suite, form: str = "{}") -> Path:
    """A file in which entailment, neutral and contradiction take turns, by number or word."""
    words = NLI_LABELS if form == "word" else [form.format(i) for i in range(3)]
    rows = (f"{p.id},{words[i % 3]}\n" for i, p in enumerate(suite.probes))
    path.write_text("id,label\n" + "".join(rows), encoding="utf-8")
    return path


def test_labels_alone_give_no_gap(here: Path) -> None:
    path = labelled(here / "p.csv", load_suite("gendered-entailment"), "word")
    code, out, err = evenhand("measure", path, "--suite", "gendered-entailment", *JSON)
    assert code == 0, err
    by_name = {e["measure"]: e for e in json.loads(out)["estimates"]}
    assert (by_name["entailment_gap"]["value"], by_name["entailment_gap"]["note"]) == (None, REASON)
    assert by_name["neutral_share"]["value"] == pytest.approx(1 / 3, abs=0.001)
    words = ("measure", path, "-s", "gendered-entailment", "--out", "run", "--verbose")
    code, out, _ = evenhand(*words, *JSON[1:])
    assert code == 0
    assert f"dP, entailment gap: {REASON}." in " ".join(out.split())
    assert "0.428" not in out
    again = json.loads(evenhand("measure", "run", *JSON).out)
    assert again["estimates"][0]["note"] == REASON
    assert "no signed_gap, it reads probabilities" in error("labour", "run")


def test_labels_as_numbers_need_a_label_map(here: Path) -> None:
    path = labelled(here / "p.csv", load_suite("ordinary-nli"))
    words = ("measure", path, "--suite", "ordinary-nli")
    shown = "--label-map entailment=0,neutral=1,contradiction=2"
    assert f"row 2: label '0' is a number; say what the numbers mean with {shown}" in error(*words)
    right = evenhand(*words, *JSON, "--label-map", "entailment=0,neutral=1,contradiction=2")
    turned = evenhand(*words, *JSON, "--label-map", "contradiction=0,neutral=1,entailment=2")
    numbers = [json.loads(done.out)["estimates"][0]["value"] for done in (right, turned)]
    assert numbers[0] != numbers[1]
    assert "is not a permutation" in error(*words, "--label-map", "entailment=0,neutral=1")
    assert "is not of the form name=number" in error(*words, "--label-map", "0,1,2")


def test_a_stored_run_is_not_scored_as_another_suite(here: Path) -> None:
    assert evenhand("audit", "fixed:random", *ONE_SUITE, "--out", "run").code == 0
    assert "these are answers to occupation-nli@1.0#" in error(
        "measure", "run", "--suite", "gendered-entailment"
    )
    assert "not gendered-entailment; leave --suite out" in error(
        "measure", "run/answers.parquet", "--suite", "gendered-entailment"
    )
    assert "in en, not ja; leave --lang out" in error("measure", "run", "--lang", "ja")
    assert "names its labels already; leave --label-map out" in error(
        "measure", "run", "--label-map", "entailment=0,neutral=1,contradiction=2"
    )
    first = json.loads(evenhand("measure", "run", *JSON).out)
    for more in (
        ("--suite", "occupation-nli"),
        ("--suite", "occupation-nli:balanced", "--lang", "en"),
        ("--suite", "run/suite.jsonl"),
    ):
        done = evenhand("measure", "run", *JSON, *more)
        assert done.code == 0, done.err
        assert json.loads(done.out)["estimates"] == first["estimates"]
    write_suite(load_suite("ordinary-nli"), here / "other.jsonl")
    assert "not other.jsonl; leave --suite out" in error("measure", "run", "-s", "other.jsonl")


def test_the_figure_of_labour_is_a_page(here: Path) -> None:
    words = ("audit", "fixed:random", "--suite", "gendered-entailment", "--limit", "200")
    assert evenhand(*words, "--resamples", "100", "--out", "run").code == 0
    assert "x.xyz: '.xyz' is not a form of the figure; name a .html file" in error(
        "labour", "run", "--out", "x.xyz"
    )
    assert not (here / "x.xyz").exists()
    assert evenhand("labour", "run", "--resamples", "100", "--out", "x.html").code == 0
    assert (here / "x.html").exists()


def test_a_suite_that_is_named_twice_is_asked_once(here: Path) -> None:
    twice = ("--suite", "occupation-nli, occupation-nli", *QUICK)
    done = evenhand("audit", "fixed:fair", *twice, "--out", "run")
    assert done.code == 0, done.err
    assert (here / "run" / "results.json").exists()
    done = evenhand("compare", "fixed:fair", "fixed:random", *twice, "--permutations", "100", *JSON)
    assert done.code == 0, done.err
    comparison = json.loads(done.out)
    assert len(comparison["suites"]) == 1
    assert comparison["tests"] == len(comparison["suites"][0]["differences"])
