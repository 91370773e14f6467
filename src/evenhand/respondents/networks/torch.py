"""Hugging Face models asked through transformers and torch (extra `hf`), from a folder or the hub.

A classifier is fed by the tokeniser of transformers; every other network with the tokens of the
tokeniser itself, so that torch and ONNX cut text alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.location import (
    DTYPES,
    TORCH,
    UNKNOWN,
    Location,
    first_line,
    is_offline,
    read_settings,
)
from evenhand.respondents.networks.batches import (
    TRIAL_PAIRS,
    TRIAL_TEXTS,
    Encoded,
    Lookup,
    depends_on_batch,
    distinct_positions,
    find_longest,
    pad_batch,
    trial_lookups,
)
from evenhand.respondents.networks.onnx import DISCRIMINATOR, POSITIONS, Text, look_up, unreplaced
from evenhand.respondents.networks.tokens import (
    encode,
    find_mask,
    find_pad,
    find_unknown,
    open_tokenizer,
)
from evenhand.respondents.pooling import VectorRecipe, pool
from evenhand.respondents.trust import FLAG, loading_error

_CLASSIFIER_PARTS = (
    "classifier",
    "score",
    "classification_head",
    "logits_proj",
    "sequence_summary",
)
# parts that transformers adds to an encoder and that no vector goes through
_UNUSED_PARTS = ("pooler", "decoder")
_TOKENIZER_FILES = (
    "tokenizer_config.json",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
)
_TYPES = {"float64": "fp64", **{name: short for short, name in DTYPES.items()}}
_NETWORK = (
    "The hub could not be reached, or knows no such model: check the name and the network, "
    "or download the model and name its folder."
)

_TRUST = f"If you know where the model comes from and have read its code, add {FLAG}"


def import_torch(place: str) -> tuple[Any, Any]:
    """torch and transformers, quiet; raises LoadError that names the extra that brings them."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise LoadError(
            f"'{place}' needs torch and transformers, which are not installed: "
            "pip install 'evenhand[hf]'"
        ) from error
    transformers.logging.set_verbosity_error()  # what matters of its report is raised as an error
    transformers.logging.disable_progress_bar()
    return torch, transformers


def parameter_types(model: Any) -> str:
    """The types of number that a model's parameters have as it runs: fp32, bf16 ..."""
    counts: Counter[str] = Counter()
    for parameter in model.parameters():
        name = str(parameter.dtype).removeprefix("torch.")
        counts[_TYPES.get(name, name)] += parameter.numel()
    # a type that hardly any parameter has is not named
    return "+".join(sorted(t for t, n in counts.items() if n >= 0.01 * counts.total()))


class TorchNetwork:
    """A model of one class of transformers, wherever its weights lie."""

    name = TORCH
    purpose = ""  # what it is loaded as, where an error should say so

    def __init__(self, location: Location, device: str, loader: str) -> None:
        self.location, self.place = location, location.place
        location.require_safe_weights()
        self.torch, self.transformers = import_torch(self.place)
        try:
            self.model, report = self.load_model(loader)
            self.load_tokenizer()
        except LoadError:
            raise
        except Exception as error:  # hub client, tokenisers and torch have their own exceptions
            if refused := loading_error(self.place, error, _TRUST):
                raise refused from error
            hint = "" if location.folder else f" {_NETWORK}"
            raise LoadError(
                f"cannot load '{self.place}'{self.purpose}: {first_line(error)}{hint}"
            ) from error
        self.missing = sorted(report["missing_keys"])
        auto = "cuda" if self.torch.cuda.is_available() else "cpu"
        self.device = self.torch.device(auto if device == "auto" else device)
        self.model.to(self.device).eval()
        self.precision = parameter_types(self.model)
        self.config: dict[str, Any] = self.model.config.to_dict()

    @property
    def loading(self) -> dict[str, Any]:
        """What every loader of transformers is given besides the place."""
        is_pinned = self.location.folder is None and self.location.commit != UNKNOWN
        pinned = {"revision": self.location.commit} if is_pinned else {}
        is_trusted = self.location.is_trusted
        return {"local_files_only": is_offline(), "trust_remote_code": is_trusted, **pinned}

    def load_model(self, loader: str) -> tuple[Any, Any]:
        """The model, and which of its weights were there."""
        # without this transformers looks for adapters on the hub even in offline mode
        is_kept_off = is_offline() and self.location.folder is None
        adapters = {"adapter_kwargs": {"local_files_only": True}} if is_kept_off else {}
        package = self.location.package
        is_vouched_for = self.location.is_trusted or bool(package and package.pickled)
        model, report = getattr(self.transformers, loader).from_pretrained(
            self.place,
            dtype=getattr(self.torch, DTYPES[self.location.dtype]),
            output_loading_info=True,
            use_safetensors=None if is_vouched_for else True,
            **self.loading,
            **adapters,
        )
        return model, report

    def load_tokenizer(self) -> None:
        """The tokeniser of the same name."""
        self.tokenizer = self.transformers.AutoTokenizer.from_pretrained(self.place, **self.loading)


