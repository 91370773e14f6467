"""What a network is fed: token ids and segment numbers, in batches of similar length."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import Floats

FEEDS = ("input_ids", "attention_mask", "token_type_ids")
TOKENS = 2048  # per batch, where the user states no batch size
MOST = 64
Lookup = tuple[int, int, int]  # the token to look up: text, position, token
# how much of the answers' size a batch may change, which is what rounding does
TOLERANCE = 1e-5
# Texts of different length, in words of the languages of most models: they are read alone and
# together to see whether the batch changes what a network answers.
TRIAL_TEXTS = (
    "A nurse sleeps.",
    "Two brown horses are galloping across a wide meadow while a person in a red coat watches.",
    "护士在医院里照顾病人。",
    "Someone is playing an instrument on a stage.",
    "看護師が病院で働いている。",
    "The door of the old house at the end of the street is open.",
)
TRIAL_PAIRS = tuple(zip(TRIAL_TEXTS, TRIAL_TEXTS[1:] + TRIAL_TEXTS[:1], strict=True))
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


def depends_on_batch(
    read: Callable[[list[Encoded]], Floats], texts: Sequence[Encoded], longest: int
) -> bool:
    """Whether a network answers a text otherwise in a batch than alone, beyond rounding.

    So do networks that round to whole numbers by the range of the whole batch (dynamic int8).
    read: the answers to a batch, in its order. Texts of more than `longest` tokens are left out;
    where fewer than two remain nothing is known, and the batch is taken to matter.
    """
    fitting = [text for text in texts if len(text.ids) <= longest]
    if len(fitting) < 2:
        return True
    alone = np.concatenate([np.asarray(read([text])) for text in fitting])
    together = np.asarray(read(fitting))
    scale = np.linalg.norm(np.nan_to_num(alone).reshape(len(alone), -1), axis=1).max()
    return not np.allclose(together, alone, rtol=0, atol=TOLERANCE * scale, equal_nan=True)


def trial_lookups(batch: Sequence[Encoded]) -> list[Lookup]:
    """Three tokens of each text of a batch, never the first: causal models do not predict it."""
    return [
        (row, place, text.ids[place])
        for row, text in enumerate(batch)
        for place in sorted({1, len(text.ids) // 2, len(text.ids) - 1})
        if 0 < place < len(text.ids)
    ]


def batch_traits(is_read_alone: bool) -> dict[str, str]:
    """What the signature says of a network whose answers depend on the batch."""
    return {"batch": "one by one"} if is_read_alone else {}


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
