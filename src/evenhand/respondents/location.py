"""The record of a model that was found: where it lies, and what its files say about it."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from evenhand.core.checksums import file_sha256, sum_faults
from evenhand.core.errors import LoadError
from evenhand.core.files import read_text
from evenhand.respondents.networks.onnx_file import read_onnx
from evenhand.respondents.packages import DEFAULT, DEFAULT_LANGUAGES, Package
from evenhand.respondents.trust import refuse_pickles

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
UNKNOWN = "unknown"  # the revision of a model on the hub where it cannot be found out
ONNX, TORCH = "onnxruntime", "transformers"  # what runs a network
FULL = "fp32"
DTYPES = {FULL: "float32", "bf16": "bfloat16", "fp16": "float16"}  # short -> torch's own name
_GRAPHS = ("model.onnx", "onnx/model.onnx")
_WEIGHTS = ("*.safetensors", "*.bin")
_INDEX = "*.index.json"  # the index of weights in several files
ADAPTER = "adapter_config.json"  # of a model that is another one with some weights added
_MODULES = "modules.json"  # the parts of an encoder, as sentence-transformers writes them
_TEMPLATES = "additional_chat_templates"
# how the files end that configs, vocabularies, prompts, chat templates and code come in
_DESCRIPTIONS = (
    *(".json", ".jinja", ".txt", ".model", ".spm", ".vocab", ".bpe", ".codes", ".tiktoken"),
    *(".tokenizer", ".py"),
)
_LOGS = frozenset(  # what a training writes beside a model and no model reads
    {
        "training.json",
        "trainer_state.json",
        "all_results.json",
        "train_results.json",
        "eval_results.json",
    }
)
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


def _description_files(folder: Path) -> list[Path]:
    """The files that a model reads besides its weights.

    Configs, tokenisers, chat templates and code in its folder, and the settings of the modules
    that modules.json names (pooling, normalising ...).
    """
    paths = []
    for part in (folder, folder / _TEMPLATES, *_module_folders(folder)):
        there = sorted(part.iterdir()) if part.is_dir() else []
        paths += [p for p in there if p.suffix in _DESCRIPTIONS and p.name not in _LOGS]
    return [path for path in paths if path.is_file()]


def _module_folders(folder: Path) -> list[Path]:
    try:
        modules = json.loads((folder / _MODULES).read_text(encoding="utf-8"))
        return [folder / str(module["path"]) for module in modules]
    except (OSError, ValueError, KeyError, TypeError):
        return []  # opening the encoder says what is wrong with the file


def revision_of(folder: Path, runtime: str, weights: Sequence[Path]) -> str:
    """Twelve digits that change with the runtime and with any file that a model reads.

    weights: the files of the weights; everything else that is read lies in the folder.
    """
    names = {
        Path(os.path.relpath(path, folder)).as_posix(): path
        for path in (*_description_files(folder), *weights)
    }
    return _short_digest(
        runtime, *(part for name in sorted(names) for part in (name, file_sha256(names[name])))
    )


def _short_digest(*parts: str) -> str:
    """Twelve digits of the digest of several texts, each with its length before it."""
    state = hashlib.sha256()
    for part in parts:
        raw = part.encode()
        state.update(len(raw).to_bytes(8, "big") + raw)
    return state.hexdigest()[:12]


def hub_commit(path: Path) -> str:
    """The commit that a file of the hub's local cache belongs to."""
    return path.parent.name if path.parent.parent.name == "snapshots" else UNKNOWN


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
    root: Path | None = None  # the folder that the user named, where the network lies below it
    graph: Path | None = None  # the ONNX graph; None: asked through transformers
    hub_id: str = ""
    package: Package | None = None
    commit: str = UNKNOWN  # the revision on the hub
    dtype: str = FULL  # the numbers that torch is to compute in
    is_trusted: bool = False  # the user lets it run its own code and open its pickles

    @property
    def place(self) -> str:
        """The folder or the hub id: what transformers loads and what errors name."""
        return str(self.folder) if self.folder else self.hub_id

    def file(self, name: str) -> Path | None:
        """A file of the model, fetched where it lies on the hub; None where there is none."""
        if self.folder:
            return self.folder / name if (self.folder / name).exists() else None
        try:
            return fetch_file(self.hub_id, name, self.commit)
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
            raise LoadError(f"config.json of '{self.place}' is {kind}, not an object with settings")
        return config or {}

    @property
    def architecture(self) -> str:
        """The class that the weights were saved from; empty where the config names none."""
        names = self.config.get("architectures") or [""]
        return str(names if isinstance(names, str) else names[0])

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
            return [self.graph, *_external_data(self.graph)]
        usual = {p for pattern in _WEIGHTS for p in self.folder.glob(pattern)}
        return sorted(usual | indexed_weights(self.folder)) or sorted(self.folder.glob("*.gguf"))

    @cached_property
    def revision(self) -> str:
        """Twelve digits of everything that the model reads, or of the commit on the hub.

        With an adapter also of the model that it is added to.
        """
        if self.folder is None:
            own = self.commit[:12]
        else:
            own = revision_of(self.root or self.folder, self.runtime, self.weights)
        base = self._base_revision()
        if base is None:
            return own
        return UNKNOWN if UNKNOWN in (own, base) else _short_digest(own, base)

    def _base_revision(self) -> str | None:
        """The revision of the model that an adapter is added to; None where there is none."""
        if self.graph or (self.folder is None and importlib.util.find_spec("peft") is None):
            return None  # transformers adds adapters by the package peft
        settings = self.read(ADAPTER)
        name = settings.get("base_model_name_or_path") if isinstance(settings, dict) else None
        if not name:
            return None
        if (folder := Path(str(name)).expanduser()).is_dir():
            base = Location(name=folder.name, folder=folder)
            return revision_of(folder, TORCH, base.weights)
        try:
            return hub_commit(fetch_file(str(name), "config.json"))[:12]
        except Exception:  # no such model, no network: each a type of the hub's client
            return UNKNOWN

    @cached_property
    def head(self) -> Head | None:
        """What the last layer says: labels, words ...; None where no config can be read.

        A config that names no class is judged by what lies beside it: modules of
        sentence-transformers, names of labels, the outputs of the graph.
        """
        if name := self.architecture:
            return next((head for suffix, head in _HEADS if name.endswith(suffix)), "vectors")
        if self.file(_MODULES) is not None:
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
        folder = self.folder / subfolder
        return replace(self, folder=folder, root=self.folder, graph=find_graph(folder))

    def require_safe_weights(self) -> None:
        """Raise LoadError where the weights are pickled and nobody vouches for them."""
        if self.folder and not self.graph and not self.is_trusted:
            refuse_pickles(self.folder, self.package.pickled if self.package else "")

    def require_files(self) -> None:
        """Raise LoadError where a folder holds neither a graph nor a config.json."""
        if self.folder and not self.graph and not (self.folder / "config.json").exists():
            self.require_safe_weights()
            raise no_model_folder(self.folder, "an .onnx file", "a config.json")