class TorchClassifier(TorchNetwork):
    """A sequence classifier."""

    def __init__(self, location: Location, device: str) -> None:
        super().__init__(location, device, "AutoModelForSequenceClassification")
        untrained = [k for k in self.missing if any(part in k for part in _CLASSIFIER_PARTS)]
        if untrained:
            raise LoadError(
                f"'{self.place}' has no trained classification head ({', '.join(untrained[:3])} "
                "not among its weights): its labels would be random. "
                "Give a model that was fine-tuned on NLI."
            )
        self.width = int(self.model.config.num_labels)
        self.longest = find_longest(self.config, self.tokenizer.model_max_length)
        pairs = self.encode(TRIAL_PAIRS)
        self.is_read_alone = depends_on_batch(self.logits, pairs, self.longest)

    def encode(self, texts: Sequence[Text]) -> list[Encoded]:
        """Token ids and segment numbers of pairs or of single texts, not of both, uncut."""
        if not texts:
            return []
        first = [t if isinstance(t, str) else t[0] for t in texts]
        second = [t[1] for t in texts if not isinstance(t, str)] or None
        cut = self.tokenizer(first, second, truncation=False, verbose=False)
        types = cut.get("token_type_ids") or [[0] * len(ids) for ids in cut["input_ids"]]
        return [Encoded(tuple(i), tuple(t)) for i, t in zip(cut["input_ids"], types, strict=True)]

    def logits(self, batch: list[Encoded]) -> Floats:
        """The raw outputs for a batch, padded on the side that the tokeniser pads on."""
        columns: dict[str, Any] = {"input_ids": [list(e.ids) for e in batch]}
        if "token_type_ids" in self.tokenizer.model_input_names:
            columns["token_type_ids"] = [list(e.types) for e in batch]
        padded = self.tokenizer.pad(columns, return_tensors="pt").to(self.device)
        with self.torch.inference_mode():
            return np.asarray(self.model(**padded).logits.float().cpu().numpy(), dtype=np.float64)


class TorchTokenNetwork(TorchNetwork):
    """A network that is fed with the tokens of its tokeniser itself."""

    def load_tokenizer(self) -> None:
        """The tokeniser without cutting and padding."""
        folder = self.location.folder
        self.limit: Any = None
        if folder:
            self.limit = read_settings(folder / "tokenizer_config.json").get("model_max_length")
            has_own = any((folder / n).exists() for n in ("tokenizer.json", "vocab.txt"))
            # without any file transformers would make up an empty tokeniser; `open_tokenizer`
            # raises an error that says what is missing
            if has_own or not any((folder / n).exists() for n in _TOKENIZER_FILES):
                self.tokenizer = open_tokenizer(folder)
                return
        super().load_tokenizer()
        self.limit = self.tokenizer.model_max_length
        self.tokenizer = bare_tokenizer(
            self.tokenizer,
            f"'{self.place}' has no fast tokeniser; "
            "save it with one (tokenizer.save_pretrained of a fast tokeniser)",
        )

    def read_limits(self) -> None:
        """What follows from the config and the tokeniser: length, padding, unknown words."""
        self.longest = find_longest(self.config, self.limit)
        self.pad, self.unknown = find_pad(self.config, self.tokenizer), find_unknown(self.tokenizer)

    def forward(self, batch: Sequence[Encoded], **wanted: bool) -> Any:
        """The outputs of the network for a padded batch; wanted: what else it shall give."""
        feed = {
            name: self.torch.from_numpy(table).to(self.device)
            for name, table in pad_batch(batch, self.pad).items()
        }
        if not self.config.get("type_vocab_size"):
            del feed["token_type_ids"]
        with self.torch.inference_mode():
            return self.model(**feed, **wanted)


def bare_tokenizer(words: Any, refusal: str) -> Any:
    """The tokeniser inside one of transformers, without cutting and padding."""
    inner = getattr(words, "backend_tokenizer", None)
    if inner is None:
        raise LoadError(refusal)
    inner.no_truncation()
    inner.no_padding()
    return inner


