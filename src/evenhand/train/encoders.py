"""Which encoder is trained, and can it be? Its name and digits for the run card, and the classifier that is made of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import torch
import transformers

from evenhand.core.errors import LabelError, LoadError
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.labels import from_config
from evenhand.respondents.places import revision_of
from evenhand.train.batching import require_padding
from evenhand.train.recipes import Recipe

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
# What the families of encoders call their dropout.
_DROPOUT = ("hidden_dropout_prob", "hidden_dropout", "dropout", "mlp_dropout")
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")


class Opened(NamedTuple):
    """A classifier, and the names of its weights that were not in the encoder's files: they start at random."""

    model: Any
    new: tuple[str, ...]

    @property
    def new_within(self) -> tuple[str, ...]:
        """Those of them that belong to the encoder and not to the head that is put on it."""
        return tuple(
            name for name in self.new if name.startswith(f"{self.model.base_model_prefix}.")
        )


def load(of: Callable[..., Any], encoder: Path | str, **told: Any) -> Any:
    """Something of the encoder, from its folder or from the hub."""
    try:
        return of(encoder, local_files_only=os.environ.get("EVENHAND_OFFLINE") == "1", **told)
    except (
        Exception
    ) as error:  # the hub client, the tokenisers and torch each have their own exceptions
        reason = (
            str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
        )
        raise LoadError(f"cannot load the encoder '{encoder}': {reason}") from error


def describe_encoder(name: str, place: Path | str) -> dict[str, str]:
    """What a run card says of the encoder at `place`: its name, and digits that change with its weights or words; an error where it is no encoder of texts."""
    transformers.logging.set_verbosity_error()  # that the head is new is what is wanted
    transformers.logging.disable_progress_bar()
    config = load(transformers.AutoConfig.from_pretrained, place)
    if type(config) not in transformers.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise LoadError(
            f"'{name}' is of the kind '{config.model_type}', which has no form that classifies texts; name an encoder of the kind of BERT or RoBERTa"
        )
    require_padding(load(transformers.AutoTokenizer.from_pretrained, place))
    folder = Path(place)
    if not folder.is_dir():
        return {"name": name, "revision": str(getattr(config, "_commit_hash", None) or "unknown")}
    files = SimpleNamespace(
        name="encoder", weights=sorted(p for pattern in WEIGHTS for p in folder.glob(pattern))
    )
    return {"name": name, "revision": revision_of(folder, files)}


def label_order(config: Any) -> tuple[str, ...]:
    """Which label does each output mean? What the encoder was trained for already, if it is an NLI model, else the usual order."""
    try:
        found = from_config(
            {int(k): str(v) for k, v in config.id2label.items()}, len(config.id2label)
        )
    except (AttributeError, LabelError, ValueError):
        found = None
    if found is None or len(found.labels) != len(NLI_LABELS):
        return NLI_LABELS
    return tuple(label for _, label in sorted(zip(found.columns, found.labels, strict=True)))


def open_classifier(encoder: Path | str, recipe: Recipe) -> Opened:
    """The encoder with a three-label head: a fresh one, or its own if it is an NLI model already."""
    config = load(transformers.AutoConfig.from_pretrained, encoder)
    order = label_order(config)
    config.num_labels = len(order)
    config.id2label, config.label2id = (
        dict(enumerate(order)),
        {label: i for i, label in enumerate(order)},
    )
    config.evenhand_form = recipe.form
    for names, value in (
        (_DROPOUT, recipe.dropout),
        (_ATTENTION_DROPOUT, recipe.attention_dropout),
    ):
        if name := next((n for n in names if hasattr(config, n)), None):
            setattr(config, name, value)
    model, found = load(
        transformers.AutoModelForSequenceClassification.from_pretrained,
        encoder,
        config=config,
        dtype=torch.float32,
        ignore_mismatched_sizes=True,
        output_loading_info=True,
    )
    _require_weights(encoder, model, found, is_pooler_fresh=recipe.has_fresh_pooler)
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    return Opened(
        model,
        tuple(sorted({*found["missing_keys"], *(name for name, *_ in found["mismatched_keys"])})),
    )


def _require_weights(
    encoder: Path | str, model: Any, found: dict[str, Any], *, is_pooler_fresh: bool
) -> None:
    """An error where the files hold other weights than the configuration speaks of: a head of another size may be replaced, an encoder may not.

    What lies between the layers and the head (BERT's pooler) may start at random if the user says so.
    """
    within = f"{model.base_model_prefix}."
    for name, stored, due in sorted(found["mismatched_keys"]):
        if name.startswith(within):
            raise LoadError(
                f"cannot load the encoder '{encoder}': {name} is {list(stored)} in its weights, {list(due)} by its config.json; they do not belong together"
            )
    own = {name for name, _ in model.named_parameters() if name.startswith(within)}
    lacking = own & set(found["missing_keys"])
    if lacking and not is_pooler_fresh and len(lacking) <= len(own) / 2:
        raise LoadError(
            f"the encoder '{encoder}' was saved without {', '.join(sorted(lacking)[:3])}{' ...' if len(lacking) > 3 else ''}, which the classifier reads; "
            f"give --fresh-pooler to start them at random, or name an encoder that has them"
        )
    if len(lacking) > len(own) / 2:  # a pooler may be missing, layers may not
        there = ", ".join(sorted(found["unexpected_keys"])[:3]) or "nothing"
        raise LoadError(
            f"cannot load the encoder '{encoder}': {len(lacking)} of the {len(own)} weights of a {model.config.model_type} "
            f"are not in its files (but {there}); check that config.json belongs to them"
        )
