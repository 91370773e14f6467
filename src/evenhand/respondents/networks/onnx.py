"""ONNX folders asked without torch: onnxruntime for the network, tokenizers for the words."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.location import ONNX, Location, first_line, read_settings
from evenhand.respondents.networks.batches import (
    FEEDS,
    TRIAL_PAIRS,
    TRIAL_TEXTS,
    Encoded,
    Lookup,
    depends_on_batch,
    distinct_positions,
    find_longest,
    pad_batch,
    trial_lookups,
)
from evenhand.respondents.networks.onnx_file import read_onnx
from evenhand.respondents.networks.tokens import (
    encode,
    find_mask,
    find_pad,
    find_unknown,
    open_tokenizer,
)
from evenhand.respondents.pooling import VectorRecipe, pool

Text = tuple[str, str] | str  # what a classifier reads: a pair, or one text
# An input of graphs that evenhand exports: which of the batch's tokens (row x length + column)
# to predict.
POSITIONS = "positions"
DISCRIMINATOR = "ElectraForPreTraining"
_LABELS = 3  # an output of this many numbers or fewer is a row of labels, not a vector


def open_session(graph: Path | bytes) -> Any:
    """A session on the cpu, quiet, with as many threads as EVENHAND_THREADS says."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("EVENHAND_THREADS", "0"))
    options.log_severity_level = 3
    model = graph if isinstance(graph, bytes) else str(graph)
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


class OnnxNetwork:
    """A network and its tokeniser, whatever its outputs mean."""

    name = ONNX
    feeds: tuple[str, ...] = FEEDS

    def __init__(self, location: Location) -> None:
        if location.folder is None or location.graph is None:
            raise LoadError(f"'{location.place}' has no ONNX graph")
        folder, self.graph = location.folder, location.graph
        self.config = location.config
        self.tokenizer = open_tokenizer(folder)
        try:
            self.session = open_session(self.graph)
        except Exception as error:  # onnxruntime raises private exception types
            raise LoadError(f"{folder} cannot be loaded: {first_line(error)}") from error
        self.inputs = {node.name: node.shape for node in self.session.get_inputs()}
        if other := sorted(set(self.inputs) - set(self.feeds)):
            raise LoadError(
                f"{self.graph} wants the inputs {', '.join(other)}; "
                f"evenhand gives {', '.join(self.feeds)}"
            )
        self.precision = read_onnx(self.graph).precision
        shapes = [s for n, s in self.inputs.items() if n in FEEDS and len(s) == 2]
        self.fixed_length = next((n for _, n in shapes if isinstance(n, int)), None)
        self.takes_one = any(n == 1 for n, _ in shapes)  # exported for a batch of one text
        self.pad = find_pad(self.config, self.tokenizer)
        limit = read_settings(folder / "tokenizer_config.json").get("model_max_length")
        self.longest = find_longest(self.config, limit, self.fixed_length)

    def must_read_alone(
        self, read: Callable[[list[Encoded]], Floats], texts: Sequence[Encoded]
    ) -> bool:
        """Whether each text is to be read alone: the graph takes one, or the batch changes it."""
        return self.takes_one or depends_on_batch(read, texts, self.longest)

    def run(self, batch: Sequence[Encoded], **more: Any) -> list[Any]:
        """The outputs for a batch, padded to its longest."""
        feed = {**pad_batch(batch, self.pad, self.fixed_length), **more}
        try:
            return list(self.session.run(None, {name: feed[name] for name in self.inputs}))
        except Exception as error:  # private types; mostly a tokenizer.json of another model
            raise LoadError(f"{self.graph} cannot be run: {first_line(error)}") from error


class OnnxClassifier(OnnxNetwork):
    """A sequence classifier."""

    def __init__(self, location: Location) -> None:
        super().__init__(location)
        width = self.session.get_outputs()[0].shape[-1]
        self.width = (
            width if isinstance(width, int) else self.logits(self.encode([("a", "b")])).shape[-1]
        )
        self.is_read_alone = self.must_read_alone(self.logits, self.encode(TRIAL_PAIRS))

    def encode(self, texts: Sequence[Text]) -> list[Encoded]:
        """Token ids and segment numbers of pairs or of single texts, uncut."""
        return encode(self.tokenizer, texts)

    def logits(self, batch: list[Encoded]) -> Floats:
        """The raw outputs for a batch."""
        return np.asarray(self.run(batch)[0], dtype=np.float64)


class OnnxNextSentence(OnnxClassifier):
    """A graph with two outputs, exported from a next-sentence head."""

    def __init__(self, location: Location) -> None:
        super().__init__(location)
        name = location.architecture
        if not name.endswith("ForNextSentencePrediction") or self.width != 2:
            raise LoadError(
                f"{self.graph} has {self.width} outputs and its config.json names "
                f'{name or "no class"}: whether they mean "is next" and "is not" cannot be told. '
                "Export a BertForNextSentencePrediction."
            )


