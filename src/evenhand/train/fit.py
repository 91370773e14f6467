"""How is an encoder fine-tuned on NLI pairs? In batches of similar length, by the loop that every recipe shares."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from evenhand.core.records import NLI_LABELS
from evenhand.train.batching import Encoded, in_order, shuffled
from evenhand.train.corpus import Pair
from evenhand.train.loop import Rows, optimise
from evenhand.train.recipes import Recipe


def open_classifier(encoder: Path, recipe: Recipe) -> Any:
    """The encoder with a fresh three-label head."""
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder, num_labels=len(NLI_LABELS), id2label=dict(enumerate(NLI_LABELS)), label2id={v: k for k, v in enumerate(NLI_LABELS)},
        hidden_dropout_prob=recipe.dropout, attention_probs_dropout_prob=recipe.attention_dropout,
    )  # fmt: skip
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    return model


def accuracy(model: Any, data: Encoded, size: int = 64) -> float:
    """Which share of the pairs does the model label right?"""
    model.eval()
    right = 0
    with torch.inference_mode():
        for rows in in_order(data.lengths, size):
            inputs, labels = data.batch(rows)
            right += int((model(**inputs).logits.argmax(-1) == labels).sum())
    return right / len(data)


def fit(
    encoder: Path,
    train: Sequence[Pair],
    dev: Mapping[str, Sequence[Pair]],
    recipe: Recipe,
    out: Path,
    *,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Fine-tune `encoder` on `train`, write the averaged weights to `out`, return what there is to say of the run."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = open_classifier(encoder, recipe)
    data = Encoded(tokenizer, train, recipe.max_length)
    cross_entropy = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)

    def loss_of(rows: Rows) -> torch.Tensor:
        inputs, labels = data.batch(rows)
        loss: torch.Tensor = cross_entropy(model(**inputs).logits, labels)
        return loss

    seconds = optimise(model, len(data), lambda: shuffled(data.lengths, recipe.batch_size, rng), loss_of, recipe, unit="pairs", say=say)
    scores = {name: accuracy(model, Encoded(tokenizer, pairs, model.config.max_position_embeddings)) for name, pairs in dev.items()}
    card = {"recipe": asdict(recipe), "pairs": len(train), "seconds": round(seconds), "accuracy": scores, "torch": torch.__version__}
    out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "training.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    say(f"{recipe.name}: done in {seconds / 60:.0f} min; " + ", ".join(f"{name} {score:.2%}" for name, score in scores.items()))
    return card
