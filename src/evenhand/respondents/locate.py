"""From what the user typed to a respondent: find the model, and the source that can ask it.

MODEL is a name (`default`, `minilm` ...), a folder in Hugging Face form, or the id of a model on
the hub. `locate` finds it; `open_respondent` gives it to the source that can use its head.
"""

from __future__ import annotations

import difflib
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Generic, TypeVar

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning, LoadError
from evenhand.core.probe import Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.text import listed
from evenhand.respondents.location import (
    DTYPES,
    FULL,
    TORCH,
    UNKNOWN,
    VECTOR_HEAD,
    Head,
    Location,
    default_folder,
    fetch_file,
    find_graph,
    first_line,
    hub_commit,
    lacks_torch,
    refuse_reranker,
    require_intact,
)
from evenhand.respondents.packages import DEFAULT, KNOWN_NAMES, PACKAGES, package_folder

_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


def looks_like_model(reference: str) -> bool:
    """Whether it is a folder, or has no prefix such as `kind:`."""
    return Path(reference).expanduser().is_dir() or ":" not in reference


def _suggestion(model: str, names: Sequence[str], prefix: str) -> str:
    """` Did you mean X?` for a known name, or a folder beside it, that is nearly the same."""
    if close := difflib.get_close_matches(model, names, cutoff=0.6):
        return f" Did you mean {prefix}{close[0]}?"
    path = Path(model).expanduser()
    try:
        beside = [p.name for p in path.parent.iterdir() if p.is_dir()] if path.name else []
    except OSError:
        beside = []
    close = difflib.get_close_matches(path.name, beside, cutoff=0.75)
    return f" Did you mean {prefix}{model.removesuffix(path.name)}{close[0]}?" if close else ""


def require_hub_id(model: str, names: Sequence[str], prefix: str = "") -> None:
    """Raise LoadError where `model`, which is not a folder, cannot be the id of a model on the hub.

    names: those that are known; what is nearly one of them is taken for a typing error.
    """
    is_typo = bool(difflib.get_close_matches(model, names, cutoff=0.6))
    if model[:1] not in ("", ".", "/", "~") and _HUB_ID.fullmatch(model) and not is_typo:
        return
    hint = _suggestion(model, names, prefix)
    known = f"one of the names {', '.join(names)}, " if names else ""
    raise LoadError(
        f"unknown model '{prefix}{model}': there is no such folder.{hint} Looked for: "
        f"a folder '{model}' here, {known}a hub id such as {prefix}org/model."
    )


def _locate_on_hub(model: str, names: Sequence[str], prefix: str, revision: str | None) -> Location:
    """A model of the hub; torch is looked for before the network."""
    require_hub_id(model, names, prefix)
    hint = _suggestion(model, names, prefix)
    if lacks_torch():
        raise LoadError(
            f"there is no folder '{model}' here, and as a model of the hub '{model}' needs torch "
            f"and transformers, which are not installed: pip install 'evenhand[hf]'.{hint}"
        )
    try:
        path = fetch_file(model, "config.json", revision or UNKNOWN)
    except Exception as error:  # no such model, no network: each a type of the hub's client
        wanted = f" at the revision '{revision}'" if revision else ""
        raise LoadError(
            f"cannot load '{model}'{wanted}: {first_line(error)} There is no folder '{model}' "
            f"here; the hub could not be reached, or knows no such model{wanted}: check the name "
            f"and the network, or download the model and name its folder.{hint}"
        ) from error
    return Location(name=model, prefix=prefix, hub_id=model, commit=hub_commit(path))


def locate(
    reference: str,
    names: Sequence[str] = KNOWN_NAMES,
    prefix: str = "",
    revision: str | None = None,
) -> Location:
    """The model behind a name, a folder or a hub id.

    names: those that are suggested where it is nearly one of them; prefix: what stands before it
    where the user chose a source (`encoder:`); revision: of a model on the hub. Raises LoadError
    that says what was looked for.
    """
    model = reference.removeprefix(prefix)
    written = prefix if reference.startswith(prefix) else ""
    package = PACKAGES.get(model)
    if package:
        name, folder = model, package_folder(package)
    elif model == DEFAULT:
        name, folder = model, default_folder()
        if not folder.is_dir():
            raise LoadError(
                f"unknown model '{model}': {folder}, the folder of the embedded model, "
                "is not there; install evenhand again"
            )
        require_intact(folder)
    else:
        folder = Path(model).expanduser()
        name = folder.resolve().name
    if not model or not folder.is_dir():
        return _locate_on_hub(model, names, written, revision)
    require_no_revision(revision, model)
    return Location(
        name=name, prefix=written, folder=folder, graph=find_graph(folder), package=package
    )


def devices_here() -> list[str]:
    """The devices that a network can run on; only the cpu where torch is not installed."""
    if lacks_torch():
        return ["cpu"]
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    cuda = ["cuda", *(f"cuda:{i}" for i in range(count))] if count else []
    return ["cpu", *cuda, *(["mps"] if torch.backends.mps.is_available() else [])]


def require_device(device: str) -> None:
    """Raise LoadError where the user names a device that is not here."""
    if device in ("auto", "cpu"):
        return
    here = devices_here()
    if device not in here:
        raise LoadError(
            f"device '{device}' is not here; there is {listed(here)}. "
            "Leave out --device to take the best there is, or name one of them"
        )


