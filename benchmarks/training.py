"""The speed of training in batches of similar length beside batches padded to 128 tokens.

Ratios from one interleaved run on this machine: the same pairs of SNLI, the same model (the
embedded one), optimiser and batch size; only how the batches are made differs. Beside them
transformers' own Trainer, padded to 128 as in the papers' scripts. Texts are made into tokens
beforehand for all. Exits with 1 where the ratio is below what is promised.

Run: python benchmarks/training.py --data DIR (the folder with en.snli-train20k.jsonl below nli/,
or EVENHAND_DATA)
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
import transformers
from transformers.trainer_callback import PrinterCallback

from evenhand.core.files import require_files
from evenhand.train.batches import POOL, EncodedPairs, logits_of, shuffled
from evenhand.train.corpus import read_pairs
from evenhand.train.encoders import find_encoder, open_classifier
from evenhand.train.loop import Rows, RunHooks, TrainingRun
from evenhand.train.recipes import Recipe, find_recipe

PADDED = 128
PROMISED = 2.5
OWN, PAPERS, TRAINER = (
    "evenhand, batches of similar length",
    "the same loop, padded to 128",
    "transformers Trainer, padded to 128",
)


def pad(inputs: dict[str, torch.Tensor], token: int) -> dict[str, torch.Tensor]:
    """Every row 128 tokens long."""
    return {
        name: torch.nn.functional.pad(
            t, (0, PADDED - t.shape[1]), value=token if name == "input_ids" else 0
        )
        for name, t in inputs.items()
    }


def trained(
    model: Any, data: EncodedPairs, recipe: Recipe, *, is_padded: bool
) -> Callable[[list[Rows]], None]:
    """The project's loop, with or without padding to 128."""
    call = logits_of(model, torch.device("cpu"))
    entropy = torch.nn.CrossEntropyLoss()

    def loss_of(rows: Rows, _: Rows) -> torch.Tensor:
        inputs, labels = data.batch(rows)
        loss: torch.Tensor = entropy(call(pad(inputs, data.pad) if is_padded else inputs), labels)
        return loss

    def train(batches: list[Rows]) -> None:
        run = TrainingRun(model, sum(map(len, batches)), loss_of, recipe)
        run.go(lambda: batches, RunHooks(say=lambda _: None))

    return train


def trained_by_trainer(
    model: Any, data: EncodedPairs, recipe: Recipe, folder: str
) -> Callable[[list[Rows]], None]:
    """What a user would write."""
    arguments = transformers.TrainingArguments(
        folder,
        per_device_train_batch_size=recipe.batch_size,
        learning_rate=recipe.learning_rate,
        num_train_epochs=1,
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
        dataloader_pin_memory=False,
        optim="adamw_torch_fused",
    )

    def train(batches: list[Rows]) -> None:
        inputs, labels = data.batch(np.concatenate(batches))
        padded = pad(inputs, data.pad)
        rows = [
            {**{name: t[i] for name, t in padded.items()}, "labels": labels[i]}
            for i in range(len(labels))
        ]
        trainer = transformers.Trainer(model=model, args=arguments, train_dataset=rows)
        trainer.remove_callback(PrinterCallback)
        trainer.train()

    return train


def main() -> None:
    """Train by turns, print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--data", type=Path, default=os.environ.get("EVENHAND_DATA"), help="folder of the real data"
    )
    parser.add_argument("--encoder", default="default", help="folder of an encoder, or `default`")
    parser.add_argument("--batches", type=int, default=3, help="steps of each way in each round")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    if args.data is None:
        parser.error("name the folder of the real data with --data or EVENHAND_DATA")
    path = Path(args.data) / "nli" / "en.snli-train20k.jsonl"
    require_files([path], "is needed for this benchmark; --data names the folder above nli/")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    recipe = replace(find_recipe("nli-coal"), epochs=1, is_best_kept=False)
    rng = np.random.default_rng(0)
    encoder = find_encoder(args.encoder)
    data = EncodedPairs(
        transformers.AutoTokenizer.from_pretrained(encoder),
        read_pairs([path])[: POOL * recipe.batch_size],
        PADDED,
    )
    with tempfile.TemporaryDirectory() as folder:
        models = [open_classifier(encoder, recipe).model for _ in range(3)]
        ways = {
            OWN: trained(models[0], data, recipe, is_padded=False),
            PAPERS: trained(models[1], data, recipe, is_padded=True),
            TRAINER: trained_by_trainer(models[2], data, recipe, folder),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        work: dict[str, list[float]] = {
            way: [] for way in ways
        }  # of the processor: what the clock says where nothing else runs
        pool = shuffled(data.lengths, recipe.batch_size, rng)
        for way in ways.values():
            way(pool[:1])  # warm up
        for _ in range(args.rounds):
            grouped = [pool[i] for i in rng.choice(len(pool), size=args.batches, replace=False)]
            mixed = np.array_split(
                rng.permutation(np.concatenate(grouped)), args.batches
            )  # the same pairs, in the papers' random order
            for label, way in ways.items():
                start, began = time.perf_counter(), time.process_time()
                way(grouped if label == OWN else mixed)
                times[label].append(time.perf_counter() - start)
                work[label].append(time.process_time() - began)
    pairs = args.batches * recipe.batch_size
    tokens = float(data.lengths.mean())
    print(
        f"{pairs} pairs of {tokens:.0f} tokens on average a round, "
        f"batches of {recipe.batch_size}, median of {args.rounds} interleaved rounds, "
        f"{torch.get_num_threads()} threads"
    )
    own = statistics.median(times[OWN])
    for label, seconds in times.items():
        middle = statistics.median(seconds)
        print(f"{label:36} {pairs / middle:8.1f} pairs/s   {middle / own:5.2f} x evenhand's time")
    ratio, worked = (
        statistics.median(
            slow / fast for slow, fast in zip(seconds[PAPERS], seconds[OWN], strict=True)
        )
        for seconds in (times, work)
    )
    print(
        f"batches of similar length against padding to 128: {ratio:.2f} x by the clock, "
        f"{worked:.2f} x in processor time (promised: {PROMISED} x)"
    )
    sys.exit(ratio < PROMISED)


if __name__ == "__main__":
    main()
