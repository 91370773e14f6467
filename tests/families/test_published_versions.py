"""Every published suite says whether its file is the published one: in card, report, signature."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import openpyxl
import pytest

from evenhand.core import account, catalog
from evenhand.core.fetch import published_version, version_note
from evenhand.core.protocols import SuiteOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite, read_suite, write_suite
from evenhand.engine.audit import audit
from evenhand.engine.suites import load_suite

UNPINNED = {"glue"}  # GLUE publishes no digests
PUBLISHED = sorted(name for name, s in catalog.entries("suites").items() if s.is_published)


def load(name: str, data: Path, language: str = "en", limit: int | None = None) -> Suite:
    return load_suite(name, language, SuiteOptions(data=data), limit=limit)


def fair_run(suite: Suite) -> Run:
    return audit("fixed:fair", suite, settings=Settings(resamples=50))


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_suite_is_verified_or_says_that_it_is_not(name: str, data: Path) -> None:
    """Sharma's sheets and GLUE were taken for the published ones without a look."""
    source = catalog.suite(name)
    card = load(name, data, source.languages[0]).card
    assert card.is_verified == (name not in UNPINNED)
    assert card.version.endswith("-unverified") == (name in UNPINNED)
    assert bool(version_note(card.version)) == (name in UNPINNED)


@pytest.mark.parametrize("variant", ["snli", "mnli", "ood"])
def test_a_changed_sheet_is_marked(variant: str, data: Path, tmp_path: Path) -> None:
    for path in (data / "sharma2021").iterdir():
        shutil.copyfile(path, tmp_path / path.name)
    name = f"sharma2021:{variant}"
    assert load(name, tmp_path).card.version == "2021"
    path = tmp_path / f"{variant.upper()}_Evaluation_Set.xlsx"
    book = openpyxl.load_workbook(path)
    cells = [c for row in book.worksheets[0].iter_rows() for c in row if c.data_type == "s"]
    premise = max(cells, key=lambda c: len(str(c.value)))
    premise.value = f"{premise.value} today"
    book.save(path)
    suite = load(name, tmp_path)
    assert (suite.card.version, suite.card.is_verified) == ("2021-changed", False)
    assert suite.reference.startswith(f"{name}@2021-changed#")


def test_card_report_and_signature_say_unverified(data: Path, tmp_path: Path) -> None:
    suite = load("glue", data, limit=60)
    write_suite(suite, tmp_path / "glue.jsonl")
    assert '"is_verified": false' in (tmp_path / "glue.card.json").read_text("utf-8")
    run = fair_run(suite)
    assert "|suite:glue@2019-unverified#" in run.headline.signature
    said = "Whether the suite's file is the published one was not verified"
    assert [note for note in account.notes(run) if note.startswith(said)]


def test_a_card_keeps_that_its_suite_was_verified(data: Path, tmp_path: Path) -> None:
    suite = load("nli-coal", data, limit=60)
    write_suite(suite, tmp_path / "mine.jsonl")
    back = read_suite(tmp_path / "mine.jsonl")
    assert back.card == suite.card and back.card.is_verified
    assert (back.limit, back.whole, back.reference) == (suite.limit, suite.whole, suite.reference)
    run = fair_run(suite)
    assert not [note for note in account.notes(run) if "published one" in note]


def test_the_mark_of_a_version(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    text = hashlib.sha256(b"one\ntwo\n").hexdigest()
    for content in (b"one\r\ntwo\r\n", b"one\ntwo\n", b"\xef\xbb\xbfone\ntwo\n"):
        path.write_bytes(content)
        assert published_version("1", path, text) == "1"
        assert published_version("1", path, hashlib.sha256(content).hexdigest()) == "1"
        assert published_version("1", path, None) == "1-unverified"
    path.write_bytes(b"one\nthree\n")
    assert published_version("1", path, text) == "1-changed"
