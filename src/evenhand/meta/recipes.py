"""How are the models of a ladder trained? As the paper trains them, or as a small encoder needs it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from evenhand.core.errors import UnknownNameError
from evenhand.train.recipes import Recipe, find_recipe

PAPER = replace(
    find_recipe("nli-coal"), name="paper", epochs=3
)  # Anantaprayoon, Kaneko, Okazaki 2024: 3 epochs, 2e-5, batches of 32, 128 tokens
# A small encoder on a few thousand pairs needs more and larger steps; its word vectors are left alone, which saves half of the optimiser's work.
SMALL = replace(
    PAPER,
    name="small",
    epochs=1,
    learning_rate=1.5e-4,
    batch_size=12,
    warmup=0.1,
    attention_dropout=0.0,
    has_frozen_words=True,
)
NAMED: Mapping[str, Recipe] = {recipe.name: recipe for recipe in (PAPER, SMALL)}


def find(name: str) -> Recipe:
    """The recipe of this name; close names are suggested where there is none."""
    if name not in NAMED:
        raise UnknownNameError("recipe of a ladder", name, NAMED)
    return NAMED[name]
