"""What does a model read? Token ids and segment numbers; batches of similar length, so that padding is not computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

TOKENS = 2048  # per batch, where the user states no batch size
MOST = 64


class Encoded(NamedTuple):
    """One text or pair as the model reads it."""

    ids: tuple[int, ...]
    types: tuple[int, ...]


def cut_batches(lengths: Sequence[int], batch_size: int | None) -> Iterator[list[int]]:
    """Positions in batches of similar length: `batch_size` each, or as many as keep within a budget of tokens."""
    batch: list[int] = []
    for position in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        most = batch_size or max(1, min(MOST, TOKENS // max(lengths[position], 1)))
        if len(batch) >= most:
            yield batch
            batch = []
        batch.append(position)
    if batch:
        yield batch
