"""An archive that is damaged, foreign or made to harm is refused, and nothing is stored."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from postgres import server  # noqa: F401  (fixture)
from study_archives import (  # noqa: F401  (fixtures)
    BOTH,
    NewUrl,
    known,
    new_url,
    rows,
    source,
    target,
)

from evenhand.core.errors import InputError
from evenhand.study import archive
from evenhand.study.archive import read_archive, write_archive
from evenhand.study.store import Store
from evenhand.study.table_files import RAW

# ruff: noqa: F811  (fixtures are arguments)
Files = dict[str, bytes]
Change = Callable[[Files, dict[str, Any]], None]


def forge(whole: Path, change: Change, *, is_signed: bool = True) -> Path:
    """An archive after a change to its files or its manifest, with sizes and sums to match."""
    with zipfile.ZipFile(whole) as pack:
        files = {name: pack.read(name) for name in pack.namelist()}
    manifest = json.loads(files.pop("manifest.json"))
    change(files, manifest)
    for name, raw in files.items():
        if is_signed and (entry := manifest["tables"].get(Path(name).stem)) is not None:
            entry.update(bytes=len(raw), sha256=hashlib.sha256(raw).hexdigest())
    out = whole.with_name("forged.zip")
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as pack:
        for name, raw in {"manifest.json": json.dumps(manifest).encode(), **files}.items():
            pack.writestr(name, raw)
    return out


def swap(table: str, old: str, new: str, form: str = "csv") -> Change:
    """Other text in a table."""

    def change(files: Files, _: dict[str, Any]) -> None:
        raw = files[f"{table}.{form}"].decode()
        assert old in raw
        files[f"{table}.{form}"] = raw.replace(old, new, 1).encode()

    return change


def set_in_manifest(**values: Any) -> Change:
    return lambda _, manifest: manifest.update(values)


def double_last(table: str, start: str = "") -> Change:
    """The last row once more, with the id that is told."""

    def change(files: Files, manifest: dict[str, Any]) -> None:
        last = files[f"{table}.csv"].decode().rstrip("\n").rpartition("\n")[2]
        files[f"{table}.csv"] += f"{start}{last[last.index(',') :] if start else last}\n".encode()
        manifest["tables"][table]["rows"] += 1

    return change


BAD: dict[str, tuple[Change, str]] = {
    "a table is missing": (
        lambda files, _: files.__delitem__("parts.csv"),
        "holds other files than the tables study, annotators",
    ),
    "a file too many": (
        lambda files, _: files.update({"../evil.csv": b"x"}),
        "holds other files than",
    ),
    "another program's": (set_in_manifest(format="docx"), "is no archive of a study"),
    "a later version": (
        set_in_manifest(version=2),
        "archive of version 2, not 1; install a newer evenhand",
    ),
    "another revision": (
        set_in_manifest(revision="0000", evenhand="0.0.7"),
        "revision 0000, this one is of 0003; import it with evenhand 0.0.7",
    ),
    "an unknown form": (set_in_manifest(form="xlsx"), "as parquet or csv or jsonl"),
    "no tables told": (set_in_manifest(tables={}), "does not say rows, bytes"),
    "a size beyond reason": (
        lambda _, m: m["tables"]["parts"].update(rows=2**40),
        "does not say rows, bytes",
    ),
    "a size that is a word": (
        lambda _, m: m["tables"]["parts"].update(rows="3"),
        "does not say rows, bytes",
    ),
    "fewer rows": (
        lambda _, m: m["tables"]["parts"].update(rows=4),
        "has 3 rows, not 4 as manifest.json says",
    ),
    "a column is missing": (
        swap("answers", '"fine"', '"good"'),
        "answers.csv: lacks the columns fine",
    ),
    "a column too many": (
        swap("study", '"since"\n', '"since","x"\n'),
        "study.csv: has unknown columns (x)",
    ),
    "a word for a number": (
        swap("parts", ",0.8,", ',"high",'),
        "parts.csv: holds a value of the wrong kind",
    ),
    "not a number": (
        swap("parts", ",0.8,", ",NaN,"),
        "parts.csv: accuracy holds a value that is not finite",
    ),
    "endless": (
        swap("answers", ",2.25,", ",inf,"),
        "answers.csv: seconds holds a value that is not finite",
    ),
    "nothing where something is needed": (swap("parts", '"passed"', ""), ": state is missing"),
    "an id that is not there": (
        swap("answers", "\n1,", "\n,"),
        "answers.csv, row 1: id is missing",
    ),
    "NUL": (swap("events", "somebody", "some\0body"), "events.csv: detail holds a NUL"),
    "no UTF-8": (lambda files, _: files.update({"events.csv": b"\xff\xfe\x00"}), "events.csv: "),
    "an invitation of nobody": (swap("invitations", '","20', 'x","20'), "do not belong together"),
    "an answer to no question": (
        swap("answers", ".trial.1.", ".trial.7."),
        "do not belong together",
    ),
    "a person twice": (double_last("annotators"), "do not belong together"),
    "a part twice": (double_last("parts"), "do not belong together"),
}


@BOTH
def test_what_is_not_as_it_should_be_is_refused(
    new_url: NewUrl, source: Store, tmp_path: Path, kind: str
) -> None:
    whole = write_archive(source, tmp_path / "a.zip", "csv")
    with Store.open(new_url(kind)) as store:
        store.keep_study("small", "suite/1", {"seed": 4})
        before = known(store)
        for what, (change, message) in BAD.items():
            with pytest.raises(InputError) as raised:
                read_archive(store, forge(whole, change))
            assert message in str(raised.value) and "forged.zip" in str(raised.value), what
            assert known(store) == before, what
        for table in (
            "answers",
            "inventory_answers",
        ):  # SQLite takes a key that comes again for a replay, PostgreSQL refuses it
            with pytest.raises(
                InputError,
                match=f"1 rows of {table} are there twice"
                if kind == "sqlite"
                else "do not belong together",
            ):
                read_archive(store, forge(whole, double_last(table, "99")))
            assert known(store) == before
        assert read_archive(store, whole) == rows(source)


@pytest.mark.parametrize("form", RAW)
def test_a_changed_table_has_another_sum(
    source: Store, target: Store, tmp_path: Path, form: str
) -> None:
    def change(files: Files, _: dict[str, Any]) -> None:
        files[f"answers.{form}"] = files[f"answers.{form}"][:-2] + b"1\n"

    bad = forge(write_archive(source, tmp_path / "a.zip", form), change, is_signed=False)
    with pytest.raises(
        InputError, match=rf"answers.{form}: is not what was exported .*copy or export it again"
    ):
        read_archive(target, bad)
    assert set(rows(target).values()) == {0}


def test_lines_that_do_not_say_it_all(source: Store, target: Store, tmp_path: Path) -> None:
    whole = write_archive(source, tmp_path / "a.zip", "jsonl")
    for table, old, new, message in (
        ("parts", ',"accuracy":0.8', "", " does not hold annotator, part, attempt"),
        ("parts", '"attempt":1', '"attempt":1.5', "is not what evenhand annotate export wrote"),
        (
            "parts",
            '"attempt":1',
            '"attempt":9999999999999999999999',
            "is not what evenhand annotate export wrote",
        ),
        ("events", '{"id":1', '["id",1', "is not what evenhand annotate export wrote"),
        (
            "annotators",
            '"state":"invited"',
            '"state":{}',
            "is not what evenhand annotate export wrote",
        ),
    ):
        with pytest.raises(InputError) as raised:
            read_archive(target, forge(whole, swap(table, old, new, "jsonl")))
        assert message in str(raised.value)
    assert set(rows(target).values()) == {0}


def test_bombs_are_not_unpacked(
    source: Store, target: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = write_archive(source, tmp_path / "a.zip", "csv")

    def inflate(files: Files, _: dict[str, Any]) -> None:
        files["events.csv"] = files["events.csv"] + b"\n" * 50_000_000

    bomb = forge(whole, inflate, is_signed=False)
    assert bomb.stat().st_size < 200_000
    with pytest.raises(InputError, match=r"events.csv: is larger than the \d+ bytes"):
        read_archive(target, bomb)
    monkeypatch.setattr(archive, "LARGEST", 1000)
    with pytest.raises(InputError, match=r"bytes \(to 1,000\)"):
        read_archive(target, forge(whole, inflate))
    monkeypatch.undo()
    with pytest.raises(InputError, match=r"manifest.json: is larger than the 65,536 bytes"):
        read_archive(target, forge(whole, set_in_manifest(note="x" * 70_000)))

    def many(
        files: Files, _: dict[str, Any]
    ) -> None:  # 20 million equal rows are a few kilobytes of parquet
        out = io.BytesIO()
        pl.select(
            id=pl.repeat("x", 20_000_000), state=pl.lit("invited"), created=pl.lit("now")
        ).write_parquet(out)
        files["annotators.parquet"] = out.getvalue()

    with pytest.raises(InputError, match=r"annotators.parquet: has more rows, not 4"):
        read_archive(target, forge(write_archive(source, tmp_path / "b.zip"), many))


@pytest.mark.parametrize("form", RAW)
def test_no_byte_can_be_lost_or_changed_unseen(source: Store, tmp_path: Path, form: str) -> None:
    """Whatever is cut off or flipped, the store stays empty, or holds what it should."""
    whole = write_archive(source, tmp_path / "a.zip", form)
    raw, rng, bad = whole.read_bytes(), np.random.default_rng(1), tmp_path / "bad.zip"
    cuts = [raw[:at] for at in (0, 1, 100, len(raw) // 2, len(raw) - 1)]
    flips = [
        raw[:at] + bytes([raw[at] ^ (1 << int(rng.integers(8)))]) + raw[at + 1 :]
        for at in rng.integers(len(raw), size=150)
    ]
    refused, store = 0, Store.open(f"sqlite:///{tmp_path}/0.db")
    for number, content in enumerate((*cuts, *flips), 1):
        bad.write_bytes(content)
        try:
            read_archive(store, bad)
        except InputError as error:
            assert "bad.zip" in str(error) and set(rows(store).values()) == {0}
            refused += 1
        else:
            assert known(store) == known(source)
            store.close()
            store = Store.open(f"sqlite:///{tmp_path}/{number}.db")
    store.close()
    assert refused > 100


def test_files_that_are_no_archive(target: Store, tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("not really")
    with zipfile.ZipFile(tmp_path / "b.zip", "w") as pack:
        pack.writestr("letter.txt", "x")
    with zipfile.ZipFile(tmp_path / "c.zip", "w") as pack:
        pack.writestr("manifest.json", "{")
    for name, message in (
        ("a.zip", "is damaged or no .zip"),
        ("b.zip", "no manifest.json in it"),
        ("c.zip", "is damaged"),
        ("none.zip", "No such file"),
    ):
        with pytest.raises(InputError, match=name) as raised:
            read_archive(target, tmp_path / name)
        assert message in str(raised.value)
    with pytest.raises(InputError, match="cannot be read"):
        read_archive(target, tmp_path)
