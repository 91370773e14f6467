"""Who trains? One process, or as many as `accelerate launch` starts, on GPUs, CPUs or several machines; the loop is the same for both."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import torch


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
