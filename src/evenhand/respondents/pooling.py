"""How does an encoder make one vector of a sentence? By what the modules of its folder say (sentence-transformers), else the mean of its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError, UnknownNameError
from evenhand.core.probe import Floats
from evenhand.respondents.heads import read_json

POOLINGS = ("mean", "cls")
_KNOWN = {"Transformer", "Pooling", "Normalize"}
_FLAGS = {  # how sentence-transformers told it before version 5
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """From text to vector, apart from the network."""

    pooling: str = "mean"
    is_normalised: bool = False
    is_lowercased: bool = False
    prompt: str = ""  # stands before every text
    longest: int | None = None
    place: str = ""  # where in the folder the network lies
    ignored: tuple[str, ...] = ()  # modules after the pooling that the user chose to do without

    def prepare(self, text: str) -> str:
        """The text as the tokeniser gets it."""
        stripped = self.prompt + text.strip()
        return stripped.lower() if self.is_lowercased else stripped


def pool(tokens: NDArray[np.floating], lengths: Sequence[int], pooling: str) -> Floats:
    """(batch, length, width) to (batch, width): the first token, or the mean of the tokens that are no padding."""
    if pooling == "cls":
        return np.asarray(tokens[:, 0], dtype=np.float64)
    return np.stack(
        [row[:n].mean(axis=0, dtype=np.float64) for row, n in zip(tokens, lengths, strict=True)]
    )


def read_recipe(reference: str, asked: str | None) -> Recipe:
    """What the folder or hub repository of an encoder says; `asked` is the user's own pooling."""
    if asked is not None and asked not in POOLINGS:
        raise UnknownNameError("pooling", asked, POOLINGS)
    modules = read_json(reference, "modules.json")
    if modules is None:
        return Recipe(pooling=asked or "mean")
    try:
        paths = {str(m["type"]).rpartition(".")[2]: str(m.get("path") or "") for m in modules}
    except (AttributeError, KeyError, TypeError) as error:
        raise LoadError(
            f"modules.json of '{reference}' is no list of modules with a type and a path ({type(error).__name__}: {error})"
        ) from error
    others = tuple(sorted(set(paths) - _KNOWN))
    if "Transformer" not in paths:
        raise LoadError(
            f"'{reference}' has the modules {', '.join(paths) or 'none'}; evenhand runs encoders with a Transformer"
        )
    if others and asked is None:
        raise LoadError(
            f"'{reference}' has the module {' and '.join(others)}, which evenhand does not compute: its vectors would not be the model's own. "
            "State --pooling mean or cls to compare them without it."
        )
    beside = _table(reference, paths["Transformer"], "sentence_bert_config.json")
    pooling = (
        _table(reference, paths.get("Pooling", ""), "config.json") if "Pooling" in paths else {}
    )
    prompt = _prompt(reference, pooling)
    longest = beside.get("max_seq_length")
    return Recipe(
        pooling=asked or _pooling(reference, pooling),
        is_normalised="Normalize" in paths,
        is_lowercased=bool(beside.get("do_lower_case")),
        prompt=prompt,
        longest=longest if isinstance(longest, int) else None,
        place=paths["Transformer"],
        ignored=others,
    )


def _table(reference: str, place: str, name: str) -> dict[str, Any]:
    path = f"{place}/{name}" if place else name
    found = read_json(reference, path)
    if found is not None and not isinstance(found, dict):
        raise LoadError(
            f"{path} of '{reference}' is {type(found).__name__}, not an object with settings"
        )
    return found or {}


def _pooling(reference: str, told: Mapping[str, Any]) -> str:
    mode = (
        told.get("pooling_mode")
        or [name for flag, name in _FLAGS.items() if told.get(flag)]
        or ["mean"]
    )
    modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise LoadError(
            f"'{reference}' pools by {' and '.join(map(str, modes))}; evenhand pools by {' or '.join(POOLINGS)}. State one with --pooling to go on with that."
        )
    return str(modes[0])


def _prompt(reference: str, pooling: Mapping[str, Any]) -> str:
    told = _table(reference, "", "config_sentence_transformers.json")
    prompt = str((told.get("prompts") or {}).get(told.get("default_prompt_name")) or "")
    if prompt and pooling.get("include_prompt") is False:
        raise LoadError(
            f"'{reference}' puts '{prompt}' before every text but leaves it out of the mean, which evenhand does not do"
        )
    return prompt
