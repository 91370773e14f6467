"""What a network is fed: token ids and segment numbers, in batches of similar length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FEEDS = ("input_ids", "attention_mask", "token_type_ids")
TOKENS = 2048  # per batch, where the user states no batch size
MOST = 64
Lookup = tuple[int, int, int]  # the token to look up: text, position, token
# Models whose positions start after the padding index: 514 positions hold 512 tokens.
_SHIFTED = {
    "roberta",
    "xlm-roberta",
    "xlm-roberta-xl",
    "roberta-prelayernorm",
    "camembert",
    "mpnet",
    "longformer",
    "data2vec-text",
    "luke",
    "xmod",
}


class Encoded(NamedTuple):
    """One text or pair as the model reads it."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


def cut_batches(lengths: Sequence[int], batch_size: int | None) -> Iterator[list[int]]:
    """Positions in batches of similar length.

    A batch has `batch_size` of them, or as many as keep within a budget of tokens.
    """
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        most = batch_size or max(1, min(MOST, TOKENS // max(lengths[position], 1)))
        if len(batch) >= most:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch


def pad_batch(
    batch: Sequence[Encoded], pad: int, length: int | None = None
) -> dict[str, NDArray[np.int64]]:
    """Ids, attention and segments, padded on the right to `length` or to the longest."""
    width = length or max(len(e.ids) for e in batch)
    feed = {name: np.zeros((len(batch), width), dtype=np.int64) for name in FEEDS}
    feed["input_ids"][:] = pad
    for row, encoded in enumerate(batch):
        length = len(encoded.ids)
        feed["input_ids"][row, :length] = encoded.ids
        feed["token_type_ids"][row, :length] = encoded.types
        feed["attention_mask"][row, :length] = 1
    return feed


def distinct_positions(lookups: Sequence[Lookup]) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct (row, position) that are asked for, and which of them each lookup means."""
    asked = dict.fromkeys((row, position) for row, position, _ in lookups)
    numbers = {place: i for i, place in enumerate(asked)}
    return list(numbers), [numbers[row, position] for row, position, _ in lookups]


def find_longest(config: Mapping[str, Any], *limits: Any) -> int:
    """How many tokens a text or pair may have.

    The least of the model's positions and the other limits; 512 where nothing is known.
    """
    positions = config.get("max_position_embeddings")
    if isinstance(positions, int) and config.get("model_type") in _SHIFTED:
        pad = config.get("pad_token_id")
        positions -= (pad if isinstance(pad, int) else 1) + 1
    return min(
        (int(n) for n in (positions, *limits) if isinstance(n, int | float) and 0 < n < 1e6),
        default=512,
    )
