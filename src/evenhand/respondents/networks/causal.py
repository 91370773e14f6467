"""Causal language models through torch: a folder, a folder with one .gguf file, or a hub id.

Each token is looked up where the model has seen everything before it and nothing else. The
weights of a .gguf file are unpacked to fp32.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.location import Location, no_model_folder
from evenhand.respondents.networks.batches import (
    TRIAL_TEXTS,
    Encoded,
    Lookup,
    depends_on_batch,
    distinct_positions,
    find_longest,
    pad_batch,
    trial_lookups,
)
from evenhand.respondents.networks.onnx import POSITIONS
from evenhand.respondents.networks.tokens import encode, find_unknown
from evenhand.respondents.networks.torch import TorchNetwork, bare_tokenizer, predict_only_at

# how many logits are held at once; a batch that needs more is read in two halves
MOST_LOGITS = 1 << 26
_UNPACKERS = ("gguf", "accelerate")  # what transformers needs to read a .gguf file


def find_gguf(location: Location) -> str:
    """The name of the .gguf file that holds a folder's weights; empty where others do.

    Raises LoadError where the folder holds no model that can be opened.
    """
    folder, weights = location.folder, location.weights
    if folder is None:
        return ""
    if not weights and not (folder / "config.json").exists():
        raise no_model_folder(folder, "a config.json", "a .gguf file")
    packed = [p for p in weights if p.suffix == ".gguf"]
    if len(packed) > 1:
        names = ", ".join(p.name for p in packed[:4])
        raise LoadError(
            f"{folder} has {len(packed)} .gguf files ({names}); give a folder with one of them"
        )
    lacking = [name for name in _UNPACKERS if importlib.util.find_spec(name) is None]
    if packed and lacking:
        raise LoadError(
            f"{packed[0]} is a GGUF file; to read it, install what unpacks it: "
            f"pip install {' '.join(lacking)}"
        )
    return packed[0].name if packed else ""


class TorchCausal(TorchNetwork):
    """Any model that predicts the next token."""

    purpose = " as a causal language model"

    def __init__(self, location: Location, device: str) -> None:
        self.gguf = find_gguf(location)
        super().__init__(location, device, "AutoModelForCausalLM")
        if self.gguf:
            self.precision = f"gguf/{self.precision}"
        if self.missing:
            raise LoadError(
                f"'{self.place}' has no trained head that predicts the next token "
                f"({', '.join(self.missing[:3])} not among its weights). "
                "Give a causal language model."
            )
        words = self.tokenizer
        self.tokenizer = bare_tokenizer(
            words,
            f"'{self.place}' has no fast tokeniser, "
            "which is needed to find an option's tokens behind its context",
        )
        has_start = words.bos_token_id is not None
        self.start: int | None = words.bos_token_id if has_start else words.eos_token_id
        self.unknown = find_unknown(self.tokenizer)
        text = self.model.config.get_text_config()
        positions = getattr(text, "max_position_embeddings", None)
        self.longest = find_longest(text.to_dict(), positions, words.model_max_length)
        self.size = int(text.vocab_size)
        self.state: dict[str, Any] = {}
        predict_only_at(self.model, self.state)
        self._check_direction()
        self.is_read_alone = depends_on_batch(
            lambda batch: self.log_probabilities(batch, trial_lookups(batch)),
            encode(self.tokenizer, TRIAL_TEXTS),
            self.longest,
        )

    @property
    def loading(self) -> dict[str, Any]:
        """What every loader of transformers is given besides the place."""
        return {**super().loading, **({"gguf_file": self.gguf} if self.gguf else {})}

    def load_model(self, loader: str) -> tuple[Any, Any]:
        """The model, and which of its weights were there."""
        with redirect_stderr(StringIO()):  # unpacking draws a bar of its own
            return super().load_model(loader)

    def _check_direction(self) -> None:
        """Raise LoadError where what comes later changes what was predicted before.

        transformers loads masked models as causal ones without complaint.
        """
        texts = [Encoded((1, 2, last, last), (0,) * 4) for last in (3, 4)]
        before, after = self.log_probabilities(
            texts, [(row, 1, token) for row in (0, 1) for token in range(1, 5)]
        ).reshape(2, 4)
        if np.abs(before - after).max() > 1e-3:
            config = self.model.config
            kind = ", ".join(config.architectures or ()) or config.model_type
            raise LoadError(
                f"'{self.place}' ({kind}) reads to the left and to the right: it is no causal "
                "language model. Give it without `causal:` if it is a masked one."
            )

    def log_probabilities(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        """The log-probability of each token that is looked up, given the tokens before it.

        One run of the network, padded on the right; the vocabulary is computed only where it is
        looked up.
        """
        torch = self.torch
        positions, rows = distinct_positions(lookups)
        if len(batch) > 1 and len(positions) * self.size > MOST_LOGITS:
            return self._in_halves(batch, lookups)
        feed = {
            name: torch.from_numpy(table).to(self.device)
            for name, table in pad_batch(batch, 0).items()
            if name != "token_type_ids"
        }
        width = feed["input_ids"].shape[1]
        # a token is predicted where the one before it stands
        flat = [row * width + column - 1 for row, column in positions]
        self.state[POSITIONS] = torch.tensor(flat, device=self.device)
        with torch.inference_mode():
            logits = self.model(**feed, use_cache=False).logits.float()
            whole = torch.logsumexp(logits, dim=-1)[rows]
            picked = logits[rows, [token for _, _, token in lookups]]
            return np.asarray((picked.double() - whole.double()).cpu().numpy())

    def _in_halves(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        """The same, first one half of the texts and then the other."""
        middle, numbers = len(batch) // 2, np.empty(len(lookups))
        for low, high in ((0, middle), (middle, len(batch))):
            held = [i for i, (row, _, _) in enumerate(lookups) if low <= row < high]
            part = [(lookups[i][0] - low, *lookups[i][1:]) for i in held]
            if part:
                numbers[held] = self.log_probabilities(batch[low:high], part)
        return numbers
