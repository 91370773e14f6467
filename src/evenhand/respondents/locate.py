"""Where a model lies and what its files say of it, resolved once; and who answers for it.

MODEL is a name (`default`, `minilm` ...), a folder in Hugging Face form, or the id of a model on
the hub. `locate` finds it; `open_respondent` gives it to the source whose head it has.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.util
import json
import os
import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Generic, Literal, TypeVar

from evenhand.core import catalog
from evenhand.core.errors import EvenhandWarning, LoadError
from evenhand.core.files import read_text
from evenhand.core.probe import Kind
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.text import listed
from evenhand.respondents.packages import (
    DEFAULT,
    DEFAULT_LANGUAGES,
    KNOWN_NAMES,
    PACKAGES,
    Package,
    package_folder,
)

Head = Literal["labels", "words", "text", "next", "vectors"]  # what the last layer of a model says
_HEADS: tuple[tuple[str, Head], ...] = (  # by how the name of its class ends
    ("ForSequenceClassification", "labels"),
    ("ForMaskedLM", "words"),
    ("ForPreTraining", "words"),
    ("WithLMHeadModel", "words"),
    ("ForCausalLM", "text"),
    ("LMHeadModel", "text"),
    ("ForNextSentencePrediction", "next"),
)
VECTOR_HEAD = "vector_nli.json"  # a folder with this file holds a classifier on sentence vectors
UNKNOWN = "unknown"  # the revision of a model on the hub that does not tell it
ONNX, TORCH = "onnxruntime", "transformers"  # what runs a network
_GRAPHS = ("model.onnx", "onnx/model.onnx")
_WEIGHTS = ("*.safetensors", "*.bin")
_DESCRIPTIONS = (  # the files beside the weights that a revision depends on
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "merges.txt",
)
_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_FRONT_MATTER = re.compile(r"\A---\s*\n(.*?)\n---", re.DOTALL)
_LANGUAGE_FIELD = re.compile(r"^languages?:(.*(?:\n\s*-.*)*)", re.MULTILINE)
_TWO_LETTERS = {"eng": "en", "jpn": "ja", "zho": "zh", "chi": "zh", "cmn": "zh", "kor": "ko"}


def read_settings(path: Path) -> dict[str, Any]:
    """The JSON object in a file; empty where there is no such file."""
    settings = _read_json(path) if path.exists() else {}
    if not isinstance(settings, dict):
        raise LoadError(f"{path} is {type(settings).__name__}, not an object with settings")
    return settings


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise LoadError(f"{path} is not JSON ({error})") from error


def find_graph(folder: Path) -> Path | None:
    """The ONNX graph of a folder: model.onnx, onnx/model.onnx, else the only .onnx there is."""
    for name in _GRAPHS:
        if (folder / name).exists():
            return folder / name
    others = sorted(folder.glob("*.onnx")) + sorted(folder.glob("onnx/*.onnx"))
    return others[0] if len(others) == 1 else None


def revision_of(folder: Path, runtime: str, weights: Sequence[Path]) -> str:
    """Twelve digits that change with the weights, the words or what runs them."""
    state = hashlib.sha256(runtime.encode())
    for path in [*(folder / n for n in _DESCRIPTIONS if (folder / n).exists()), *weights]:
        with path.open("rb") as stream:
            state.update(path.name.encode())
            while block := stream.read(1 << 20):
                state.update(block)
    return state.hexdigest()[:12]


def is_offline() -> bool:
    """Whether the user forbids fetching anything."""
    return os.environ.get("EVENHAND_OFFLINE") == "1"


def first_line(error: Exception) -> str:
    """What an exception says, in one line."""
    text = str(error).strip()
    return text.splitlines()[0][:300] if text else type(error).__name__


@dataclass(frozen=True, kw_only=True)
class Location:
    """A model that was found: its name, where it lies, and what its files say."""

    name: str  # what reports call it
    prefix: str = ""  # what the user wrote before it: `encoder:`, `nsp:`, `causal:`
    folder: Path | None = None  # None: on the hub
    hub_id: str = ""
    package: Package | None = None
    commit: str = UNKNOWN  # the revision on the hub

    @property
    def place(self) -> str:
        """The folder or the hub id: what transformers loads and what errors name."""
        return str(self.folder) if self.folder else self.hub_id

    def file(self, name: str) -> Path | None:
        """A file of the model, fetched where it lies on the hub; None where there is none."""
        if self.folder:
            return self.folder / name if (self.folder / name).exists() else None
        try:
            return _fetch(self.hub_id, name, self.commit)
        except Exception:  # no such file, no network: each a type of the hub's client
            return None

    def read(self, name: str) -> Any:
        """The content of a JSON file of the model; None where there is none."""
        path = self.file(name)
        return None if path is None else _read_json(path)

    @cached_property
    def config(self) -> dict[str, Any]:
        """The settings of config.json; empty where there is none."""
        config = self.read("config.json")
        if config is not None and not isinstance(config, dict):
            kind = type(config).__name__
            raise LoadError(
                f"config.json of '{self.place}' is {kind}, not an object with settings"
            )
        return config or {}

    @property
    def architecture(self) -> str:
        """The class that the weights were saved from; empty where the config names none."""
        names = self.config.get("architectures") or [""]
        return str(names if isinstance(names, str) else names[0])

    @cached_property
    def graph(self) -> Path | None:
        """The ONNX graph; None where the model is asked through transformers."""
        return find_graph(self.folder) if self.folder else None

    @property
    def runtime(self) -> str:
        """What runs the network, as the signature names it."""
        if self.package and self.package.runtime:
            return self.package.runtime
        return ONNX if self.graph else TORCH

    @property
    def weights(self) -> list[Path]:
        """The files of the weights; a GGUF file only where there is nothing else."""
        if self.folder is None:
            return []
        if self.package and self.package.weights:
            return [self.folder / name for name in self.package.weights]
        if self.graph:
            return [self.graph, *sorted(self.graph.parent.glob(f"{self.graph.name}*data"))]
        usual = sorted(p for pattern in _WEIGHTS for p in self.folder.glob(pattern))
        return usual or sorted(self.folder.glob("*.gguf"))

    @cached_property
    def revision(self) -> str:
        """Twelve digits of the files' digest, or of the commit on the hub."""
        if self.folder is None:
            return self.commit[:12]
        return revision_of(self.folder, self.runtime, self.weights)

    @cached_property
    def head(self) -> Head | None:
        """What the last layer says: labels, words ...; None where no config can be read.

        A config that names no class is judged by what lies beside it: modules of
        sentence-transformers, names of labels, the outputs of the graph.
        """
        if name := self.architecture:
            return next((head for suffix, head in _HEADS if name.endswith(suffix)), "vectors")
        if self.file("modules.json") is not None:
            return "vectors"
        if self.config.get("id2label") or self.config.get("label2id"):
            return "labels"
        if self.graph:
            return _graph_head(self.graph)
        return "vectors" if self.config else None

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages that the model is said to know; empty where nothing says so."""
        if self.folder == default_folder():
            return DEFAULT_LANGUAGES
        if self.package:
            return self.package.languages
        for name in ("config.json", "tokenizer_config.json"):
            settings = self.config if name == "config.json" else self.read(name)
            for key in ("language", "languages") if isinstance(settings, dict) else ():
                if codes := _language_codes(settings.get(key)):
                    return codes
        card = self.file("README.md")
        return _card_languages(card.read_text("utf-8", "replace")) if card else ()

    def within(self, subfolder: str) -> Location:
        """The same model where its network lies in a folder of its own."""
        if not subfolder:
            return self
        if self.folder is None:
            raise LoadError(
                f"'{self.place}' has its network in {subfolder}/; "
                "download the model and name its folder"
            )
        return replace(self, folder=self.folder / subfolder)

    def require_files(self) -> None:
        """Raise LoadError where a folder holds neither a graph nor a config.json."""
        if self.folder and not self.graph and not (self.folder / "config.json").exists():
            raise no_model_folder(self.folder, "an .onnx file", "a config.json")


def no_model_folder(folder: Path, *wanted: str) -> LoadError:
    """The error for a folder that holds no model."""
    names = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    return LoadError(
        f"{folder} is no model folder: it has neither {' nor '.join(wanted)} (found: {names})"
    )


def _graph_head(graph: Path) -> Head | None:
    """What the outputs of a graph tell; None where it does not load (opening it says why).

    A first output called `logits` is of a head; one row of logits a token is a mask head's.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(
            str(graph), options, providers=["CPUExecutionProvider"]
        )
    except Exception:  # onnxruntime raises private exception types
        return None
    first = session.get_outputs()[0]
    if first.name != "logits":
        return "vectors"
    has_positions = "positions" in {node.name for node in session.get_inputs()}
    return "words" if len(first.shape) == 3 or has_positions else "labels"


