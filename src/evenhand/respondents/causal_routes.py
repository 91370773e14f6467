"""How is a causal language model read? Each wanted token is looked up where the model has seen everything before it and nothing else.

A folder in Hugging Face form, a folder with one .gguf file (its weights are unpacked to fp32), or a hub id; all through transformers and torch (extra `hf`).
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.encoding import Encoded, find_longest, pad_batch
from evenhand.respondents.masked_routes import POSITIONS, narrow, places_of
from evenhand.respondents.tokens import find_unknown
from evenhand.respondents.weighing import Want

_WEIGHTS = ("*.safetensors", "*.bin")
ROOM = (
    1 << 26
)  # how many logits are held at once; more texts than that are read one half after the other
_UNPACKERS = ("gguf", "accelerate")  # what transformers needs to read a .gguf file


class CausalRoute(Protocol):
    """What the respondent needs of a route."""

    name: str
    precision: str
    tokenizer: Any
    start: int | None  # the token that stands before every text; None where the tokeniser has none
    unknown: int | None
    longest: int
    weights: list[Path]

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """The log-probability of each wanted (row, position, token), given the tokens before that position."""
        ...


def find_weights(folder: Path) -> list[Path]:
    """The files that hold a folder's weights; a GGUF file only where there is nothing else. An error where it holds no model that can be opened."""
    if found := sorted(p for pattern in _WEIGHTS for p in folder.glob(pattern)):
        return found
    packed = sorted(folder.glob("*.gguf"))
    if not packed and not (folder / "config.json").exists():
        names = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise LoadError(
            f"{folder} is no model folder: it has neither a config.json nor a .gguf file (found: {names})"
        )
    if len(packed) > 1:
        raise LoadError(
            f"{folder} has {len(packed)} .gguf files ({', '.join(p.name for p in packed[:4])}); give a folder with one of them"
        )
    if packed and (
        lacking := [name for name in _UNPACKERS if importlib.util.find_spec(name) is None]
    ):
        raise LoadError(
            f"{packed[0]} is a GGUF file; to read it, install what unpacks it: pip install {' '.join(lacking)}"
        )
    return packed


class CausalTransformers:
    """Any model that predicts the next token."""

    name = "transformers"
    precision = "fp32"

    def __init__(self, reference: str, device: str) -> None:
        is_folder = Path(reference).is_dir()
        self.weights = find_weights(Path(reference)) if is_folder else []
        try:
            import torch
            import transformers
        except ImportError as error:
            raise LoadError(
                f"'{reference}' needs torch and transformers, which are not installed: pip install 'evenhand[hf]'"
            ) from error
        transformers.logging.set_verbosity_error()  # what matters of its report on the weights is said as an error
        transformers.logging.disable_progress_bar()
        self.torch, self.reference = torch, reference
        more: dict[str, Any] = {"local_files_only": os.environ.get("EVENHAND_OFFLINE") == "1"}
        if self.weights and self.weights[0].suffix == ".gguf":
            self.precision, more["gguf_file"] = "gguf/fp32", self.weights[0].name
        try:
            words = transformers.AutoTokenizer.from_pretrained(reference, **more)
            with redirect_stderr(StringIO()):  # unpacking draws a bar of its own
                self.model, found = transformers.AutoModelForCausalLM.from_pretrained(
                    reference, dtype=torch.float32, output_loading_info=True, **more
                )
        except (
            Exception
        ) as error:  # the hub client, the tokenisers and torch each have their own exceptions
            reason = (
                str(error).strip().splitlines()[0][:300]
                if str(error).strip()
                else type(error).__name__
            )
            hint = (
                ""
                if is_folder
                else " Check the name and the network, or download the model and name its folder."
            )
            raise LoadError(
                f"cannot load '{reference}' as a causal language model: {reason}{hint}"
            ) from error
        if missing := sorted(found["missing_keys"]):
            raise LoadError(
                f"'{reference}' has no trained head that predicts the next token ({', '.join(missing[:3])} not among its weights). "
                "Give a causal language model."
            )
        if getattr(words, "backend_tokenizer", None) is None:
            raise LoadError(
                f"'{reference}' has no fast tokeniser, which is needed to find an option's tokens behind its context"
            )
        self.tokenizer = words.backend_tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.start: int | None = (
            words.bos_token_id if words.bos_token_id is not None else words.eos_token_id
        )
        self.unknown = find_unknown(self.tokenizer)
        told = self.model.config.get_text_config()
        self.longest = find_longest(
            told.to_dict(), getattr(told, "max_position_embeddings", None), words.model_max_length
        )
        self.size = int(told.vocab_size)
        self.commit: str | None = getattr(self.model.config, "_commit_hash", None)
        self.device = torch.device(
            ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        )
        self.model.to(self.device).eval()
        self.state: dict[str, Any] = {}
        narrow(self.model, self.state)
        self._check_direction()

    def _check_direction(self) -> None:
        """An error where what comes later changes what was predicted before: transformers loads masked models as causal ones without a word."""
        texts = [Encoded((1, 2, last, last), (0,) * 4) for last in (3, 4)]
        before, after = self.log_probabilities(
            texts, [(row, 1, token) for row in (0, 1) for token in range(1, 5)]
        ).reshape(2, 4)
        if np.abs(before - after).max() > 1e-3:
            told = ", ".join(self.model.config.architectures or ()) or self.model.config.model_type
            raise LoadError(
                f"'{self.reference}' ({told}) reads to the left and to the right: it is no causal language model. Give it without `causal:` if it is a masked one."
            )

    def log_probabilities(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """One run of the network, padded on the right; the vocabulary is computed only where it is looked up."""
        torch = self.torch
        places, rows = places_of(wants)
        if len(batch) > 1 and len(places) * self.size > ROOM:
            return self._halves(batch, wants)
        feed = {
            name: torch.from_numpy(table).to(self.device)
            for name, table in pad_batch(batch, 0).items()
            if name != "token_type_ids"
        }
        width = feed["input_ids"].shape[1]
        flat = [
            row * width + column - 1 for row, column in places
        ]  # a token is predicted where the one before it stands
        self.state[POSITIONS] = torch.tensor(flat, device=self.device)
        with torch.inference_mode():
            logits = self.model(**feed, use_cache=False).logits.float()
            whole = torch.logsumexp(logits, dim=-1)[rows]
            picked = logits[rows, [token for _, _, token in wants]]
            return np.asarray((picked.double() - whole.double()).cpu().numpy())

    def _halves(self, batch: Sequence[Encoded], wants: Sequence[Want]) -> Floats:
        """The same, first one half of the texts and then the other."""
        middle, numbers = len(batch) // 2, np.empty(len(wants))
        for low, high in ((0, middle), (middle, len(batch))):
            held = [i for i, want in enumerate(wants) if low <= want[0] < high]
            part = [(wants[i][0] - low, *wants[i][1:]) for i in held]
            if part:
                numbers[held] = self.log_probabilities(batch[low:high], part)
        return numbers
