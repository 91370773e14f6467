"""Which decisions make a training run? A recipe names all of them but the data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """Everything that decides the outcome of a training run besides encoder and data."""

    name: str
    epochs: int = 4
    learning_rate: float = 1e-4  # linear warm-up, linear decay to 0
    batch_size: int = 32
    max_length: int = 128
    warmup: float = 0.06  # share of the steps
    weight_decay: float = 0.01
    label_smoothing: float = 0.0
    dropout: float = 0.1
    attention_dropout: float = 0.0  # 0 lets the fused attention kernel run
    average: float = 0.999  # decay a step of the moving average of the weights, which is what is kept
    layer_decay: float = 1.0  # learning rate of a layer = that of the layer above times this
    head_rate: float = 1.0  # learning rate of the classifier = that of the top layer times this
    has_frozen_words: bool = True  # word embeddings stay as they are
    repeats: Mapping[str, int] = field(default_factory=dict)  # how often a training file is read; 1 where it is not named
    start: str = ""  # the run to start from; the bare encoder where it is not named
    seed: int = 13


RECIPES = {
    recipe.name: recipe
    for recipe in (
        Recipe(name="plain"),
        Recipe(name="layered", learning_rate=2e-4, layer_decay=0.85, label_smoothing=0.05, head_rate=2.0),
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

MASKED = Recipe(name="masked", epochs=5, learning_rate=5e-4, batch_size=64, warmup=0.03, has_frozen_words=False)
