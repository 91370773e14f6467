"""What does a masked language model learn from? Sentences with some whole words hidden, others each time they are seen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import torch

from evenhand.train.corpus import Pair
from evenhand.train.loop import Rows

RATE = 0.2  # share of the words that are hidden, at least one a sentence; of these 80 % become the mask, 10 % another token, 10 % stay


def sentences_of(pairs: Iterable[Pair]) -> list[str]:
    """Every sentence of the pairs once, in order of appearance."""
    return list(
        dict.fromkeys(text.strip() for pair in pairs for text in (pair.premise, pair.hypothesis))
    )


class Sentences:
    """Sentences as token ids with the word that each token belongs to, encoded once."""

    def __init__(self, tokenizer: Any, texts: Sequence[str], max_length: int) -> None:
        found = tokenizer(list(texts), truncation=True, max_length=max_length)
        self.ids = [np.asarray(i) for i in found["input_ids"]]
        self.words = [
            np.asarray([-1 if w is None else w for w in found.word_ids(i)])
            for i in range(len(texts))
        ]
        self.lengths = np.asarray([len(i) for i in self.ids])
        self.pad, self.mask, self.size = (
            tokenizer.pad_token_id,
            tokenizer.mask_token_id,
            len(tokenizer),
        )

    def __len__(self) -> int:
        return len(self.ids)

    def batch(
        self, rows: Rows, rng: np.random.Generator, *, is_training: bool
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
        """Inputs with hidden words, where they are hidden, and which tokens they were. Outside training all hidden tokens become the mask."""
        width = int(self.lengths[rows].max())
        ids = np.full((len(rows), width), self.pad)
        mask, hidden = np.zeros_like(ids), np.zeros(ids.shape, dtype=bool)
        for k, i in enumerate(rows):
            length, words = self.lengths[i], self.words[i]
            ids[k, :length], mask[k, :length] = self.ids[i], 1
            count = int(words.max()) + 1
            if count:
                chosen = rng.choice(count, size=max(1, round(RATE * count)), replace=False)
                hidden[k, :length] = np.isin(words, chosen)
        target = ids[hidden]
        luck = rng.random(len(target)) if is_training else np.zeros(len(target))
        ids[hidden] = np.where(
            luck < 0.8,
            self.mask,
            np.where(luck < 0.9, rng.integers(self.size, size=len(target)), target),
        )
        inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        return inputs, torch.from_numpy(hidden), torch.from_numpy(target)
