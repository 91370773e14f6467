"""SHA-256 of files, and the two lists of them: SHA256SUMS of a model, manifest.json of a run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from evenhand.core.errors import InputError

SUMS = "SHA256SUMS"  # as the program sha256sum writes and checks it
MANIFEST = "manifest.json"
# the files of a run that are read again; a report may be edited without harm
_DATA = (".json", ".jsonl", ".parquet")


def file_sha256(path: Path) -> str:
    """The SHA-256 of a file in hexadecimal digits, read in blocks."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def write_sums(folder: Path, names: Iterable[str]) -> None:
    """Write SHA256SUMS with a line for each of the named files of the folder."""
    lines = [f"{file_sha256(folder / name)}  {name}\n" for name in sorted(names)]
    (folder / SUMS).write_text("".join(lines), encoding="utf-8", newline="")


def sum_faults(folder: Path, names: Iterable[str] = ()) -> list[str]:
    """What is wrong with a folder by its SHA256SUMS, in words; empty where nothing is.

    names: files that must be in the list.
    """
    path = folder / SUMS
    if not path.is_file():
        return [f"{SUMS} is missing"]
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    listed = {line.partition("  ")[2] for line in lines}
    faults = [f"{SUMS} does not list {name}" for name in names if name not in listed]
    for line in lines:
        digest, _, name = line.partition("  ")
        if not name or not (folder / name).is_file():
            faults.append(f"{name or f'the line {line[:80]!r} of {SUMS}'} is missing")
        elif (here := file_sha256(folder / name)) != digest:
            faults.append(f"{name} has SHA-256 {here[:16]}..., expected {digest[:16]}...")
    return faults or ([] if path.stat().st_size else [f"{SUMS} is empty"])


def manifest_text(folder: Path, files: Mapping[str, bytes]) -> str:
    """The manifest of a folder after `files` are written to it.

    Files that an earlier manifest lists and that are not written now keep their digests.
    """
    try:
        before = {k: v for k, v in _listed_digests(folder).items() if (folder / k).is_file()}
    except InputError:
        before = {}  # a damaged manifest is replaced
    digests = {name: hashlib.sha256(raw).hexdigest() for name, raw in files.items()}
    table = dict(sorted({**before, **digests}.items()))
    return json.dumps({"sha256": table, "digest": _table_digest(table)}, indent=1) + "\n"


def check_manifest(folder: Path, name: str) -> None:
    """Raise InputError where the data files of a run do not belong together.

    name: the file that is about to be read; nothing is checked where there is no manifest, or it
    does not list that file.
    """
    digests = _listed_digests(folder)
    if name not in digests:
        return
    for other, digest in digests.items():
        path = folder / other
        if not other.endswith(_DATA):
            continue
        if not path.is_file():
            raise InputError(
                path, f"is missing, but {MANIFEST} of its run lists it; copy the whole folder"
            )
        if file_sha256(path) != digest:
            raise InputError(
                path,
                f"is not the file that was written with this run ({MANIFEST} has another SHA-256): "
                "it was damaged or replaced, or the last writing was cut short; run it again",
            )


def require_listed(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError unless the folder is a whole run that has these files.

    Its manifest must list them, and all data files must be those that were written with it.
    """
    if not (folder / MANIFEST).is_file():
        raise InputError(
            folder,
            f"has no {MANIFEST}, so that nothing says whether its files belong together: it was "
            "not copied whole, or its writing was cut short; run it again",
        )
    listed = _listed_digests(folder)
    for name in names:
        if name not in listed:
            raise InputError(
                folder, f"is not a whole run: its {MANIFEST} does not list {name}; run it again"
            )
    for name in list(listed)[:1]:
        check_manifest(folder, name)  # which checks all of them


def _listed_digests(folder: Path) -> dict[str, str]:
    """File name -> SHA-256 by the folder's manifest; empty where there is none."""
    path = folder / MANIFEST
    if not path.is_file():
        return {}
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
        table = {str(name): str(digest) for name, digest in manifest["sha256"].items()}
        is_whole = manifest["digest"] == _table_digest(table)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        reason = f"is not the manifest of a run ({type(error).__name__}); run it again"
        raise InputError(path, reason) from error
    if not is_whole:
        raise InputError(
            path,
            "is damaged or was changed (its list does not have the digest that it states); "
            "run it again",
        )
    return table


def _table_digest(table: Mapping[str, str]) -> str:
    """The SHA-256 of the list itself, by which a damaged manifest is seen."""
    return hashlib.sha256(json.dumps(dict(sorted(table.items()))).encode()).hexdigest()
