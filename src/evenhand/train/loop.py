"""How are weights fitted without wasting work? One loop for every recipe.

Fused optimiser, linear warm-up and decay, and a moving average of the weights, which is what is kept and evaluated. A run can be put down after any step and
taken up again (checkpoints.py), and shared out among processes: each takes its part of every batch, so that the recipe's batch size stays what it is.
"""

from __future__ import annotations

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
from evenhand.train.processes import Alone
from evenhand.train.recipes import Recipe

Rows = NDArray[np.intp]
Say = Callable[[str], None]
Loss = Callable[
    [Rows, Rows], torch.Tensor
]  # the mean loss of a process's rows, told the rows of all processes
Tick = Callable[[int, int, int], None]  # steps done, of how many, of which in an earlier session
AVERAGE_EVERY = 8  # steps between two updates of the moving average
SAY_EVERY = 100
ADAPTED = "base_model.model."  # what peft puts before the names of the weights
_HEADS = ("classifier", "pre_classifier", "cls", "score", "classification_head")


@dataclass(slots=True)
class Position:
    """How far is a run?"""

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

    def save(self, run: Run) -> None:
        """Write down where the run is."""


def parameter_groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate (lower in lower layers) and weight decay (none for biases and norms)."""
    depth = model.config.num_hidden_layers
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        parts = name.removeprefix(ADAPTED).split(".")
        layer = next((part for part in ("layer", "layers") if part in parts), None)
        height = (
            depth - 1 - int(parts[parts.index(layer) + 1])
            if layer
            else depth
            if "embeddings" in parts
            else 0
        )
        rate = (
            recipe.learning_rate
            * recipe.layer_decay**height
            * (recipe.head_rate if parts[0] in _HEADS else 1)
        )
        groups.setdefault((rate, 0.0 if value.ndim < 2 else recipe.weight_decay), []).append(value)
    return [
        {"params": values, "lr": rate, "weight_decay": decay}
        for (rate, decay), values in groups.items()
    ]


class Run:
    """One training run: weights, their average, optimiser, schedule, and how far it is."""

    def __init__(
        self,
        model: Any,
        count: int,
        loss_of: Loss,
        recipe: Recipe,
        *,
        processes: Alone | None = None,
        rng: np.random.Generator | None = None,
    ) -> None:
        self.model, self.loss_of, self.recipe, self.rng = model, loss_of, recipe, rng
        self.processes = processes or Alone()
        self.optimizer = torch.optim.AdamW(
            parameter_groups(model, recipe),
            lr=recipe.learning_rate,
            betas=(recipe.beta1, recipe.beta2),
            fused=True,
        )
        self.stepper = self.processes.wrap(self.optimizer)
        self.steps = recipe.epochs * -(-count // recipe.batch_size)
        self.schedule = get_linear_schedule_with_warmup(
            self.optimizer, int(recipe.warmup * self.steps), self.steps
        )
        self.trained = [p for p in model.parameters() if p.requires_grad]
        self.average = [p.detach().clone() for p in self.trained] if recipe.average else []
        self.best: list[torch.Tensor] = []
        self.at = Position()
        self.epoch_state: Any = None  # of `rng` before the batches of the running epoch were drawn
        self.later_state: Any = None  # of `rng` where the checkpoint was written, to be set once those batches are drawn again

    @property
    def is_over(self) -> bool:
        """All epochs done, or none better for too long?"""
        at, patience = self.at, self.recipe.patience
        return at.epoch >= self.recipe.epochs or bool(
            patience and at.scores and at.epoch - at.best >= patience
        )

    def go(
        self,
        epoch_of: Callable[[], Sequence[Rows]],
        *,
        unit: str,
        say: Say,
        judge: Callable[[], float] | None = None,
        keeper: Keeper | None = None,
        tick: Tick | None = None,
    ) -> None:
        """Train to the end; the weights that are kept are then in the model."""
        at, reused, began = self.at, self.at.step, time.monotonic() - self.at.seconds
        self.model.train()
        while not self.is_over:
            batches = self._draw(epoch_of)
            for rows in batches[at.within :]:
                self._step(rows)
                at.within, at.seconds = at.within + 1, time.monotonic() - began
                if tick:
                    tick(at.step, self.steps, reused)
                elif at.step % SAY_EVERY == 0:
                    a_step = at.seconds / at.step
                    say(
                        f"{self.recipe.name}: epoch {at.epoch + 1}, step {at.step}/{self.steps}, loss {at.running / (1 - 0.98**at.step):.3f}, "
                        f"{at.seen / at.seconds:.0f} {unit}/s, {a_step * (self.steps - at.step) / 60:.0f} min left"
                    )
                if keeper and at.step % keeper.every == 0 and at.within < len(batches):
                    keeper.save(self)
            at.epoch, at.within = at.epoch + 1, 0
            if judge:
                self._judge(judge, say)
                at.seconds = time.monotonic() - began
            if keeper:
                keeper.save(self)
        put(self.trained, self.best or self.average)

    def _draw(self, epoch_of: Callable[[], Sequence[Rows]]) -> Sequence[Rows]:
        if self.rng is None:
            return epoch_of()
        self.epoch_state = self.rng.bit_generator.state
        batches = epoch_of()
        if self.later_state is not None:
            self.rng.bit_generator.state, self.later_state = self.later_state, None
        return batches

    def _step(self, rows: Rows) -> None:
        at, crew = self.at, self.processes
        at.step += 1
        loss = self._loss(rows)
        crew.backward(loss)
        crew.clip(self.trained)
        self.stepper.step()
        self.schedule.step()
        self.stepper.zero_grad(set_to_none=True)
        if self.average and at.step % AVERAGE_EVERY == 0:
            keep = min(self.recipe.average**AVERAGE_EVERY, at.step / (at.step + 100))
            torch._foreach_lerp_(self.average, [p.detach() for p in self.trained], 1 - keep)
        at.seen, at.running = at.seen + len(rows), 0.98 * at.running + 0.02 * float(loss.detach())
        if not math.isfinite(at.running):
            raise EvenhandError(
                f"the loss is no number any more at step {at.step} of {self.steps}; give a lower learning rate than {self.recipe.learning_rate:g}"
            )

    def _loss(self, rows: Rows) -> torch.Tensor:
        """The mean loss of this process's part, weighted so that the mean over the processes is the mean over `rows`."""
        crew = self.processes
        if crew.count == 1:
            return self.loss_of(rows, rows)
        own = rows[crew.rank :: crew.count]
        # A process without a part computes one row for nothing, since the others wait for its gradients.
        return self.loss_of(own if len(own) else rows[:1], rows) * (
            len(own) * crew.count / len(rows)
        )

    def _judge(self, judge: Callable[[], float], say: Say) -> None:
        with self._averaged():
            score = judge()
            self.at.scores.append(score)
            is_better = self.at.best == self.at.epoch
            if is_better and self.recipe.is_best_kept:
                self.best = [p.detach().clone() for p in self.trained]
        self.model.train()
        say(
            f"{self.recipe.name}: epoch {self.at.epoch} of {self.recipe.epochs}, dev accuracy {score:.2%}{', the best so far' if is_better else ''}"
        )

    @contextmanager
    def _averaged(self) -> Iterator[None]:
        """The averaged weights in the model, and then those of before again."""
        before = [p.detach().clone() for p in self.trained] if self.average else []
        put(self.trained, self.average)
        yield
        put(self.trained, before)


def put(places: Sequence[Any], values: Sequence[torch.Tensor]) -> None:
    """Copy values into parameters; no values, no change."""
    with torch.no_grad():
        for place, value in zip(places, values, strict=bool(values)):
            place.copy_(value)


def optimise(
    model: Any,
    count: int,
    epoch_of: Callable[[], Sequence[Rows]],
    loss_of: Callable[[Rows], torch.Tensor],
    recipe: Recipe,
    *,
    unit: str,
    say: Say,
) -> float:
    """Train on `count` examples for the recipe's epochs, leave the averaged weights in the model; seconds that it took."""
    run = Run(model, count, lambda rows, _: loss_of(rows), recipe)
    run.go(epoch_of, unit=unit, say=say)
    return run.at.seconds
