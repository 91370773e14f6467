"""Where runs are written: names of folders, and the refusal to write over a different run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answer_files import OVERVIEW, RESULTS, run_folders_in
from evenhand.core.checksums import MANIFEST, manifest_text
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.files import read_text, staged
from evenhand.core.plain import plain
from evenhand.core.signature import Signature
from evenhand.core.text import counted
from evenhand.engine.audit_plan import Assignment, AuditOptions
from evenhand.engine.estimate import choose_measures

LONGEST = 100  # letters of a folder's name


def folder_name(
    models: Sequence[str],
    suites: Sequence[str],
    *,
    language: str = "en",
    limit: int | None = None,
    seed: int = 0,
    is_whole: bool = False,
) -> str:
    """`MODEL[+MODEL][-SUITE][-LANG][-limitN][-seedN]`, in characters of every file system.

    suites: those that were named, with their variants; is_whole: everything was asked whole.
    """
    parts = [
        "+".join(dict.fromkeys(_clean(Path(model).name or "model") for model in models)),
        "+".join(_clean(Path(s).stem if s.endswith(".jsonl") else s) for s in suites),
        "" if language == "en" else language,
        "" if limit is None else f"limit{limit}",
        "whole" if is_whole else "",
        f"seed{seed}" if seed else "",
    ]
    whole = "-".join(filter(None, parts))
    if len(whole) <= LONGEST:
        return whole
    # further models or suites are counted; a folder of others is refused when it is written to
    first = _clean(Path(models[0]).name)[:40]
    counts = [f"{len(models)}-models", f"{len(suites)}-suites" if suites else ""]
    return "-".join(filter(None, [first, *counts, *parts[2:]]))


def run_names(assignments: Sequence[Assignment]) -> list[str]:
    """The folder of each run below that of an audit of several: its suite, and where needed model.

    Names are unique.
    """
    has_models = len({one.model for one in assignments}) > 1
    names: list[str] = []
    for one in assignments:
        suite = _clean(one.suite.card.name)
        name = f"{_clean(Path(one.model).name or one.model)}-{suite}" if has_models else suite
        again = sum(n == name or n.startswith(f"{name}~") for n in names)
        names.append(f"{name}~{again + 1}" if again else name)
    return names


def _clean(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)


def write_files(folder: Path, files: Mapping[str, str | bytes]) -> None:
    """Write files and their manifest, all or none. Raises StorageError where the disk refuses."""
    raw = {k: v.encode() if isinstance(v, str) else v for k, v in files.items()}
    with staged(folder) as stage:
        for name, content in raw.items():
            (stage / name).write_bytes(content)
        (stage / MANIFEST).write_text(manifest_text(folder, raw), encoding="utf-8", newline="")


def require_same(folder: Path, one: Assignment, options: AuditOptions) -> None:
    """Raise EvenhandError where the folder holds something else than an earlier such run."""
    if (folder / OVERVIEW).is_file():
        runs = counted(len(run_folders_in(folder)), "run")
        raise _refusal(folder, f"an overview of {runs}, not one run")
    if not (folder / RESULTS).is_file():
        return
    try:
        before = _stated(json.loads(read_text(folder / RESULTS)))
    except (InputError, ValueError, KeyError, TypeError, AttributeError):
        return  # it is no run, or a damaged one, which the same command mends
    for what, value in _wanted(one, options).items():
        if before.get(what) != value:
            raise _refusal(folder, f"a run with {what} {before.get(what)}, not {value}")


def require_same_set(
    folder: Path, names: Sequence[str], assignments: Sequence[Assignment], options: AuditOptions
) -> None:
    """Raise EvenhandError where the folder holds other runs than these.

    names: of the folders of the assignments.
    """
    if (folder / RESULTS).is_file():
        raise _refusal(folder, "one run, not several")
    if (folder / OVERVIEW).is_file():
        known = [path.name for path in run_folders_in(folder)]
        if others := [name for name in known if name not in names]:
            raise _refusal(folder, f"the run {others[0]} as well, which is not asked now")
    for name, one in zip(names, assignments, strict=True):
        require_same(folder / name, one, options)


def _refusal(folder: Path, what: str) -> EvenhandError:
    return EvenhandError(
        f"{folder} holds {what}: choose another folder with --out, or write over it with --force"
    )


def _wanted(one: Assignment, options: AuditOptions) -> dict[str, str]:
    """What a run is told from others by, each in words."""
    dev = options.dev
    measures = choose_measures(one.suite, one.options, one.labels, one.measures)
    return {
        "the model": one.identity,
        "the suite": one.suite.reference,
        "the language": one.suite.card.language,
        "the way of asking": json.dumps(dict(sorted(one.traits.items()))),
        "the settings": json.dumps(plain(options.settings)),
        "the measures": ", ".join(sorted(m.name for m in measures)),
        "labelled pairs of": "no file" if dev is None else dev.reference,
        "the version": __version__,
    }


def _stated(fields: Mapping[str, Any]) -> dict[str, str]:
    """What `_wanted` says, of a run by its results.json."""
    suite = fields["suite"]
    limit = f"/{suite['limit']}" if suite["limit"] else ""
    asked = [
        dict(Signature.parse(row["signature"]).fields).get("suite", "") for row in fields["sanity"]
    ]
    known = catalog.entries("suites")
    files = [s for s in asked if s.partition("@")[0].partition(":")[0] not in known]
    return {
        "the model": fields["model"]["identity"],
        "the suite": f"{suite['name']}@{suite['version']}#{suite['digest']}{limit}",
        "the language": suite["language"],
        "the way of asking": json.dumps(dict(sorted(fields["model"]["traits"].items()))),
        "the settings": json.dumps(fields["settings"]),
        "the measures": ", ".join(sorted(row["measure"] for row in fields["estimates"])),
        "labelled pairs of": files[0] if files else "no file",
        "the version": fields["evenhand"],
    }


def clear_others(folder: Path, names: Sequence[str]) -> None:
    """Remove what the folder holds of a different audit and would not be written over.

    names: the folders of the runs that are written to it; none for a single run. Only files that a
    manifest lists are removed.
    """
    if (folder / OVERVIEW).is_file():
        for inside in run_folders_in(folder):
            if inside.name not in names:
                _clear(inside)
                if not any(inside.iterdir()):
                    inside.rmdir()
    if (folder / (RESULTS if names else OVERVIEW)).is_file():
        _clear(folder)


def _clear(folder: Path) -> None:
    try:
        listed = json.loads(read_text(folder / MANIFEST))["sha256"]
    except (EvenhandError, ValueError, KeyError, TypeError):
        return
    for name in (*listed, MANIFEST):
        if Path(name).name == name:
            (folder / name).unlink(missing_ok=True)
