"""Pairs as token ids, batches of similar length, and the loss of a batch.

Counterfactual logit pairing (Garg et al. 2019): loss = cross entropy of the pairs + weight x mean
over the pairs that have a twin of the mean squared difference of their logits. The twins' labels
are not trained on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from evenhand.core.corpora import Pair
from evenhand.core.errors import LoadError
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.forms import PAIR, find_form
from evenhand.train.loop import Loss, Rows
from evenhand.train.recipes import Recipe

POOL = 64  # batches that are sorted by length together
Call = Callable[[Mapping[str, torch.Tensor]], torch.Tensor]  # inputs to logits
Criterion = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


def in_order(lengths: Rows, size: int) -> Iterator[Rows]:
    """Batches that hold everything once, shortest first."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), size):
        yield order[start : start + size]


def shuffled(lengths: Rows, size: int, rng: np.random.Generator) -> list[Rows]:
    """One epoch of batches of similar length, in random order; which needs hardly any padding."""
    order = rng.permutation(len(lengths))
    batches: list[Rows] = []
    for start in range(0, len(order), size * POOL):
        pool = order[start : start + size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        batches += [pool[i : i + size] for i in range(0, len(pool), size)]
    return [batches[i] for i in rng.permutation(len(batches))]


class EncodedPairs:
    """Pairs as token ids, encoded once, in the form in which the model will be asked.

    order: which output means which label. With `has_twins` the twins of the pairs follow the pairs
    themselves in `ids` and `sizes`; `twins` says where each pair's is, -1 where it has none.
    """

    def __init__(
        self,
        tokenizer: Any,
        pairs: Sequence[Pair],
        max_length: int,
        form: str = PAIR,
        order: Sequence[str] = NLI_LABELS,
        *,
        has_twins: bool = False,
    ) -> None:
        twins = [p.twin if has_twins else None for p in pairs]
        asked = [*((p.premise, p.hypothesis) for p in pairs), *(t for t in twins if t)]
        supposition = find_form(form)
        texts = (
            ([supposition.write(p, h) for p, h in asked],)
            if supposition
            else ([p for p, _ in asked], [h for _, h in asked])
        )
        require_padding(tokenizer)
        encoded = tokenizer(
            *texts, truncation=True, max_length=max_length, return_token_type_ids=True
        )
        self.ids = [np.asarray(i) for i in encoded["input_ids"]]
        self.types = [np.asarray(t) for t in encoded["token_type_ids"]]
        self.labels = np.asarray([order.index(p.label) for p in pairs])
        self.sizes = np.asarray([len(i) for i in self.ids])
        self.lengths = self.sizes[: len(pairs)]
        is_there = np.asarray([t is not None for t in twins])
        self.twins: Rows = np.where(is_there, len(pairs) - 1 + np.cumsum(is_there), -1)
        self.pad = tokenizer.pad_token_id
        # RoBERTa and DistilBERT have no segments
        self.has_types = "token_type_ids" in tokenizer.model_input_names

    def __len__(self) -> int:
        return len(self.labels)

    def batch(self, rows: Rows) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Inputs padded to the longest of the batch, and labels."""
        return self.inputs(rows), torch.from_numpy(self.labels[rows])

    def inputs(self, rows: Rows) -> dict[str, torch.Tensor]:
        """Pairs or twins, padded to the longest of them."""
        width = int(self.sizes[rows].max())
        ids = np.full((len(rows), width), self.pad)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for k, i in enumerate(rows):
            length = self.sizes[i]
            ids[k, :length], types[k, :length], mask[k, :length] = self.ids[i], self.types[i], 1
        arrays = {"input_ids": ids, "attention_mask": mask}
        if self.has_types:
            arrays["token_type_ids"] = types
        return {name: torch.from_numpy(array) for name, array in arrays.items()}


def require_padding(tokenizer: Any) -> None:
    """Raise LoadError where pairs of different length cannot be put into one batch."""
    if tokenizer.pad_token_id is None:
        raise LoadError(
            "the tokenizer of the encoder has no token for padding; "
            "name an encoder of the kind of BERT or RoBERTa"
        )


def logits_of(model: Any, device: torch.device) -> Call:
    """The model as a function from inputs to logits."""
    return lambda inputs: (
        model(**{name: tensor.to(device) for name, tensor in inputs.items()}).logits
    )


def choose_loss(call: Call, data: EncodedPairs, recipe: Recipe) -> Loss:
    """The loss of the recipe: cross entropy, and pairing where it has a weight."""
    criterion = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    if recipe.pairing:
        return paired_loss(call, data, criterion, recipe.pairing)
    return plain_loss(call, data, criterion)


def plain_loss(call: Call, data: EncodedPairs, criterion: Criterion) -> Loss:
    """The loss of the labels alone."""

    def loss_of(rows: Rows, _: Rows) -> torch.Tensor:
        inputs, labels = data.batch(rows)
        logits = call(inputs)
        return criterion(logits, labels.to(logits.device))

    return loss_of


def paired_loss(call: Call, data: EncodedPairs, criterion: Criterion, weight: float) -> Loss:
    """The loss of the labels, plus the weighted difference from the twins.

    Twins are computed in the same call, which takes little longer as they need little padding.
    """

    def loss_of(rows: Rows, batch: Rows) -> torch.Tensor:
        paired = np.flatnonzero(data.twins[rows] >= 0)
        logits = call(data.inputs(np.concatenate([rows, data.twins[rows[paired]]])))
        labels = torch.from_numpy(data.labels[rows]).to(logits.device)
        loss = criterion(logits[: len(rows)], labels)
        if not len(paired):
            return loss
        differences = logits[torch.from_numpy(paired).to(logits.device)] - logits[len(rows) :]
        apart = differences.square().mean(dim=1).sum()
        # Where processes share a batch, the loop weighs each by its rows: so does this mean, which
        # is over the twins of the whole batch.
        share = (len(batch) / len(rows)) / int((data.twins[batch] >= 0).sum())
        return loss + weight * share * apart

    return loss_of
