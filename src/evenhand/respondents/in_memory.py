"""Models of transformers that are already in memory: a model with its tokeniser, or a pipeline."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from evenhand.core.errors import LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.respondents.locate import open_respondent


@runtime_checkable
class Savable(Protocol):
    """What can be written as a folder in Hugging Face form."""

    name_or_path: str

    def save_pretrained(self, save_directory: str) -> Any:
        """Write it to a folder."""
        ...


@runtime_checkable
class LoadedModel(Savable, Protocol):
    """A model of transformers; a tokeniser has no config."""

    config: Any


@runtime_checkable
class LoadedPipeline(Protocol):
    """A pipeline of transformers."""

    model: Any
    tokenizer: Any


def open_in_memory(
    model: object, tokenizer: object, kind: Kind, options: RespondentOptions
) -> Respondent:
    """The respondent for a model and its tokeniser.

    They are written to a temporary folder and opened from there, so that the answers, the digest in
    the identity and the cache are those of the saved folder. Raises LoadError where they are not
    a model and its tokeniser.
    """
    if not isinstance(model, LoadedModel) or not isinstance(tokenizer, Savable):
        kinds = f"{type(model).__name__} and {type(tokenizer).__name__}"
        turned = isinstance(tokenizer, LoadedModel) and isinstance(model, Savable)
        hint = "the model comes first" if turned else "give (model, tokenizer) of transformers"
        raise LoadError(f"{kinds} are not a model and its tokeniser: {hint}")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / (Path(model.name_or_path).name or "model")
        model.save_pretrained(str(folder))
        tokenizer.save_pretrained(str(folder))
        return open_respondent(str(folder), kind, options)
