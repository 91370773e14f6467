"""What lies in a folder of runs: whole runs, runs that are being asked, and what is neither."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answer_files import OVERVIEW, RESULTS
from evenhand.core.checksums import MANIFEST, check_manifest
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Interval
from evenhand.core.files import read_text
from evenhand.core.text import counted, with_bounds
from evenhand.engine.asking_state import STOPPED, SUFFIX, AskingState, read_state
from evenhand.report.run_list import RunLine

DEEPEST = 4  # folders below the one that is shown
LARGEST = 100_000_000  # bytes of a results.json that is read
NEWS = 120  # seconds after which a run that says nothing may have been killed
COMPARISON = "comparison.json"
REPORT = "report.html"


class RunFolder:
    """A folder of runs. What was found of a run is kept until one of its files changes."""

    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self._known: dict[Path, tuple[object, RunLine]] = {}

    def lines(self) -> list[RunLine]:
        """A line for everything in the folder: what is being asked first, then by date."""
        dated = [
            *((True, state.updated, line) for state, line in self._asked(self.root, 0)),
            *((False, date, line) for date, line in self._found(self.root, 0)),
        ]
        dated.sort(key=lambda one: one[:2], reverse=True)
        return [line for _, _, line in dated]

    def _asked(self, folder: Path, depth: int) -> Iterator[tuple[AskingState, RunLine]]:
        """The runs that are being asked, or were when they were stopped."""
        for path in _entries(folder):
            if path.name.endswith(SUFFIX) and path.name.startswith(".") and not path.is_symlink():
                try:
                    state = read_state(path)
                except EvenhandError:
                    continue  # it is just being replaced, or is no such file
                yield state, self._asked_line(path, state)
            elif depth < DEEPEST and _is_folder(path):
                yield from self._asked(path, depth + 1)

    def _asked_line(self, path: Path, state: AskingState) -> RunLine:
        quiet = time.time() - state.updated
        note = f"{state.state}."
        if state.state == STOPPED:
            note = "stopped: the same command goes on from there."
        elif quiet > NEWS:
            note = f"{state.state}, but no news for {round(quiet / 60)} minutes."
        folder = path.with_name(path.name.removeprefix(".").removesuffix(SUFFIX))
        return RunLine(
            title=state.model,
            suite=state.suite,
            date=_date(state.updated),
            place=self._place(folder),
            note=note,
            is_faulty=state.state == STOPPED or quiet > NEWS,
            done=max(state.done, 0),
            total=max(state.total, 0),
        )

    def _found(self, folder: Path, depth: int) -> Iterator[tuple[float, RunLine]]:
        """The folders below this one, those of runs and others."""
        for path in _entries(folder):
            if path.name.startswith("."):
                continue
            if path.is_symlink():
                if self.within(path) is None:
                    line = self._faulty(path, "a link that leads out of this folder; not followed.")
                    yield 0.0, line
            elif _is_folder(path):
                names = {entry.name for entry in _entries(path)}
                folders = [p for p in _entries(path) if _is_folder(p) and p.name[0] != "."]
                if not folders or {RESULTS, COMPARISON, OVERVIEW, MANIFEST, REPORT} & names:
                    yield _changed(path), self._line(path, names)
                if depth < DEEPEST:
                    yield from self._found(path, depth + 1)

    def _line(self, folder: Path, names: set[str]) -> RunLine:
        stamp = tuple(sorted(_stamps(folder)))
        if (known := self._known.get(folder)) is not None and known[0] == stamp:
            return known[1]
        try:
            line = self._read(folder, names)
        except EvenhandError as error:
            line = self._faulty(folder, f"damaged: {str(error).replace(f'{folder}{os.sep}', '')}.")
        except Exception as error:  # whatever lies in a folder, the others are shown
            line = self._faulty(folder, f"cannot be read ({type(error).__name__}: {error}).")
        self._known[folder] = (stamp, line)
        return line

    def _read(self, folder: Path, names: set[str]) -> RunLine:
        """The line of a folder. Raises EvenhandError where its files do not belong together."""
        known = {RESULTS: self._run, COMPARISON: self._comparison, OVERVIEW: self._overview}
        if file := next((name for name in known if name in names), ""):
            if MANIFEST not in names:
                return self._faulty(
                    folder,
                    f"half-written: it has {file} but no {MANIFEST}. Its writing was cut short, or "
                    "it was not copied whole; run it again.",
                )
            check_manifest(folder, file)
            if (size := (folder / file).stat().st_size) > LARGEST:
                return self._faulty(folder, f"{file} has {size:,} bytes, too many to read.")
            return known[file](folder, json.loads(read_text(folder / file)))
        if page := self._page(folder):
            return RunLine(
                title=folder.name,
                address=page,
                date=_date(_changed(folder)),
                place=self._place(folder),
            )
        what = "a file of a run, but not all of them" if MANIFEST in names else "no run of evenhand"
        return self._faulty(folder, f"{what if names else 'empty'}: there is no {RESULTS}.")

    def _run(self, folder: Path, fields: Mapping[str, Any]) -> RunLine:
        try:
            first = fields["estimates"][0]
            interval = Interval(*(_number(first[end]) for end in ("value", "low", "high")))
            title = _title(str(first["measure"]))
            version, note = str(fields["evenhand"]), str(first.get("note") or "")
            model, suite = str(fields["model"]["identity"]), fields["suite"]
            asked = f"{suite['name']} {suite['version']}, {suite['language']}"
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            reason = f"{RESULTS} is not that of a run ({type(error).__name__}: {error})."
            return self._faulty(folder, reason)
        notes = [f"{note}." if note else ""]
        if version != __version__:
            notes.append(f"Written by evenhand {version}.")
        return RunLine(
            title=model,
            suite=asked,
            headline=f"{title} {with_bounds(interval)}",
            date=_date(_changed(folder)),
            address=self._page(folder),
            place=self._place(folder),
            note=" ".join(filter(None, notes)),
        )

    def _comparison(self, folder: Path, fields: Mapping[str, Any]) -> RunLine:
        try:
            parts = fields["suites"]
            first, *others = (str(model["name"]) for model in parts[0]["models"])
            suites = ", ".join(str(part["suite"]["name"]) for part in parts)
        except (KeyError, IndexError, TypeError, ValueError) as error:
            reason = f"{COMPARISON} is not that of a comparison ({type(error).__name__}: {error})."
            return self._faulty(folder, reason)
        return RunLine(
            title=f"{', '.join(others)} against {first}",
            suite=suites,
            headline="comparison",
            date=_date(_changed(folder)),
            address=self._page(folder),
            place=self._place(folder),
        )

    def _overview(self, folder: Path, fields: Mapping[str, Any]) -> RunLine:
        try:
            models = dict.fromkeys(str(run["model"]) for run in fields["runs"])
            suites = dict.fromkeys(str(run["suite"]).partition("@")[0] for run in fields["runs"])
        except (KeyError, TypeError) as error:
            reason = f"{OVERVIEW} is not that of several runs ({type(error).__name__}: {error})."
            return self._faulty(folder, reason)
        return RunLine(
            title=", ".join(models),
            suite=", ".join(suites),
            headline=f"overview of {counted(len(fields['runs']), 'run')}",
            date=_date(_changed(folder)),
            address=self._page(folder),
            place=self._place(folder),
        )

    def _faulty(self, folder: Path, note: str) -> RunLine:
        return RunLine(title=folder.name, place=self._place(folder), note=note, is_faulty=True)

    def _place(self, folder: Path) -> str:
        return folder.relative_to(self.root).as_posix()

    def _page(self, folder: Path) -> str:
        """The address of the page in a folder: its report, else the first page by name.

        A run without a page is a part of the page of the overview that its folder lies in.
        """
        page = self.page_of(folder)
        if page is None and (folder.parent / OVERVIEW).is_file() and folder != self.root:
            page = self.page_of(folder.parent)
        return f"/{quote(page.relative_to(self.root).as_posix())}" if page is not None else ""

    def page_of(self, folder: Path) -> Path | None:
        """The page in a folder; None where there is none."""
        pages = sorted(p for p in _entries(folder) if p.suffix == ".html" and p.name[0] != ".")
        pages.sort(key=lambda p: p.name != REPORT)
        return next((p for p in pages if (real := self.within(p)) and real.is_file()), None)

    def within(self, path: Path) -> Path | None:
        """The path without links; None where it leads out of the folder, or nowhere."""
        try:
            real = path.resolve(strict=True)
        except (OSError, ValueError, RuntimeError):
            return None
        return real if real.is_relative_to(self.root) else None


def _entries(folder: Path) -> list[Path]:
    """What lies in a folder, by name; nothing where it cannot be read."""
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    """Name, size and time of change of every file of a folder."""
    for path in _entries(folder):
        try:
            state = path.lstat()
        except OSError:
            continue  # it was removed just now
        yield path.name, state.st_size, state.st_mtime_ns


def _changed(folder: Path) -> float:
    """When the data of a folder was written, in seconds since 1970."""
    times = {name: changed / 1e9 for name, _, changed in _stamps(folder)}
    return times.get(MANIFEST) or times.get(RESULTS) or max(times.values(), default=0.0)


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds)) if seconds else ""
    except (OverflowError, ValueError, OSError):
        return ""


def _number(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _title(measure: str) -> str:
    """The long name of a measure; its own name where the catalog does not know it."""
    try:
        return catalog.measure(measure).card.title
    except EvenhandError:
        return measure
