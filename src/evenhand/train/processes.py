"""Who trains, and who else? One process, or as many as `accelerate launch` starts, on GPUs, CPUs or several machines; the loop is the same for both.

One run at a time in a folder, which a lock sees to."""

from __future__ import annotations

import importlib
import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import torch

from evenhand.core.errors import EvenhandError

LOCK = ".lock"


class Alone:
    """One process. What several of them do differently is in `Together`."""

    rank, count = 0, 1

    def __init__(self, device: str = "cpu") -> None:
        self.device = torch.device(device)

    def spread(self, model: Any) -> Any:
        """The model as it is called in training."""
        return model.to(self.device)

    def wrap(self, optimizer: Any) -> Any:
        """The optimizer as it is stepped in training."""
        return optimizer

    def backward(self, loss: torch.Tensor) -> None:
        """Gradients of all processes."""
        loss.backward()

    def clip(self, values: Sequence[Any]) -> None:
        """Gradients no longer than 1."""
        torch.nn.utils.clip_grad_norm_(values, 1.0, foreach=True)

    def total(self, number: int) -> int:
        """The sum over all processes."""
        return number

    def gather(self, thing: Any) -> list[Any]:
        """What each process has."""
        return [thing]

    def wait(self) -> None:
        """Until all are here."""


class Together(Alone):
    """Whatever `accelerate launch` was told: several GPUs or machines, mixed precision; on one CPU the same numbers as `Alone`."""

    def __init__(self) -> None:
        self.accelerator = importlib.import_module("accelerate").Accelerator()
        self.rank, self.count = self.accelerator.process_index, self.accelerator.num_processes
        super().__init__(str(self.accelerator.device))

    def spread(self, model: Any) -> Any:
        """The model whose gradients are shared."""
        return self.accelerator.prepare_model(model)

    def wrap(self, optimizer: Any) -> Any:
        """The optimizer that knows of mixed precision."""
        return self.accelerator.prepare_optimizer(optimizer)

    def backward(self, loss: torch.Tensor) -> None:
        """Gradients, averaged over the processes."""
        self.accelerator.backward(loss)

    def clip(self, values: Sequence[Any]) -> None:
        """As alone, once the scale of mixed precision is taken away."""
        self.accelerator.unscale_gradients()
        super().clip(values)

    def total(self, number: int) -> int:
        """The sum over all processes, the same for all."""
        return int(self.accelerator.reduce(torch.tensor(number, device=self.device), "sum"))

    def gather(self, thing: Any) -> list[Any]:
        """What each process has, by rank."""
        return list(importlib.import_module("accelerate.utils").gather_object([thing]))

    def wait(self) -> None:
        """Until all are here."""
        self.accelerator.wait_for_everyone()


def open_processes() -> Alone:
    """`accelerate` where it is installed, else the one device there is."""
    try:
        return Together()
    except ImportError:
        return Alone("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def sole(out: Path) -> Iterator[None]:
    """The only run in `out`; an error where another one is at work there. The system frees the lock of a process that dies, however it dies."""
    path = out / LOCK
    while True:
        stream = path.open("a+", encoding="utf-8")
        if not _take(stream):
            stream.seek(0)
            who = stream.read().strip()
            stream.close()
            raise EvenhandError(
                f"another run is training in {out}{f' (process {who})' if who else ''}; wait for it, or choose another folder with --out"
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

            stream.seek(1 << 30)  # a place far behind the text, so that it can be read all the same
            msvcrt.locking(stream.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:  # a file system that knows no locks
        return True
    return True
