"""The cache never gives a wrong answer: damaged, full, read-only, shared."""

from __future__ import annotations

import os
import shutil
import sqlite3
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from models import Counting, numbered, pairs, truth
from quick import load

from evenhand.core.errors import EvenhandWarning, StorageError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, ask, ask_suite
from evenhand.engine.cache import AnswerCache, cache_path, probe_key

PROBES = pairs(*numbered(40))
TRUTH = np.asarray([truth(p) for p in PROBES])[:, None, :]
NAME = "counting@1"


def run(folder: Path) -> tuple[Floats, int]:
    """The values, and how many probes had to be asked."""
    respondent = Counting(NAME)
    cache = AnswerCache(NAME, folder)
    try:
        return ask(respondent, PROBES, cache=cache).values, len(respondent.asked)
    finally:
        cache.close()


def spoil(path: Path, how: Callable[[bytes], bytes]) -> None:
    path.write_bytes(how(path.read_bytes()))


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    assert run(tmp_path)[1] == len(PROBES)
    return tmp_path


@pytest.mark.parametrize(
    "how",
    [
        lambda raw: b"this is no database, " * 500,
        lambda raw: raw[: len(raw) // 2 + 100],
        lambda raw: raw[:4096] + b"\xff" * (len(raw) - 4096),
        lambda raw: raw[:100] + b"\x00" * 300 + raw[400:],
        lambda raw: raw.replace(b"value BLOB", b"valve BLOB"),
    ],
    ids=["garbage", "truncated", "pages overwritten", "head overwritten", "schema changed"],
)
def test_a_damaged_file_is_put_aside_and_built_anew(
    filled: Path, how: Callable[[bytes], bytes]
) -> None:
    path = cache_path(NAME, filled)
    spoil(path, how)
    spoiled = path.read_bytes()
    with pytest.warns(
        EvenhandWarning, match=r"is damaged .*moved to \w+\.damaged and is built anew"
    ):
        values, asked = run(filled)
    np.testing.assert_array_equal(values, TRUTH)
    assert asked == len(PROBES)
    assert path.with_suffix(".damaged").read_bytes()[4096:] == spoiled[4096:]
    values, asked = run(filled)  # no warning any more: EvenhandWarning is an error in these tests
    np.testing.assert_array_equal(values, TRUTH)
    assert asked == 0


def test_a_file_cut_to_nothing_is_simply_an_empty_cache(filled: Path) -> None:
    spoil(cache_path(NAME, filled), lambda raw: b"")
    values, asked = run(filled)
    np.testing.assert_array_equal(values, TRUTH)
    assert asked == len(PROBES)


def test_a_flipped_byte_in_a_value_is_found_by_its_checksum_and_asked_again(filled: Path) -> None:
    path, value = cache_path(NAME, filled), TRUTH[7].astype("<f8").tobytes()
    assert path.read_bytes().count(value) == 1
    turned = value[:5] + bytes([value[5] ^ 1]) + value[6:]
    spoil(path, lambda raw: raw.replace(value, turned))
    with pytest.warns(EvenhandWarning, match=f"1 damaged answers in {path.name} are asked again"):
        values, asked = run(filled)
    np.testing.assert_array_equal(values, TRUTH)
    assert asked == 1
    assert run(filled)[1] == 0


def test_no_flipped_bit_anywhere_gives_a_wrong_answer(filled: Path) -> None:
    path = cache_path(NAME, filled)
    raw = path.read_bytes()
    rng = np.random.default_rng(0)
    places = [*rng.integers(0, 120, 30), *rng.integers(0, len(raw), 90)]
    warned = 0
    for place in places:
        bad = bytearray(raw)
        bad[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(bad))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            np.testing.assert_array_equal(run(filled)[0], TRUTH, err_msg=f"byte {place}")
        assert all(t.category is EvenhandWarning for t in told)
        warned += bool(told)
    assert 10 < warned < len(places)


class FullDisk:
    """A connection whose writes fail as SQLite's do when nothing fits any more."""

    def __init__(self, real: sqlite3.Connection) -> None:
        self.real = real

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.real.rollback()

    def execute(self, *arguments: object) -> sqlite3.Cursor:
        return self.real.execute(*arguments)  # type: ignore[arg-type]

    def executemany(self, *_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    def close(self) -> None:
        self.real.close()


def test_a_full_disk_is_a_storage_error_that_says_what_to_do(tmp_path: Path) -> None:
    cache = AnswerCache(NAME, tmp_path)
    cache.connection = FullDisk(cache.connection)  # type: ignore[assignment]
    with pytest.raises(
        StorageError, match=r"disk is full\); free some space.*EVENHAND_CACHE.*--no-cache"
    ):
        ask(Counting(NAME), PROBES, cache=cache)
    cache.close()
    assert run(tmp_path)[1] == len(PROBES)  # nothing half-kept


def test_a_real_limit_on_the_file_is_a_storage_error_too(tmp_path: Path) -> None:
    cache = AnswerCache(NAME, tmp_path)
    cache.connection.execute("PRAGMA max_page_count=3")
    with pytest.raises(StorageError, match="full"):
        cache.put(pairs(*numbered(2000)), list(np.ones((2000, 1, 3))))
    assert cache.get(pairs(*numbered(2000))) == {}
    cache.close()


def test_a_full_disk_at_opening_does_not_put_the_file_aside(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", refuse)
        with pytest.raises(StorageError, match="disk is full"):
            AnswerCache(NAME, filled)
    assert run(filled)[1] == 0


def test_a_cache_folder_below_a_file_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StorageError, match=r"cannot make the cache folder .*file.*EVENHAND_CACHE"):
        AnswerCache(NAME, tmp_path / "file" / "cache")


@pytest.mark.skipif(
    os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0,
    reason="root may write anywhere",
)
def test_a_read_only_cache_folder_is_a_storage_error(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir(mode=0o500)
    with pytest.raises(StorageError, match="EVENHAND_CACHE"):
        AnswerCache(NAME, tmp_path)


def test_a_read_only_database_is_a_storage_error_and_is_not_put_aside(
    filled: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, connect = cache_path(NAME, filled), sqlite3.connect
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", lambda p, **_: connect(f"file:{p}?mode=ro", uri=True))
        cache = AnswerCache(NAME, filled)
        assert len(cache.get(PROBES)) == len(PROBES)
        with pytest.raises(StorageError, match="readonly"):
            cache.put(PROBES, list(TRUTH))
        cache.close()
    assert path.exists()
    assert not path.with_suffix(".damaged").exists()


def test_two_processes_may_write_the_same_cache(tmp_path: Path) -> None:
    one, two = AnswerCache(NAME, tmp_path), AnswerCache(NAME, tmp_path)
    one.put(PROBES[:20], list(TRUTH[:20]))
    two.put(PROBES[10:], list(TRUTH[10:]))
    for cache in (one, two):
        known = cache.get(PROBES)
        rows = [known[probe_key(p)] for p in PROBES]
        np.testing.assert_array_equal(rows, TRUTH[:, 0])
        cache.close()


def test_the_environment_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "elsewhere"))
    cache = AnswerCache(NAME)
    cache.close()
    assert cache.path.parent == tmp_path / "elsewhere" / "answers"
    assert cache.path.exists()


def test_a_copied_file_is_refused_for_another_respondent(filled: Path) -> None:
    """A cache that was copied gave 0.975 for a model whose own score is 0.033."""
    other, theirs = "other@2", cache_path("other@2", filled)
    shutil.copy(cache_path(NAME, filled), theirs)
    with pytest.warns(
        EvenhandWarning,
        match=r"holds the answers of counting@1; it was moved to \w+\.foreign and is built anew",
    ):
        cache = AnswerCache(other, filled)
    assert cache.get(PROBES) == {}
    cache.put(PROBES[:1], list(TRUTH[:1] + 1))
    cache.close()
    assert theirs.with_suffix(".foreign").exists()
    again = AnswerCache(other, filled)  # no warning any more
    assert again.get(PROBES)[probe_key(PROBES[0])].tolist() == (TRUTH[0, 0] + 1).tolist()
    again.close()
    assert run(filled)[1] == 0  # the first one keeps its own


def test_a_file_that_does_not_say_whose_it_is_is_refused(filled: Path) -> None:
    connection = sqlite3.connect(cache_path(NAME, filled))
    with connection:
        connection.execute("DROP TABLE owner")
    connection.close()
    with pytest.warns(EvenhandWarning, match="holds answers that do not say whose they are"):
        values, asked = run(filled)
    np.testing.assert_array_equal(values, TRUTH)
    assert asked == len(PROBES)


def asked_as(kind: Kind, *texts: str, **tags: str) -> Probe:
    return Probe(id="a", kind=kind, language="en", texts=texts, tags=tags)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (asked_as("pair", "a\0b", "c"), asked_as("pair", "a", "b\0c")),
        (asked_as("choice", "a", "b\0c"), asked_as("choice", "a", "b", "c")),
        (asked_as("choice", "a", "b", "c"), asked_as("choice", "a", "b", scoring="c")),
        (asked_as("pair", "", "a"), asked_as("pair", "a", "")),
        (asked_as("pair", "a", "b"), asked_as("choice", "a", "b")),
    ],
)
def test_two_questions_never_share_a_key(one: Probe, other: Probe) -> None:
    """Texts with the character NUL had the key of other texts."""
    assert probe_key(one) != probe_key(other)
    assert probe_key(one) == probe_key(replace(one, id="b", stratum="PS", cluster="x"))


def test_traits_with_the_separator_are_kept_apart(tmp_path: Path) -> None:
    one, other = Counting(NAME), Counting(NAME)
    one.traits = {"prompt": "a|scoring:b"}
    other.traits = {"prompt": "a", "scoring": "b"}
    suite = Suite(card=load(limit=1).card, probes=PROBES)
    for respondent in (one, other):
        ask_suite(respondent, suite, Asking(cache=tmp_path))
        assert len(respondent.asked) == len(PROBES)
    assert len(list((tmp_path / "answers").glob("*.sqlite"))) == 2
