"""The fourth test of the house: the pages say what was measured, and a change would be seen."""

from __future__ import annotations

import importlib
import json
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
CARD = "src/evenhand/models/default/MODEL_CARD.md"
MEASURED = re.compile(
    r"\d\.\d{2,} \[-?\d"  # a number with its interval
    r"|\d\d\.\d \["  # the same in percent
    r"|default@[0-9a-f]{12}"  # the identity of an embedded model
    r"|#[0-9a-f]{12}"  # the digest of a suite
)


@pytest.fixture
def numbers(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The program that writes the numbers of the pages."""
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    for name in (
        "docs_numbers",
        "number_tables",
        "paper_tables",
        "measure_records",
        "measure_tables",
        "tutorial_record",
    ):
        monkeypatch.delitem(sys.modules, name, raising=False)
    return importlib.import_module("docs_numbers")


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of the pages and records."""
    (tmp_path / CARD).parent.mkdir(parents=True)
    shutil.copy(ROOT / CARD, tmp_path / CARD)
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("assets"))
    return tmp_path


def test_every_page_says_what_the_records_say(numbers: Any) -> None:
    assert [path.name for path in numbers.stale_pages(ROOT)] == []


def test_every_block_stands_on_a_page_once_and_every_record_is_read(
    numbers: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [path.read_text(encoding="utf-8") for path in numbers.pages_of(ROOT)]
    names = [match[1] for text in texts for match in numbers.MARKED.finditer(text)]
    assert sorted(names) == sorted(numbers.BLOCKS)
    records = numbers.records_of(ROOT)
    read: set[str] = set()
    path_of = numbers.Records.path

    def noted(self: Any, name: str) -> Path:
        read.add(name)
        path: Path = path_of(self, name)
        return path

    monkeypatch.setattr(numbers.Records, "path", noted)
    for make in numbers.BLOCKS.values():
        make(records)
    assert {path.stem for path in (ROOT / "docs" / "records").glob("*.json")} == read


def test_no_measured_number_stands_outside_of_a_block(numbers: Any) -> None:
    left = {
        path.name: MEASURED.findall(numbers.MARKED.sub("", path.read_text(encoding="utf-8")))
        for path in numbers.pages_of(ROOT)
    }
    assert {name: found for name, found in left.items() if found} == {}


def test_a_changed_digit_on_a_page_is_seen(numbers: Any, checkout: Path) -> None:
    page = checkout / "docs" / "gendered-entailment.md"
    text = page.read_text(encoding="utf-8")
    block = next(m for m in numbers.MARKED.finditer(text) if m[1] == "by-workers")
    row = re.search(r"all occupations \| (\d)", block[2])
    assert row is not None
    place = block.start(2) + row.start(1)
    wrong = str((int(row[1]) + 1) % 10)
    page.write_text(text[:place] + wrong + text[place + 1 :], encoding="utf-8")
    assert [path.name for path in numbers.stale_pages(checkout)] == ["gendered-entailment.md"]


def test_a_changed_record_changes_its_page(numbers: Any, checkout: Path) -> None:
    path = checkout / "docs" / "records" / "speed.json"
    record = json.loads(path.read_text(encoding="utf-8"))
    record["numbers"]["asking"]["evenhand (onnxruntime)"] = 9.87
    path.write_text(json.dumps(record), encoding="utf-8")
    stale = numbers.stale_pages(checkout)
    assert [page.name for page in stale] == ["models.md"]
    assert "| evenhand (onnxruntime) | 9.87 |" in next(iter(stale.values()))


def test_a_number_of_an_earlier_embedded_model_says_so(numbers: Any, checkout: Path) -> None:
    records = numbers.records_of(checkout)
    for name, identity in (("embedded-built-in", "default@new"), ("mitigation", "default@old")):
        record = records.record(name)
        record["models"] = [identity]
        records.path(name).write_text(json.dumps(record), encoding="utf-8")
    text = numbers.BLOCKS["mitigation"](records)
    assert "(the earlier embedded model `default@old`)" in text
    lines = numbers.earlier_records(records, "default@new")
    assert any(line.startswith("embedded-published: measured with default@") for line in lines)
    assert not any(line.startswith(("embedded-built-in", "mitigation")) for line in lines)


def test_a_measurement_that_differs_is_named_with_its_place(numbers: Any) -> None:
    old = {"a": {"value": 0.195, "low": None}, "n": 10, "rows": [0.5]}
    assert (
        numbers.differences(old, {"a": {"value": 0.1954, "low": None}, "n": 10, "rows": [0.5]})
        == []
    )
    new = {"a": {"value": 0.197, "low": 0.1}, "n": 11, "rows": [0.6]}
    assert numbers.differences(old, new, "x") == [
        "x/a/value: 0.195 is now 0.197",
        "x/a/low: None is now 0.1",
        "x/n: 10 is now 11",
        "x/rows/0: 0.5 is now 0.6",
    ]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "docs" / "records").glob("*.json")), ids=lambda path: path.stem
)
def test_a_record_says_where_it_comes_from_and_names_no_folder(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    record = json.loads(text)
    assert record["what"] and record["commands"] and record["evenhand"]
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", record["date"])
    assert re.findall(r'[" ]/\w+/', text) == []