def _language_codes(tags: Any) -> tuple[str, ...]:
    """Tags such as `en`, `zh-Hans`, `jpn` as codes; empty where one of them is no language."""
    listed_tags = [tags] if isinstance(tags, str) else tags if isinstance(tags, list) else []
    codes = [str(tag).lower().replace("_", "-").partition("-")[0] for tag in listed_tags]
    if any(re.fullmatch("[a-z]{2,3}", code) is None or code == "mul" for code in codes):
        return ()
    return tuple(dict.fromkeys(_TWO_LETTERS.get(code, code) for code in codes))


def _card_languages(text: str) -> tuple[str, ...]:
    """The field `language` in the head of a model card."""
    front = _FRONT_MATTER.match(text.replace("\r\n", "\n"))
    field = _LANGUAGE_FIELD.search(front[1]) if front else None
    if field is None:
        return ()
    bare = re.sub(r"#.*", "", field[1])
    return _language_codes(re.findall(r"[A-Za-z][\w-]*", bare))


def default_folder() -> Path:
    """The folder of the embedded model."""
    return Path(str(files("evenhand") / "models" / DEFAULT))


def looks_like_model(reference: str) -> bool:
    """Whether it is a folder, or has no `kind:` in front."""
    return Path(reference).expanduser().is_dir() or ":" not in reference