def predict_only_at(model: Any, state: dict[str, Any]) -> None:
    """Let the model compute its vocabulary only at state[POSITIONS] (flat).

    The input of the last layer is cut down to them.
    """

    def pick(_: Any, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        hidden = inputs[0]
        return (hidden.reshape(-1, hidden.shape[-1])[state[POSITIONS]], *inputs[1:])

    model.get_output_embeddings().register_forward_pre_hook(pick)


class TorchMasked(TorchTokenNetwork):
    """Any model with a mask head, or an ELECTRA discriminator."""

    def __init__(self, location: Location, device: str) -> None:
        self.is_discriminator = location.architecture == DISCRIMINATOR
        loader = DISCRIMINATOR if self.is_discriminator else "AutoModelForMaskedLM"
        super().__init__(location, device, loader)
        if untrained := [key for key in self.missing if not key.endswith("decoder.bias")]:
            verb = "are" if len(untrained) > 1 else "is"
            raise LoadError(
                f"'{self.place}' has no trained mask head ({', '.join(untrained[:3])} {verb} not "
                "among its weights): an encoder or a classifier cannot say how likely a word is. "
                "Give a masked language model."
            )
        self.read_limits()
        self.mask = find_mask(self.place, self.tokenizer)
        self.state: dict[str, Any] = {}
        if not self.is_discriminator:
            predict_only_at(self.model, self.state)
        self.is_read_alone = depends_on_batch(
            lambda batch: self.log_probabilities(batch, trial_lookups(batch)),
            encode(self.tokenizer, TRIAL_TEXTS),
            self.longest,
        )

    def log_probabilities(self, batch: Sequence[Encoded], lookups: Sequence[Lookup]) -> Floats:
        """The log-probability of each token that is looked up; one run of the network."""
        positions, rows = distinct_positions(lookups)
        width = max(len(e.ids) for e in batch)
        self.state[POSITIONS] = self.torch.tensor(
            [row * width + column for row, column in positions], device=self.device
        )
        logits = self.forward(batch).logits.float().cpu().numpy()
        if self.is_discriminator:
            return unreplaced(logits, lookups)
        return look_up(logits, rows, [token for _, _, token in lookups])

    def attention(self, batch: Sequence[Encoded]) -> list[Floats]:
        """For each text the attention that its tokens receive; one run of the network.

        The mean over layers, heads and the positions of the text that attend.
        """
        self.state[POSITIONS] = self.torch.tensor([0], device=self.device)
        usual = self.model.config._attn_implementation
        self.model.set_attn_implementation("eager")  # the only one that gives its weights
        try:
            layers = self.forward(batch, output_attentions=True).attentions
        finally:
            self.model.set_attn_implementation(usual)
        if not layers or any(layer is None for layer in layers):
            raise LoadError(f"'{self.place}' gives no attention weights")
        weights = sum(layer.float().mean(dim=1) for layer in layers) / len(layers)
        table = np.asarray(weights.cpu().numpy(), dtype=np.float64)
        sizes = [len(text.ids) for text in batch]
        return [rows[:n, :n].mean(axis=0) for rows, n in zip(table, sizes, strict=True)]


class TorchEncoder(TorchTokenNetwork):
    """Any encoder, or the encoder below any head."""

    def __init__(self, location: Location, device: str, recipe: VectorRecipe) -> None:
        super().__init__(location, device, "AutoModel")
        untrained = [k for k in self.missing if not any(part in k for part in _UNUSED_PARTS)]
        if untrained:
            raise LoadError(
                f"'{self.place}' lacks weights of its encoder ({', '.join(untrained[:3])}): "
                "its vectors would be random"
            )
        if self.config.get("is_encoder_decoder"):
            self.model = self.model.get_encoder()
        self.read_limits()
        self.longest = min(self.longest, recipe.longest or self.longest)
        self.pooling = recipe.pooling
        texts = encode(self.tokenizer, TRIAL_TEXTS)
        self.is_read_alone = depends_on_batch(self.vectors, texts, self.longest)

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One vector per text; one run of the network."""
        tokens = self.forward(batch).last_hidden_state.float().cpu().numpy()
        return pool(tokens, [len(e.ids) for e in batch], self.pooling)


class TorchNextSentence(TorchTokenNetwork):
    """BERT and its like, with the head that was trained on pairs of sentences."""

    def __init__(self, location: Location, device: str) -> None:
        _refuse_headless(location)
        super().__init__(location, device, "AutoModelForNextSentencePrediction")
        # the head itself first
        untrained = sorted(self.missing, key=lambda key: "seq_relationship" not in key)
        if untrained:
            raise LoadError(
                f"'{self.place}' has no trained next-sentence head ({', '.join(untrained[:3])} not "
                "among its weights): its answers would be random. Give a model that was trained "
                "on next sentences, such as bert-base-uncased."
            )
        self.read_limits()
        pairs = encode(self.tokenizer, TRIAL_PAIRS)
        self.is_read_alone = depends_on_batch(self.logits, pairs, self.longest)

    def logits(self, batch: list[Encoded]) -> Floats:
        """The two outputs for each pair of a batch."""
        return np.asarray(self.forward(batch).logits.float().cpu().numpy(), dtype=np.float64)


def _refuse_headless(location: Location) -> None:
    """Raise LoadError where no model of this type was ever trained on next sentences."""
    model_type = str(location.config.get("model_type") or "")
    try:
        from transformers.models.auto import modeling_auto
    except ImportError:
        return  # loading says what is not installed
    known = modeling_auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
    if model_type and model_type not in known:
        raise LoadError(
            f"'{location.place}' is of the family {model_type}, which has no next-sentence head; "
            f"{', '.join(sorted(known))} have"
        )
