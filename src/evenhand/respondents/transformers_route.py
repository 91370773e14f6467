"""How is any other Hugging Face model asked? Through transformers and torch (extra `hf`), from a folder or from the hub."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.encoding import Encoded, find_longest

_WEIGHTS = ("*.safetensors", "*.bin")
_HEADS = ("classifier", "score", "classification_head", "logits_proj", "sequence_summary")
_NETWORK = "The hub could not be reached, or knows no such model: check the name and the network, or download the model and name its folder."


class TransformersNetwork:
    """A model of one class, wherever its weights lie."""

    name = "transformers"
    precision = "fp32"

    def __init__(self, reference: str, device: str, head: str) -> None:
        try:
            import torch
            import transformers
        except ImportError as error:
            raise LoadError(
                f"'{reference}' needs torch and transformers, which are not installed: pip install 'evenhand[hf]'"
            ) from error
        transformers.logging.set_verbosity_error()  # what matters of its report on the weights is said as an error
        transformers.logging.disable_progress_bar()
        self.torch = torch
        self.reference = reference
        is_folder = Path(reference).is_dir()
        try:
            self.stays = os.environ.get("EVENHAND_OFFLINE") == "1"
            self.model, found = getattr(transformers, head).from_pretrained(
                reference,
                dtype=torch.float32,
                local_files_only=self.stays,
                output_loading_info=True,
            )
            self.load_words()
        except LoadError:
            raise
        except (
            Exception
        ) as error:  # the hub client, the tokenisers and torch each have their own exceptions
            reason = (
                str(error).strip().splitlines()[0][:300]
                if str(error).strip()
                else type(error).__name__
            )
            raise LoadError(
                f"cannot load '{reference}': {reason}" + ("" if is_folder else f" {_NETWORK}")
            ) from error
        self.missing = sorted(found["missing_keys"])
        self.device = torch.device(
            ("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device
        )
        self.model.to(self.device).eval()
        self.config: dict[str, Any] = self.model.config.to_dict()
        self.commit: str | None = getattr(self.model.config, "_commit_hash", None)
        self.weights = (
            sorted(p for pattern in _WEIGHTS for p in Path(reference).glob(pattern))
            if is_folder
            else []
        )

    def load_words(self) -> None:
        """The tokeniser of the same name."""
        from transformers import AutoTokenizer

        self.tokenizer = AutoTokenizer.from_pretrained(self.reference, local_files_only=self.stays)


class TransformersRoute(TransformersNetwork):
    """A sequence classifier."""

    def __init__(self, reference: str, device: str) -> None:
        super().__init__(reference, device, "AutoModelForSequenceClassification")
        if untrained := [key for key in self.missing if any(part in key for part in _HEADS)]:
            raise LoadError(
                f"'{reference}' has no trained classification head ({', '.join(untrained[:3])} not among its weights): its labels would be random. "
                "Give a model that was fine-tuned on NLI."
            )
        self.width = int(self.model.config.num_labels)
        self.longest = find_longest(self.config, self.tokenizer.model_max_length)

    def encode(self, texts: Sequence[tuple[str, str] | str]) -> list[Encoded]:
        """Token ids and segment numbers of pairs or of single texts, not of both, uncut."""
        if not texts:
            return []
        first = [t if isinstance(t, str) else t[0] for t in texts]
        second = [t[1] for t in texts if not isinstance(t, str)] or None
        found = self.tokenizer(first, second, truncation=False, verbose=False)
        types = found.get("token_type_ids") or [[0] * len(ids) for ids in found["input_ids"]]
        return [Encoded(tuple(i), tuple(t)) for i, t in zip(found["input_ids"], types, strict=True)]

    def logits(self, batch: list[Encoded]) -> Floats:
        """The raw outputs for a batch, padded to its longest on the side that the tokeniser pads on."""
        columns: dict[str, Any] = {"input_ids": [list(e.ids) for e in batch]}
        if "token_type_ids" in self.tokenizer.model_input_names:
            columns["token_type_ids"] = [list(e.types) for e in batch]
        padded = self.tokenizer.pad(columns, return_tensors="pt").to(self.device)
        with self.torch.inference_mode():
            return np.asarray(self.model(**padded).logits.float().cpu().numpy(), dtype=np.float64)
