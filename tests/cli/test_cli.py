"""The verbs, and what their streams carry for a program behind the pipe."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import polars as pl
import pytest
from commands import ONE_SUITE, evenhand, files_in
from models import write_model

from evenhand import __version__
from evenhand.core import catalog

REPORT = [
    "answers.parquet",
    "manifest.json",
    "report.html",
    "report.md",
    "report.tex",
    "results.json",
    "suite.card.json",
    "suite.jsonl",
]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def run(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an audit of the tiny model, with the real page."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    code, out, err = evenhand("audit", model, *ONE_SUITE, "--out", folder, "--no-cache")
    assert code == 0, err
    assert out.rstrip().endswith(f"report: {folder / 'report.html'}")
    return folder


@pytest.fixture
def plain_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """The page takes its time and has tests of its own."""
    monkeypatch.setattr("evenhand.report.write.to_html", lambda document, **_: "<!doctype html>")


def strict(text: str) -> Any:
    """JSON as the standard has it: no NaN, no Infinity."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)


def scores(results: Any) -> list[tuple[object, ...]]:
    return [
        tuple(e[k] for k in ("measure", "value", "low", "high", "coverage", "probes", "signature"))
        for e in results["estimates"]
    ]


def test_version() -> None:
    assert evenhand("--version") == (0, f"evenhand {__version__}\n", "")


def test_help_names_every_verb() -> None:
    code, out, _ = evenhand("--help")
    assert code == 0
    assert all(
        f" {verb} " in out for verb in ("audit", "measure", "list", "show", "doctor", "suites")
    )


def test_audit_writes_its_report_and_says_where(run: Path) -> None:
    assert files_in(run) == REPORT
    assert [p.name for p in run.parent.iterdir()] == ["run"]  # no stage left behind


@pytest.mark.usefixtures("plain_page")
def test_audit_without_out_names_the_folder_after_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    own = "fixed-fair-occupation-nli-zh-limit60"
    code, out, _ = evenhand("audit", "fixed:fair", *ONE_SUITE, "--lang", "zh")
    assert code == 0
    assert out.rstrip().endswith(str(Path("runs", own, "report.html")))
    assert "NLI-CoAL" in out
    assert files_in(tmp_path / "runs" / own) == REPORT


@pytest.mark.usefixtures("plain_page")
def test_json_on_one_stream_the_path_on_the_other(tmp_path: Path) -> None:
    code, out, err = evenhand(
        "audit", "fixed:stereotyped", *ONE_SUITE, "--json", "--out", tmp_path / "run"
    )
    assert code == 0
    fields = strict(out)
    assert {e["measure"]: e["value"] for e in fields["estimates"]} == {
        "nli_coal": 1,
        "fraction_neutral": 1,
        "person_entailment": 0,
        "stereotype_effect": 1,
        "default_effect": 0,
    }
    assert err == f"report: {tmp_path / 'run' / 'report.html'}\n"
    assert out == (tmp_path / "run" / "results.json").read_text(encoding="utf-8")


@pytest.mark.usefixtures("plain_page")
def test_nothing_measured_is_null_with_its_reason_in_json(tmp_path: Path) -> None:
    code, out, err = evenhand(
        "audit",
        "fixed:fair",
        "--suite",
        "occupation-nli",
        "--limit",
        "2",
        "--resamples",
        "100",
        "--json",
        "--out",
        tmp_path / "run",
    )
    assert code == 1
    assert err.splitlines()[-1] == (
        "no result: fixed:fair on occupation-nli: NLI-CoAL is n/a: no probes in NS"
    )
    fields = {e["measure"]: e for e in strict(out)["estimates"]}
    assert fields["nli_coal"]["value"] is None
    assert fields["nli_coal"]["note"] == "no probes in NS"


