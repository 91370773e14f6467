"""How an encoder turns a sentence into one vector: as its modules say, else the mean of tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError, UnknownNameError
from evenhand.core.probe import Floats
from evenhand.respondents.location import Location

POOLINGS = ("mean", "cls")
_KNOWN = {"Transformer", "Pooling", "Normalize"}
_FLAGS = {  # as sentence-transformers wrote it before version 5
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorRecipe:
    """How a text becomes a vector, before and after the network."""

    pooling: str = "mean"
    is_normalised: bool = False
    is_lowercased: bool = False
    prompt: str = ""  # stands before every text
    longest: int | None = None
    subfolder: str = ""  # where in the folder the network lies
    ignored: tuple[str, ...] = ()  # modules after the pooling that the user chose to do without

    def prepare(self, text: str) -> str:
        """The text as the tokeniser gets it."""
        stripped = self.prompt + text.strip()
        return stripped.lower() if self.is_lowercased else stripped


def pool(tokens: NDArray[np.floating], lengths: Sequence[int], pooling: str) -> Floats:
    """(batch, length, width) to (batch, width): the first token, or the mean without padding."""
    if pooling == "cls":
        return np.asarray(tokens[:, 0], dtype=np.float64)
    return np.stack(
        [row[:n].mean(axis=0, dtype=np.float64) for row, n in zip(tokens, lengths, strict=True)]
    )


def read_recipe(location: Location, wanted: str | None) -> VectorRecipe:
    """What the files of an encoder say; `wanted` is the user's own pooling.

    Raises LoadError where the vectors would not be the model's own.
    """
    if wanted is not None and wanted not in POOLINGS:
        raise UnknownNameError("pooling", wanted, POOLINGS)
    modules = location.read("modules.json")
    if modules is None:
        return VectorRecipe(pooling=wanted or "mean")
    place = location.place
    try:
        paths = {str(m["type"]).rpartition(".")[2]: str(m.get("path") or "") for m in modules}
    except (AttributeError, KeyError, TypeError) as error:
        raise LoadError(
            f"modules.json of '{place}' is no list of modules with a type and a path "
            f"({type(error).__name__}: {error})"
        ) from error
    others = tuple(sorted(set(paths) - _KNOWN))
    if "Transformer" not in paths:
        raise LoadError(
            f"'{place}' has the modules {', '.join(paths) or 'none'}; "
            "evenhand runs encoders with a Transformer"
        )
    if others and wanted is None:
        raise LoadError(
            f"'{place}' has the module {' and '.join(others)}, which evenhand does not compute: "
            "its vectors would not be the model's own. "
            "State --pooling mean or cls to compare them without it."
        )
    beside = _table(location, paths["Transformer"], "sentence_bert_config.json")
    pooling = (
        _table(location, paths.get("Pooling", ""), "config.json") if "Pooling" in paths else {}
    )
    prompt = _prompt(location, pooling)
    longest = beside.get("max_seq_length")
    return VectorRecipe(
        pooling=wanted or _pooling(place, pooling),
        is_normalised="Normalize" in paths,
        is_lowercased=bool(beside.get("do_lower_case")),
        prompt=prompt,
        longest=longest if isinstance(longest, int) else None,
        subfolder=paths["Transformer"],
        ignored=others,
    )


def _table(location: Location, subfolder: str, name: str) -> dict[str, Any]:
    path = f"{subfolder}/{name}" if subfolder else name
    settings = location.read(path)
    if settings is not None and not isinstance(settings, dict):
        kind = type(settings).__name__
        raise LoadError(f"{path} of '{location.place}' is {kind}, not an object with settings")
    return settings or {}


def _pooling(place: str, settings: Mapping[str, Any]) -> str:
    mode = (
        settings.get("pooling_mode")
        or [name for flag, name in _FLAGS.items() if settings.get(flag)]
        or ["mean"]
    )
    modes = [mode] if isinstance(mode, str) else list(mode)
    if len(modes) != 1 or modes[0] not in POOLINGS:
        raise LoadError(
            f"'{place}' pools by {' and '.join(map(str, modes))}; evenhand pools by "
            f"{' or '.join(POOLINGS)}. State one with --pooling to go on with that."
        )
    return str(modes[0])


def _prompt(location: Location, pooling: Mapping[str, Any]) -> str:
    settings = _table(location, "", "config_sentence_transformers.json")
    prompt = str((settings.get("prompts") or {}).get(settings.get("default_prompt_name")) or "")
    if prompt and pooling.get("include_prompt") is False:
        raise LoadError(
            f"'{location.place}' puts '{prompt}' before every text but leaves it out of the mean, "
            "which evenhand does not do"
        )
    return prompt
