"""The cached answers of one respondent: one SQLite file, durable after every chunk.

A row is (key of the probe's text, raw values, checksum). A row whose checksum does not fit is
asked again; a file that SQLite cannot read, or that holds the answers of another respondent, is
put aside and built anew. Killing the process at any moment loses at most the chunk that was being
asked.
"""

from __future__ import annotations

import hashlib
import sqlite3
import warnings
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core.errors import EvenhandWarning, StorageError
from evenhand.core.files import cache_folder
from evenhand.core.probe import Floats, Probe

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key BLOB PRIMARY KEY, value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS owner (identity BLOB NOT NULL)",  # one row
)
# the error codes of a damaged file; any other error is a problem of the disk
_DAMAGE = {sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def probe_key(probe: Probe) -> bytes:
    """A digest of what is asked: kind, texts, and scoring and prompt where the tags name them."""
    state = hashlib.blake2b(digest_size=16)
    prompt = [f"prompt {probe.tags['prompt']}"] if "prompt" in probe.tags else []
    for part in (probe.kind, probe.tags.get("scoring", ""), *prompt, *probe.texts):
        raw = part.encode()
        state.update(len(raw).to_bytes(8, "big") + raw)  # the length keeps the texts apart
    return state.digest()


def cache_path(identity: str, folder: Path | None = None) -> Path:
    """The cache file of one respondent."""
    name = hashlib.sha256(identity.encode()).hexdigest()[:16]
    return (folder or cache_folder()) / "answers" / f"{name}.sqlite"


class _ForeignFileError(Exception):
    """A cache file that does not say that its answers are those of this respondent."""


class AnswerCache:
    """The cached answers of one respondent, by the key of the probe."""

    def __init__(self, identity: str, folder: Path | None = None) -> None:
        self.identity, self.path = identity, cache_path(identity, folder)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"cannot make the cache folder {self.path.parent} ({error.strerror}); "
                "set EVENHAND_CACHE, or use --no-cache"
            ) from error
        self.connection = self._open()

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if (
                isinstance(error, sqlite3.OperationalError)
                and getattr(error, "sqlite_errorcode", 0) & 0xFF not in _DAMAGE
            ):
                raise _storage_error(self.path, error) from error
            self._put_aside(".damaged", f"is damaged ({' '.join(str(error).split())})")
        except _ForeignFileError as error:
            self._put_aside(".foreign", f"holds {error}")
        return self._connect()

    def _put_aside(self, suffix: str, reason: str) -> None:
        aside = self.path.with_suffix(suffix)
        warnings.warn(
            f"the cache file {self.path} {reason}; it was moved to {aside.name} and is built anew",
            EvenhandWarning,
            stacklevel=2,
        )
        self.path.replace(aside)
        for rest in ("-wal", "-shm"):
            self.path.with_name(self.path.name + rest).unlink(missing_ok=True)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=30)
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            connection.execute("PRAGMA synchronous=FULL")
            for statement in _SCHEMA:
                connection.execute(statement)
            (state,) = connection.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            # a damaged schema may have other columns
            connection.execute("SELECT key, value, checksum FROM answers LIMIT 0")
            self._claim(connection)
            connection.text_factory = bytes  # a damaged blob may pass for text
        except BaseException:
            connection.close()
            raise
        return connection

    def _claim(self, connection: sqlite3.Connection) -> None:
        """Write the identity into a new file; raise _ForeignFileError where it has another one."""
        own = self.identity.encode()
        if (owner := _owner(connection)) is None:
            with connection:
                connection.execute("BEGIN IMMEDIATE")  # another process may be doing the same
                owner = _owner(connection)
                if owner is None:
                    if connection.execute("SELECT 1 FROM answers LIMIT 1").fetchone():
                        raise _ForeignFileError("answers that do not say whose they are")
                    connection.execute("INSERT INTO owner VALUES (?)", (own,))
                    owner = own
        if owner != own:
            name = owner.decode(errors="replace").partition("|")[0]
            raise _ForeignFileError(f"the answers of {name}")

    def get(self, probes: Sequence[Probe]) -> dict[bytes, Floats]:
        """The known answers to `probes`, by key; damaged ones are left out."""
        rows: dict[bytes, Floats] = {}
        damaged = 0
        keys = [probe_key(p) for p in probes]
        for start in range(0, len(keys), 500):
            part = keys[start : start + 500]
            marks = ",".join("?" * len(part))
            query = f"SELECT key, value, checksum FROM answers WHERE key IN ({marks})"
            for key, value, checksum in self.connection.execute(query, part):
                if (
                    isinstance(value, bytes)
                    and zlib.crc32(key + value) == checksum
                    and len(value) % 8 == 0
                ):
                    rows[key] = np.frombuffer(value, dtype="<f8").astype(np.float64)
                else:
                    damaged += 1
        if damaged:
            warnings.warn(
                f"{damaged} damaged answers in {self.path.name} are asked again",
                EvenhandWarning,
                stacklevel=2,
            )
        return rows

    def put(self, probes: Sequence[Probe], rows: Sequence[Floats]) -> None:
        """Store the answers on the disk before returning; unanswered probes are not stored."""
        kept = []
        for probe, row in zip(probes, rows, strict=True):
            if np.isfinite(row).all():
                key, value = probe_key(probe), row.astype("<f8").tobytes()
                kept.append((key, value, zlib.crc32(key + value)))
        try:
            with self.connection:
                query = "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)"
                self.connection.executemany(query, kept)
        except sqlite3.DatabaseError as error:
            raise _storage_error(self.path, error) from error

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def _owner(connection: sqlite3.Connection) -> bytes | None:
    """The identity that a cache file carries; None where it carries none."""
    row = connection.execute("SELECT identity FROM owner").fetchone()
    return bytes(row[0]) if row and isinstance(row[0], bytes) else None


def _storage_error(path: Path, error: sqlite3.DatabaseError) -> StorageError:
    return StorageError(
        f"cannot write the cache {path} ({error}); free some space, "
        "set EVENHAND_CACHE to another folder, or use --no-cache"
    )
