"""How is an encoder fine-tuned on NLI pairs? In batches of similar length, by the loop that every recipe shares."""

from __future__ import annotations

import json
import math
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
from transformers import AutoTokenizer

from evenhand.core.estimate import Interval
from evenhand.core.files import staged, write_atomic
from evenhand.respondents.encoding import find_longest
from evenhand.train.batching import Encoded, in_order, shuffled
from evenhand.train.checkpoints import Checkpoints
from evenhand.train.corpus import Pair
from evenhand.train.encoders import Opened, label_order, load, open_classifier
from evenhand.train.loop import Run, Tick
from evenhand.train.lora import adapt, merge, save_adapter
from evenhand.train.pairing import ask, choose_loss
from evenhand.train.processes import Alone
from evenhand.train.recipes import Recipe

CARD = "training.json"
LEVEL = 0.95
_VERSIONS = ("evenhand", "torch", "transformers", "tokenizers", "accelerate", "peft", "numpy")


def right_rows(
    model: Any, data: Encoded, size: int = 64, processes: Alone | None = None
) -> NDArray[np.bool_]:
    """Which of the pairs does the model label right? Each process asks its part."""
    crew = processes or Alone()
    model.eval()
    right = np.zeros(len(data), dtype=bool)
    with torch.inference_mode():
        for rows in list(in_order(data.lengths, size))[crew.rank :: crew.count]:
            inputs, labels = data.batch(rows)
            logits = model(
                **{name: tensor.to(crew.device) for name, tensor in inputs.items()}
            ).logits
            right[rows] = (logits.argmax(-1).cpu() == labels).numpy()
    return np.asarray(np.logical_or.reduce(crew.gather(right)))


def accuracy(model: Any, data: Encoded, size: int = 64) -> float:
    """Which share of the pairs does the model label right?"""
    return float(right_rows(model, data, size).mean())


def accuracy_interval(
    right: NDArray[np.bool_], premises: Sequence[str], level: float = LEVEL
) -> Interval:
    """Accuracy with Wilson's interval, at the effective number of pairs: those that share a premise are no independent looks."""
    share, count = float(right.mean()), float(len(right))
    names, place = np.unique(np.asarray(premises), return_inverse=True)
    spread = (
        float((np.bincount(place, weights=right - share, minlength=len(names)) ** 2).sum())
        / count**2
    )
    if spread > 0:
        count = min(count, share * (1 - share) / spread)
    z = NormalDist().inv_cdf((1 + level) / 2)
    centre = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = (
        z
        / (1 + z * z / count)
        * math.sqrt(share * (1 - share) / count + z * z / (4 * count * count))
    )
    return Interval(share, max(0.0, centre - half), min(1.0, centre + half))


