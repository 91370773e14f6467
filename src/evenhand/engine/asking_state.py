"""How far the asking of a run is, as a small file beside its folder while it is asked.

`.NAME.asking.json` next to the folder NAME: written at most once a second, removed when the run
is written or has failed, left behind with the state `stopped` where it was interrupted.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from evenhand.core.errors import InputError, StorageError
from evenhand.core.files import read_text, write_atomic
from evenhand.engine.ask import Progress

SUFFIX = ".asking.json"
EVERY = 1.0  # seconds between two states on the disk
ASKING, MEASURING, STOPPED = "asking", "measuring", "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingState:
    """How far the asking of a run is."""

    model: str
    suite: str
    done: int
    total: int
    state: str  # asking, measuring or stopped
    updated: float  # seconds since 1970


def state_path(folder: Path) -> Path:
    """The file that says how far the run is which will be written to `folder`."""
    return folder.parent / f".{folder.name}{SUFFIX}"


def read_state(path: Path) -> AskingState:
    """The state in a file. Raises InputError where it is not whole."""
    try:
        row = json.loads(read_text(path))
        return AskingState(
            model=str(row["model"]),
            suite=str(row["suite"]),
            done=int(row["done"]),
            total=int(row["total"]),
            state=str(row["state"]),
            updated=float(row["updated"]),
        )
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        reason = f"does not say how far a run is ({type(error).__name__}); delete it"
        raise InputError(path, reason) from error


@contextmanager
def kept_state(folder: Path, model: str, suite: str) -> Iterator[Callable[[Progress], Progress]]:
    """While the block runs, the state of the run that it writes to `folder` is on the disk.

    Yields a function that makes a progress function keep the state, too. Nothing is written
    before the first answer is known, so that a model that does not load leaves nothing behind.
    """
    path, last = state_path(folder), [-EVERY, 0.0, 0.0]  # time of the last state, done, total

    def write(state: str) -> None:
        done, total = (int(number) for number in last[1:])
        now = AskingState(
            model=model, suite=suite, done=done, total=total, state=state, updated=time.time()
        )
        with suppress(StorageError):  # the answers matter, and say themselves if the disk is full
            write_atomic(path, json.dumps(asdict(now)) + "\n")

    def remove() -> None:
        with suppress(OSError):
            path.unlink()

    def keep(progress: Progress) -> Progress:
        def report(done: int, total: int, reused: int) -> None:
            progress(done, total, reused)
            now = time.monotonic()
            if done == total or now - last[0] >= EVERY:
                last[:] = now, done, total
                write(MEASURING if done == total else ASKING)

        return report

    try:
        yield keep
    except KeyboardInterrupt:
        if path.exists():
            write(STOPPED)
        raise
    except BaseException:
        remove()
        raise
    remove()