def test_measure_gives_the_estimates_and_signatures_of_the_run(run: Path) -> None:
    code, out, _ = evenhand("measure", run / "answers.parquet", "--resamples", "100", "--json")
    assert code == 0
    assert scores(strict(out)) == scores(strict((run / "results.json").read_text(encoding="utf-8")))


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize("form", ["probabilities", "label", "logits"])
def test_predictions_from_elsewhere_score_like_the_run(
    run: Path, tmp_path: Path, form: str
) -> None:
    answers = pl.read_parquet(run / "answers.parquet")
    names = ["entailment", "neutral", "contradiction"]
    path = tmp_path / ("p.jsonl" if form == "logits" else "p.csv")
    if form == "logits":
        answers.select("id", *(pl.col(n).alias(f"logit_{n}") for n in names)).write_ndjson(path)
    elif form == "label":
        answers.select("id", pl.col("answer").alias("label")).write_csv(
            path, include_bom=True, line_terminator="\r\n"
        )
    else:
        whole = pl.sum_horizontal(pl.col(n).exp() for n in names)
        answers.select("id", *((pl.col(n).exp() / whole).alias(n) for n in names)).write_csv(path)
    code, out, err = evenhand(
        "measure",
        path,
        "--suite",
        run / "suite.jsonl",
        "--resamples",
        "100",
        "--json",
        "--out",
        tmp_path / "again",
    )
    assert code == 0, err
    fields, before = strict(out), strict((run / "results.json").read_text(encoding="utf-8"))
    assert [s[:6] for s in scores(fields)] == [s[:6] for s in scores(before)]
    assert files_in(tmp_path / "again") == REPORT


def test_missing_predictions_lower_the_coverage_and_are_named(run: Path, tmp_path: Path) -> None:
    answers = pl.read_parquet(run / "answers.parquet")
    answers.select("id", pl.col("answer").alias("label")).tail(45).write_csv(tmp_path / "p.csv")
    words = ("measure", tmp_path / "p.csv", "--suite", run / "suite.jsonl", "--resamples", "100")
    fields = strict(evenhand(*words, "--json").out)
    assert fields["coverage"] == 0.75
    assert fields["unanswered"] == {"no row in the predictions file": 15}
    assert "no row in the predictions file" in evenhand(*words, "--verbose").out


@pytest.mark.parametrize("section", catalog.SECTIONS)
def test_list_names_everything_that_the_catalog_has(section: Any) -> None:
    code, out, _ = evenhand("list", section)
    assert code == 0
    known = list(catalog.entries(section))
    assert all(name in out for name in known)
    fields = strict(evenhand("list", section, "--json").out)
    assert [row.get("name" if section != "languages" else "code") for row in fields] == known


def test_show_gives_formula_fair_value_and_citation() -> None:
    fields = strict(evenhand("show", "nli_coal", "--json").out)
    assert (fields["formula"], fields["fair value"], fields["range"]) == (
        "(e_PS + c_AS + (1 - n_NS)) / 3",
        "0",
        "0 to 1",
    )
    assert "LREC-COLING" in evenhand("show", "nli_coal").out
    assert fields["fully stereotyped"] == "1"
    # who reaches the worst value is named: a stereotyped respondent shows no default
    default = strict(evenhand("show", "default_effect", "--json").out)
    assert default["male default"] == "1" and "fully stereotyped" not in default


@pytest.mark.parametrize("section", catalog.SECTIONS)
def test_show_knows_everything_that_list_names(section: Any) -> None:
    for name in catalog.entries(section):
        assert evenhand("show", name).code == 0


