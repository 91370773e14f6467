"""How is a masked language model read? Log-probabilities of given tokens at given positions; nothing else leaves the network.

A graph that evenhand exported takes the positions as an input and computes the vocabulary there only; of any other graph the wanted rows are picked out of
its output. An ELECTRA discriminator has no vocabulary: the log-probability that a token was not replaced stands in its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.encoding import FEEDS, Encoded
from evenhand.respondents.heads import read_architecture, read_json
from evenhand.respondents.onnx_route import OnnxNetwork
from evenhand.respondents.tokens import find_mask, find_unknown
from evenhand.respondents.weighing import Want
from evenhand.respondents.words_network import WordsNetwork

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
    whole = top[:, 0].astype(np.float64) + np.log(
        np.exp(logits - top).sum(axis=1, dtype=np.float64)
    )
    picked = np.asarray(rows, dtype=np.intp)
    return np.asarray(logits[picked, np.asarray(tokens, dtype=np.intp)] - whole[picked])


def places_of(wants: Sequence[Want]) -> tuple[list[tuple[int, int]], list[int]]:
    """The distinct (row, position) that are asked for, and which of them each want means."""
    places = {
        place: i
        for i, place in enumerate(dict.fromkeys((row, position) for row, position, _ in wants))
    }
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
        self.mask, self.unknown = (
            find_mask(folder.name, self.tokenizer),
            find_unknown(self.tokenizer),
        )
        shape = self.session.get_outputs()[0].shape
        size = self.tokenizer.get_vocab_size()
        self.is_discriminator = (
            DISCRIMINATOR in (self.config.get("architectures") or ()) and len(shape) == 2
        )
        told = shape[-1]
        if not self.is_discriminator and (
            len(shape) < 2 or (isinstance(told, int) and told < size // 2)
        ):
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
            logits = self.run(
                batch,
                **{
                    POSITIONS: np.asarray(
                        [row * width + column for row, column in places], dtype=np.int64
                    )
                },
            )[0]
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


class MaskedTransformers(WordsNetwork):
    """Any model with a mask head, or an ELECTRA discriminator."""

    def __init__(self, reference: str, device: str) -> None:
        self.is_discriminator = (
            read_architecture(read_json(reference, "config.json") or {}) == DISCRIMINATOR
        )
        super().__init__(
            reference, device, DISCRIMINATOR if self.is_discriminator else "AutoModelForMaskedLM"
        )
        if untrained := [key for key in self.missing if not key.endswith("decoder.bias")]:
            raise LoadError(
                f"'{reference}' has no trained mask head ({', '.join(untrained[:3])} {'are' if len(untrained) > 1 else 'is'} not among its weights): "
                "an encoder or a classifier cannot say how likely a word is. Give a masked language model."
            )
        self.settle()
        self.mask = find_mask(reference, self.tokenizer)
        self.state: dict[str, Any] = {}
        if not self.is_discriminator:
            narrow(self.model, self.state)

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """One run of the network."""
        places, rows = places_of(wants)
        width = max(len(e.ids) for e in batch)
        self.state[POSITIONS] = self.torch.tensor(
            [row * width + column for row, column in places], device=self.device
        )
        logits = self.forward(batch).logits.float().cpu().numpy()
        return (
            unreplaced(logits, wants)
            if self.is_discriminator
            else look_up(logits, rows, [token for _, _, token in wants])
        )
