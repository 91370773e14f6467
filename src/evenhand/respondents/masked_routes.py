"""How is a masked language model read? Log-probabilities of given tokens at given positions; nothing else leaves the network.

A graph that evenhand exported takes the positions as an input and computes the vocabulary there only; of any other graph the wanted rows are picked out of
its output. An ELECTRA discriminator has no vocabulary: the log-probability that a token was not replaced stands in its place.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.records import Floats
from evenhand.respondents.encoding import FEEDS, Encoded, find_longest, pad_batch
from evenhand.respondents.onnx_route import OnnxNetwork
from evenhand.respondents.tokens import find_mask, find_pad, find_unknown, open_tokenizer, read_config
from evenhand.respondents.transformers_route import TransformersNetwork
from evenhand.respondents.weighing import Want

POSITIONS = "positions"  # input of graphs that evenhand exports: which of the batch's tokens (row x length + column) to predict
DISCRIMINATOR = "ElectraForPreTraining"


class MaskedRoute(Protocol):
    """What the respondent needs of either route."""

    name: str
    precision: str
    is_discriminator: bool
    tokenizer: Any
    mask: int
    unknown: int | None
    longest: int
    weights: list[Path]

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """The log-probability of each wanted (row, position, token)."""
        ...


def look_up(logits: NDArray[np.floating], rows: Sequence[int], tokens: Sequence[int]) -> Floats:
    """log softmax(logits)[rows, tokens], each row normalised once."""
    top = logits.max(axis=1, keepdims=True)
    whole = top[:, 0].astype(np.float64) + np.log(np.exp(logits - top).sum(axis=1, dtype=np.float64))
    picked = np.asarray(rows, dtype=np.intp)
    return np.asarray(logits[picked, np.asarray(tokens, dtype=np.intp)] - whole[picked])


def places_of(wants: Sequence[Want]) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct (row, position) that are asked for, and which of them each want means."""
    places = {place: i for i, place in enumerate(dict.fromkeys((row, position) for row, position, _ in wants))}
    return list(places), [places[row, position] for row, position, _ in wants]


def unreplaced(logits: Floats, wants: Sequence[Want]) -> Floats:
    """log sigmoid(-logit): how likely is each wanted token to be the original one?"""
    picked = np.asarray([float(logits[row, position]) for row, position, _ in wants])
    return np.asarray(-np.logaddexp(0.0, picked))


class MaskedOnnx(OnnxNetwork):
    """A graph with a vocabulary (or a discriminator) as its output."""

    feeds = (*FEEDS, POSITIONS)

    def __init__(self, folder: Path, graph: Path) -> None:
        super().__init__(folder, graph)
        self.mask, self.unknown = find_mask(folder.name, self.tokenizer), find_unknown(self.tokenizer)
        shape = self.session.get_outputs()[0].shape
        size = self.tokenizer.get_vocab_size()
        self.is_discriminator = DISCRIMINATOR in (self.config.get("architectures") or ()) and len(shape) == 2
        told = shape[-1]
        if not self.is_discriminator and (len(shape) < 2 or (isinstance(told, int) and told < size // 2)):
            raise LoadError(
                f"{graph} has an output of shape {shape}, no vocabulary of about {size:,} tokens: it is no masked language model"
            )

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """One run of the network."""
        if self.is_discriminator:
            return unreplaced(self.run(batch)[0], wants)
        places, rows = places_of(wants)
        width = self.fixed_length or max(len(e.ids) for e in batch)
        if POSITIONS in self.inputs:
            logits = self.run(batch, **{POSITIONS: np.asarray([row * width + column for row, column in places], dtype=np.int64)})[0]
        else:
            whole = self.run(batch)[0]
            logits = whole[[row for row, _ in places], [column for _, column in places]]
        return look_up(logits, rows, [token for _, _, token in wants])


def narrow(model: Any, state: dict[str, Any]) -> None:
    """Let the model compute its vocabulary only at state["positions"] (flat): the input of the last layer is cut down to them."""

    def pick(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        hidden = inputs[0]
        return (hidden.reshape(-1, hidden.shape[-1])[state[POSITIONS]], *inputs[1:])

    model.get_output_embeddings().register_forward_pre_hook(pick)


def _architectures(reference: str) -> Sequence[str]:
    """Which classes does the model's config name? None where it cannot be read; loading it will then say why."""
    if Path(reference).is_dir():
        return read_config(Path(reference)).get("architectures") or ()
    try:
        from transformers import AutoConfig

        told = AutoConfig.from_pretrained(reference, local_files_only=os.environ.get("EVENHAND_OFFLINE") == "1")
    except Exception:  # no transformers, no network, no such model: the loading that follows has an error for each
        return ()
    return told.architectures or ()


class MaskedTransformers(TransformersNetwork):
    """Any model with a mask head, or an ELECTRA discriminator."""

    def __init__(self, reference: str, device: str) -> None:
        self.is_discriminator = DISCRIMINATOR in _architectures(reference)
        super().__init__(reference, device, DISCRIMINATOR if self.is_discriminator else "AutoModelForMaskedLM")
        if untrained := [key for key in self.missing if not key.endswith("decoder.bias")]:
            raise LoadError(
                f"'{reference}' has no trained mask head ({', '.join(untrained[:3])} {'are' if len(untrained) > 1 else 'is'} not among its weights): "
                "an encoder or a classifier cannot say how likely a word is. Give a masked language model."
            )
        self.longest = find_longest(self.config, self.limit)
        self.pad, self.mask = find_pad(self.config, self.tokenizer), find_mask(reference, self.tokenizer)
        self.unknown = find_unknown(self.tokenizer)
        self.state: dict[str, Any] = {}
        if not self.is_discriminator:
            narrow(self.model, self.state)

    def load_words(self) -> None:
        """The tokeniser itself, so that both routes cut text alike."""
        folder = Path(self.reference)
        self.limit: Any = read_config(folder, "tokenizer_config.json").get("model_max_length") if folder.is_dir() else None
        if (folder / "tokenizer.json").exists() or (folder / "vocab.txt").exists():
            self.tokenizer = open_tokenizer(folder)
            return
        super().load_words()
        self.limit = self.tokenizer.model_max_length
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise LoadError(f"'{self.reference}' has no fast tokeniser, which is needed to find a word's tokens in its sentence")
        self.tokenizer = backend
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """One run of the network."""
        feed = {name: self.torch.from_numpy(table).to(self.device) for name, table in pad_batch(batch, self.pad).items()}
        if "token_type_ids" in feed and not self.config.get("type_vocab_size"):
            del feed["token_type_ids"]
        places, rows = places_of(wants)
        width = feed["input_ids"].shape[1]
        self.state[POSITIONS] = self.torch.tensor([row * width + column for row, column in places], device=self.device)
        with self.torch.inference_mode():
            logits = self.model(**feed).logits.float().cpu().numpy()
        return unreplaced(logits, wants) if self.is_discriminator else look_up(logits, rows, [token for _, _, token in wants])