def require_no_revision(revision: str | None, model: str) -> None:
    """Raise LoadError where a revision is given for a model that does not come from the hub."""
    if revision is not None:
        raise LoadError(
            f"'{model}' is not on the hub, so it has no revision '{revision}'. Leave out --revision"
        )


def require_dtype(dtype: str) -> None:
    """Raise LoadError for a type of number that is not known."""
    if dtype not in DTYPES:
        raise LoadError(f"dtype '{dtype}': use {', '.join(DTYPES)}")


def warn_of_language(location: Location, language: str) -> None:
    """Warn where a model is asked in a language that it is not said to know."""
    known = location.languages
    if known and language and language.partition("-")[0] not in known:
        warnings.warn(
            f"the model {location.name} is said to know {listed(known)}; it is asked in "
            f"{language}: what it answers may show a lack of the language rather than bias",
            EvenhandWarning,
            stacklevel=4,
        )


OpenedT = TypeVar("OpenedT", bound=Respondent)


class ModelSource(ABC, Generic[OpenedT]):
    """A source of models with certain heads: the one way in which they are found and opened."""

    name: str
    kinds: frozenset[Kind]
    description: str
    examples: tuple[str, ...]
    heads: frozenset[Head]  # of several sources, the one that can use the model's head opens it
    names: tuple[str, ...] = ()  # the known names that it opens
    prefix: str = ""  # `causal:`: with it the user chooses this source
    takes_any: bool = True  # whether folders and hub ids need no prefix

    def claims(self, reference: str) -> bool:
        """Its prefix, its names; folders and hub ids that may be a model of any kind."""
        if self.prefix and reference.startswith(self.prefix):
            return True
        if reference in KNOWN_NAMES:
            return reference in self.names
        is_head = (Path(reference).expanduser() / VECTOR_HEAD).is_file()
        return self.takes_any and looks_like_model(reference) and not is_head

    def open(
        self, reference: str, options: RespondentOptions, location: Location | None = None
    ) -> OpenedT:
        """The respondent behind `reference`; `location` where it is already known."""
        self.check(options)
        require_device(options.device)
        require_dtype(options.dtype)
        is_chosen = bool(self.prefix) and reference.startswith(self.prefix)
        names = KNOWN_NAMES if is_chosen and self.takes_any else self.names
        location = location or locate(reference, names, self.prefix, options.revision)
        location = replace(location, is_trusted=options.trust_remote_code, dtype=options.dtype)
        if location.runtime != TORCH and options.dtype != FULL:
            raise LoadError(
                f"'{location.name}' is asked through {location.runtime}, in the numbers of its "
                f"file; --dtype {options.dtype} is for models that torch runs. Leave it out"
            )
        respondent = self.build(location, options)
        warn_of_language(location, options.language)
        runtime = respondent.traits.get("route", TORCH)
        if runtime != TORCH and options.device not in ("auto", "cpu"):
            warnings.warn(
                f"{respondent.identity} is asked through {runtime}, which runs on the cpu; "
                f"the device '{options.device}' is not used",
                EvenhandWarning,
                stacklevel=3,
            )
        return respondent

    def check(self, options: RespondentOptions) -> None:
        """Refuse options that make no sense, before anything is loaded."""
        return

    @abstractmethod
    def build(self, location: Location, options: RespondentOptions) -> OpenedT:
        """Load the network and make the respondent."""


def open_respondent(reference: str, kind: Kind, options: RespondentOptions) -> Respondent:
    """The respondent for probes of one kind.

    Raises LoadError that names what would work if there is none.
    """
    sources = list(catalog.respondents().values())
    claiming = [s for s in sources if s.claims(reference)]
    if not claiming:
        examples = [example for s in sources for example in s.examples]
        close = difflib.get_close_matches(reference, examples, n=1, cutoff=0.7)
        hint = f"Did you mean {close[0]}? " if close else ""
        raise LoadError(f"unknown model '{reference}'. {hint}Known forms: {', '.join(examples)}")
    fitting = [s for s in claiming if kind in s.kinds]
    if not fitting:
        able = ", ".join(example for s in sources if kind in s.kinds for example in s.examples)
        raise LoadError(
            f"'{reference}' is a respondent of the kind '{claiming[0].name}' and cannot answer "
            f"{kind} probes. These can: {able}"
        )
    models: list[ModelSource[Respondent]] = [s for s in fitting if isinstance(s, ModelSource)]
    if others := [s for s in fitting if not isinstance(s, ModelSource)]:
        require_no_revision(options.revision, reference)
        return others[0].open(reference, options)  # a rule, or a source of another package
    if len(models) == 1:
        return models[0].open(reference, options)
    names = [name for s in models for name in s.names]
    location = locate(reference, names, revision=options.revision)
    return _source_for(location, models).open(reference, options, location)


def _source_for(
    location: Location, sources: Sequence[ModelSource[Respondent]]
) -> ModelSource[Respondent]:
    """The source that can use the model's head; the first where the head is not known."""
    head = location.head
    if head is None:
        return sources[0]
    if head == "labels":
        refuse_reranker(location)
    if fitting := [s for s in sources if head in s.heads]:
        return fitting[0]
    weigh = f"causal:{location.place} to weigh its sentences, or " if head == "text" else ""
    raise LoadError(
        f"'{location.place}' has a head for {head}, which is not asked so. Write {weigh}"
        f"encoder:{location.place} to compare the vectors of its sentences."
    )