def fit(
    encoder: Path | str,
    train: Sequence[Pair],
    dev: Mapping[str, Sequence[Pair]],
    recipe: Recipe,
    out: Path,
    *,
    say: Callable[[str], None] = print,
    about: Mapping[str, Any] | None = None,
    processes: Alone | None = None,
    every: int | None = None,
    is_resumed: bool = True,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """Fine-tune `encoder` on `train`, write the weights that the recipe keeps to `out`, return what there is to say of the run.

    `about` is what the run card says of the data. With `every`, a checkpoint is written after so many steps and after each epoch, and a run of the same
    recipe and `about` that was stopped goes on from the last one.
    """
    crew = processes or Alone()
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = load(AutoTokenizer.from_pretrained, encoder)
    opened = open_classifier(encoder, recipe)
    _warn_of_new(encoder, opened, say)
    model = adapt(opened, recipe) if recipe.lora else opened.model
    if model.config.pad_token_id is None:
        model.config.pad_token_id = (
            tokenizer.pad_token_id
        )  # causal models look for the last word before the padding
    if crew.rank:
        torch.manual_seed(
            recipe.seed + crew.rank
        )  # the same head everywhere, but other units dropped
    longest = find_longest(model.config.to_dict(), tokenizer.model_max_length)
    order = label_order(model.config)
    data = Encoded(
        tokenizer,
        train,
        min(recipe.max_length, longest),
        recipe.form,
        order,
        has_twins=recipe.pairing > 0,
    )
    held = {
        name: Encoded(tokenizer, pairs, longest, recipe.form, order) for name, pairs in dev.items()
    }
    called = crew.spread(model)
    loss_of = choose_loss(ask(called, crew.device), data, recipe)

    def judge() -> float:
        return float(
            np.concatenate(
                [right_rows(model, pairs, processes=crew) for pairs in held.values()]
            ).mean()
        )

    run = Run(model, len(data), loss_of, recipe, processes=crew, rng=rng)
    card = {"recipe": asdict(recipe), "form": recipe.form, **(about or {}), "pairs": len(train)}
    trained, twins = sum(p.numel() for p in run.trained), int((data.twins >= 0).sum())
    if recipe.pairing:
        card["pairs with a twin"] = twins
    if recipe.lora:
        card["lora"] = {"rank": recipe.lora, "alpha": recipe.alpha}
    card["tokens of a pair, at most"] = {"train": min(recipe.max_length, longest), "dev": longest}
    keeper = Checkpoints(out, settings_of(card), crew, every=every) if every else None
    if keeper and is_resumed and keeper.restore(run):
        say(f"{recipe.name}: goes on from step {run.at.step} of {run.steps}")
    elif keeper:
        keeper.discard()
    has_judge = bool(held) and (recipe.is_best_kept or recipe.patience > 0)
    run.go(
        lambda: shuffled(data.lengths, recipe.batch_size, rng),
        unit="pairs",
        say=say,
        judge=judge if has_judge else None,
        keeper=keeper,
        tick=tick,
    )
    if recipe.lora:
        if crew.rank == 0:
            save_adapter(model, out)
        model = merge(model)
    rights = {name: right_rows(model, pairs, processes=crew) for name, pairs in held.items()}
    intervals = {
        name: accuracy_interval(right, [p.premise for p in dev[name]])
        for name, right in rights.items()
    }
    card |= {
        "parameters": {"trained": trained, "all": sum(p.numel() for p in model.parameters())},
        "new weights": list(opened.new),
        "steps": run.at.step,
        "seconds": round(run.at.seconds),
        "dev accuracy by epoch": run.at.scores,
        "kept epoch": run.at.best if run.best else run.at.epoch,
        "accuracy": {name: i.value for name, i in intervals.items()},
        "interval": {
            name: {"low": i.low, "high": i.high, "level": LEVEL, "pairs": len(dev[name])}
            for name, i in intervals.items()
        },
        "processes": crew.count,
        "device": str(crew.device),
        "torch": torch.__version__,
        "versions": versions(),
    }
    if crew.rank == 0:
        _write(out, card, model, tokenizer)
    if keeper:
        keeper.discard()
    told = ", ".join(
        f"{name} {i.value:.2%} [{i.low:.2%}, {i.high:.2%}]" for name, i in intervals.items()
    )
    say(f"{recipe.name}: done in {run.at.seconds / 60:.0f} min; {told}")
    return card


def _write(out: Path, card: Mapping[str, Any], model: Any, tokenizer: Any) -> None:
    with staged(out) as stage:
        model.save_pretrained(stage)
        tokenizer.save_pretrained(stage)
        for path in stage.iterdir():
            path.chmod(0o644)  # safetensors are written for their owner alone
    write_atomic(out / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")


def _warn_of_new(encoder: Path | str, opened: Opened, say: Callable[[str], None]) -> None:
    if new := opened.new_within:
        names = ", ".join(new[:4]) + (f" and {len(new) - 4} more" if len(new) > 4 else "")
        say(
            f"warning: {encoder} has no weights for {names}; they start at random and are trained with the rest"
        )


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
        "recipe": card.get("recipe"),
        "encoder": card.get("encoder", {}).get("revision"),
        "limit": card.get("limit"),
        "data": digests,
    }
