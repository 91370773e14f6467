"""How is a sentence encoder read? One vector a text, from the vectors of its tokens or from a graph that gives sentences at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.records import Floats
from evenhand.respondents.encoding import FEEDS, Encoded, find_longest, pad_batch
from evenhand.respondents.onnx_route import OnnxNetwork
from evenhand.respondents.pooling import Recipe, pool
from evenhand.respondents.tokens import find_pad, find_unknown, open_tokenizer, read_config
from evenhand.respondents.transformers_route import TransformersNetwork

_UNUSED = ("pooler", "decoder")  # parts that transformers adds to an encoder and that no vector goes through
_LABELS = 3  # a sentence vector of so few numbers is a row of labels


class EncoderRoute(Protocol):
    """What the respondent needs of either route."""

    name: str
    precision: str
    tokenizer: Any
    unknown: int | None
    longest: int
    pooling: str  # as it is done: mean, cls, or by the graph itself
    weights: list[Path]

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One vector a text."""
        ...


def encode(tokenizer: Any, texts: Sequence[Any]) -> list[Encoded]:
    """Token ids and segment numbers of texts or pairs of texts, uncut."""
    return [Encoded(tuple(e.ids), tuple(e.type_ids)) for e in tokenizer.encode_batch(list(texts))]


class EncoderOnnx(OnnxNetwork):
    """A graph whose first output is (batch, length, width) or (batch, width)."""

    feeds = (*FEEDS, "positions")  # of graphs that evenhand exports from masked models: known, so that the refusal below can say more

    def __init__(self, folder: Path, graph: Path, recipe: Recipe, asked: str | None) -> None:
        super().__init__(folder, graph)
        self.unknown = find_unknown(self.tokenizer)
        self.longest = min(self.longest, recipe.longest or self.longest)
        first = self.session.get_outputs()[0]
        width = first.shape[-1] if first.shape else None
        is_sentence = len(first.shape) == 2
        has_words = "positions" in self.inputs or width == self.config.get("vocab_size", self.tokenizer.get_vocab_size())
        has_labels = first.name == "logits" or (is_sentence and isinstance(width, int) and width <= _LABELS)
        if len(first.shape) not in (2, 3) or has_words or has_labels:
            raise LoadError(
                f"{graph} has the output '{first.name}' of shape {first.shape}, which is no vector of a token or sentence but what a head says. "
                "Export the encoder without its head, or name a folder with its weights."
            )
        if is_sentence and asked is not None:
            raise LoadError(f"{graph} gives finished vectors of sentences: its pooling cannot be chosen. Leave out --pooling {asked}.")
        self.pooling = "graph" if is_sentence else recipe.pooling

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network."""
        found = np.asarray(self.run(batch)[0])
        return np.asarray(found, dtype=np.float64) if found.ndim == 2 else pool(found, [len(e.ids) for e in batch], self.pooling)


class WordsNetwork(TransformersNetwork):
    """A network that is fed with the tokens of its tokeniser itself, so that both routes cut text alike."""

    def load_words(self) -> None:
        """The tokeniser without cutting and padding."""
        folder = Path(self.reference)
        self.limit: Any = read_config(folder, "tokenizer_config.json").get("model_max_length") if folder.is_dir() else None
        if (folder / "tokenizer.json").exists() or (folder / "vocab.txt").exists():
            self.tokenizer = open_tokenizer(folder)
            return
        if folder.is_dir() and not any(
            (folder / n).exists() for n in ("tokenizer_config.json", "vocab.json", "spiece.model", "sentencepiece.bpe.model")
        ):
            open_tokenizer(folder)  # transformers would make up an empty tokeniser; this says what is missing
        super().load_words()
        self.limit = self.tokenizer.model_max_length
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise LoadError(f"'{self.reference}' has no fast tokeniser; save it with one (tokenizer.save_pretrained of a fast tokeniser)")
        self.tokenizer = backend
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def settle(self) -> None:
        """What follows from the config and the tokeniser."""
        self.longest = find_longest(self.config, self.limit)
        self.pad, self.unknown = find_pad(self.config, self.tokenizer), find_unknown(self.tokenizer)

    def forward(self, batch: Sequence[Encoded]) -> Any:
        """The outputs of the network for a padded batch."""
        feed = {name: self.torch.from_numpy(table).to(self.device) for name, table in pad_batch(batch, self.pad).items()}
        if not self.config.get("type_vocab_size"):
            del feed["token_type_ids"]
        with self.torch.inference_mode():
            return self.model(**feed)


class EncoderTransformers(WordsNetwork):
    """Any encoder, or the encoder below any head."""

    def __init__(self, reference: str, device: str, recipe: Recipe) -> None:
        super().__init__(reference, device, "AutoModel")
        if untrained := [key for key in self.missing if not any(part in key for part in _UNUSED)]:
            raise LoadError(f"'{reference}' lacks weights of its encoder ({', '.join(untrained[:3])}): its vectors would be random")
        if self.config.get("is_encoder_decoder"):
            self.model = self.model.get_encoder()
        self.settle()
        self.longest = min(self.longest, recipe.longest or self.longest)
        self.pooling = recipe.pooling

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One run of the network."""
        tokens = self.forward(batch).last_hidden_state.float().cpu().numpy()
        return pool(tokens, [len(e.ids) for e in batch], self.pooling)
