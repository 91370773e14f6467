"""How is an encoder fine-tuned by few weights? Its own stay as they are; each linear layer gets a product of two narrow matrices (LoRA, Hu et al. 2022).

The head, and whatever else starts at random, is trained in full. In the end the products are added to the weights: a model like any other.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

from evenhand.core.errors import LoadError
from evenhand.core.files import staged
from evenhand.train.encoders import Opened
from evenhand.train.recipes import Recipe

ADAPTER = "adapter"  # its folder


def require_peft() -> None:
    """An error where adapters cannot be made."""
    if importlib.util.find_spec("peft") is None:
        raise LoadError(
            "--lora needs the package peft: pip install 'evenhand[train]', or train all weights without --lora"
        )


def adapt(opened: Opened, recipe: Recipe) -> Any:
    """The classifier with an adapter on every linear layer of its encoder: only they, the head and new weights are trained."""
    require_peft()
    from peft import LoraConfig, get_peft_model

    model = opened.model
    whole = trained_whole(opened)
    told = LoraConfig(
        task_type="SEQ_CLS",
        r=recipe.lora,
        lora_alpha=recipe.alpha,
        lora_dropout=recipe.dropout,
        target_modules="all-linear",
        modules_to_save=whole,
        exclude_modules=rf"(.*\.)?({'|'.join(map(re.escape, whole))})(\..*)?",
    )
    return get_peft_model(model, told)


def trained_whole(opened: Opened) -> list[str]:
    """Modules without an adapter: those outside the encoder that have weights, and those within whose weights are new."""
    model = opened.model
    heads = [
        name
        for name, part in model.named_children()
        if name != model.base_model_prefix and any(True for _ in part.parameters())
    ]
    return sorted({*heads, *(name.rpartition(".")[0] for name in opened.new_within)})


def save_adapter(model: Any, out: Path) -> None:
    """Write what was trained, and nothing else, to the folder `adapter` of `out`."""
    with staged(out / ADAPTER) as stage:
        model.save_pretrained(stage, save_embedding_layers=False)
        for path in stage.iterdir():
            path.chmod(0o644)


def merge(model: Any) -> Any:
    """The classifier whose weights are those of the encoder plus what the adapters add."""
    return model.merge_and_unload()
