"""Which examples are trained on together? Those of similar length, so that hardly any padding is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.records import NLI_LABELS
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
    """Pairs as token ids, encoded once, in the form in which the model will be asked; `order` says which output means which label."""

    def __init__(self, tokenizer: Any, pairs: Sequence[Pair], max_length: int, form: str = PAIR, order: Sequence[str] = NLI_LABELS) -> None:
        supposition = find_form(form)
        texts = (
            ([supposition.write(p.premise, p.hypothesis) for p in pairs],)
            if supposition
            else ([p.premise for p in pairs], [p.hypothesis for p in pairs])
        )
        found = tokenizer(*texts, truncation=True, max_length=max_length, return_token_type_ids=True)
        if tokenizer.pad_token_id is None:
            raise LoadError("the tokenizer of the encoder has no token for padding; name an encoder of the kind of BERT or RoBERTa")
        self.ids = [np.asarray(i) for i in found["input_ids"]]
        self.types = [np.asarray(t) for t in found["token_type_ids"]]
        self.labels = np.asarray([order.index(p.label) for p in pairs])
        self.lengths = np.asarray([len(i) for i in self.ids])
        self.pad = tokenizer.pad_token_id
        self.has_types = "token_type_ids" in tokenizer.model_input_names  # RoBERTa and DistilBERT know no segments

    def __len__(self) -> int:
        return len(self.ids)

    def batch(self, rows: Rows) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
        """Inputs padded to the longest of the batch, and labels."""
        width = int(self.lengths[rows].max())
        ids = np.full((len(rows), width), self.pad)
        types, mask = np.zeros_like(ids), np.zeros_like(ids)
        for k, i in enumerate(rows):
            length = self.lengths[i]
            ids[k, :length], types[k, :length], mask[k, :length] = self.ids[i], self.types[i], 1
        tensors = {"input_ids": ids, "attention_mask": mask, **({"token_type_ids": types} if self.has_types else {})}
        return {name: torch.from_numpy(t) for name, t in tensors.items()}, torch.from_numpy(self.labels[rows])