def test_build_export_verify_and_lint(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    code, out, _ = evenhand(
        "suites", "build", "occupation-nli", "--lang", "ja", "--seed", "3", "--out", path
    )
    assert code == 0
    lines = path.read_text(encoding="utf-8").splitlines()
    card = strict((tmp_path / "mine.card.json").read_text(encoding="utf-8"))
    assert f"{len(lines)} probes" in out
    assert f"digest {card['digest']}" in out
    assert (card["probes"], card["language"]) == (len(lines), "ja")
    code, out, _ = evenhand("suites", "verify", path)
    how = "verified: the probes have the digest that mine.card.json states"
    assert (code, out.splitlines()[-1]) == (0, how)
    code, out, _ = evenhand("suites", "lint", path)
    assert (code, out) == (0, f"{len(lines)} probes: clean\n")
    assert evenhand("suites", "export", "ordinary-nli", "--out", tmp_path / "pairs.jsonl").code == 0
    assert Counter(
        json.loads(row)["tags"]["gold"]
        for row in (tmp_path / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    ) == {"entailment": 52, "neutral": 52, "contradiction": 52}


def test_verify_finds_a_touched_suite_and_lint_a_bad_one(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    evenhand("suites", "build", "occupation-nli", "--out", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text(
        "\n".join([*lines[:-1], lines[-1].replace("person", "human")]) + "\n", encoding="utf-8"
    )
    code, _, err = evenhand("suites", "verify", path)
    assert code == 2
    assert "the file was changed or cut after it was made" in err
    (tmp_path / "mine.card.json").unlink()
    copy = json.dumps({**json.loads(lines[0]), "id": "copy", "twin": None})
    path.write_text("\n".join([*lines, copy]) + "\n", encoding="utf-8")
    code, out, _ = evenhand("suites", "lint", path)
    assert (code, out.splitlines()[0]) == (
        1,
        f"duplicate: copy: asks the same as '{json.loads(lines[0])['id']}'",
    )


def test_the_same_seed_gives_the_same_digest_and_another_seed_another(tmp_path: Path) -> None:
    first, again, other = (
        evenhand("suites", "verify", "occupation-nli", "--seed", seed).out for seed in (1, 1, 2)
    )
    assert first == again != other


@pytest.mark.usefixtures("plain_page")
def test_a_limit_keeps_twins_and_all_strata(tmp_path: Path) -> None:
    assert (
        evenhand("audit", "fixed:fair", *ONE_SUITE, "--limit", "25", "--out", tmp_path / "run").code
        == 0
    )
    asked = pl.read_parquet(tmp_path / "run" / "answers.parquet")
    assert len(asked) == 25
    assert set(asked["twin"].drop_nulls()) <= set(asked["id"])
    assert set(asked["stratum"]) == {"PS", "AS", "NS", "NB"}


@pytest.mark.usefixtures("plain_page")
def test_a_second_audit_goes_into_the_same_folder_and_replaces_it_whole(
    run: Path, model: Path, tmp_path: Path
) -> None:
    run = Path(shutil.copytree(run, tmp_path / "run"))
    before = (run / "results.json").read_text(encoding="utf-8")
    code, _, err = evenhand("audit", model, *ONE_SUITE, "--out", run, "--batch-size", "3")
    assert code == 0, err
    assert files_in(run) == REPORT
    fields = [strict(text) for text in (before, (run / "results.json").read_text(encoding="utf-8"))]
    assert {**fields[0], "timing": 0} == {**fields[1], "timing": 0}


def test_an_option_of_the_suite_is_taken_and_another_refused(tmp_path: Path) -> None:
    words = ("suites", "build", "gendered-entailment", "--out", tmp_path / "a.jsonl")
    assert evenhand(*words, "--dominance", "60").code == 0
    assert evenhand(*words, "--dominance=60").code == 0
    leans = Counter(
        json.loads(row)["tags"]["lean"]
        for row in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    )
    evenhand(*words)
    usual = Counter(
        json.loads(row)["tags"]["lean"]
        for row in (tmp_path / "a.jsonl").read_text(encoding="utf-8").splitlines()
    )
    assert leans["none"] < usual["none"]
    code, _, err = evenhand(*words, "--dominanse", "60")
    assert (code, err) == (
        2,
        "error: no option '--dominanse' here, and the suite 'gendered-entailment' has none. "
        "Did you mean --dominance?\n",
    )
    code, _, err = evenhand(*words, "--dominance", "most")
    assert (code, err) == (2, "error: --dominance is 'most'; give a number\n")
    code, _, err = evenhand(*words, "--dominance")
    assert code == 2 and err.startswith("error: --dominance needs a value: ")
    code, _, err = evenhand("audit", "fixed:fair", *ONE_SUITE, "--dominance", "60")
    assert (code, err) == (
        2,
        "error: no option '--dominance' here, and the suite 'occupation-nli' has none. "
        "It is an option of gendered-entailment and sharma2021.\n",
    )
    code, _, err = evenhand(*words, "surplus")
    assert (code, err) == (2, "error: 'surplus' is one argument too many. See --help.\n")


def test_an_option_goes_to_those_of_several_suites_that_have_it(tmp_path: Path) -> None:
    words = ("audit", "fixed:fair", "--suite", "occupation-nli,gendered-entailment", "--limit", 12)
    ending = ("--resamples", 100, "--out", tmp_path / "runs")
    code, _, err = evenhand(*words, *ending, "--dominance", "60")
    assert code == 0, err
    names = ["gendered-entailment", "occupation-nli"]
    assert [n for n in files_in(tmp_path / "runs") if "." not in n] == names
    code, out, err = evenhand(*words, "--out", tmp_path / "none", "--dominanse", "60")
    assert (code, out) == (2, "") and not (tmp_path / "none").exists()
    assert err == (
        "error: no option '--dominanse' here, and the suites 'occupation-nli' and "
        "'gendered-entailment' have none. Did you mean --dominance?\n"
    )


def test_answers_of_a_run_take_no_option_of_a_suite(run: Path) -> None:
    code, _, err = evenhand("measure", run / "answers.parquet", "--nonesuch", 3)
    assert (code, err) == (2, "error: no option '--nonesuch' here. See --help.\n")


def test_show_lists_the_options_of_a_suite() -> None:
    fields = strict(evenhand("show", "gendered-entailment", "--json").out)
    assert {"--premises", "--per-occupation", "--shares", "--dominance"} <= set(fields)


def test_verify_says_verified_only_of_what_it_checked(tmp_path: Path, data: Path) -> None:
    """It said so of every suite that could be built."""

    def last_line(name: object, *words: object) -> tuple[int, str]:
        code, out, _ = evenhand("suites", "verify", name, *words)
        return code, out.splitlines()[-1]

    pinned = (0, "verified: the published text has its pinned digest")
    for name, language in (("nli-coal", "en"), ("sharma2021:ood", "en"), ("cgb", "zh")):
        assert last_line(name, "--lang", language, "--data", data) == pinned, name
    unpinned = (1, "not verified: no digest is pinned for this suite")
    assert last_line("glue", "--data", data) == unpinned
    assert last_line("occupation-nli") == unpinned
    copy = tmp_path / "crows_pairs_anonymized.csv"
    text = (data / "crows_pairs" / copy.name).read_text("utf-8")
    copy.write_text(text.replace("really ignorant", "very ignorant", 2), encoding="utf-8")
    changed = (1, "not verified: the published text has another digest")
    assert last_line("crows-pairs", "--data", tmp_path) == changed
    path = tmp_path / "mine.jsonl"
    evenhand("suites", "export", "ordinary-nli", "--out", path)
    (tmp_path / "mine.card.json").unlink()
    reason = "there is no mine.card.json beside the file that states its digest"
    assert last_line(path) == (1, f"not verified: {reason}")
    evenhand("suites", "export", "crows-pairs", "--data", tmp_path, "--out", path)
    code, line = last_line(path)  # a changed text stays one in a file of its own
    assert (code, line.partition(", which says itself: ")) == (
        1,
        (
            "not verified: the probes have the digest that mine.card.json states",
            ", which says itself: ",
            "The suite's file is not the published one: its text has another digest.",
        ),
    )


@pytest.mark.usefixtures("plain_page")
@pytest.mark.parametrize("file", ["answers.parquet", "results.json", "suite.jsonl"])
def test_files_of_two_runs_are_not_read_as_one(run: Path, tmp_path: Path, file: str) -> None:
    mixed, other = tmp_path / "mixed", tmp_path / "other"
    shutil.copytree(run, mixed)
    assert evenhand("audit", "fixed:stereotyped", *ONE_SUITE, "--seed", 3, "--out", other).code == 0
    shutil.copy(other / file, mixed / file)
    few = ("--resamples", "100")
    for words in (("measure", mixed), ("compare", mixed, other), ("labour", mixed)):
        code, out, err = evenhand(*words, *few)
        assert (code, out) == (2, ""), words
        assert err.startswith(f"error: {mixed / file}: is not the file that was written with this")


def test_damaged_answers_are_refused(run: Path, tmp_path: Path) -> None:
    """200 damaged bytes gave a score of 0.811 and the exit code 0."""
    path = tmp_path / "answers.parquet"
    raw, rng = (run / "answers.parquet").read_bytes(), np.random.default_rng(0)
    whole = pl.read_parquet(run / "answers.parquet")
    tried = 0
    while tried < 3:
        start = int(rng.integers(4, len(raw) - 200))
        path.write_bytes(raw[:start] + rng.bytes(200) + raw[start + 200 :])
        try:
            if pl.read_parquet(path).equals(whole):
                continue
        except BaseException:  # polars has an exception of its own kind for some damage
            continue
        tried += 1  # a table can be read, with other numbers or texts
        code, out, err = evenhand("measure", path, "--resamples", "100")
        assert (code, out) == (2, "")
        assert err.startswith(f"error: {path}: is damaged or was changed")


def test_show_prints_brackets_as_they_are_and_names_the_family() -> None:
    out = evenhand("show", "gendered-entailment").out
    assert "Premises of each occupation [default: 10, mined 50]." in out
    assert strict(evenhand("show", "icat_official", "--json").out)["family"] == "stereoset"


def test_measure_takes_the_folder_of_a_run(run: Path, tmp_path: Path) -> None:
    of_folder, of_file = (
        evenhand("measure", path, "--resamples", "100", "--json")
        for path in (run, run / "answers.parquet")
    )
    assert of_folder.code == 0
    assert scores(strict(of_folder.out)) == scores(strict(of_file.out))
    code, _, err = evenhand("measure", tmp_path)
    assert (code, err) == (2, f"error: {tmp_path / 'answers.parquet'}: there is no such file\n")
