"""The training loop that every recipe uses, in one process or shared among several.

Fused optimiser, linear warm-up and decay, and a moving average of the weights, which is what is
kept and evaluated. A run can be interrupted after any step and resumed (`checkpoints`).
Processes, as many as `accelerate launch` starts, each take their part of every batch, so that
the recipe's batch size stays what it is.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import get_linear_schedule_with_warmup

from evenhand.core.errors import EvenhandError
from evenhand.train.recipes import Recipe, Say, Tick

Rows = NDArray[np.intp]
Loss = Callable[[Rows, Rows], torch.Tensor]  # (rows of a process, of all) -> mean of the former
AVERAGE_EVERY = 8  # steps between two updates of the moving average
SAY_EVERY = 100
SMOOTHING = 0.98  # of the loss that is reported
ADAPTED = "base_model.model."  # what peft puts before the names of the weights
_HEADS = ("classifier", "pre_classifier", "cls", "score", "classification_head")


class Processes:
    """The processes that share a run: here a single one; `AccelerateProcesses` are several."""

    rank, count = 0, 1

    def __init__(self, device: str = "cpu") -> None:
        self.device = torch.device(device)

    def prepare_model(self, model: Any) -> Any:
        """The model as it is called in training."""
        return model.to(self.device)

    def prepare_optimizer(self, optimizer: Any) -> Any:
        """The optimizer as it is stepped in training."""
        return optimizer

    def backward(self, loss: torch.Tensor) -> None:
        """Compute the gradients of all processes."""
        loss.backward()

    def clip(self, values: Sequence[Any]) -> None:
        """Cut gradients to a length of at most 1."""
        torch.nn.utils.clip_grad_norm_(values, 1.0, foreach=True)

    def gather(self, value: Any) -> list[Any]:
        """The value of each process, by rank."""
        return [value]

    def wait(self) -> None:
        """Wait until all processes are here."""


class AccelerateProcesses(Processes):
    """The processes of `accelerate launch`: several GPUs or machines, mixed precision.

    On one CPU the numbers are the same as with `Processes`.
    """

    def __init__(self) -> None:
        self.accelerator = importlib.import_module("accelerate").Accelerator()
        self.rank, self.count = self.accelerator.process_index, self.accelerator.num_processes
        super().__init__(str(self.accelerator.device))

    def prepare_model(self, model: Any) -> Any:
        """The model whose gradients are shared."""
        return self.accelerator.prepare_model(model)

    def prepare_optimizer(self, optimizer: Any) -> Any:
        """The optimizer that knows of mixed precision."""
        return self.accelerator.prepare_optimizer(optimizer)

    def backward(self, loss: torch.Tensor) -> None:
        """Compute the gradients, averaged over the processes."""
        self.accelerator.backward(loss)

    def clip(self, values: Sequence[Any]) -> None:
        """As alone, once the scale of mixed precision is taken away."""
        self.accelerator.unscale_gradients()
        super().clip(values)

    def gather(self, value: Any) -> list[Any]:
        """The value of each process, by rank."""
        return list(importlib.import_module("accelerate.utils").gather_object([value]))

    def wait(self) -> None:
        """Wait until all processes are here."""
        self.accelerator.wait_for_everyone()


def open_processes() -> Processes:
    """The processes of `accelerate` where it is installed, else one on the device there is."""
    try:
        return AccelerateProcesses()
    except ImportError:
        return Processes("cuda" if torch.cuda.is_available() else "cpu")


@dataclass(slots=True)
class Position:
    """How far a run is."""

    step: int = 0
    epoch: int = 0  # finished
    within: int = 0  # batches of the next epoch that are done
    seen: int = 0
    running: float = 0.0
    seconds: float = 0.0
    scores: list[float] = field(default_factory=list)  # dev accuracy after each epoch

    @property
    def best(self) -> int:
        """The epoch with the highest score, the first of equals; 0 where none was judged."""
        return 1 + int(np.argmax(self.scores)) if self.scores else 0


class Keeper(Protocol):
    """What writes checkpoints."""

    every: int

    def save(self, run: TrainingRun) -> None:
        """Write down where the run is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunHooks:
    """What is called during a run: for messages, progress, accuracy after an epoch, checkpoints."""

    unit: str = "pairs"  # what a batch is made of
    say: Say = print
    tick: Tick | None = None
    judge: Callable[[], float] | None = None  # dev accuracy of the model as it is
    keeper: Keeper | None = None


