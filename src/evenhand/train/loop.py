"""How are weights fitted without wasting work? One loop for every recipe.

Fused optimiser, linear warm-up and decay, and a moving average of the weights, which is what is kept and evaluated.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import get_linear_schedule_with_warmup

from evenhand.train.recipes import Recipe

Rows = NDArray[np.intp]
AVERAGE_EVERY = 8  # steps between two updates of the moving average
SAY_EVERY = 100


def parameter_groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate (lower in lower layers) and weight decay (none for biases and norms)."""
    depth = model.config.num_hidden_layers
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        parts = name.split(".")
        height = depth - 1 - int(parts[parts.index("layer") + 1]) if "layer" in parts else depth if "embeddings" in parts else 0
        rate = recipe.learning_rate * recipe.layer_decay**height * (recipe.head_rate if parts[0] in ("classifier", "cls") else 1)
        groups.setdefault((rate, 0.0 if value.ndim < 2 else recipe.weight_decay), []).append(value)
    return [{"params": values, "lr": rate, "weight_decay": decay} for (rate, decay), values in groups.items()]


def optimise(
    model: Any,
    count: int,
    epoch_of: Callable[[], Sequence[Rows]],
    loss_of: Callable[[Rows], torch.Tensor],
    recipe: Recipe,
    *,
    unit: str,
    say: Callable[[str], None],
) -> float:
    """Train on `count` examples for the recipe's epochs, leave the averaged weights in the model; seconds that it took."""
    optimizer = torch.optim.AdamW(parameter_groups(model, recipe), lr=recipe.learning_rate, betas=(0.9, 0.999), fused=True)
    steps = recipe.epochs * -(-count // recipe.batch_size)
    schedule = get_linear_schedule_with_warmup(optimizer, int(recipe.warmup * steps), steps)
    trained = [p for p in model.parameters() if p.requires_grad]
    average = [p.detach().clone() for p in trained]
    start, step, seen, running = time.monotonic(), 0, 0, 0.0
    model.train()
    for epoch in range(1, recipe.epochs + 1):
        for rows in epoch_of():
            step += 1
            loss = loss_of(rows)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0, foreach=True)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            if step % AVERAGE_EVERY == 0:
                keep = min(recipe.average**AVERAGE_EVERY, step / (step + 100))
                torch._foreach_lerp_(average, [p.detach() for p in trained], 1 - keep)
            seen, running = seen + len(rows), 0.98 * running + 0.02 * float(loss.detach())
            if step % SAY_EVERY == 0:
                took = time.monotonic() - start
                say(
                    f"{recipe.name}: epoch {epoch}, step {step}/{steps}, loss {running / (1 - 0.98**step):.3f}, {seen / took:.0f} {unit}/s, "
                    f"{took / step * (steps - step) / 60:.0f} min left"
                )
    with torch.no_grad():
        for value, mean in zip(trained, average, strict=True):
            value.copy_(mean)
    return time.monotonic() - start
