"""The command line on bad input: exit code 2, one line on standard error, nothing half-written."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from commands import ONE_SUITE, QUICK, evenhand, files_in
from models import write_model

from evenhand.core import catalog
from evenhand.engine.suites import load_suite

FAIR = ("fixed:fair", *ONE_SUITE)
HEAD = "id,entailment,neutral,contradiction\n"
FIRST, SECOND = (p.id for p in load_suite("occupation-nli", "en").probes[:2])


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


def refused(*words: object) -> str:
    """The one line that the command leaves with, without `error: `."""
    before = files_in(Path.cwd())
    code, out, err = evenhand(*words)
    assert (code, out) == (2, ""), err
    assert err.startswith("error: ")
    assert err.count("\n") == 1, err
    assert files_in(Path.cwd()) == before
    return err.removeprefix("error: ").rstrip("\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("./nowhere",), "unknown model './nowhere': there is no such folder."),
        (("defautl",), "Did you mean default?"),
        (("fixed:fiar",), "unknown fixed respondent 'fiar'. Did you mean fair?"),
        (("nobody:x",), "unknown model 'nobody:x'. Known forms: smollm, causal:"),
        (
            (*FAIR, "--suite", "ocupation-nli"),
            "unknown suite 'ocupation-nli'. Did you mean occupation-nli",
        ),
        ((*FAIR, "--suite", "nli_coal"), "Did you mean nli-coal"),
        (
            (*FAIR, "--suite", "zzz"),
            f"unknown suite 'zzz'. Known: {', '.join(catalog.entries('suites'))}.",
        ),
        ((*FAIR, "--suite", "occupation-nli:large"), "has no variant 'large'; it has balanced"),
        ((*FAIR, "--suite", "nowhere.jsonl"), "nowhere.jsonl: there is no such file"),
        ((*FAIR, "--measure", "nli_cola"), "unknown measure 'nli_cola'. Did you mean nli_coal"),
        ((*FAIR, "--measure", "accuracy"), "accuracy does not apply to occupation-nli"),
        ((*FAIR, "--lang", "fr"), "suite 'occupation-nli' has no language 'fr'; it has en, ja, zh"),
        ((*FAIR, "--suite", "nli-coal"), "EVENHAND_OFFLINE=1 forbids fetching it"),
        ((*FAIR, "--suite", "nli-coal", "--data", "nowhere"), "nowhere: is no folder"),
        ((*FAIR, "--suite", "nli-coal", "--data", __file__), "is no folder"),
        (
            (*FAIR, "--suite", "stereoset", "--data", "nowhere"),
            "nowhere: is neither folder nor file",
        ),
        ((*FAIR, "--captions", "nowhere.txt"), "nowhere.txt: there is no such file"),
        (
            (*FAIR, "--batch-size", "many"),
            "batch size 'many': give a number of at least 1, or auto",
        ),
        ((*FAIR, "--batch-size", "0"), "batch size '0'"),
        ((*FAIR, "--level", "95"), "level is 95.0; give a share between 0 and 1"),
        (
            (*FAIR, "--interval", "normal"),
            "'normal' is not an interval method; use percentile or bca",
        ),
        ((*FAIR, "--label-map", "entailment:0"), "'entailment:0' is not of the form name=number"),
        ((*FAIR, "--label-map", "e=0,e=1,n=2"), "each name once"),
    ],
)
def test_audit(words: tuple[str, ...], message: str) -> None:
    assert message in refused("audit", *words)


@pytest.mark.parametrize(
    "label_map",
    [
        "entailment=0,neutral=0,contradiction=2",
        "entailment=0,neutral=1",
        "entailment=1,neutral=2,contradiction=3",
    ],
)
def test_a_label_map_that_is_no_permutation(tmp_path: Path, label_map: str) -> None:
    folder = write_model(tmp_path / "tiny")
    assert "is not a permutation" in refused("audit", folder, *QUICK, "--label-map", label_map)


@pytest.mark.parametrize(
    "words", [("--limit", "0"), ("--seed", "-1"), ("--resamples", "5"), ("--nonsense",)]
)
def test_what_typer_refuses_leaves_with_2_as_well(words: tuple[str, ...]) -> None:
    code, out, err = evenhand("audit", "fixed:fair", *words)
    assert (code, out) == (2, "")
    assert words[0] in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"", "p.csv: the file is empty"),
        (
            b"id,score\na,1\n",
            "p.csv: has the columns id, score; needed are entailment, neutral, contradiction",
        ),
        (
            f"{HEAD}{FIRST},0.2,0.3,0.5\n{SECOND},0.9,0.3,0.5\n".encode(),
            "p.csv, row 3: probabilities 0.9, 0.3, 0.5 do not sum to one (sum 1.7)",
        ),
        (
            f"{HEAD}{FIRST},0.2,0.3,0.5\n{FIRST},0.2,0.3,0.5\n".encode(),
            f"p.csv, row 3: the id '{FIRST}' was already used in row 2",
        ),
        (
            f"{HEAD}nobody,0.2,0.3,0.5\n".encode(),
            "p.csv, row 2: the id 'nobody' is not in occupation-nli",
        ),
        (
            HEAD.encode() + b"caf\xe9,0.2,0.3,0.5\n",
            "p.csv, row 2: byte 0xe9 is not UTF-8; save the file as UTF-8",
        ),
    ],
    ids=["empty", "columns", "sum", "twice", "unknown", "latin-1"],
)
def test_measure(here: Path, raw: bytes, message: str) -> None:
    (here / "p.csv").write_bytes(raw)
    assert message in refused("measure", "p.csv", "--suite", "occupation-nli", "--out", "report")


def test_measure_wants_to_know_the_suite_and_the_file(here: Path) -> None:
    (here / "p.csv").write_text("id,label\n", encoding="utf-8")
    assert "p.csv: say which suite was answered, with --suite" in refused("measure", "p.csv")
    assert "nowhere.csv: there is no such file" in refused(
        "measure", "nowhere.csv", "--suite", "occupation-nli"
    )
    assert "nowhere.parquet: there is no such file" in refused("measure", "nowhere.parquet")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("show", "nli_cola"), "unknown name 'nli_cola'. Did you mean nli_coal"),
        (("suites", "build", "occupation", "--out", "x.jsonl"), "Did you mean occupation-nli"),
        (("suites", "verify", "nowhere.jsonl"), "nowhere.jsonl: there is no such file"),
        (
            ("suites", "export", "ordinary-nli", "--lang", "de", "--out", "x.jsonl"),
            "has no language 'de'",
        ),
    ],
)
def test_other_verbs(words: tuple[str, ...], message: str) -> None:
    assert message in refused(*words)


def test_a_report_cannot_go_below_a_file_and_the_model_is_not_asked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (here / "file").write_text("x", encoding="utf-8")
    monkeypatch.setattr(
        "evenhand.engine.audit_plan.AuditPlan.carry_out",
        lambda *_, **__: pytest.fail("asked for nothing"),
    )
    for out in ("file", "file/report", "file/deep/report"):
        assert "cannot write" in refused("audit", *FAIR, "--out", out)
    assert (here / "file").read_text(encoding="utf-8") == "x"


def test_a_read_only_folder_is_refused_before_the_model_is_asked(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deny(*_: Any, **__: Any) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr("evenhand.core.files.tempfile.TemporaryFile", deny)
    monkeypatch.setattr(
        "evenhand.engine.audit_plan.AuditPlan.carry_out",
        lambda *_, **__: pytest.fail("asked for nothing"),
    )
    assert "Permission denied; choose another folder" in refused("audit", *FAIR, "--out", "report")


@pytest.mark.parametrize("was_there", [False, True])
def test_a_disk_that_fills_up_while_the_report_is_written_leaves_no_part_of_it(
    here: Path, monkeypatch: pytest.MonkeyPatch, was_there: bool
) -> None:
    if was_there:
        assert evenhand("audit", "fixed:stereotyped", *ONE_SUITE, "--out", "report").code == 0
    before = {p: p.read_bytes() for p in here.rglob("*") if p.is_file()}
    write_bytes = Path.write_bytes

    def fill(self: Path, raw: bytes) -> int:
        if self.name == "report.tex":
            write_bytes(self, raw[:100])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(self))
        return write_bytes(self, raw)

    monkeypatch.setattr(Path, "write_bytes", fill)
    code, out, err = evenhand("audit", *FAIR, "--out", "report", "--force")
    assert (code, out) == (2, "")
    assert err == (
        "error: cannot write report: No space left on device; free some space and run the same "
        "command again, nothing is lost\n"
    )
    assert {p: p.read_bytes() for p in here.rglob("*") if p.is_file()} == before
    assert not [p for p in here.iterdir() if p.name.startswith(".")]


@pytest.mark.skipif(sys.platform == "win32", reason="no limit on the size of files")
@pytest.mark.parametrize(
    "small",
    ["to_html", "to_html to_markdown to_latex to_json probe_lines"],
    ids=["text", "parquet"],
)
def test_a_real_limit_on_the_size_of_files_leaves_no_part_of_a_report(
    here: Path, small: str
) -> None:
    """The system itself refuses, in the middle of whichever file is first too large.

    Where all texts are small that is answers.parquet.
    """
    script = (
        "import resource, evenhand.report.write as a, evenhand.engine.results as b\n"
        f"for module, name in zip((a, a, a, b, b), {small.split()!r}):\n"
        " setattr(module, name, lambda run, **_: 'small')\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "from evenhand.cli.main import run; run()"
    )
    words = ["audit", "fixed:fair", *ONE_SUITE, "--out", "report"]
    done = subprocess.run(
        [sys.executable, "-c", script, *words],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: cannot write report: ")
    assert done.stderr.count("\n") == 1
    assert [p for p in here.rglob("*") if p.is_file()] == []


def test_the_error_goes_to_standard_error_even_with_json() -> None:
    code, out, err = evenhand("audit", *FAIR, "--lang", "fr", "--json")
    assert (code, out) == (2, "")
    with pytest.raises(json.JSONDecodeError):
        json.loads(err)
    assert "has no language 'fr'" in err
