"""A suite in a file, and a file that was tampered with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.core.checksums import manifest_text
from evenhand.core.errors import InputError
from evenhand.core.suite import Suite, card_path, read_suite, write_suite
from evenhand.engine.suites import limited, load_suite


@pytest.fixture
def suite() -> Suite:
    return limited(load_suite("occupation-nli", "ja"), 12, seed=0)


@pytest.fixture
def path(suite: Suite, tmp_path: Path) -> Path:
    write_suite(suite, tmp_path / "mine.jsonl")
    return tmp_path / "mine.jsonl"


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )


def test_a_suite_comes_back_with_its_card(suite: Suite, path: Path) -> None:
    again = read_suite(path)
    assert (
        again.probes == suite.probes and again.card == suite.card and again.digest == suite.digest
    )
    assert load_suite(str(path), "en").digest == suite.digest
    card = json.loads(card_path(path).read_text(encoding="utf-8"))
    assert (card["digest"], card["probes"], card["language"]) == (suite.digest, 12, "ja")
    assert suite.probes[0].texts[0] in path.read_text(encoding="utf-8")  # readable, not escaped


def test_without_a_card_it_says_that_nothing_is_stated(suite: Suite, path: Path) -> None:
    card_path(path).unlink()
    again = read_suite(path)
    assert again.probes == suite.probes
    assert (again.card.name, again.card.language, again.card.licence) == (
        "mine",
        "ja",
        "not stated",
    )


def test_line_ends_and_byte_order_marks_change_nothing(suite: Suite, path: Path) -> None:
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert read_suite(path).digest == suite.digest


@pytest.mark.parametrize(
    "break_rows",
    [lambda rows: rows[:-1], lambda rows: [rows[1], rows[0], *rows[2:]]],
    ids=["cut", "reordered"],
)
def test_a_changed_file_no_longer_fits_its_card(
    path: Path, break_rows: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
) -> None:
    write_rows(path, break_rows(rows_of(path)))
    with pytest.raises(
        InputError, match=r"its digest is [0-9a-f]{12} but its card says [0-9a-f]{12}"
    ):
        read_suite(path)


def test_one_changed_word_changes_the_digest(suite: Suite, path: Path) -> None:
    rows = rows_of(path)
    rows[3]["texts"][0] += "。"
    write_rows(path, rows)
    with pytest.raises(InputError, match=suite.digest):
        read_suite(path)


@pytest.mark.parametrize("field", ["id", "kind", "language", "texts", "stratum", "cluster"])
def test_a_missing_field_is_named(path: Path, field: str) -> None:
    rows = rows_of(path)
    del rows[4][field]
    write_rows(path, rows)
    with pytest.raises(InputError, match=rf"mine\.jsonl, row 5: the field '{field}' is missing"):
        read_suite(path)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"kind": "quiz"}, "kind is 'quiz', not one of pair, mask, choice"),
        ({"texts": "A nurse is here."}, "texts is 'A nurse is here.', not a list"),
        ({"texts": ["A nurse is here."]}, "1 texts; a pair has 2"),
        ({"texts": ["a", "b", "c"]}, "3 texts; a pair has 2"),
        ({"texts": None}, "texts is None"),
    ],
)
def test_a_row_that_is_no_probe_is_refused(path: Path, change: dict[str, Any], reason: str) -> None:
    rows = rows_of(path)
    write_rows(path, [rows[0], {**rows[1], **change}, *rows[2:]])
    with pytest.raises(InputError, match=f"row 2: not a probe: {reason}"):
        read_suite(path)


def test_an_id_that_is_used_twice_is_refused(path: Path) -> None:
    rows = rows_of(path)
    write_rows(path, [*rows, rows[2]])
    with pytest.raises(
        InputError, match=rf"row 13: the id '{rows[2]['id']}' was already used in row 3"
    ):
        read_suite(path)


@pytest.mark.parametrize("text", ['{"name": "x"}', "[]", "nonsense"])
def test_a_card_that_is_none_is_refused(path: Path, text: str) -> None:
    card_path(path).write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.card\.json: is not the card of a suite"):
        read_suite(path)


def test_a_limit_keeps_twins_and_strata_together() -> None:
    whole = load_suite("occupation-nli")
    small = limited(whole, 60, seed=0)
    kept = {p.id for p in small.probes}
    assert len(kept) == 60 and small.limit == 60 and small.reference.endswith(f"#{small.digest}/60")
    assert all(p.twin is None or p.twin in kept for p in small.probes)
    assert {p.stratum for p in small.probes} == {"PS", "AS", "NS", "NB"}
    assert small.probes == limited(whole, 60, seed=0).probes != limited(whole, 60, seed=1).probes
    order = [p.id for p in whole.probes if p.id in kept]
    assert [p.id for p in small.probes] == order
    assert limited(whole, 10**6, seed=0) is whole


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.card.json"])
def test_a_suite_in_the_folder_of_a_run_is_the_one_that_was_asked(path: Path, name: str) -> None:
    """The factors of a run's card could be changed, and with them every interval."""
    written = {file.name: file.read_bytes() for file in (path, card_path(path))}
    (path.parent / "manifest.json").write_text(manifest_text(path.parent, written), "utf-8")
    assert read_suite(path).card.factors == ("occupation", "template")
    file = path.with_name(name)
    file.write_text(file.read_text("utf-8").replace("template", "person"), encoding="utf-8")
    with pytest.raises(InputError, match=f"{name}: is not the file that was written with this run"):
        read_suite(path)
