"""How are the two genders' answers pulled together while training? By the difference between the logits of a pair and of its twin.

Counterfactual logit pairing (Garg et al. 2019): loss = cross entropy of the pairs + weight x mean over the pairs that have a twin of the mean squared
difference of their logits. The twins' labels are not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch

from evenhand.train.batching import Encoded
from evenhand.train.loop import Loss, Rows
from evenhand.train.recipes import Recipe

Call = Callable[[Mapping[str, torch.Tensor]], torch.Tensor]  # inputs to logits
Criterion = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def ask(model: Any, device: torch.device) -> Call:
    """The model as a function from inputs to logits."""
    return lambda inputs: (
        model(**{name: tensor.to(device) for name, tensor in inputs.items()}).logits
    )


def choose_loss(call: Call, data: Encoded, recipe: Recipe) -> Loss:
    """The loss of the recipe: cross entropy, and pairing where it has a weight."""
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    return (
        paired_loss(call, data, criterion, recipe.pairing)
        if recipe.pairing
        else plain_loss(call, data, criterion)
    )


def plain_loss(call: Call, data: Encoded, criterion: Criterion) -> Loss:
    """The loss of the labels alone."""

    def loss_of(rows: Rows, _: Rows) -> torch.Tensor:
        inputs, labels = data.batch(rows)
        logits = call(inputs)
        return criterion(logits, labels.to(logits.device))

    return loss_of


def paired_loss(call: Call, data: Encoded, criterion: Criterion, weight: float) -> Loss:
    """The loss of the labels, and of what differs from the twins, which are asked in the same call: hardly longer, they need hardly any padding."""

    def loss_of(rows: Rows, batch: Rows) -> torch.Tensor:
        paired = np.flatnonzero(data.twins[rows] >= 0)
        logits = call(data.inputs(np.concatenate([rows, data.twins[rows[paired]]])))
        loss = criterion(logits[: len(rows)], torch.from_numpy(data.labels[rows]).to(logits.device))
        if not len(paired):
            return loss
        apart = (
            (logits[torch.from_numpy(paired).to(logits.device)] - logits[len(rows) :])
            .square()
            .mean(dim=1)
            .sum()
        )
        # Where processes share a batch, the loop weighs each by its rows: so does this mean, which is over the twins of the whole batch.
        share = (len(batch) / len(rows)) / int((data.twins[batch] >= 0).sum())
        return loss + weight * share * apart

    return loss_of
