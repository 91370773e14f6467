"""Archive: a whole study as one .zip that holds every table and fills an empty store.

It serves to move to another database, or to keep the data of a paper. Owners' passwords are not in
it, nor is the secret that signs invitation links: with the same secret file they keep working. The
same study gives the same bytes, whichever database it came from.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import sqlalchemy as sa

from evenhand import __version__
from evenhand.core.errors import EvenhandError, InputError, UnknownNameError
from evenhand.core.files import write_atomic
from evenhand.study import tables as t
from evenhand.study.queries import columns_of, whole_table
from evenhand.study.store import Store
from evenhand.study.table_files import RAW, as_bytes, read_table

if TYPE_CHECKING:
    import polars as pl

# in the order in which they fill a store: tables that others refer to come first
TABLES: Mapping[str, sa.Table] = {
    table.name: table
    for table in (
        t.study,
        t.annotators,
        t.invitations,
        t.parts,
        t.questions,
        t.answers,
        t.inventory_answers,
        t.resolutions,
        t.events,
    )
}
MANIFEST, FORMAT, VERSION = "manifest.json", "evenhand study archive", 1
LARGEST, MOST_ROWS = 2**30, 2**25  # bytes and rows of a table; no study comes near
_MANIFEST_BYTES = 2**16
_REVISION = sa.text("SELECT version_num FROM alembic_version")
_DATE = (
    1980,
    1,
    1,
    0,
    0,
    0,
)  # the earliest that a .zip can hold; fixed, so that the same study gives the same file
# RuntimeError: encrypted, unknown compression
_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    RuntimeError,
    ValueError,
    OverflowError,
)


def write_archive(store: Store, out: Path, form: str = "parquet") -> Path:
    """Write everything but owners to a .zip, each table in this form, as it was at one moment.

    The file is whole or not there; returns its path.
    """
    if form not in RAW:
        raise UnknownNameError("form of an archive's tables", form, RAW)
    frames, revision = store.database.read(
        lambda c: (
            {name: whole_table(c, table) for name, table in TABLES.items()},
            str(c.execute(_REVISION).scalar_one()),
        )
    )
    files = {name: as_bytes(frame, form) for name, frame in frames.items()}
    last = frames["study"].tail(1).rows(named=True)
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "evenhand": __version__,
        "revision": revision,
        "form": form,
        "study": last[0]["name"] if last else None,
        "suite": last[0]["suite"] if last else None,
        "tables": {
            name: {"rows": frames[name].height, "bytes": len(raw), "sha256": _digest(raw)}
            for name, raw in files.items()
        },
    }
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as pack:
        pack.writestr(
            zipfile.ZipInfo(MANIFEST, _DATE),
            json.dumps(manifest, ensure_ascii=False, indent=1),
            zipfile.ZIP_DEFLATED,
        )
        for name, raw in files.items():
            pack.writestr(zipfile.ZipInfo(f"{name}.{form}", _DATE), raw, zipfile.ZIP_DEFLATED)
    write_atomic(out, whole.getvalue())
    return out


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()


def read_archive(store: Store, path: Path) -> dict[str, int]:
    """Fill an empty store with an archive of the same study, all of it or nothing.

    Returns how many rows each table has now; raises InputError where the file is damaged, no
    archive, or of another study.
    """
    revision = store.database.read(lambda c: str(c.execute(_REVISION).scalar_one()))
    try:
        with zipfile.ZipFile(path) as pack:
            manifest = _read_manifest(path, pack, revision)
            frames = {name: _read_frame(path, pack, name, manifest) for name in TABLES}
    except OSError as error:
        raise InputError(
            path,
            f"cannot be read ({error.strerror or error}); "
            "name a .zip that evenhand annotate export wrote",
        ) from error
    except _BROKEN as error:
        raise InputError(
            path, f"is damaged or no .zip ({error}); copy or export it again"
        ) from error
    try:
        return store.database.write(lambda connection: _fill(connection, path, frames))
    except sa.exc.IntegrityError as error:
        reason = str(error.orig).splitlines()[0]
        raise InputError(
            path, f"its rows do not belong together ({reason}); nothing was stored, export it again"
        ) from error


def _read_manifest(path: Path, pack: zipfile.ZipFile, revision: str) -> dict[str, Any]:
    """What the archive says about itself.

    Raises InputError where it is no archive of a study, or comes from another revision, whose
    tables may be others.
    """
    names = sorted(info.filename for info in pack.infolist())
    if MANIFEST not in names:
        raise InputError(
            path,
            f"is no archive of a study (no {MANIFEST} in it); "
            "name a .zip that evenhand annotate export wrote",
        )
    manifest = json.loads(_unpack(path, pack, MANIFEST, _MANIFEST_BYTES))
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        raise InputError(
            path,
            f"is no archive of a study ({MANIFEST} does not say '{FORMAT}'); "
            "name one that evenhand annotate export wrote",
        )
    if manifest.get("version") != VERSION:
        raise InputError(
            path,
            f"is an archive of version {str(manifest.get('version'))[:20]}, not {VERSION}; "
            "install a newer evenhand",
        )
    if manifest.get("revision") != revision:
        _refuse_revision(path, manifest, revision)
    form, entries = manifest.get("form"), manifest.get("tables")
    if form not in RAW or names != sorted([MANIFEST, *(f"{name}.{form}" for name in TABLES)]):
        raise InputError(
            path,
            f"holds other files than the tables {', '.join(TABLES)} as {' or '.join(RAW)}; "
            "export it again",
        )
    if not isinstance(entries, dict) or any(not _is_sane(entries.get(name)) for name in TABLES):
        raise InputError(
            path,
            f"{MANIFEST} does not say rows, bytes (to {LARGEST:,}) and sha256 of each table; "
            "export it again",
        )
    return manifest


def _is_sane(entry: Any) -> bool:
    limits = {"rows": MOST_ROWS, "bytes": LARGEST}
    return isinstance(entry, dict) and all(
        type(entry.get(key)) is int and 0 <= entry[key] <= most for key, most in limits.items()
    )


def _unpack(path: Path, pack: zipfile.ZipFile, name: str, most: int) -> bytes:
    """A file of the archive; never more than `most` bytes, whatever the archive claims."""
    with pack.open(name) as file:
        raw = file.read(most + 1)
    if len(raw) > most:
        raise InputError(
            f"{path}/{name}", f"is larger than the {most:,} bytes that it may have; export it again"
        )
    return raw


def _read_frame(
    path: Path, pack: zipfile.ZipFile, name: str, manifest: Mapping[str, Any]
) -> pl.DataFrame:
    """A table of the archive, as the manifest describes it."""
    import polars as pl

    table, form, entry = TABLES[name], manifest["form"], manifest["tables"][name]
    source = f"{path}/{name}.{form}"
    raw = _unpack(path, pack, f"{name}.{form}", entry["bytes"])
    if _digest(raw) != entry.get("sha256"):
        raise InputError(
            source,
            f"is not what was exported (its sha256 is not that of {MANIFEST}); "
            "copy or export it again",
        )
    columns = columns_of(table)
    optional = [column.name for column in table.columns if column.nullable]
    frame = read_table(source, raw, form, columns, optional=optional, most=entry["rows"] + 1)
    if frame.height != entry["rows"]:
        count = "more" if frame.height > entry["rows"] else frame.height
        raise InputError(
            source,
            f"has {count} rows, not {entry['rows']} as {MANIFEST} says; export it again",
        )
    for column, kind in columns.items():
        if kind == "float" and not frame[column].is_finite().all():
            raise InputError(source, f"{column} holds a value that is not finite; export it again")
        if (
            kind == "text"
            and frame.select(pl.col(column).str.contains("\0", literal=True).any()).item()
        ):
            raise InputError(
                source, f"{column} holds a NUL character, which no database takes; export it again"
            )
    return frame


def _fill(
    connection: sa.Connection, path: Path, frames: Mapping[str, pl.DataFrame]
) -> dict[str, int]:
    if connection.dialect.name == "postgresql":  # nobody comes in meanwhile; SQLite has one writer
        connection.execute(sa.text(f"LOCK TABLE {', '.join(TABLES)} IN SHARE ROW EXCLUSIVE MODE"))
    _check_target(connection, path, frames["study"])
    # the line that opening the store has written; the archive has its own
    connection.execute(t.study.delete())
    for name, table in TABLES.items():
        for rows in frames[name].iter_slices(10_000):
            connection.execute(table.insert(), rows.to_dicts())
        counter = table.autoincrement_column
        if connection.dialect.name == "postgresql" and counter is not None:
            # SQLite goes on after the highest id by itself
            sequence = sa.func.pg_get_serial_sequence(name, counter.name)
            connection.execute(sa.select(sa.func.setval(sequence, sa.func.max(counter))))
        # SQLite ignores an answer with the key of another one, as a replay
        if (stored := _count(connection, table)) != frames[name].height:
            raise InputError(
                path,
                f"{frames[name].height - stored} rows of {name} are there twice; "
                "nothing was stored, export it again",
            )
    return {name: frame.height for name, frame in frames.items()}


def _count(connection: sa.Connection, table: sa.Table) -> int:
    return int(connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one())


def _check_target(connection: sa.Connection, path: Path, study: pl.DataFrame) -> None:
    """Raise unless the store is empty and belongs to this study."""
    for name, table in TABLES.items():
        if name != "study" and (count := _count(connection, table)):
            raise EvenhandError(
                f"this store is not empty ({count} rows of {name}); "
                "give the study a new, empty store and import into that"
            )
    newest = sa.select(t.study.c.name, t.study.c.suite).order_by(t.study.c.id.desc())
    held = connection.execute(newest).first() or (None, None)
    for column, noun, own in zip(("name", "suite"), ("study", "sentences"), held, strict=True):
        values = set(study[column].to_list())
        if (own is not None and values != {own}) or len(values) > 1:
            others = ", ".join(sorted(values - {own})) or "none"
            raise InputError(
                path,
                f"is of the {noun} '{others}', not '{own}'; "
                "name the archive of this study, or the study file of that one",
            )


def _refuse_revision(path: Path, manifest: Mapping[str, Any], revision: str) -> NoReturn:
    other, program = (str(manifest.get(key))[:20] for key in ("revision", "evenhand"))
    raise InputError(
        path,
        f"comes from a database of revision {other}, this one is of {revision}; import it with "
        f"evenhand {program}, then open that store with this evenhand, which brings it up to date",
    )
