"""Which examples are trained on together? Those of similar length, so that hardly any padding is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.suppositions import PAIR, find_form
from evenhand.train.corpus import Pair

POOL = 64  # batches that are sorted by length together; pools are shuffled, so the order differs between epochs
Rows = NDArray[np.intp]


def in_order(lengths: Rows, size: int) -> Iterator[Rows]:
    """Batches that hold everything once, shortest first."""
    order = np.argsort(lengths, kind="stable")
    for start in range(0, len(order), size):
        yield order[start : start + size]


def shuffled(lengths: Rows, size: int, rng: np.random.Generator) -> list[Rows]:
    """One epoch of batches of similar length, in random order."""
    order = rng.permutation(len(lengths))
    cut: list[Rows] = []
    for start in range(0, len(order), size * POOL):
        pool = order[start : start + size * POOL]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        cut += [pool[i : i + size] for i in range(0, len(pool), size)]
    return [cut[i] for i in rng.permutation(len(cut))]


class Encoded:
    """Pairs as token ids, encoded once, in the form in which the model will be asked; `order` says which output means which label.

    With `has_twins` the twins of the pairs follow the pairs themselves, in `ids` and `sizes`; `twins` says where each pair's is, -1 where it has none.
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
        found = tokenizer(
            *texts, truncation=True, max_length=max_length, return_token_type_ids=True
        )
        self.ids = [np.asarray(i) for i in found["input_ids"]]
        self.types = [np.asarray(t) for t in found["token_type_ids"]]
        self.labels = np.asarray([order.index(p.label) for p in pairs])
        self.sizes = np.asarray([len(i) for i in self.ids])
        self.lengths = self.sizes[: len(pairs)]
        is_there = np.asarray([t is not None for t in twins])
        self.twins: Rows = np.where(is_there, len(pairs) - 1 + np.cumsum(is_there), -1)
        self.pad = tokenizer.pad_token_id
        self.has_types = (
            "token_type_ids" in tokenizer.model_input_names
        )  # RoBERTa and DistilBERT know no segments

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
        tensors = {
            "input_ids": ids,
            "attention_mask": mask,
            **({"token_type_ids": types} if self.has_types else {}),
        }
        return {name: torch.from_numpy(t) for name, t in tensors.items()}


def require_padding(tokenizer: Any) -> None:
    """An error where pairs of different length cannot be put into one batch."""
    if tokenizer.pad_token_id is None:
        raise LoadError(
            "the tokenizer of the encoder has no token for padding; name an encoder of the kind of BERT or RoBERTa"
        )
