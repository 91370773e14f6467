"""Tokenisers of model folders: tokenizer.json or a plain vocab.txt, opened without torch."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.respondents.location import first_line, read_settings
from evenhand.respondents.networks.batches import Encoded


def open_tokenizer(folder: Path) -> Any:
    """The tokeniser of a model folder, without cutting and padding."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    fast, plain = folder / "tokenizer.json", folder / "vocab.txt"
    try:
        if fast.exists():
            tokenizer = Tokenizer.from_file(str(fast))
        elif plain.exists():
            settings = read_settings(folder / "tokenizer_config.json")
            tokenizer = BertWordPieceTokenizer(
                str(plain),
                lowercase=settings.get("do_lower_case", True),
                strip_accents=settings.get("strip_accents"),
                handle_chinese_chars=settings.get("tokenize_chinese_chars", True),
            )._tokenizer
        else:
            raise LoadError(
                f"{folder} has neither tokenizer.json nor vocab.txt; "
                "save the model with a fast tokeniser (tokenizer.save_pretrained)"
            )
    except LoadError:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        reason = first_line(error)
        raise LoadError(f"the tokeniser of {folder} cannot be loaded: {reason}") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def encode(tokenizer: Any, texts: Sequence[Any]) -> list[Encoded]:
    """Token ids and segment numbers of texts or pairs of texts, uncut."""
    return [Encoded(tuple(e.ids), tuple(e.type_ids)) for e in tokenizer.encode_batch(list(texts))]


def find_pad(config: Mapping[str, Any], tokenizer: Any) -> int:
    """The id that fills up a batch."""
    pad = config.get("pad_token_id")
    if isinstance(pad, int):
        return pad
    ids = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return int(next((i for i in ids if i is not None), 0))


def find_mask(model: str, tokenizer: Any) -> int:
    """The id of the mask; raises LoadError where the tokeniser has none."""
    ids = (tokenizer.token_to_id(token) for token in ("[MASK]", "<mask>"))
    mask: int | None = next((i for i in ids if i is not None), None)
    if mask is None:
        raise LoadError(
            f"the tokeniser of '{model}' has no mask token ([MASK], <mask>): "
            "it is no masked language model"
        )
    return mask


def find_unknown(tokenizer: Any) -> int | None:
    """The id of an unknown word; None where every text can be written."""
    model = json.loads(tokenizer.to_str())["model"]
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    token = model.get("unk_token")
    unknown = tokenizer.token_to_id(token) if token else None
    return None if unknown is None or model.get("byte_fallback") else int(unknown)
