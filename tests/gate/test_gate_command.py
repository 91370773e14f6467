"""`evenhand gate`: exit codes, every form of its output, and what is refused."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from commands import evenhand, files_in
from gate_runs import write_data
from quick import Opening, load, quick_audit
from runs import silent

from evenhand.core.checksums import MANIFEST, manifest_text
from evenhand.core.run import Run
from evenhand.core.settings import Settings

UNCACHED = Opening(cache=False)
QUICK = ("--limit", "60", "--resamples", "100", "--no-cache")
FEW = Settings(resamples=100, permutations=200)


@pytest.fixture(scope="module")
def audited() -> dict[str, Run]:
    """Runs of rules on the same 60 probes, and one on other probes."""
    runs = {
        name: quick_audit(model, load(limit=60), UNCACHED, FEW)
        for name, model in (("fair", "fixed:fair"), ("biased", "fixed:stereotyped"))
    }
    runs["random"] = quick_audit("fixed:random", load(limit=60), UNCACHED, FEW)
    runs["silent"] = quick_audit(silent, load(limit=60), UNCACHED, FEW)
    runs["other"] = quick_audit("fixed:fair", load(limit=60, seed=5), UNCACHED, FEW)
    return runs


@pytest.fixture
def run(audited: dict[str, Run], tmp_path: Path) -> Callable[[str], Path]:
    """The folder of a run by its name."""
    return lambda name: write_data(audited[name], tmp_path / name)


def changed(folder: Path, key: str, value: object) -> Path:
    """The run with another value of one key of its results, and a manifest that fits."""
    path = folder / "results.json"
    row = json.loads(path.read_text(encoding="utf-8"))
    row[key] = value
    path.write_text(json.dumps(row), encoding="utf-8")
    text = manifest_text(folder, {path.name: path.read_bytes()})
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return folder


def test_a_run_passes_fails_or_is_not_sure(run: Callable[[str], Path]) -> None:
    kept = evenhand("gate", run("fair"), "--max", "nli_coal=0.25")
    assert kept.code == 0, kept.err
    assert "The gate passes: 1 rule kept." in kept.out
    missed = evenhand("gate", run("biased"), "--max", "nli_coal=0.25")
    assert missed.code == 1
    assert "The gate fails: of 1 rule, 1 failed." in missed.out
    assert "FAIL: nli_coal is 1.000 [0.779, 1.000], and at most 0.25 is allowed" in missed.out
    open_ = evenhand("gate", run("fair"), "--max", "nli_coal=0.1")
    assert open_.code == 3
    assert "lies on both sides of the limit, so that neither is shown" in open_.out
    assert open_.err == "gate: not sure\n"
    worse = evenhand("gate", run("biased"), "--max", "nli_coal=0.25", "--min", "same_label=0.5")
    assert worse.code == 2 and "same_label was not measured in" in worse.err


def test_a_bare_number_is_about_the_headline(run: Callable[[str], Path]) -> None:
    done = evenhand("gate", run("biased"), "--within", "0.3", "--json")
    (rule,) = json.loads(done.out)["rules"]
    assert done.code == 1
    assert (rule["measure"], rule["min"], rule["max"]) == ("nli_coal", None, 0.3)


def test_nothing_answered_and_nothing_understood_do_not_pass(run: Callable[[str], Path]) -> None:
    done = evenhand("gate", run("silent"), "--max", "nli_coal=0.9")
    assert done.code == 1
    assert "nli_coal has no value (no answer in AS, NS, PS)" in done.out
    weak = evenhand("gate", run("random"), "--max", "nli_coal=0.9")
    assert weak.code == 3
    assert "a good score may be a lack of understanding" in weak.out
    unasked = evenhand("gate", run("random"), "--max", "nli_coal=0.9", "--min-validity", "0")
    assert unasked.code == 0
    strict = evenhand("gate", run("random"), "--max", "nli_coal=0.9", "--min-validity", "0.9")
    assert strict.code == 1
    assert "and at least 0.9 is demanded" in strict.out


def test_the_forms_of_the_output_say_the_same(
    run: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = tmp_path / "step.md"
    step.write_text("before\n", encoding="utf-8")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(step))
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'review = 2020-01-01\nowner = "Ada <a@b>"\n[[rule]]\nmeasure = "nli_coal"\nmax = 0.25\n'
        '[[rule]]\nmeasure = "nli_coal"\nmax = 0.1\non = "value"\n'
        '[[rule]]\nmeasure = "stereotype_effect"\nwithin = 0.05\n',
        encoding="utf-8",
    )
    done = evenhand(
        *("gate", run("fair"), "--policy", policy, "--json"),
        *("--junit", tmp_path / "gate.xml", "--summary", tmp_path / "gate.md"),
    )
    fields = json.loads(done.out)
    assert done.code == fields["exit_code"] == 3
    assert fields["outcome"] == "not sure"
    assert [r["outcome"] for r in fields["rules"]] == ["pass", "pass", "not sure"]
    first = fields["rules"][0]
    assert (first["value"], first["low"], first["max"], first["fair"]) == (0.0, 0.0, 0.25, 0.0)
    assert first["signature"].startswith("measure:nli_coal|suite:occupation-nli@")
    assert [j["aspect"] for j in first["judgements"]] == ["limit", "coverage", "understanding"]
    assert len(fields["warnings"]) == 3
    assert "the review date 2020-01-01 has passed; its owner is Ada <a@b>" in fields["warnings"][0]
    tree = ElementTree.parse(tmp_path / "gate.xml").getroot()
    assert (tree.get("tests"), tree.get("failures"), tree.get("errors")) == ("3", "0", "1")
    cases = tree.findall("./testsuite/testcase")
    assert [c.get("name") for c in cases] == [r["rule"] for r in fields["rules"]]
    (error,) = tree.findall(".//error")
    assert error.get("type") == "not sure"
    assert error.get("message") == fields["rules"][2]["reason"]
    text = (tmp_path / "gate.md").read_text(encoding="utf-8")
    assert "The gate is not sure: of 3 rules, 1 not sure." in text
    assert "How it was judged" in text and "about 2.5 % of all cases" in text
    assert step.read_text(encoding="utf-8") == "before\n" + text


def test_a_failure_stands_in_junit_with_its_reason(
    run: Callable[[str], Path], tmp_path: Path
) -> None:
    done = evenhand(
        "gate", run("biased"), "--max", "nli_coal=0.25", "--junit", tmp_path / "gate.xml"
    )
    assert done.code == 1
    (failure,) = ElementTree.parse(tmp_path / "gate.xml").getroot().findall(".//failure")
    message = failure.get("message") or ""
    assert message.startswith("nli_coal is 1.000 [0.779, 1.000], and at most 0.25 is allowed")


def test_a_worsening_against_a_baseline_fails(run: Callable[[str], Path]) -> None:
    same = evenhand("gate", run("fair"), "--baseline", run("fair"), "--no-regression", "--json")
    rules = json.loads(same.out)["rules"]
    assert same.code == 0, same.err
    assert "nli_coal" in {r["measure"] for r in rules}
    assert {r["baseline"]["distance"]["high"] for r in rules} == {0.0}
    worse = evenhand("gate", run("biased"), "--baseline", run("fair"), "--no-regression", "--json")
    rules = {r["measure"]: r for r in json.loads(worse.out)["rules"]}
    assert worse.code == 1
    assert rules["nli_coal"]["baseline"]["distance"]["value"] == 1.0
    assert rules["nli_coal"]["baseline"]["adjusted"] <= 0.05
    assert "the worsening is shown" in rules["nli_coal"]["reason"]
    better = evenhand("gate", run("fair"), "--baseline", run("biased"), "--no-regression", "--json")
    rules = {r["measure"]: r for r in json.loads(better.out)["rules"]}
    assert rules["nli_coal"]["outcome"] == "pass"
    assert "fail" not in {r["outcome"] for r in rules.values()}


def test_an_allowed_worsening_is_judged_by_the_paired_interval(
    run: Callable[[str], Path], tmp_path: Path
) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'baseline = "fair"\n[[rule]]\nmeasure = "nli_coal"\nmax_worsening = 0.1\n',
        encoding="utf-8",
    )
    run("fair")
    done = evenhand("gate", run("biased"), "--policy", policy)
    assert done.code == 1
    assert "and at most 0.1 farther is allowed: the interval is beyond the limit" in done.out


def test_a_baseline_of_other_probes_is_refused(run: Callable[[str], Path]) -> None:
    done = evenhand("gate", run("fair"), "--baseline", run("other"), "--no-regression")
    assert done.code == 2
    assert "only answers to the same probes are compared" in done.err


def test_half_a_run_is_refused(run: Callable[[str], Path], tmp_path: Path) -> None:
    limit = ("--max", "nli_coal=0.25")
    folder = run("fair")
    (folder / MANIFEST).unlink()
    done = evenhand("gate", folder, *limit)
    assert done.code == 2
    assert f"{folder}: has no manifest.json, so that nothing says whether" in done.err
    folder = run("fair")
    (folder / "results.json").unlink()
    assert "has no results.json" in evenhand("gate", folder, *limit).err
    folder = run("fair")
    shutil.copy(run("biased") / "results.json", folder / "results.json")
    done = evenhand("gate", folder, *limit)
    assert done.code == 2 and "is not the file that was written with this run" in done.err
    folder = run("fair")
    (folder / "answers.parquet").unlink()
    assert "answers.parquet: is missing" in evenhand("gate", folder, *limit).err
    (tmp_path / "empty").mkdir()
    done = evenhand("gate", tmp_path / "empty", *limit)
    assert done.code == 2 and "is empty: it is neither a run nor a model" in done.err
    folder = changed(run("fair"), "estimates", [{"measure": "nli_coal"}])
    assert "is not what this version writes (KeyError" in evenhand("gate", folder, *limit).err


def test_a_run_of_another_version_is_refused(run: Callable[[str], Path]) -> None:
    folder = changed(run("fair"), "evenhand", "0.0.9")
    done = evenhand("gate", folder, "--max", "nli_coal=0.25")
    assert done.code == 2
    assert "was written by evenhand 0.0.9, and this is" in done.err
    done = evenhand("gate", run("biased"), "--baseline", folder, "--no-regression")
    assert done.code == 2 and "was written by evenhand 0.0.9" in done.err


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ((), "there is no rule to judge by"),
        (("--max", "nli_cool=0.2"), "unknown measure 'nli_cool'. Did you mean nli_coal?"),
        (("--min", "nli_coal=0.2"), "the limit is on the wrong side"),
        (("--max", "nli_coal=25"), "holds for every model"),
        (("--max", "nli_coal"), "give a measure and a number, for example --max NAME=0.25"),
        (("--within", "x"), "give a measure and a number, for example --within NAME=0.25"),
        (("--within", "1.5"), "within 1.5 of fair holds for every model"),
        (("--no-regression",), "name it with --baseline RUN"),
        (("--max", "nli_coal=0.2", "--baseline", "."), "is compared by no rule"),
        (("--max", "nli_coal=0.2", "--suite", "occupation-nil"), "unknown suite"),
        (("--max", "nli_coal=0.2", "--suite", "stereoset"), "there is no run on stereoset"),
        (("--max", "nli_coal=0.2", "--level", "0.9"), "is a run, which is judged as it is; leave"),
        (("--max", "nli_coal=0.2", "--limit", "9"), "leave --limit out"),
        (("--policy", "none.toml"), "none.toml: cannot be read"),
    ],
)
def test_a_wrong_question_is_refused(
    run: Callable[[str], Path], words: tuple[str, ...], reason: str
) -> None:
    done = evenhand("gate", run("fair"), *words)
    assert done.code == 2
    assert reason in done.err and done.out == ""


def test_a_policy_decides_alone(run: Callable[[str], Path], tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    policy.write_text('[[rule]]\nmeasure = "nli_coal"\nmax = 0.25\n', encoding="utf-8")
    done = evenhand("gate", run("fair"), "--policy", policy, "--min-coverage", "0")
    assert done.code == 2
    assert "leave --min-coverage out, or write it there" in done.err


def test_a_folder_of_runs_is_judged_together(run: Callable[[str], Path], tmp_path: Path) -> None:
    (tmp_path / "all").mkdir()
    shutil.move(run("fair"), tmp_path / "all" / "one")
    done = evenhand("gate", tmp_path / "all", "--max", "nli_coal=0.25")
    assert done.code == 0, done.err


def test_a_model_is_audited_on_what_the_rules_need(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("evenhand.gate.audits.write_run", write_data)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        '[[rule]]\nmeasure = "nli_coal"\nmax = 0.25\n'
        '[[rule]]\nmeasure = "same_label"\nmin = 0.5\n'
        '[[rule]]\nmeasure = "fraction_neutral"\nmax = 0.6\n',
        encoding="utf-8",
    )
    done = evenhand("gate", "fixed:stereotyped", "--policy", policy, *QUICK, "--json")
    assert done.code == 1, done.err
    rules = json.loads(done.out)["rules"]
    assert [(r["measure"], r["suite"], r["outcome"]) for r in rules] == [
        ("nli_coal", "occupation-nli", "fail"),
        ("same_label", "gendered-entailment", "fail"),
        ("fraction_neutral", "occupation-nli", "fail"),
    ]
    folder = tmp_path / "runs" / "gate-fixed-stereotyped"
    assert sorted(p.name for p in folder.iterdir()) == [
        "gendered-entailment-en",
        "occupation-nli-en",
    ]
    again = evenhand("gate", folder.relative_to(tmp_path), "--policy", policy, "--json")
    assert again.code == 1
    assert json.loads(again.out)["rules"] == rules


def test_a_model_that_cannot_be_asked_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong = evenhand(
        "gate", "fixed:fair", "--max", "nli_coal=0.2", "--suite", "gendered-entailment", *QUICK
    )
    assert wrong.code == 2
    assert "nli_coal does not apply to gendered-entailment" in wrong.err
    unknown = evenhand("gate", "no/such/folder", "--max", "nli_coal=0.2", *QUICK)
    assert unknown.code == 2
    assert files_in(tmp_path) == []


def test_a_gate_writes_a_whole_run(tmp_path: Path) -> None:
    done = evenhand("gate", "fixed:fair", "--within", "0.3", *QUICK, "--out", tmp_path / "runs")
    assert done.code == 0, done.err
    folder = tmp_path / "runs" / "occupation-nli-en"
    assert {"report.html", "results.json", "answers.parquet", MANIFEST} <= {*files_in(folder)}
    assert f"run: {folder}" in done.err
