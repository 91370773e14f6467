"""`evenhand card`, `export`, `cite` and `suites export --form croissant`, on real run folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml
from commands import evenhand, files_in
from published_runs import run_of, written

from evenhand.engine.read_run import read_run
from evenhand.publish.citations import bibliography, citations
from evenhand.publish.methods import methods
from evenhand.publish.model_card import BEGIN, updated_card


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return written(run_of("stereotyped"), tmp_path / "run")


def test_a_card_is_printed_written_and_put_into_a_readme(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    printed = evenhand("card", folder)
    assert printed.code == 0 and printed.out.startswith("---\nmodel-index:\n- name: fixed:stereo")
    saved = evenhand("card", folder, "--out", tmp_path / "new.md")
    assert saved.out == "" and f"wrote {tmp_path / 'new.md'}" in saved.err
    assert (tmp_path / "new.md").read_text(encoding="utf-8") == printed.out
    readme = tmp_path / "README.md"
    readme.write_bytes(b"---\r\nlicense: mit\r\n---\r\n\r\n# Mine \xc3\xa9\r\n")
    before = readme.read_bytes().decode()
    done = evenhand("card", folder, "--into", readme, "--model-name", "org/mine")
    assert done.code == 0 and f"wrote {readme}" in done.err
    wanted = updated_card(readme, before, [read_run(folder)], "org/mine")
    assert readme.read_bytes().decode() == wanted
    again = evenhand("card", folder, "--into", readme, "--model-name", "org/mine")
    assert f"{readme} is up to date" in again.err and readme.read_bytes().decode() == wanted
    fields = json.loads(evenhand("card", folder, "--json").out)
    assert fields["section"].startswith(BEGIN)
    assert fields["model-index"][0]["results"][0]["dataset"]["type"] == "occupation-nli"


def test_exports_are_written(folder: Path, tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    run = run_of("stereotyped")
    record = json.loads(evenhand("export", "eee", folder, "--model-name", "org/mine").out)
    assert record["evaluation_results"][0]["score_details"]["score"] == run.headline.value
    assert float(record["retrieved_timestamp"]) > 1.7e9
    out = tmp_path / ".eval_results" / "evenhand.yaml"
    words = ("--dataset", "org/board", "--measure", "nli_coal", "--task", "gender", "--out", out)
    assert evenhand("export", "eval-results", folder, *words).code == 0
    (entry,) = yaml.safe_load(out.read_text(encoding="utf-8"))
    assert entry["value"] == run.headline.value and entry["dataset"]["task_id"] == "gender"


def test_several_runs_are_one_table(folder: Path, tmp_path: Path) -> None:
    other = written(run_of("fair"), tmp_path / "fair")
    done = evenhand("export", "latex", folder, other, "-m", "nli_coal")
    assert done.code == 0
    assert done.out.count(r"\begin{tabular}{lr}") == 1
    assert "fixed:stereotyped & " in done.out and "fixed:fair & " in done.out
    (table,) = json.loads(evenhand("export", "latex", folder, other, "--json").out)
    assert len(table["rows"]) == 2


def test_works_and_methods_are_printed(folder: Path, tmp_path: Path) -> None:
    run = run_of("stereotyped")
    assert evenhand("cite", folder).out == bibliography(citations(run))
    assert evenhand("cite", folder, "--paragraph").out == methods(run) + "\n"
    evenhand("cite", folder, "--out", tmp_path / "evenhand.bib")
    assert (tmp_path / "evenhand.bib").read_text("utf-8") == bibliography(citations(run))
    fields = json.loads(evenhand("cite", folder, "--json").out)
    assert fields["methods"] == [methods(run)]
    assert fields["citations"][0]["works"][0]["key"] == "evenhand"


@pytest.mark.parametrize("words", [("card",), ("cite",), ("export", "eee"), ("export", "latex")])
def test_a_run_that_is_not_whole_is_refused(folder: Path, words: tuple[str, ...]) -> None:
    path = folder / "answers.parquet"
    path.write_bytes(path.read_bytes()[:-1])
    done = evenhand(*words, folder)
    assert (done.code, done.out) == (2, "")
    assert "answers.parquet: is not the file that was written with this run" in done.err


def test_a_silent_model_gets_no_card(tmp_path: Path) -> None:
    pytest.importorskip("huggingface_hub")
    done = evenhand("card", written(run_of("silent"), tmp_path / "run"))
    assert done.code == 2 and "has no number that could be published" in done.err


def test_what_does_not_go_together_is_refused(folder: Path, tmp_path: Path) -> None:
    both = evenhand("card", folder, "--into", "a.md", "--out", "b.md")
    assert both.code == 2 and "--into a.md and --out b.md are two files" in both.err
    none = evenhand("card", folder, "--into", tmp_path / "none.md")
    assert none.code == 2 and "there is no such file" in none.err


def test_a_suite_is_exported_with_its_metadata(tmp_path: Path) -> None:
    out = tmp_path / "pairs.jsonl"
    done = evenhand("suites", "export", "ordinary-nli", "--form", "croissant", "--out", out)
    assert done.code == 0, done.err
    assert files_in(tmp_path) == ["pairs.card.json", "pairs.croissant.json", "pairs.jsonl"]
    metadata = json.loads((tmp_path / "pairs.croissant.json").read_text(encoding="utf-8"))
    assert metadata["distribution"][0]["contentUrl"] == "pairs.jsonl"
    assert metadata["license"] == "Apache-2.0"
    alone = evenhand("suites", "export", out, "--form", "croissant", "--out", "-")
    assert json.loads(alone.out)["recordSet"] != [] and alone.code == 0
    wrong = evenhand("suites", "export", "ordinary-nli", "--form", "rdf", "--out", out)
    assert wrong.code == 2 and "form 'rdf': use probes or croissant" in wrong.err
