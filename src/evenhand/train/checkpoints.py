"""How is a run that was killed taken up again, as if nothing had happened? From a folder with all that decides the next step, written whole or not at all.

state.pt: weights, their average, optimiser, schedule, random states of every process, position in the epoch. best-N.pt: the weights of epoch N, the best so far.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from evenhand.core.errors import EvenhandError, InputError, LoadError
from evenhand.core.files import read_text, staged
from evenhand.train.loop import Position, Run, put
from evenhand.train.processes import Alone
from evenhand.train.recipes import completed

EVERY = 500  # steps
_ADVICE = "start anew with --no-resume, or choose another folder with --out"


def difference(old: Mapping[str, Any], new: Mapping[str, Any], at: str = "") -> list[str]:
    """Where do two descriptions of a run differ? `recipe.epochs: 3, now 5`."""
    found = []
    for key in [*old, *(k for k in new if k not in old)]:
        a, b = old.get(key), new.get(key)
        if isinstance(a, Mapping) and isinstance(b, Mapping):
            found += difference(a, b, f"{at}{key}.")
        elif a != b:
            found.append(f"{at}{key}: {a}, now {b}")
    return found


def require_same(folder: Path, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
    """An error where `folder` holds a run of other settings; what the older of two versions did not know of has its default."""
    one, two = ({**told, "recipe": completed(told.get("recipe") or {})} for told in (old, new))
    if found := difference(one, two):
        shown = "; ".join(text if len(text) < 200 else f"{text[:200]}..." for text in found[:4])
        raise EvenhandError(f"{folder} holds a run with other settings ({shown}); {_ADVICE}")


def read_finished(
    path: Path,
    card: Mapping[str, Any],
    settings_of: Callable[[Mapping[str, Any]], dict[str, Any]],
    command: str,
) -> dict[str, Any]:
    """The run card at `path`; an error where it is none of this command, or of a run with other settings than `card` has."""
    try:
        old = json.loads(read_text(path))
        told = settings_of(old)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            path,
            f"is no run card of `{command}`; choose another folder, or overwrite it with --no-resume",
        ) from error
    require_same(path.parent, told, json.loads(json.dumps(settings_of(card))))
    return dict(old)


class Checkpoints:
    """The checkpoint of the run that is described by `settings`, in the folder `checkpoint` of `out`."""

    def __init__(
        self, out: Path, settings: Mapping[str, Any], processes: Alone, *, every: int = EVERY
    ) -> None:
        self.folder, self.every, self.processes = out / "checkpoint", every, processes
        self.settings = json.loads(
            json.dumps(settings)
        )  # as they come back from the file: no tuples
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

    def save(self, run: Run) -> None:
        """Write down where `run` is; every process comes here, the first one writes."""
        crew = self.processes
        randoms = crew.gather(random_state(crew.device))
        if crew.rank == 0:
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
            with (
                staged(self.folder) as stage
            ):  # files take their place in order of name: the best weights before the state that counts on them
                try:
                    if run.best and (not run.at.within or not (self.folder / best).exists()):
                        torch.save(run.best, stage / best)
                    torch.save(state, stage / "state.pt")
                except RuntimeError as error:  # what torch makes of a full disk
                    raise OSError(
                        28 if "write" in str(error) else 5, str(error).splitlines()[0]
                    ) from error
            for other in self.folder.glob("best-*.pt"):
                if other.name != best:
                    other.unlink()
        self.last = run.at.step
        crew.wait()

    def restore(self, run: Run) -> bool:
        """Set `run` to where the checkpoint is; False where there is none."""
        if self.processes.rank == 0:
            self.sweep()
        path = self.folder / "state.pt"
        if not path.exists():
            return False
        state = self._read(path)
        require_same(self.folder, json.loads(state["settings"]), self.settings)
        if len(state["random"]) != self.processes.count:
            raise EvenhandError(
                f"{self.folder} was written by {len(state['random'])} processes, now there are {self.processes.count}; use as many, or {_ADVICE}"
            )
        run.at = Position(**json.loads(state["position"]))
        put(run.trained, state["weights"])
        put(run.average, state["average"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.schedule.last_epoch = state["schedule"]
        run.schedule._last_lr = [group["lr"] for group in run.optimizer.param_groups]
        if run.recipe.is_best_kept and run.at.scores:
            run.best = [
                value.to(self.processes.device)
                for value in self._read(self.folder / f"best-{run.at.best}.pt")
            ]
        assert run.rng is not None
        run.rng.bit_generator.state, run.later_state = json.loads(state["rng"])
        set_random_state(state["random"][self.processes.rank], self.processes.device)
        self.last = run.at.step
        return True

    def _read(self, path: Path) -> Any:
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except Exception as error:  # zip, pickle and torch each have their own exceptions
            raise LoadError(
                f"{path} cannot be read ({str(error).splitlines()[0][:200]}); {_ADVICE}"
            ) from error


def random_state(device: torch.device) -> list[torch.Tensor]:
    """Of torch, and of the GPU where there is one."""
    return [
        torch.get_rng_state(),
        *([torch.cuda.get_rng_state(device)] if device.type == "cuda" else []),
    ]


def set_random_state(states: list[torch.Tensor], device: torch.device) -> None:
    """Put back what `random_state` found."""
    torch.set_rng_state(states[0])
    if device.type == "cuda" and len(states) > 1:
        torch.cuda.set_rng_state(states[1], device)
