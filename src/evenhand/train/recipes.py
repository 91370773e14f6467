"""Recipes: every decision of a training run besides encoder and data, and the named ones."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.respondents.vector_nli import SCALINGS

CHECKPOINT_EVERY = 500  # steps
LORA_FACTOR, LORA_MOST = 10, 1e-3  # learning rate of adapters: a multiple of the recipe's, at most
Say = Callable[[str], None]
Tick = Callable[[int, int, int], None]  # steps done, of how many, of which in an earlier session


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides the outcome of a fine-tuning run besides encoder and data."""

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
    average: float = 0.999  # decay per step of the moving average of the weights; 0: no average
    layer_decay: float = 1.0  # learning rate of a layer = that of the layer above times this
    head_rate: float = 1.0  # learning rate of the classifier = that of the top layer times this
    has_frozen_words: bool = True  # word embeddings stay as they are
    repeats: Mapping[str, int] = field(default_factory=dict)  # file -> how often it is read
    start: str = ""  # the run to start from; empty: the encoder
    form: str = "pair"  # how premise and hypothesis are put: a pair, or a supposition
    has_fresh_pooler: bool = False  # missing weights between layers and head start at random
    is_best_kept: bool = False  # the epoch with the best dev accuracy and not the last
    patience: int = 0  # stop after this many epochs without a better dev accuracy; 0: never
    seed: int = 13
    pairing: float = 0.0  # weight of the difference between the logits of a pair and its twin
    lora: int = 0  # rank of the adapters that are trained instead of the encoder; 0: none
    lora_alpha: float = 0.0  # adapters are scaled by alpha / rank; 0: twice the rank

    def __post_init__(self) -> None:
        _require_at_least(self, epochs=1, batch_size=1, max_length=4, patience=0, seed=0, lora=0)
        if not 0 <= self.learning_rate <= 1:
            raise EvenhandError(
                f"learning rate is {self.learning_rate}; give a number between 0 and 1, such as "
                "2e-5"
            )
        for name, value in (("pairing", self.pairing), ("lora alpha", self.lora_alpha)):
            if not 0 <= value < math.inf:
                raise EvenhandError(f"{name} is {value}; give a number of at least 0")
        if self.lora_alpha and not self.lora:
            raise EvenhandError(
                f"lora alpha is {self.lora_alpha:g}, but there is no rank; "
                "give --lora RANK too, such as --lora 8"
            )

    @property
    def alpha(self) -> float:
        """Alpha of LoRA: adapters are scaled by alpha / rank."""
        return self.lora_alpha or 2.0 * self.lora


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeChanges:
    """Values that replace those of a recipe; None keeps the recipe's."""

    epochs: int | None = None
    learning_rate: float | None = None
    batch_size: int | None = None
    max_length: int | None = None
    patience: int | None = None
    seed: int | None = None
    form: str | None = None
    pairing: float | None = None
    has_fresh_pooler: bool | None = None

    def apply(self, recipe: Recipe) -> Recipe:
        """The recipe with the changes; raises EvenhandError for an impossible value."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        return replace(recipe, **{name: v for name, v in values.items() if v is not None})


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRecipe:
    """Everything that decides the outcome of training a classifier on sentence vectors.

    Besides encoder, data and the head that it starts from.
    """

    name: str = "vectors"
    hidden: int | None = None  # units of the hidden layer; None: those of the start, else 512
    scaling: str = "standard"  # of the inputs; a head that is trained further keeps its own
    epochs: int = 15
    learning_rate: float = 1e-3  # linear decay to 0
    batch_size: int = 128
    dropout: float = 0.5  # of the hidden units; of the inputs half as many
    weight_decay: float = 0.01  # of AdamW
    label_smoothing: float = 0.0
    is_best_kept: bool = False  # the epoch with the best dev accuracy and not the last
    seed: int = 13

    def __post_init__(self) -> None:
        _require_at_least(self, hidden=1, epochs=1, batch_size=1, seed=0)
        if not 0 < self.learning_rate <= 1:
            raise EvenhandError(
                f"learning rate is {self.learning_rate}; give a number above 0 and up to 1, "
                "such as 1e-3"
            )
        if not 0 <= self.dropout < 1:
            raise EvenhandError(f"dropout is {self.dropout}; give a share from 0 to less than 1")
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """How a run is carried out; of these only `limit` changes its outcome."""

    limit: int | None = None  # train on this many of the pairs, drawn at random
    is_resumed: bool = True  # leave alone what is finished, go on from a checkpoint
    checkpoint_every: int | None = CHECKPOINT_EVERY  # and after each epoch; None: no checkpoints
    has_onnx: bool = True  # also write the model as ONNX
    say: Say = print
    tick: Tick | None = None


def _require_at_least(recipe: Recipe | HeadRecipe, **least: int) -> None:
    for name, lowest in least.items():
        value = getattr(recipe, name)
        if value is not None and value < lowest:
            raise EvenhandError(
                f"{name.replace('_', ' ')} is {value}; give a number of at least {lowest}"
            )


# What default.py trains, one after the other. The second reads again what the model is worst at.
EMBEDDED = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="broad", epochs=1, learning_rate=1e-4, dropout=0.0),
        Recipe(
            name="focused",
            start="broad",
            epochs=1,
            learning_rate=4e-5,
            average=0.997,
            dropout=0.0,
            repeats={
                "en.snli-train100k": 0,
                "en.mnli-train10k": 0,
                "en.cf-nli-train": 0,
                "en.wanli-train15k": 0,
                "en.conjnli-adv15k": 0,
            },
            seed=14,
        ),
    )
}

MASKED = Recipe(
    name="masked", epochs=5, learning_rate=5e-4, batch_size=64, warmup=0.03, has_frozen_words=False
)

# As the papers print them. Where they are silent, as the programs that they used: no warm-up,
# every weight trained, no average.
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
        # Anantaprayoon, Kaneko, Okazaki 2024
        replace(_PRINTED, name="nli-coal", epochs=5, weight_decay=0.0),
        replace(_PRINTED, name="sharma"),  # Sharma, Dey, Sinha 2021
        replace(_PRINTED, name="sharma-1e-5", learning_rate=1e-5),
        replace(_PRINTED, name="supposition", form="clean"),  # Luo, Glass 2023
    )
}
# The project's own, for any encoder and any files.
_LAYERED = Recipe(
    name="layered",
    learning_rate=2e-4,
    layer_decay=0.85,
    label_smoothing=0.05,
    head_rate=2.0,
    is_best_kept=True,
)
OWN = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="plain", is_best_kept=True),
        _LAYERED,
        replace(
            _LAYERED, name="polished", epochs=1, learning_rate=6e-5, head_rate=1.0, average=0.997
        ),
    )
}
NAMED: Mapping[str, Recipe] = {**PRINTED, **OWN}
DEFAULT_RECIPE = next(iter(NAMED))


def find_recipe(name: str) -> Recipe:
    """The recipe of this name for `evenhand train nli`; close names are suggested."""
    if name not in NAMED:
        raise UnknownNameError("recipe", name, NAMED)
    return NAMED[name]


def adapted(
    recipe: Recipe, rank: int, alpha: float = 0.0, learning_rate: float | None = None
) -> Recipe:
    """The recipe with adapters of this rank.

    Adapters start at nothing and are few: the learning rate is the one given, or ten times the
    recipe's, at most 1e-3.
    """
    rate = recipe.learning_rate
    if rank:
        rate = min(LORA_FACTOR * rate, max(LORA_MOST, rate))
    return replace(
        recipe,
        lora=rank,
        lora_alpha=alpha,
        learning_rate=rate if learning_rate is None else learning_rate,
    )


def completed(written: Mapping[str, Any]) -> dict[str, Any]:
    """A recipe as a run card has it, with the defaults of fields that are newer than the card."""
    return {**asdict(Recipe(name="")), **written}