def look_up(logits: NDArray[np.floating], rows: Sequence[int], tokens: Sequence[int]) -> Floats:
    """log softmax(logits)[rows, tokens], each row normalised once."""
    top = logits.max(axis=1, keepdims=True)
    whole = top[:, 0].astype(np.float64) + np.log(
        np.exp(logits - top).sum(axis=1, dtype=np.float64)
    )
    picked = np.asarray(rows, dtype=np.intp)
    return np.asarray(logits[picked, np.asarray(tokens, dtype=np.intp)] - whole[picked])


def unreplaced(logits: Floats, lookups: Sequence[Lookup]) -> Floats:
    """log sigmoid(-logit): how likely each token is the original one, to a discriminator."""
    picked = np.asarray([float(logits[row, position]) for row, position, _ in lookups])
    return np.asarray(-np.logaddexp(0.0, picked))


class OnnxMasked(OnnxNetwork):
    """A graph with a vocabulary as its output, or an ELECTRA discriminator.

    A graph that evenhand exported takes the positions as an input and computes the vocabulary
    there only; of any other graph the wanted rows are picked out of its output.
    """

    feeds = (*FEEDS, POSITIONS)

    def __init__(self, location: Location) -> None:
        super().__init__(location)
        self.mask = find_mask(Path(location.place).name, self.tokenizer)
        self.unknown = find_unknown(self.tokenizer)
        shape = self.session.get_outputs()[0].shape
        size = self.tokenizer.get_vocab_size()
        names = self.config.get("architectures") or ()
        self.is_discriminator = DISCRIMINATOR in names and len(shape) == 2
        is_small = len(shape) < 2 or (isinstance(shape[-1], int) and shape[-1] < size // 2)
        if not self.is_discriminator and is_small:
            raise LoadError(
                f"{self.graph} has an output of shape {shape}, no vocabulary of about {size:,} "
                "tokens: it is no masked language model"
            )
        self.is_read_alone = self.must_read_alone(
            lambda batch: self.log_probabilities(batch, trial_lookups(batch)),
            encode(self.tokenizer, TRIAL_TEXTS),
        )

    def log_probabilities(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        """The log-probability of each token that is looked up; one run of the network."""
        if self.is_discriminator:
            return unreplaced(self.run(batch)[0], lookups)
        positions, rows = distinct_positions(lookups)
        width = self.fixed_length or max(len(e.ids) for e in batch)
        if POSITIONS in self.inputs:
            flat = np.asarray([row * width + column for row, column in positions], dtype=np.int64)
            logits = self.run(batch, **{POSITIONS: flat})[0]
        else:
            whole = self.run(batch)[0]
            logits = whole[[row for row, _ in positions], [column for _, column in positions]]
        return look_up(logits, rows, [token for _, _, token in lookups])


class OnnxEncoder(OnnxNetwork):
    """A graph whose first output is (batch, length, width) or (batch, width)."""

    feeds = (
        *FEEDS,
        POSITIONS,
    )  # accepted here, so that the more specific error below can be raised

    def __init__(self, location: Location, recipe: VectorRecipe, wanted: str | None) -> None:
        super().__init__(location)
        self.unknown = find_unknown(self.tokenizer)
        self.longest = min(self.longest, recipe.longest or self.longest)
        first = self.session.get_outputs()[0]
        width = first.shape[-1] if first.shape else None
        is_sentence = len(first.shape) == 2
        words = self.config.get("vocab_size", self.tokenizer.get_vocab_size())
        has_words = POSITIONS in self.inputs or width == words
        is_narrow = is_sentence and isinstance(width, int) and width <= _LABELS
        if len(first.shape) not in (2, 3) or has_words or first.name == "logits" or is_narrow:
            raise LoadError(
                f"{self.graph} has the output '{first.name}' of shape {first.shape}, which is no "
                "vector of a token or sentence but what a head says. Export the encoder without "
                "its head, or name a folder with its weights."
            )
        if is_sentence and wanted is not None:
            raise LoadError(
                f"{self.graph} gives finished vectors of sentences: its pooling cannot be chosen. "
                f"Leave out --pooling {wanted}."
            )
        self.pooling = "graph" if is_sentence else recipe.pooling
        texts = encode(self.tokenizer, TRIAL_TEXTS)
        self.is_read_alone = self.must_read_alone(self.vectors, texts)

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One vector per text; one run of the network."""
        output = np.asarray(self.run(batch)[0])
        if output.ndim == 2:
            return np.asarray(output, dtype=np.float64)
        return pool(output, [len(e.ids) for e in batch], self.pooling)