def _close_name(model: str, names: Sequence[str]) -> str:
    """A known name, or a folder beside the one that is not there, that is nearly the same."""
    if close := difflib.get_close_matches(model, names, cutoff=0.6):
        return close[0]
    path = Path(model).expanduser()
    try:
        beside = [p.name for p in path.parent.iterdir() if p.is_dir()] if path.name else []
    except OSError:
        beside = []
    close = difflib.get_close_matches(path.name, beside, cutoff=0.75)
    return model.removesuffix(path.name) + close[0] if close else ""


def require_hub_id(model: str, names: Sequence[str], prefix: str = "") -> None:
    """Raise LoadError where `model`, which is no folder, cannot be the id of a model on the hub.

    names: those that are known; what is nearly one of them is taken for a slip of the pen.
    """
    is_slip = bool(difflib.get_close_matches(model, names, cutoff=0.6))
    if model[:1] not in ("", ".", "/", "~") and _HUB_ID.fullmatch(model) and not is_slip:
        return
    close = _close_name(model, names)
    hint = f" Did you mean {prefix}{close}?" if close else ""
    known = f"one of the names {', '.join(names)}, " if names else ""
    raise LoadError(
        f"unknown model '{prefix}{model}': there is no such folder.{hint} Looked for: "
        f"a folder '{model}' here, {known}a hub id such as {prefix}org/model."
    )


def lacks_torch() -> bool:
    """Whether torch or transformers is not installed."""
    return any(importlib.util.find_spec(name) is None for name in ("torch", "transformers"))


def _fetch(hub_id: str, name: str, commit: str = UNKNOWN) -> Path:
    from huggingface_hub import hf_hub_download

    revision = None if commit == UNKNOWN else commit
    return Path(
        hf_hub_download(hub_id, name, revision=revision, local_files_only=is_offline())
    )


def _locate_on_hub(model: str, names: Sequence[str], prefix: str) -> Location:
    """A model of the hub; torch is looked for before the network."""
    require_hub_id(model, names, prefix)
    close = _close_name(model, names)
    hint = f" Did you mean {prefix}{close}?" if close else ""
    if lacks_torch():
        raise LoadError(
            f"there is no folder '{model}' here, and as a model of the hub '{model}' needs torch "
            f"and transformers, which are not installed: pip install 'evenhand[hf]'.{hint}"
        )
    try:
        path = _fetch(model, "config.json")
    except Exception as error:  # no such model, no network: each a type of the hub's client
        raise LoadError(
            f"cannot load '{model}': {first_line(error)} There is no folder '{model}' here; the "
            "hub could not be reached, or knows no such model: check the name and the network, "
            f"or download the model and name its folder.{hint}"
        ) from error
    is_snapshot = path.parent.parent.name == "snapshots"
    commit = path.parent.name if is_snapshot else UNKNOWN
    return Location(name=model, prefix=prefix, hub_id=model, commit=commit)


def locate(reference: str, names: Sequence[str] = KNOWN_NAMES, prefix: str = "") -> Location:
    """The model behind a name, a folder or a hub id.

    names: those that are suggested where it is nearly one of them; prefix: what stands before it
    where the user chose a source (`encoder:`). Raises LoadError that says what was looked for.
    """
    has_prefix = bool(prefix) and reference.startswith(prefix)
    model = reference.removeprefix(prefix)
    written = prefix if has_prefix else ""
    if model in PACKAGES:
        package = PACKAGES[model]
        folder = package_folder(package)
        return Location(name=model, prefix=written, folder=folder, package=package)
    if model == DEFAULT:
        return Location(name=model, prefix=written, folder=default_folder())
    folder = Path(model).expanduser()
    if model and folder.is_dir():
        return Location(name=folder.resolve().name, prefix=written, folder=folder)
    return _locate_on_hub(model, names, written)


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


def refuse_reranker(location: Location) -> None:
    """Raise LoadError where a classifier has one output: it ranks pairs and has no labels."""
    config = location.config
    count = config.get("num_labels") or len(config.get("id2label") or {})
    if location.architecture.endswith("ForSequenceClassification") and count == 1:
        raise LoadError(
            f"'{location.place}' is a reranker: a cross-encoder with one output, which has "
            "neither the labels of an NLI classifier nor vectors of sentences. Give an NLI "
            "classifier, or a sentence encoder such as minilm."
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
        found = location or locate(reference, self.names, self.prefix)
        respondent = self.build(found, options)
        warn_of_language(found, options.language)
        runtime = respondent.traits["route"]
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
    models = [s for s in fitting if isinstance(s, ModelSource)]
    if others := [s for s in fitting if not isinstance(s, ModelSource)]:
        return others[0].open(reference, options)  # a rule, or another package's own
    if len(models) == 1:
        return models[0].open(reference, options)
    location = locate(reference, [name for s in models for name in s.names])
    return _source_for(location, models).open(reference, options, location)


def _source_for(
    location: Location, sources: Sequence[ModelSource[Respondent]]
) -> ModelSource[Respondent]:
    """The source that can use the model's head; the first where none can be told."""
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
