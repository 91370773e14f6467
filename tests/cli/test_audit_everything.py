"""`evenhand audit` without --suite, with several models, and into folders that hold something."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import evenhand, files_in

import evenhand as eh
from evenhand.core.errors import InputError
from evenhand.gate.records import read_records, run_folders
from evenhand.view.folders import RunFolder

FEW = ("--limit", "40", "--resamples", "100")
PAIRS = ("--suite", "occupation-nli,gendered-entailment", *FEW)
ONE = ("--suite", "occupation-nli", *FEW)
DATA = ["answers.parquet", "manifest.json", "results.json", "suite.card.json", "suite.jsonl"]
PAGE = ["report.html", "report.md", "report.tex"]
SUITES = [
    "contextualised",
    "emotion",
    "gender-recognition",
    "gendered-entailment",
    "occupation-nli",
    "profession",
]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to stand in; pages take their time and have tests of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evenhand.report.write.to_html", lambda document, **_: "<!doctype html>")
    return tmp_path


def read(path: str | Path) -> Any:
    return json.loads(Path(path).read_text(encoding="utf-8"))


def timeless(path: Path) -> str:
    """A file without the seconds that the run took."""
    text = path.read_text(encoding="utf-8")
    return re.sub(r'"timing": \{[^}]*\}|\b(load|ask|judge|total)\b.* s\b', "", text)


def test_everything_that_fits_is_one_report_with_a_folder_for_each_suite(here: Path) -> None:
    done = evenhand("audit", "fixed:random", *FEW)
    assert done.code == 0, done.err
    folder = here / "runs" / "fixed-random-limit40"
    assert sorted(p.name for p in folder.iterdir()) == sorted(
        [*SUITES, *PAGE, "manifest.json", "overview.json"]
    )
    for suite in SUITES:
        assert files_in(folder / suite) == DATA
    fields = read(folder / "overview.json")
    rows = {row["folder"]: row for row in fields["runs"]}
    assert next(row["folder"] for row in fields["runs"]) == "occupation-nli"
    for suite in SUITES:
        first = read(folder / suite / "results.json")["estimates"][0]
        row = rows[suite]
        assert (row["measure"], row["value"], row["low"], row["high"]) == (
            first["measure"],
            first["value"],
            first["low"],
            first["high"],
        )
        assert f"{first['value']:.3f}" in done.out
    assert rows["gender-recognition"]["why_not_counted"] == [
        "the interval holds 0.500, what random answers are expected to get"
    ]
    page = (folder / "report.md").read_text(encoding="utf-8")
    assert page.index("## Overview") < page.index("## Occupation nli") < page.index("## Profession")
    assert len(re.findall(r"(?m)^### Scores$", page)) == 6

    # the same again, and the readers of folders
    before = {p: timeless(p) for p in folder.rglob("*.json") if p.name != "manifest.json"}
    assert evenhand("audit", "fixed:random", *FEW).code == 0
    assert {p: timeless(p) for p in before} == before
    assert [r.folder for r in read_records(folder)] == [folder / suite for suite in SUITES]
    assert run_folders(here / "runs") == [folder / suite for suite in SUITES]
    with pytest.raises(InputError, match="holds several runs; name the folder of one of them: con"):
        eh.read(folder)
    assert eh.read(folder / "emotion").suite.card.name == "emotion"
    for words in (("measure", folder), ("compare", folder, folder), ("export", "eee", folder)):
        refused = evenhand(*words)
        assert refused.code == 2 and "holds several runs" in refused.err
    gate = evenhand("gate", folder, "--max", "nli_coal=0.05", "--min-validity", "0")
    assert (gate.code, gate.err) == (1, "gate: fail\n")
    lines = {line.place: line for line in RunFolder(here / "runs").lines()}
    assert lines[folder.name].headline == "overview of 6 runs"
    assert lines[f"{folder.name}/emotion"].address == f"/{folder.name}/report.html"


def test_what_does_not_fit_is_not_asked_and_said(here: Path) -> None:
    done = evenhand("audit", "fixed:fair", *FEW, "--lang", "ko")
    assert done.code == 0, done.err
    assert "not asked: emotion: is not in 'ko', only in en, ja and zh." in done.err
    # one suite fits: the folder is that of a run
    assert files_in(here / "runs" / "fixed-fair-ko-limit40") == sorted([*DATA, *PAGE])


def test_models_by_measures(here: Path) -> None:
    done = evenhand("audit", "fixed:stereotyped", "fixed:random", *PAIRS, "--out", "both", "--json")
    assert done.code == 0, done.err
    fields = json.loads(done.out)
    assert [(r["model"]["identity"], r["suite"]["name"]) for r in fields["runs"]] == [
        (model, suite)
        for model in ("fixed:stereotyped", "fixed:random@0")
        for suite in ("occupation-nli", "gendered-entailment")
    ]
    own = here / "both" / "fixed-random-occupation-nli"
    assert files_in(own) == sorted([*DATA, *PAGE])
    assert fields["runs"][2] == read(own / "results.json")
    page = (here / "both" / "report.md").read_text(encoding="utf-8")
    heads = "| suite | measure | fixed:stereotyped | fixed:random | best | random |"
    assert heads in re.sub(r" +", " ", page)
    (row,) = [line for line in page.splitlines() if line.startswith("| occupation-nli | NLI-CoAL")]
    assert "| 1.000 [" in re.sub(r"[*\\]", "", row) and row.count("†") == 2
    assert "fixed:random on occupation-nli: the interval holds 0.444" in page
    assert "Its own page is fixed-random-occupation-nli/report.html." in page


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((*ONE, "--seed", "1"), "a run with the suite occupation-nli@1.0#"),
        (("--suite", "occupation-nli", "--limit", "41", "--resamples", "100"), "the suite"),
        ((*ONE, "--resamples", "200"), "a run with the settings "),
        ((*ONE, "--measure", "nli_coal"), "a run with the measures "),
        (PAIRS, "run holds one run, not several"),
    ],
)
def test_a_different_run_is_not_written_over_unless_told(
    here: Path, words: tuple[str, ...], message: str
) -> None:
    assert evenhand("audit", "fixed:fair", *ONE, "--out", "run").code == 0
    before = {p: p.read_bytes() for p in here.rglob("*") if p.is_file()}
    done = evenhand("audit", "fixed:fair", *words, "--out", "run")
    assert (done.code, done.out) == (2, "")
    assert done.err.count("\n") == 1 and message in done.err
    assert done.err.endswith("or write over it with --force\n")
    assert {p: p.read_bytes() for p in here.rglob("*") if p.is_file()} == before
    assert evenhand("audit", "fixed:fair", *words, "--out", "run", "--force").code == 0
    is_one = message != "run holds one run, not several"
    assert (here / "run" / "results.json").is_file() == is_one
    assert len(read_records(here / "run")) == (1 if is_one else 2)
    if not is_one:  # and back
        back = evenhand("audit", "fixed:fair", *ONE, "--out", "run")
        assert back.code == 2 and "an overview of 2 runs, not one run" in back.err
        assert evenhand("audit", "fixed:fair", *ONE, "--out", "run", "--force").code == 0
        assert files_in(here / "run") == sorted([*DATA, *PAGE])


def test_another_model_is_a_different_run(here: Path) -> None:
    assert evenhand("audit", "fixed:fair", *ONE, "--out", "run").code == 0
    done = evenhand("audit", "fixed:random", *ONE, "--out", "run")
    assert "a run with the model fixed:fair, not fixed:random@0" in done.err
    assert evenhand("audit", "fixed:fair", *ONE, "--out", "run").code == 0


def test_a_suite_of_the_wrong_kind_is_refused_before_the_first_question(here: Path) -> None:
    done = evenhand("audit", "default", "--suite", "occupation-nli,contextualised", *FEW)
    assert (done.code, done.out) == (2, "") and done.err.count("\n") == 1
    assert "cannot answer mask probes" in done.err
    assert "Suites that fit this model: occupation-nli, " in done.err
    assert files_in(here) == []


def test_no_result_is_exit_code_1_after_everything_was_written(here: Path) -> None:
    words = ("--suite", "occupation-nli,gendered-entailment", "--limit", "2", "--resamples", "100")
    done = evenhand("audit", "fixed:fair", *words, "--out", "run")
    assert done.code == 1
    assert "no result: fixed:fair on occupation-nli: NLI-CoAL is n/a: no probes in NS" in done.err
    assert (here / "run" / "report.html").is_file()
    assert len(run_folders(here / "run")) == 2


def test_the_name_of_a_folder_says_what_was_asked(here: Path) -> None:
    words = ("--suite", "ordinary-nli:hard", *FEW, "--seed", "3", "--lang", "zh")
    assert evenhand("audit", "fixed:fair", *words).code == 0
    assert files_in(here / "runs")[0] == "fixed-fair-ordinary-nli-hard-zh-limit40-seed3"
    both = evenhand("audit", "fixed:fair", "--whole", "--limit", "5")
    assert both.code == 2 and "--whole is about everything that fits" in both.err
