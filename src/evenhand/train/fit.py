"""How is an encoder fine-tuned on NLI pairs? In batches of similar length, by the loop that every recipe shares."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

from evenhand.core.errors import LabelError, LoadError
from evenhand.core.records import NLI_LABELS, Interval
from evenhand.core.storage import staged, write_atomic
from evenhand.respondents.encoding import find_longest
from evenhand.respondents.labels import from_config
from evenhand.train.batching import Encoded, in_order, shuffled
from evenhand.train.checkpoints import Checkpoints
from evenhand.train.corpus import Pair
from evenhand.train.loop import Rows, Run, Tick
from evenhand.train.processes import Alone
from evenhand.train.recipes import Recipe

CARD = "training.json"
LEVEL = 0.95
# What the families of encoders call their dropout.
_DROPOUT = ("hidden_dropout_prob", "hidden_dropout", "dropout", "mlp_dropout")
_ATTENTION_DROPOUT = ("attention_probs_dropout_prob", "attention_dropout")
_VERSIONS = ("evenhand", "torch", "transformers", "tokenizers", "accelerate", "numpy")


def load(of: Callable[..., Any], encoder: Path | str, **told: Any) -> Any:
    """Something of the encoder, from its folder or from the hub."""
    try:
        return of(encoder, local_files_only=os.environ.get("EVENHAND_OFFLINE") == "1", **told)
    except Exception as error:  # the hub client, the tokenisers and torch each have their own exceptions
        reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
        raise LoadError(f"cannot load the encoder '{encoder}': {reason}") from error


def label_order(config: Any) -> tuple[str, ...]:
    """Which label does each output mean? What the encoder was trained for already, if it is an NLI model, else the usual order."""
    try:
        found = from_config({int(k): str(v) for k, v in config.id2label.items()}, len(config.id2label))
    except (AttributeError, LabelError, ValueError):
        found = None
    if found is None or len(found.labels) != len(NLI_LABELS):
        return NLI_LABELS
    return tuple(label for _, label in sorted(zip(found.columns, found.labels, strict=True)))


def open_classifier(encoder: Path | str, recipe: Recipe) -> Any:
    """The encoder with a three-label head: a fresh one, or its own if it is an NLI model already."""
    config = load(AutoConfig.from_pretrained, encoder)
    order = label_order(config)
    config.num_labels = len(order)
    config.id2label, config.label2id = dict(enumerate(order)), {label: i for i, label in enumerate(order)}
    config.evenhand_form = recipe.form
    for names, value in ((_DROPOUT, recipe.dropout), (_ATTENTION_DROPOUT, recipe.attention_dropout)):
        if name := next((n for n in names if hasattr(config, n)), None):
            setattr(config, name, value)
    model = load(
        AutoModelForSequenceClassification.from_pretrained, encoder, config=config, dtype=torch.float32, ignore_mismatched_sizes=True
    )
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    return model


def right_rows(model: Any, data: Encoded, size: int = 64, processes: Alone | None = None) -> NDArray[np.bool_]:
    """Which of the pairs does the model label right? Each process asks its part."""
    crew = processes or Alone()
    model.eval()
    right = np.zeros(len(data), dtype=bool)
    with torch.inference_mode():
        for rows in list(in_order(data.lengths, size))[crew.rank :: crew.count]:
            inputs, labels = data.batch(rows)
            logits = model(**{name: tensor.to(crew.device) for name, tensor in inputs.items()}).logits
            right[rows] = (logits.argmax(-1).cpu() == labels).numpy()
    return np.asarray(np.logical_or.reduce(crew.gather(right)))


def accuracy(model: Any, data: Encoded, size: int = 64) -> float:
    """Which share of the pairs does the model label right?"""
    return float(right_rows(model, data, size).mean())


def accuracy_interval(right: NDArray[np.bool_], premises: Sequence[str], level: float = LEVEL) -> Interval:
    """Accuracy with Wilson's interval, at the effective number of pairs: those that share a premise are no independent looks."""
    share, count = float(right.mean()), float(len(right))
    names, place = np.unique(np.asarray(premises), return_inverse=True)
    spread = float((np.bincount(place, weights=right - share, minlength=len(names)) ** 2).sum()) / count**2
    if spread > 0:
        count = min(count, share * (1 - share) / spread)
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z / (1 + z * z / count) * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def fit(
    encoder: Path | str, train: Sequence[Pair], dev: Mapping[str, Sequence[Pair]], recipe: Recipe, out: Path,
    *, say: Callable[[str], None] = print, about: Mapping[str, Any] | None = None, processes: Alone | None = None,
    every: int | None = None, is_resumed: bool = True, tick: Tick | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Fine-tune `encoder` on `train`, write the weights that the recipe keeps to `out`, return what there is to say of the run.

    `about` is what the run card says of the data. With `every`, a checkpoint is written after so many steps and after each epoch, and a run of the same
    recipe and `about` that was stopped goes on from the last one.
    """
    crew = processes or Alone()
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = load(AutoTokenizer.from_pretrained, encoder)
    model = open_classifier(encoder, recipe)
    if crew.rank:
        torch.manual_seed(recipe.seed + crew.rank)  # the same head everywhere, but other units dropped
    longest = find_longest(model.config.to_dict(), tokenizer.model_max_length)
    order = label_order(model.config)
    data = Encoded(tokenizer, train, min(recipe.max_length, longest), recipe.form, order)
    held = {name: Encoded(tokenizer, pairs, longest, recipe.form, order) for name, pairs in dev.items()}
    called = crew.spread(model)
    cross_entropy = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)

    def loss_of(rows: Rows) -> torch.Tensor:
        inputs, labels = data.batch(rows)
        loss: torch.Tensor = cross_entropy(called(**{name: t.to(crew.device) for name, t in inputs.items()}).logits, labels.to(crew.device))
        return loss

    def judge() -> float:
        return float(np.concatenate([right_rows(model, pairs, processes=crew) for pairs in held.values()]).mean())

    run = Run(model, len(data), loss_of, recipe, processes=crew, rng=rng)
    card = {"recipe": asdict(recipe), "form": recipe.form, **(about or {}), "pairs": len(train)}
    card["tokens of a pair, at most"] = {"train": min(recipe.max_length, longest), "dev": longest}
    keeper = Checkpoints(out, settings_of(card), crew, every=every) if every else None
    if keeper and is_resumed and keeper.restore(run):
        say(f"{recipe.name}: goes on from step {run.at.step} of {run.steps}")
    elif keeper:
        keeper.discard()
    has_judge = bool(held) and (recipe.is_best_kept or recipe.patience > 0)
    run.go(
        lambda: shuffled(data.lengths, recipe.batch_size, rng), unit="pairs", say=say, judge=judge if has_judge else None, keeper=keeper, tick=tick
    )  # fmt: skip
    rights = {name: right_rows(model, pairs, processes=crew) for name, pairs in held.items()}
    intervals = {name: accuracy_interval(right, [p.premise for p in dev[name]]) for name, right in rights.items()}
    card |= {
        "steps": run.at.step, "seconds": round(run.at.seconds), "dev accuracy by epoch": run.at.scores,
        "kept epoch": run.at.best if run.best else run.at.epoch, "accuracy": {name: i.value for name, i in intervals.items()},
        "interval": {name: {"low": i.low, "high": i.high, "level": LEVEL, "pairs": len(dev[name])} for name, i in intervals.items()},
        "processes": crew.count, "device": str(crew.device), "torch": torch.__version__, "versions": versions(),
    }  # fmt: skip
    if crew.rank == 0:
        with staged(out) as stage:
            model.save_pretrained(stage)
            tokenizer.save_pretrained(stage)
            for path in stage.iterdir():
                path.chmod(0o644)  # safetensors are written for their owner alone
        write_atomic(out / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    if keeper:
        keeper.discard()
    told = ", ".join(f"{name} {i.value:.2%} [{i.low:.2%}, {i.high:.2%}]" for name, i in intervals.items())
    say(f"{recipe.name}: done in {run.at.seconds / 60:.0f} min; {told}")
    return card


def versions() -> dict[str, str]:
    """Of Python and of what the numbers depend on."""
    found = {"python": platform.python_version()}
    for name in _VERSIONS:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def settings_of(card: Mapping[str, Any]) -> dict[str, Any]:
    """What two runs must have in common to be the same run: all but where the files lie."""
    data = card.get("data", {})
    digests = {part: [file["sha256"] for file in files] for part, files in data.items()}
    return {
        "recipe": card.get("recipe"), "encoder": card.get("encoder", {}).get("revision"), "limit": card.get("limit"), "data": digests
    }  # fmt: skip
