"""Files and folders: reading with errors that name the bad row, writing all or nothing."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evenhand.core.checksums import MANIFEST
from evenhand.core.errors import InputError, StorageError


def cache_folder() -> Path:
    """The folder for what can be rebuilt: EVENHAND_CACHE, else the user's cache folder."""
    if chosen := os.environ.get("EVENHAND_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        local = os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")
        return Path(local) / "evenhand"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "evenhand"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "evenhand"


def unpacked_name(path: Path) -> Path:
    """The name of a file without folder and without .gz: `x.jsonl` of `data/x.jsonl.gz`."""
    return Path(path.stem if path.suffix.lower() == ".gz" else path.name)


def read_text(path: Path) -> str:
    """The text of a UTF-8 file, with or without a byte-order mark, any line ending.

    A file whose name ends in .gz is unpacked.
    """
    try:
        raw = path.read_bytes()
        if path.suffix.lower() == ".gz":
            raw = gzip.decompress(raw)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        reason = f"is no whole gzip file ({error}); pack or download it again"
        raise InputError(path, reason) from error
    except FileNotFoundError as error:
        raise InputError(path, "there is no such file") from error
    except OSError as error:
        raise InputError(path, f"cannot be read ({error.strerror})") from error
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = raw[: error.start].count(b"\n") + 1
        raise InputError(
            path,
            f"byte 0x{raw[error.start]:02x} is not UTF-8; save the file as UTF-8 and try again",
            row=row,
        ) from error
    if not text.strip():
        raise InputError(path, "the file is empty")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_rows(path: Path) -> list[tuple[int, dict[str, Any]]]:
    """The rows of a .jsonl, .json (one object per line), .csv or .tsv file, numbered.

    Each may be packed: .jsonl.gz.
    """
    text, suffix = read_text(path), unpacked_name(path).suffix.lower()
    if suffix in {".csv", ".tsv"}:
        return _read_table(path, text)
    if suffix not in {".jsonl", ".json"}:
        raise InputError(path, f"'{suffix}' is not a known form; use .jsonl, .json, .csv or .tsv")
    rows = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except json.JSONDecodeError as error:
            raise InputError(
                path, f"not a JSON object ({error.msg} at column {error.colno})", row=number
            ) from error
        if not isinstance(row, dict):
            raise InputError(path, f"not a JSON object but a {type(row).__name__}", row=number)
        rows.append((number, row))
    return rows


def _read_table(path: Path, text: str) -> list[tuple[int, dict[str, Any]]]:
    # StringIO and not splitlines: a cell may hold a line break, or a character that Python takes
    # for one (U+2028)
    reader = csv.DictReader(
        io.StringIO(text, newline=""),
        delimiter="\t" if unpacked_name(path).suffix.lower() == ".tsv" else ",",
    )
    rows: list[tuple[int, dict[str, Any]]] = []
    try:
        for row in reader:
            if None in row or None in row.values():
                raise InputError(
                    path,
                    f"has {len(reader.fieldnames or ())} columns in its head "
                    "but another number here",
                    row=reader.line_num,
                )
            rows.append((reader.line_num, dict(row)))
    except csv.Error as error:
        raise InputError(path, f"not a table ({error})", row=reader.line_num + 1) from error
    if not rows:
        raise InputError(path, "has a head but no rows")
    return rows


def storage_error(path: Path, error: OSError) -> StorageError:
    """The error for a failed write, with advice that fits its cause."""
    advice = "free some space" if error.errno == 28 else "choose another folder"  # ENOSPC
    return StorageError(
        f"cannot write {path}: {error.strerror or error}; "
        f"{advice} and run the same command again, nothing is lost"
    )


def write_atomic(path: Path, data: str | bytes) -> None:
    """Write a file completely, or leave it as it was before."""
    raw = data.encode() if isinstance(data, str) else data
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as out:
                out.write(raw)
                out.flush()
                os.fsync(out.fileno())
            Path(name).chmod(0o644)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise storage_error(path, error) from error


def require_writable(folder: Path) -> None:
    """Raise StorageError unless files can be written to the folder, which is made if needed."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise storage_error(folder, error) from error


def require_room(folder: Path) -> None:
    """Raise StorageError unless the folder could be made: its nearest existing parent is writable.

    The folder itself is not made, so that a model that does not load leaves none behind.
    """
    require_writable(next(p for p in (folder, *folder.parents) if p.exists()))


@contextmanager
def staged(folder: Path) -> Iterator[Path]:
    """A temporary folder whose files move to `folder` together at the end, or not at all.

    A manifest moves last: until then, readers see that the files do not belong together.
    """
    require_writable(folder)
    stage = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
    try:
        yield stage
        for path in stage.iterdir():
            with path.open("rb") as written:
                os.fsync(written.fileno())
        for path in sorted(stage.iterdir(), key=lambda p: (p.name == MANIFEST, p.name)):
            path.replace(folder / path.name)
    except OSError as error:
        raise storage_error(folder, error) from error
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def require_files(paths: Iterable[Path], why: str) -> None:
    """Raise InputError with the reason `why` where one of the files does not exist."""
    for path in paths:
        if not path.exists():
            raise InputError(path, why)