def parameter_groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters by learning rate (lower in lower layers) and weight decay.

    Biases and norms have no weight decay.
    """
    depth = model.config.num_hidden_layers
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        parts = name.removeprefix(ADAPTED).split(".")
        layer = next((part for part in ("layer", "layers") if part in parts), None)
        if layer:
            height = depth - 1 - int(parts[parts.index(layer) + 1])
        else:
            height = depth if "embeddings" in parts else 0
        head_rate = recipe.head_rate if parts[0] in _HEADS else 1
        rate = recipe.learning_rate * recipe.layer_decay**height * head_rate
        groups.setdefault((rate, 0.0 if value.ndim < 2 else recipe.weight_decay), []).append(value)
    return [
        {"params": values, "lr": rate, "weight_decay": decay}
        for (rate, decay), values in groups.items()
    ]


class TrainingRun:
    """One training run: weights, their average, optimiser, schedule, and how far it is."""

    def __init__(
        self,
        model: Any,
        count: int,
        loss_of: Loss,
        recipe: Recipe,
        *,
        processes: Processes | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.model, self.loss_of, self.recipe, self.rng = model, loss_of, recipe, rng
        self.processes = processes or Processes()
        self.optimizer = torch.optim.AdamW(
            parameter_groups(model, recipe),
            lr=recipe.learning_rate,
            betas=(recipe.beta1, recipe.beta2),
            fused=True,
        )
        self.stepper = self.processes.prepare_optimizer(self.optimizer)
        self.steps = recipe.epochs * -(-count // recipe.batch_size)
        self.schedule = get_linear_schedule_with_warmup(
            self.optimizer, int(recipe.warmup * self.steps), self.steps
        )
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.average = [p.detach().clone() for p in self.trained] if recipe.average else []
        self.best: list[torch.Tensor] = []
        self.at = Position()
        # states of `rng`: before the batches of the current epoch were drawn; and at the
        # checkpoint, to be set once those batches are drawn again
        self.epoch_state: Any = None
        self.later_state: Any = None

    @property
    def is_over(self) -> bool:
        """Whether all epochs are done, or none was better for too long."""
        at, patience = self.at, self.recipe.patience
        return at.epoch >= self.recipe.epochs or bool(
            patience and at.scores and at.epoch - at.best >= patience
        )

    def go(self, epoch_of: Callable[[], Sequence[Rows]], hooks: RunHooks) -> None:
        """Train to the end; the weights that are kept are then in the model.

        epoch_of: draws the batches of one epoch.
        """
        at, reused, began = self.at, self.at.step, time.monotonic() - self.at.seconds
        keeper = hooks.keeper
        self.model.train()
        while not self.is_over:
            batches = self._draw(epoch_of)
            for rows in batches[at.within :]:
                self._step(rows)
                at.within, at.seconds = at.within + 1, time.monotonic() - began
                if hooks.tick:
                    hooks.tick(at.step, self.steps, reused)
                elif at.step % SAY_EVERY == 0:
                    hooks.say(self._progress(hooks.unit))
                if keeper and at.step % keeper.every == 0 and at.within < len(batches):
                    keeper.save(self)
            at.epoch, at.within = at.epoch + 1, 0
            if hooks.judge:
                self._judge(hooks.judge, hooks.say)
                at.seconds = time.monotonic() - began
            if keeper:
                keeper.save(self)
        copy_values(self.trained, self.best or self.average)

    def _progress(self, unit: str) -> str:
        at = self.at
        minutes_left = at.seconds / at.step * (self.steps - at.step) / 60
        return (
            f"{self.recipe.name}: epoch {at.epoch + 1}, step {at.step}/{self.steps}, "
            f"loss {at.running / (1 - SMOOTHING**at.step):.3f}, "
            f"{at.seen / at.seconds:.0f} {unit}/s, {minutes_left:.0f} min left"
        )

    def _draw(self, epoch_of: Callable[[], Sequence[Rows]]) -> Sequence[Rows]:
        if self.rng is None:
            return epoch_of()
        self.epoch_state = self.rng.bit_generator.state
        batches = epoch_of()
        if self.later_state is not None:
            self.rng.bit_generator.state, self.later_state = self.later_state, None
        return batches

    def _step(self, rows: Rows) -> None:
        at, processes = self.at, self.processes
        at.step += 1
        loss = self._loss(rows)
        processes.backward(loss)
        processes.clip(self.trained)
        self.stepper.step()
        self.schedule.step()
        self.stepper.zero_grad(set_to_none=True)
        if self.average and at.step % AVERAGE_EVERY == 0:
            keep = min(self.recipe.average**AVERAGE_EVERY, at.step / (at.step + 100))
            torch._foreach_lerp_(self.average, [p.detach() for p in self.trained], 1 - keep)
        at.seen += len(rows)
        at.running = SMOOTHING * at.running + 0.02 * float(loss.detach())
        if not math.isfinite(at.running):
            raise EvenhandError(
                f"the loss is no number any more at step {at.step} of {self.steps}; "
                f"give a lower learning rate than {self.recipe.learning_rate:g}"
            )

    def _loss(self, rows: Rows) -> torch.Tensor:
        """The mean loss of this process's part of `rows`.

        Weighted so that the mean over the processes is the mean over `rows`.
        """
        rank, count = self.processes.rank, self.processes.count
        if count == 1:
            return self.loss_of(rows, rows)
        own = rows[rank::count]
        # A process without rows computes one that counts nothing: the others wait for its
        # gradients.
        part = self.loss_of(own if len(own) else rows[:1], rows)
        return part * (len(own) * count / len(rows))

    def _judge(self, judge: Callable[[], float], say: Say) -> None:
        with self._averaged():
            score = judge()
            self.at.scores.append(score)
            is_better = self.at.best == self.at.epoch
            if is_better and self.recipe.is_best_kept:
                self.best = [p.detach().clone() for p in self.trained]
        self.model.train()
        say(
            f"{self.recipe.name}: epoch {self.at.epoch} of {self.recipe.epochs}, "
            f"dev accuracy {score:.2%}{', the best so far' if is_better else ''}"
        )

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """Put the averaged weights into the model, and afterwards the previous ones again."""
        before = [p.detach().clone() for p in self.trained] if self.average else []
        copy_values(self.trained, self.average)
        yield
        copy_values(self.trained, before)


def copy_values(places: Sequence[Any], values: Sequence[torch.Tensor]) -> None:
    """Copy values into parameters; nothing happens where there are no values."""
    with torch.no_grad():
        for place, value in zip(places, values, strict=bool(values)):
            place.copy_(value)
