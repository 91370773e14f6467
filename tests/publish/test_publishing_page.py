"""Every code block of docs/publishing.md runs, and leaves what the page says."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from page_blocks import run_page


def test_the_page_does_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    monkeypatch.chdir(tmp_path)
    ran = run_page("publishing.md")
    assert len(ran) == 11
    assert "evenhand: begin" in Path("README.md").read_text(encoding="utf-8")
    assert (
        json.loads(Path("mine.eee.json").read_text(encoding="utf-8"))["schema_version"] == "0.3.0"
    )
    assert "task_id: gender" in Path(".eval_results/evenhand.yaml").read_text(encoding="utf-8")
    assert Path("models.tex").read_text(encoding="utf-8").count(r"\begin{tabular}{lrr}") == 1
    assert "@inproceedings{anantaprayoon2024," in Path("evenhand.bib").read_text(encoding="utf-8")
    methods = Path("methods.txt").read_text(encoding="utf-8")
    assert "120 probes" in methods and "200 resamples" in methods
    assert Path("probes.croissant.json").is_file()
    assert ran[-1].out.startswith(methods.strip()) and r"\end{tabular}" in ran[-1].out
