"""How is a torch model fed with tokens? With those of its tokeniser itself, so that the torch and the ONNX route cut text alike."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.respondents.encoding import Encoded, find_longest, pad_batch
from evenhand.respondents.tokens import find_pad, find_unknown, open_tokenizer, read_config
from evenhand.respondents.transformers_route import TransformersNetwork


class WordsNetwork(TransformersNetwork):
    """A network that is fed with the tokens of its tokeniser itself, so that both routes cut text alike."""

    def load_words(self) -> None:
        """The tokeniser without cutting and padding."""
        folder = Path(self.reference)
        self.limit: Any = (
            read_config(folder, "tokenizer_config.json").get("model_max_length")
            if folder.is_dir()
            else None
        )
        if (folder / "tokenizer.json").exists() or (folder / "vocab.txt").exists():
            self.tokenizer = open_tokenizer(folder)
            return
        if folder.is_dir() and not any(
            (folder / n).exists()
            for n in (
                "tokenizer_config.json",
                "vocab.json",
                "spiece.model",
                "sentencepiece.bpe.model",
            )
        ):
            open_tokenizer(
                folder
            )  # transformers would make up an empty tokeniser; this says what is missing
        super().load_words()
        self.limit = self.tokenizer.model_max_length
        backend = getattr(self.tokenizer, "backend_tokenizer", None)
        if backend is None:
            raise LoadError(
                f"'{self.reference}' has no fast tokeniser; save it with one (tokenizer.save_pretrained of a fast tokeniser)"
            )
        self.tokenizer = backend
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def settle(self) -> None:
        """What follows from the config and the tokeniser."""
        self.longest = find_longest(self.config, self.limit)
        self.pad, self.unknown = find_pad(self.config, self.tokenizer), find_unknown(self.tokenizer)

    def forward(self, batch: Sequence[Encoded]) -> Any:
        """The outputs of the network for a padded batch."""
        feed = {
            name: self.torch.from_numpy(table).to(self.device)
            for name, table in pad_batch(batch, self.pad).items()
        }
        if not self.config.get("type_vocab_size"):
            del feed["token_type_ids"]
        with self.torch.inference_mode():
            return self.model(**feed)