def no_model_folder(folder: Path, *wanted: str) -> LoadError:
    """The error for a folder that holds no model."""
    names = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
    return LoadError(
        f"{folder} is no model folder: it has neither {' nor '.join(wanted)} (found: {names})"
    )


def _external_data(graph: Path) -> list[Path]:
    """The files beside a graph that hold its weights, as the graph names them."""
    paths = [graph.parent / name for name in read_onnx(graph).external_data]
    for path in paths:
        if not path.is_file():
            raise LoadError(
                f"{graph} has weights in {path.name}, which is not there; "
                "copy it beside the graph, or download the model again"
            )
    return paths


def indexed_weights(folder: Path) -> set[Path]:
    """The files that the index of weights in several parts names, wherever they lie."""
    names = set[str]()
    for index in folder.glob(_INDEX):
        table = read_settings(index).get("weight_map")
        names.update(map(str, table.values()) if isinstance(table, dict) else ())
    return {path for name in names if (path := folder / name).is_file()}


def _graph_head(graph: Path) -> Head | None:
    """The head that the outputs of a graph show; None where it does not load (opening it says why).

    A first output called `logits` belongs to a head; one row of logits per token to a mask head.
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
    """Tags such as `en`, `zh-Hans`, `jpn` as codes; empty where one of them is not a language."""
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


@cache
def require_intact(folder: Path) -> None:
    """Raise LoadError where a file of the embedded model is not the one that was installed.

    Checked once per process, by the digests in the folder's SHA256SUMS, which must list every file
    that the model reads.
    """
    read = [*_description_files(folder), *folder.glob("*.onnx")]
    if faults := sum_faults(folder, sorted(path.name for path in read)):
        raise LoadError(
            f"the embedded model in {folder} is damaged: {'; '.join(faults)}. "
            "Install evenhand again, or name another model"
        )


def fetch_file(hub_id: str, name: str, commit: str = UNKNOWN) -> Path:
    """The local copy of a file of the hub; raises what the hub's client raises."""
    from huggingface_hub import hf_hub_download

    revision = None if commit == UNKNOWN else commit
    return Path(hf_hub_download(hub_id, name, revision=revision, local_files_only=is_offline()))


def lacks_torch() -> bool:
    """Whether torch or transformers is not installed."""
    return any(importlib.util.find_spec(name) is None for name in ("torch", "transformers"))


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
