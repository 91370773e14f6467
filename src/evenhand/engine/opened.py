"""A model that is opened once, whatever it is asked."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.suite import Suite
from evenhand.respondents.function import FunctionRespondent
from evenhand.respondents.in_memory import LoadedModel, LoadedPipeline, Savable, open_in_memory
from evenhand.respondents.locate import ModelSource, locate, open_respondent

Model = (
    str
    | Path
    | Respondent
    | LoadedPipeline
    | tuple[LoadedModel, Savable]
    | Callable[[list[tuple[str, str]]], Any]
)


def open_model(model: Model, suite: Suite, opening: RespondentOptions | None = None) -> Respondent:
    """The respondent that a model stands for.

    model: a name, a hub id, a folder (also as a Path), a respondent, a model of transformers with
    its tokeniser, a pipeline of transformers, or a function. Raises EvenhandError where it is
    none of these.
    """
    return OpenedModel(model, opening).respondent(suite.kind, suite.card.language)


def require_model(reference: str) -> None:
    """Raise LoadError where no model of this name can be found, before anything is asked."""
    sources = [s for s in catalog.respondents().values() if s.claims(reference)]
    models = [s for s in sources if isinstance(s, ModelSource)]
    if not sources:
        open_respondent(reference, "pair", RespondentOptions())  # says what is known instead
    elif len(models) == len(sources):
        first = models[0]
        prefix = first.prefix if first.prefix and reference.startswith(first.prefix) else ""
        locate(reference, [name for s in models for name in s.names], prefix)


class OpenedModel:
    """A model with the respondents that were opened for it, each of them once.

    A respondent that was opened for one kind of probe is asked the other kinds that it answers.
    """

    def __init__(self, model: Model, opening: RespondentOptions | None = None) -> None:
        """Nothing is loaded yet. Raises EvenhandError for a batch size below 1."""
        self.model = model
        self._opening = opening or RespondentOptions()
        self._respondents: dict[str, list[Respondent]] = {}  # by language
        self._refusals: dict[tuple[Kind, str], LoadError] = {}
        if self._opening.batch_size is not None and self._opening.batch_size < 1:
            raise EvenhandError(f"batch size is {self._opening.batch_size}; give at least 1")

    @property
    def name(self) -> str:
        """What the user calls the model."""
        model = self.model
        if isinstance(model, str | Path):
            return str(model)
        if isinstance(model, Respondent):
            return model.identity
        loaded = model[0] if isinstance(model, tuple) else getattr(model, "model", model)
        return str(getattr(loaded, "name_or_path", "") or type(model).__name__)

    def respondent(self, kind: Kind, language: str) -> Respondent:
        """The respondent for probes of a kind in a language.

        Raises LoadError that names what would work where the model does not answer such probes;
        a respondent or a function is returned whatever it answers.
        """
        if isinstance(self.model, Respondent):
            return self.model
        if (refusal := self._refusals.get((kind, language))) is not None:
            raise refusal
        opened = self._respondents.setdefault(language, [])
        for respondent in opened:
            if kind in respondent.kinds:
                return respondent
        try:
            opened.append(self._open(kind, language))
        except LoadError as error:
            self._refusals[kind, language] = error
            raise
        return opened[-1]

    def _open(self, kind: Kind, language: str) -> Respondent:
        model = self.model
        options = dataclasses.replace(self._opening, language=language)
        if isinstance(model, Path):
            folder = model.expanduser()
            if not folder.is_dir():
                raise EvenhandError(f"'{folder}' is not a folder; give the folder of a model")
            return open_respondent(str(folder.resolve()), kind, options)
        if isinstance(model, str):
            name = str(Path(model).expanduser()) if model.startswith("~") else model
            return open_respondent(name, kind, options)
        if isinstance(model, tuple) and len(model) == 2:
            return open_in_memory(*model, kind, options)
        if isinstance(model, LoadedPipeline):
            return open_in_memory(model.model, model.tokenizer, kind, options)
        if callable(model):
            return FunctionRespondent(model)
        raise EvenhandError(
            f"{type(model).__name__} is not a model; give a name, a folder, a hub id, a "
            "respondent, (model, tokenizer) or a pipeline of transformers, or a function"
        )

    def close(self) -> None:
        """Let go of what was loaded; it is opened again when it is asked again."""
        self._respondents.clear()
