"""Is a bad file named by row and reason, and is nothing ever half-written?"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from evenhand.core.errors import InputError, StorageError
from evenhand.core.files import read_rows, read_text, require_writable, staged, write_atomic

FULL = OSError(errno.ENOSPC, "No space left on device")


def disk_full(*_: object, **__: object) -> None:
    raise FULL


def written(folder: Path, name: str, raw: bytes) -> Path:
    (folder / name).write_bytes(raw)
    return folder / name


@pytest.mark.parametrize(
    "raw",
    [b"a\nb\n", b"\xef\xbb\xbfa\nb\n", b"a\r\nb\r\n", b"\xef\xbb\xbfa\r\nb\r\n", b"a\rb\r"],
    ids=["lf", "bom", "crlf", "both", "cr"],
)
def test_marks_and_line_ends_do_not_matter(tmp_path: Path, raw: bytes) -> None:
    assert read_text(written(tmp_path, "a.txt", raw)) == "a\nb\n"


@pytest.mark.parametrize(
    "raw", [b"", b"  \n\n", b"\xef\xbb\xbf"], ids=["nothing", "blank", "mark only"]
)
def test_an_empty_file_is_refused(tmp_path: Path, raw: bytes) -> None:
    with pytest.raises(InputError, match=r"a\.txt: the file is empty"):
        read_text(written(tmp_path, "a.txt", raw))


def test_bytes_that_are_not_utf8_are_named(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"a\.csv, row 3: byte 0xe9 is not UTF-8; save the file as UTF-8"
    ):
        read_text(written(tmp_path, "a.csv", b"id,label\n1,neutral\n2,caf\xe9\n"))
    with pytest.raises(InputError, match="row 1: byte 0xff"):
        read_text(written(tmp_path, "b.csv", "id,label".encode("utf-16")))


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.txt: there is no such file"):
        read_text(tmp_path / "none.txt")
    with pytest.raises(InputError, match="cannot be read"):
        read_text(tmp_path)


@pytest.mark.parametrize(
    ("name", "raw"), [("a.csv", b"id,t\n1,x\n2,y\n"), ("a.tsv", b"id\tt\r\n1\tx\r\n2\ty\r\n")]
)
def test_tables_are_read_with_their_lines(tmp_path: Path, name: str, raw: bytes) -> None:
    assert read_rows(written(tmp_path, name, raw)) == [
        (2, {"id": "1", "t": "x"}),
        (3, {"id": "2", "t": "y"}),
    ]


def test_json_lines_are_read_with_their_lines(tmp_path: Path) -> None:
    assert read_rows(written(tmp_path, "a.jsonl", b'{"id": 1}\n\n{"id": 2}\n')) == [
        (1, {"id": 1}),
        (3, {"id": 2}),
    ]


def test_a_cell_may_hold_line_breaks(tmp_path: Path) -> None:
    """Quoted ones, and characters that str.splitlines takes for one."""
    text = 'id,t\n1,"two\nlines"\n2,a\u2028b\x0bc\n'
    assert [row["t"] for _, row in read_rows(written(tmp_path, "a.csv", text.encode()))] == [
        "two\nlines",
        "a\u2028b\x0bc",
    ]


@pytest.mark.parametrize(
    ("name", "raw", "reason"),
    [
        (
            "a.jsonl",
            b'{"id": 1}\n{"id": \n',
            r"a\.jsonl, row 2: not a JSON object \(Expecting value at column",
        ),
        ("a.json", b'{"id": 1}\n[1]\n', "row 2: not a JSON object but a list"),
        (
            "a.csv",
            b"id,label\n1,neutral\n2\n",
            "row 3: has 2 columns in its head but another number here",
        ),
        (
            "a.csv",
            b"id,label\n1,neutral,more\n",
            "row 2: has 2 columns in its head but another number here",
        ),
        ("a.csv", b"id,label\n", "has a head but no rows"),
        ("a.csv", b"id,label\n1," + b"x" * 200_000 + b"\n", "row 2: not a table"),
        ("a.xlsx", b"PK", r"'\.xlsx' is not a known form; use \.jsonl, \.json, \.csv or \.tsv"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, name: str, raw: bytes, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        read_rows(written(tmp_path, name, raw))


def test_a_file_is_written_whole_with_its_folders(tmp_path: Path) -> None:
    path = tmp_path / "new" / "folder" / "a.txt"
    write_atomic(path, "看護師\n")
    assert path.read_bytes() == "看護師\n".encode()
    write_atomic(path, b"\x00\x01")
    assert path.read_bytes() == b"\x00\x01" and [p.name for p in path.parent.iterdir()] == ["a.txt"]


@pytest.mark.parametrize("broken", ["fsync", "replace", "fdopen"])
def test_a_full_disk_keeps_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    path = tmp_path / "a.txt"
    write_atomic(path, "old")
    target: object = Path if broken == "replace" else os
    monkeypatch.setattr(target, broken, disk_full)
    with pytest.raises(
        StorageError, match=r"cannot write .*a\.txt: No space left on device; free some space"
    ):
        write_atomic(path, "new")
    assert path.read_text(encoding="utf-8") == "old" and [p.name for p in tmp_path.iterdir()] == [
        "a.txt"
    ]


def test_an_interrupt_leaves_nothing_either(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        write_atomic(tmp_path / "a.txt", "new")
    assert list(tmp_path.iterdir()) == []


def test_staged_files_appear_together(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    with staged(folder) as stage:
        (stage / "a.txt").write_text("a", encoding="utf-8")
        (stage / "b.txt").write_text("b", encoding="utf-8")
        assert list(folder.iterdir()) == []
    assert sorted(p.name for p in folder.iterdir()) == ["a.txt", "b.txt"]
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def _nonsense() -> None:
    raise ValueError("nonsense")


@pytest.mark.parametrize(("fail", "error"), [(_nonsense, ValueError), (disk_full, StorageError)])
def test_a_failure_leaves_nothing_behind(
    tmp_path: Path, fail: Callable[[], None], error: type[Exception]
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "a.txt").write_text("old", encoding="utf-8")
    with pytest.raises(error), staged(folder) as stage:
        (stage / "a.txt").write_text("new", encoding="utf-8")
        fail()
    assert (folder / "a.txt").read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["run"] and [
        p.name for p in folder.iterdir()
    ] == ["a.txt"]


def test_a_folder_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(StorageError, match="choose another folder"):
        require_writable(tmp_path / "file" / "run")
    require_writable(tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
