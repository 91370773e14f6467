"""Checkpoints, from which a run that was killed continues as if nothing had happened.

state.pt: weights, their average, optimiser, schedule, random states of every process, position in
the epoch. best-N.pt: the weights of epoch N, the best so far. Both are written whole or not at
all, and a lock lets only one run into a folder.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, Any

import torch

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.files import staged
from evenhand.train.loop import Position, Processes, TrainingRun, copy_values
from evenhand.train.run_cards import ADVICE, require_same

FOLDER = "checkpoint"
STATE = "state.pt"
LOCK = ".lock"


class Checkpoints:
    """The checkpoint of the run that has these settings, in the folder `checkpoint` of `out`."""

    def __init__(
        self, out: Path, settings: Mapping[str, Any], processes: Processes, *, every: int
    ) -> None:
        self.folder, self.every, self.processes = out / FOLDER, every, processes
        self.settings = json.loads(json.dumps(settings))  # as they come back: no tuples
        self.last = 0  # the step of the last checkpoint

    def discard(self) -> None:
        """Remove the checkpoint and what a killed process left of an unfinished one."""
        if self.processes.rank == 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            self.sweep()
        self.processes.wait()

    def sweep(self) -> None:
        """Remove what a killed process left of an unfinished checkpoint."""
        for left in self.folder.parent.glob(f".{self.folder.name}.*"):
            shutil.rmtree(left, ignore_errors=True)

    def save(self, run: TrainingRun) -> None:
        """Write down where `run` is; every process comes here, the first one writes."""
        processes = self.processes
        randoms = processes.gather(random_state(processes.device))
        if processes.rank == 0:
            self._write(run, randoms)
        self.last = run.at.step
        processes.wait()

    def _write(self, run: TrainingRun, randoms: list[Any]) -> None:
        assert run.rng is not None
        best = f"best-{run.at.best}.pt"
        now = run.rng.bit_generator.state
        state = {
            "settings": json.dumps(self.settings),
            "position": json.dumps(asdict(run.at)),
            "random": randoms,
            "rng": json.dumps([run.epoch_state, now] if run.at.within else [now, None]),
            "weights": [p.detach() for p in run.trained],
            "average": run.average,
            "optimizer": run.optimizer.state_dict(),
            "schedule": run.schedule.state_dict()["last_epoch"],
        }
        # files are moved into place in order of name: the best weights before the state that
        # relies on them
        with staged(self.folder) as stage:
            try:
                if run.best and (not run.at.within or not (self.folder / best).exists()):
                    torch.save(run.best, stage / best)
                torch.save(state, stage / STATE)
            except RuntimeError as error:  # what torch makes of a full disk
                number = 28 if "write" in str(error) else 5
                raise OSError(number, str(error).splitlines()[0]) from error
        for other in self.folder.glob("best-*.pt"):
            if other.name != best:
                other.unlink()

    def restore(self, run: TrainingRun) -> bool:
        """Set `run` to where the checkpoint is; False where there is none."""
        if self.processes.rank == 0:
            self.sweep()
        path = self.folder / STATE
        if not path.exists():
            return False
        state = _read(path)
        require_same(self.folder, json.loads(state["settings"]), self.settings)
        if len(state["random"]) != self.processes.count:
            raise EvenhandError(
                f"{self.folder} was written by {len(state['random'])} processes, "
                f"now there are {self.processes.count}; use as many, or {ADVICE}"
            )
        run.at = Position(**json.loads(state["position"]))
        copy_values(run.trained, state["weights"])
        copy_values(run.average, state["average"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.schedule.last_epoch = state["schedule"]
        run.schedule._last_lr = [group["lr"] for group in run.optimizer.param_groups]
        if run.recipe.is_best_kept and run.at.scores:
            weights = _read(self.folder / f"best-{run.at.best}.pt")
            run.best = [value.to(self.processes.device) for value in weights]
        assert run.rng is not None
        run.rng.bit_generator.state, run.later_state = json.loads(state["rng"])
        set_random_state(state["random"][self.processes.rank], self.processes.device)
        self.last = run.at.step
        return True


def _read(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # zip, pickle and torch each have their own exceptions
        reason = str(error).splitlines()[0][:200]
        raise LoadError(f"{path} cannot be read ({reason}); {ADVICE}") from error


def random_state(device: torch.device) -> list[torch.Tensor]:
    """The random state of torch, and of the GPU where there is one."""
    states = [torch.get_rng_state()]
    return [*states, torch.cuda.get_rng_state(device)] if device.type == "cuda" else states


def set_random_state(states: list[torch.Tensor], device: torch.device) -> None:
    """Put back what `random_state` returned."""
    torch.set_rng_state(states[0])
    if device.type == "cuda" and len(states) > 1:
        torch.cuda.set_rng_state(states[1], device)


@contextmanager
def locked(out: Path) -> Iterator[None]:
    """Hold a lock on `out`; raises EvenhandError where another run is training there.

    The system frees the lock of a process that dies, however it dies.
    """
    path = out / LOCK
    while True:
        stream = path.open("a+", encoding="utf-8")
        if not _take(stream):
            stream.seek(0)
            owner = stream.read().strip()
            stream.close()
            raise EvenhandError(
                f"another run is training in {out}{f' (process {owner})' if owner else ''}; "
                "wait for it, or choose another folder with --out"
            )
        try:
            if os.fstat(stream.fileno()).st_ino == path.stat().st_ino:
                break
        except FileNotFoundError:
            pass
        stream.close()  # a run that ended just now took the file away
    try:
        stream.truncate(0)
        stream.write(f"{os.getpid()} on {platform.node()}\n")
        stream.flush()
        yield
    finally:
        if sys.platform == "win32":  # where an open file cannot be removed
            stream.close()
        path.unlink(missing_ok=True)
        stream.close()


def _take(stream: IO[str]) -> bool:
    """Lock the file; False where another process holds it."""
    try:
        if sys.platform == "win32":
            import msvcrt

            stream.seek(1 << 30)  # far beyond the text, which so stays readable
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system without locks
        return True
    return True
