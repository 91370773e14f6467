"""How is an encoder fine-tuned on NLI pairs without wasting work?

Batches of similar length, fused attention and optimiser, and a moving average of the weights, which is what is kept and evaluated.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer, get_linear_schedule_with_warmup

from evenhand.core.records import NLI_LABELS
from evenhand.train.batching import Encoded
from evenhand.train.corpus import Pair
from evenhand.train.recipes import Recipe

AVERAGE_EVERY = 8  # steps between two updates of the moving average
SAY_EVERY = 100


def open_classifier(encoder: Path, recipe: Recipe) -> Any:
    """The encoder with a fresh three-label head."""
    model = AutoModelForSequenceClassification.from_pretrained(
        encoder, num_labels=len(NLI_LABELS), id2label=dict(enumerate(NLI_LABELS)), label2id={v: k for k, v in enumerate(NLI_LABELS)},
        hidden_dropout_prob=recipe.dropout, attention_probs_dropout_prob=recipe.attention_dropout,
    )  # fmt: skip
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    return model


def parameter_groups(model: Any, recipe: Recipe) -> list[dict[str, Any]]:
    """Parameters with their learning rate (lower in lower layers) and weight decay (none for biases and norms)."""
    depth = model.config.num_hidden_layers
    groups: dict[tuple[float, float], list[Any]] = {}
    for name, value in model.named_parameters():
        if not value.requires_grad:
            continue
        parts = name.split(".")
        height = depth - 1 - int(parts[parts.index("layer") + 1]) if "layer" in parts else depth if "embeddings" in parts else 0
        rate = recipe.learning_rate * recipe.layer_decay**height * (recipe.head_rate if name.startswith("classifier") else 1)
        groups.setdefault((rate, 0.0 if value.ndim < 2 else recipe.weight_decay), []).append(value)
    return [{"params": values, "lr": rate, "weight_decay": decay} for (rate, decay), values in groups.items()]


def accuracy(model: Any, data: Encoded, size: int = 64) -> float:
    """Which share of the pairs does the model label right?"""
    model.eval()
    right = 0
    with torch.inference_mode():
        for rows in data.in_order(size):
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
    optimizer = torch.optim.AdamW(parameter_groups(model, recipe), lr=recipe.learning_rate, betas=(0.9, 0.999), fused=True)
    steps = recipe.epochs * -(-len(data) // recipe.batch_size)
    schedule = get_linear_schedule_with_warmup(optimizer, int(recipe.warmup * steps), steps)
    trained = [p for p in model.parameters() if p.requires_grad]
    average = [p.detach().clone() for p in trained]
    loss_of = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    start, step, seen, running = time.monotonic(), 0, 0, 0.0
    model.train()
    for epoch in range(1, recipe.epochs + 1):
        for rows in data.shuffled(recipe.batch_size, rng):
            step += 1
            inputs, labels = data.batch(rows)
            loss = loss_of(model(**inputs).logits, labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(trained, 1.0, foreach=True)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad(set_to_none=True)
            if step % AVERAGE_EVERY == 0:
                keep = min(recipe.average**AVERAGE_EVERY, step / (step + 100))
                torch._foreach_lerp_(average, [p.detach() for p in trained], 1 - keep)
            seen, running = seen + len(rows), 0.98 * running + 0.02 * float(loss.detach())
            if step % SAY_EVERY == 0:
                took = time.monotonic() - start
                left = took / step * (steps - step) / 60
                say(
                    f"{recipe.name}: epoch {epoch}, step {step}/{steps}, loss {running / (1 - 0.98**step):.3f}, {seen / took:.0f} pairs/s, {left:.0f} min left"
                )
    with torch.no_grad():
        for value, mean in zip(trained, average, strict=True):
            value.copy_(mean)
    seconds = time.monotonic() - start
    scores = {name: accuracy(model, Encoded(tokenizer, pairs, model.config.max_position_embeddings)) for name, pairs in dev.items()}
    card = {"recipe": asdict(recipe), "pairs": len(train), "seconds": round(seconds), "accuracy": scores, "torch": torch.__version__}
    out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "training.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    say(f"{recipe.name}: done in {seconds / 60:.0f} min; " + ", ".join(f"{name} {score:.2%}" for name, score in scores.items()))
    return card
