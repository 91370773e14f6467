"""Which decisions make a training run? A recipe names all of them but the data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from evenhand.core.errors import EvenhandError, UnknownNameError


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides the outcome of a training run besides encoder and data."""

    name: str
    epochs: int = 4
    learning_rate: float = 1e-4  # linear warm-up, linear decay to 0
    batch_size: int = 32  # of all processes together
    max_length: int = 128
    warmup: float = 0.06  # share of the steps
    beta1: float = 0.9  # of AdamW
    beta2: float = 0.999
    weight_decay: float = 0.01
    label_smoothing: float = 0.0
    dropout: float = 0.1
    attention_dropout: float = 0.0  # 0 lets the fused attention kernel run
    average: float = 0.999  # decay a step of the moving average of the weights, which is what is kept; 0: no average, the weights as they are
    layer_decay: float = 1.0  # learning rate of a layer = that of the layer above times this
    head_rate: float = 1.0  # learning rate of the classifier = that of the top layer times this
    has_frozen_words: bool = True  # word embeddings stay as they are
    repeats: Mapping[str, int] = field(
        default_factory=dict
    )  # how often a training file is read; 1 where it is not named
    start: str = ""  # the run to start from; the bare encoder where it is not named
    form: str = "pair"  # how premise and hypothesis are told: as a pair, or as the one sentence of a supposition
    has_fresh_pooler: bool = False  # may weights between the layers and the head start at random, where the encoder was saved without them?
    is_best_kept: bool = False  # the epoch with the best dev accuracy and not the last
    patience: int = (
        0  # epochs without a better dev accuracy after which training stops; 0: it does not
    )
    seed: int = 13
    pairing: float = 0.0  # weight of the mean squared difference between the logits of a pair and of its twin; 0: twins are not read
    lora: int = 0  # rank of the low-rank adapters that are trained instead of the encoder's weights; 0: those weights themselves
    lora_alpha: float = 0.0  # an adapter counts alpha / rank; 0: twice the rank

    def __post_init__(self) -> None:
        for name, least in (
            ("epochs", 1),
            ("batch_size", 1),
            ("max_length", 4),
            ("patience", 0),
            ("seed", 0),
            ("lora", 0),
        ):
            if getattr(self, name) < least:
                raise EvenhandError(
                    f"{name.replace('_', ' ')} is {getattr(self, name)}; give a number of at least {least}"
                )
        if not 0 <= self.learning_rate <= 1:
            raise EvenhandError(
                f"learning rate is {self.learning_rate}; give a number between 0 and 1, such as 2e-5"
            )
        for name in ("pairing", "lora_alpha"):
            if not 0 <= getattr(self, name) < math.inf:
                raise EvenhandError(
                    f"{name.replace('_', ' ')} is {getattr(self, name)}; give a number of at least 0"
                )
        if self.lora_alpha and not self.lora:
            raise EvenhandError(
                f"lora alpha is {self.lora_alpha:g}, but there is no rank; give --lora RANK too, such as --lora 8"
            )

    @property
    def alpha(self) -> float:
        """What the adapters are scaled by, times their rank."""
        return self.lora_alpha or 2.0 * self.lora


# What default.py trains, one after the other.
RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="plain"),
        Recipe(
            name="layered",
            learning_rate=2e-4,
            layer_decay=0.85,
            label_smoothing=0.05,
            head_rate=2.0,
        ),
        Recipe(
            name="polished",
            start="layered+plain",
            epochs=1,
            learning_rate=6e-5,
            layer_decay=0.85,
            label_smoothing=0.05,
            average=0.997,
            repeats={"en.mnli-train10k": 2},
        ),
    )
}

MASKED = Recipe(
    name="masked", epochs=5, learning_rate=5e-4, batch_size=64, warmup=0.03, has_frozen_words=False
)

# As the papers print them. Where they are silent, as the programs that they used: no warm-up, every weight trained, no average.
_PRINTED = Recipe(
    name="",
    learning_rate=2e-5,
    epochs=3,
    warmup=0.0,
    attention_dropout=0.1,
    average=0.0,
    has_frozen_words=False,
    is_best_kept=True,
)
PRINTED = {
    recipe.name: recipe
    for recipe in (
        replace(
            _PRINTED, name="nli-coal", epochs=5, weight_decay=0.0
        ),  # Anantaprayoon, Kaneko, Okazaki 2024
        replace(_PRINTED, name="sharma"),  # Sharma, Dey, Sinha 2021
        replace(_PRINTED, name="sharma-1e-5", learning_rate=1e-5),
        replace(_PRINTED, name="supposition", form="clean"),  # Luo, Glass 2023
    )
}
# The project's own, for any encoder and any files: they start from what the user names, and repeat none of it.
OWN = {
    name: replace(recipe, start="", repeats={}, is_best_kept=True)
    for name, recipe in RECIPES.items()
}
NAMED: Mapping[str, Recipe] = {**PRINTED, **OWN}


LORA_RATE, LORA_MOST = (
    10,
    1e-3,
)  # adapters start at nothing and are few, so they learn at ten times the rate of whole weights


def adapted(
    recipe: Recipe, rank: int, alpha: float = 0.0, learning_rate: float | None = None
) -> Recipe:
    """The recipe with adapters of this rank; the learning rate is the one given, or ten times the recipe's, at most 1e-3."""
    rate = (
        min(LORA_RATE * recipe.learning_rate, max(LORA_MOST, recipe.learning_rate))
        if rank
        else recipe.learning_rate
    )
    return replace(
        recipe,
        lora=rank,
        lora_alpha=alpha,
        learning_rate=rate if learning_rate is None else learning_rate,
    )


def completed(told: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe as a run card tells it, with the defaults of what was not thought of yet when the card was written."""
    return {**asdict(Recipe(name="")), **told}


def find_recipe(name: str) -> Recipe:
    """The recipe of this name for `evenhand train nli`; close names are suggested where there is none."""
    if name not in NAMED:
        raise UnknownNameError("recipe", name, NAMED)
    return NAMED[name]
