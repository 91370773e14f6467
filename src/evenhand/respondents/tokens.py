"""How does a model cut text into tokens? Its tokenizer.json, or a plain vocab.txt, opened without torch."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.core.files import read_text


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """A JSON file of the folder; empty if it is not there."""
    path = folder / name
    if not path.exists():
        return {}
    try:
        return dict(json.loads(read_text(path)))
    except (json.JSONDecodeError, TypeError, ValueError) as error:
        raise LoadError(f"{path} is not JSON ({error})") from error


def open_tokenizer(folder: Path) -> Any:
    """The tokeniser of a model folder, without cutting and padding."""
    from tokenizers import BertWordPieceTokenizer, Tokenizer

    fast, plain = folder / "tokenizer.json", folder / "vocab.txt"
    try:
        if fast.exists():
            tokenizer = Tokenizer.from_file(str(fast))
        elif plain.exists():
            told = read_config(folder, "tokenizer_config.json")
            tokenizer = BertWordPieceTokenizer(
                str(plain),
                lowercase=told.get("do_lower_case", True),
                strip_accents=told.get("strip_accents"),
                handle_chinese_chars=told.get("tokenize_chinese_chars", True),
            )._tokenizer
        else:
            raise LoadError(
                f"{folder} has neither tokenizer.json nor vocab.txt; save the model with a fast tokeniser (tokenizer.save_pretrained)"
            )
    except LoadError:
        raise
    except Exception as error:  # tokenizers raises bare Exception
        raise LoadError(
            f"the tokeniser of {folder} cannot be loaded: {str(error).splitlines()[0][:300]}"
        ) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def find_pad(config: dict[str, Any], tokenizer: Any) -> int:
    """The id that fills up a batch."""
    told = config.get("pad_token_id")
    if isinstance(told, int):
        return told
    found = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return int(next((i for i in found if i is not None), 0))


def find_mask(folder_name: str, tokenizer: Any) -> int:
    """The id of the mask; an error where the tokeniser has none."""
    found = (tokenizer.token_to_id(token) for token in ("[MASK]", "<mask>"))
    mask: int | None = next((i for i in found if i is not None), None)
    if mask is None:
        raise LoadError(
            f"the tokeniser of '{folder_name}' has no mask token ([MASK], <mask>): it is no masked language model"
        )
    return mask


def find_unknown(tokenizer: Any) -> int | None:
    """The id of an unknown word; None where every text can be written."""
    model = json.loads(tokenizer.to_str())["model"]
    if model.get("unk_id") is not None:
        return int(model["unk_id"])
    token = model.get("unk_token")
    found = tokenizer.token_to_id(token) if token else None
    return None if found is None or model.get("byte_fallback") else int(found)
