"""How is a sentence encoder read? One vector a text, from the vectors of its tokens or from a graph that gives sentences at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.encoding import FEEDS, Encoded
from evenhand.respondents.onnx_route import OnnxNetwork
from evenhand.respondents.pooling import Recipe, pool
from evenhand.respondents.tokens import find_unknown
from evenhand.respondents.words_network import WordsNetwork

_UNUSED = (
    "pooler",
    "decoder",
)  # parts that transformers adds to an encoder and that no vector goes through
_LABELS = 3  # a sentence vector of so few numbers is a row of labels


class EncoderRoute(Protocol):
    """What the respondent needs of any route."""

    name: str
    precision: str
    tokenizer: Any
    unknown: int | None
    longest: int
    pooling: str  # as it is done: mean, cls, or by the graph or the model itself
    weights: list[Path]

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One vector a text."""
        ...


def encode(tokenizer: Any, texts: Sequence[Any]) -> list[Encoded]:
    """Token ids and segment numbers of texts or pairs of texts, uncut."""
    return [Encoded(tuple(e.ids), tuple(e.type_ids)) for e in tokenizer.encode_batch(list(texts))]


class EncoderOnnx(OnnxNetwork):
    """A graph whose first output is (batch, length, width) or (batch, width)."""

    feeds = (
        *FEEDS,
        "positions",
    )  # of graphs that evenhand exports from masked models: known, so that the refusal below can say more

    def __init__(self, folder: Path, graph: Path, recipe: Recipe, asked: str | None) -> None:
        super().__init__(folder, graph)
        self.unknown = find_unknown(self.tokenizer)
        self.longest = min(self.longest, recipe.longest or self.longest)
        first = self.session.get_outputs()[0]
        width = first.shape[-1] if first.shape else None
        is_sentence = len(first.shape) == 2
        has_words = "positions" in self.inputs or width == self.config.get(
            "vocab_size", self.tokenizer.get_vocab_size()
        )
        has_labels = first.name == "logits" or (
            is_sentence and isinstance(width, int) and width <= _LABELS
        )
        if len(first.shape) not in (2, 3) or has_words or has_labels:
            raise LoadError(
                f"{graph} has the output '{first.name}' of shape {first.shape}, which is no vector of a token or sentence but what a head says. "
                "Export the encoder without its head, or name a folder with its weights."
            )
        if is_sentence and asked is not None:
            raise LoadError(
                f"{graph} gives finished vectors of sentences: its pooling cannot be chosen. Leave out --pooling {asked}."
            )
        self.pooling = "graph" if is_sentence else recipe.pooling

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network."""
        found = np.asarray(self.run(batch)[0])
        return (
            np.asarray(found, dtype=np.float64)
            if found.ndim == 2
            else pool(found, [len(e.ids) for e in batch], self.pooling)
        )


class EncoderTransformers(WordsNetwork):
    """Any encoder, or the encoder below any head."""

    def __init__(self, reference: str, device: str, recipe: Recipe) -> None:
        super().__init__(reference, device, "AutoModel")
        if untrained := [key for key in self.missing if not any(part in key for part in _UNUSED)]:
            raise LoadError(
                f"'{reference}' lacks weights of its encoder ({', '.join(untrained[:3])}): its vectors would be random"
            )
        if self.config.get("is_encoder_decoder"):
            self.model = self.model.get_encoder()
        self.settle()
        self.longest = min(self.longest, recipe.longest or self.longest)
        self.pooling = recipe.pooling

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network."""
        tokens = self.forward(batch).last_hidden_state.float().cpu().numpy()
        return pool(tokens, [len(e.ids) for e in batch], self.pooling)
