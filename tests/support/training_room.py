"""A tiny encoder, and NLI files of a small language that it can learn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Outcome, evenhand

from evenhand.core.corpora import Pair
from evenhand.core.probe import NLI_LABELS

# `evenhand WORDS` that kills itself: `step N` after the Nth step, `save N` in the middle of the
# Nth file of a checkpoint.
KILLED = """
import os, signal, sys
import torch
torch.set_num_threads(1)
from evenhand.cli.main import run
from evenhand.train import loop

kind, at = sys.argv.pop(1), int(sys.argv.pop(1))
def die():
    os.kill(os.getpid(), signal.SIGKILL)
step, save = loop.TrainingRun._step, torch.save
def short_step(self, rows):
    step(self, rows)
    if kind == "step" and self.at.step == at:
        die()
count = 0
def short_save(value, path):
    global count
    save(value, path)
    count += 1
    if kind == "save" and count == at:
        with open(path, "r+b") as stream:
            stream.truncate(os.path.getsize(path) // 2)
        die()
loop.TrainingRun._step, torch.save = short_step, short_save
run()
"""


def kill(kind: str, at: int, words: Sequence[str]) -> None:
    """Run `evenhand WORDS` until it is killed."""
    process = subprocess.run(
        [sys.executable, "-c", KILLED, kind, str(at), *words],
        capture_output=True,
        text=True,
        env=dict(os.environ),
        check=False,
    )
    assert process.returncode == -signal.SIGKILL, process.stderr


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


QUICK = "--checkpoint-every 4 --no-onnx"
LABEL_WORDS = {"entailment": "yes", "neutral": "maybe", "contradiction": "no"}


def save_encoder(folder: Path) -> Path:
    """A tiny BERT that knows the words of `small_corpus`."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    # on a busy machine two threads wait for each other longer than so small a network takes
    torch.set_num_threads(1)
    special = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
    words = [*special, *LABEL_WORDS.values(), *(f"w{i}" for i in range(200))]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=True).save_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=128,
        max_position_embeddings=64,
    )
    BertModel(config).save_pretrained(folder)
    return folder


def small_corpus(count: int, seed: int) -> list[Pair]:
    """Pairs whose label is told by the last word of the hypothesis."""
    rng = np.random.default_rng(seed)
    pairs: list[Pair] = []
    for i in range(count):
        label = NLI_LABELS[i % 3]
        noise = " ".join(f"w{n}" for n in rng.integers(0, 200, size=rng.integers(2, 20)))
        pairs.append(Pair(noise, f"w{rng.integers(200)} {LABEL_WORDS[label]}", label))
    return pairs


class Room:
    """Files of `small_corpus`; `train-paired.jsonl` has a twin for every second row."""

    def __init__(self, folder: Path) -> None:
        pytest.importorskip("torch", reason="needs the train extra")
        self.folder, self.encoder = folder, save_encoder(folder)
        for name, count, seed in (("train", 330, 1), ("dev", 90, 2)):
            rows = [
                {"sentence1": p.premise, "sentence2": p.hypothesis, "gold_label": p.label}
                for p in small_corpus(count, seed)
            ]
            rows.insert(7, {"sentence1": "w1", "sentence2": "w2", "gold_label": "-"})
            write(folder / f"{name}.jsonl", "\n".join(map(json.dumps, rows)))
            twins = [
                {"twin_premise": f"{row['sentence1']} w3", "twin_hypothesis": row["sentence2"]}
                if i % 2
                else {}
                for i, row in enumerate(rows)
            ]
            write(
                folder / f"{name}-paired.jsonl",
                "\n".join(json.dumps(row | twin) for row, twin in zip(rows, twins, strict=True)),
            )

    def words(self, out: str, *more: str) -> list[str]:
        """11 steps an epoch, a checkpoint every 4."""
        files = {"encoder": self.encoder, "train": self.folder / "train.jsonl"}
        files |= {"dev": self.folder / "dev.jsonl", "out": self.folder / out}
        paths = [word for name, path in files.items() for word in (f"--{name}", str(path))]
        recipe = "--recipe plain --epochs 3 --learning-rate 0.003 --batch-size 30"
        return ["train", "nli", *paths, *recipe.split(), *QUICK.split(), *more]

    def train(self, out: str, *more: str) -> Outcome:
        return evenhand(*self.words(out, *more))

    def weights(self, out: str) -> dict[str, Any]:
        from safetensors.numpy import load_file

        return dict(load_file(self.folder / out / "model.safetensors"))

    def card(self, out: str) -> dict[str, Any]:
        return dict(json.loads((self.folder / out / "training.json").read_text(encoding="utf-8")))

    def is_same(self, one: str, two: str) -> bool:
        a, b = self.weights(one), self.weights(two)
        return all(np.array_equal(a[k], b[k]) for k in a)
