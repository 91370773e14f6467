"""Where do the tests of `evenhand train nli` train? In a room with a tiny encoder and files of a small language that it can learn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Outcome, evenhand


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


class Room:
    """Files of a small language that a tiny encoder can learn."""

    def __init__(self, folder: Path) -> None:
        tools = pytest.importorskip("test_training", reason="needs the train extra")
        self.folder, self.encoder = folder, tools.save_encoder(folder)
        for name, count, seed in (("train", 330, 1), ("dev", 90, 2)):
            rows = [{"sentence1": p.premise, "sentence2": p.hypothesis, "gold_label": p.label} for p in tools.corpus(count, seed)]
            rows.insert(7, {"sentence1": "w1", "sentence2": "w2", "gold_label": "-"})
            write(folder / f"{name}.jsonl", "\n".join(map(json.dumps, rows)))

    def words(self, out: str, *more: str) -> list[str]:
        """11 steps an epoch, a checkpoint every 4."""
        paths = ["--encoder", str(self.encoder), "--train", str(self.folder / "train.jsonl"), "--dev", str(self.folder / "dev.jsonl")]
        told = [
            "--recipe",
            "plain",
            "--epochs",
            "3",
            "--learning-rate",
            "0.003",
            "--batch-size",
            "30",
            "--checkpoint-every",
            "4",
            "--no-onnx",
        ]
        return ["train", "nli", *paths, "--out", str(self.folder / out), *told, *more]

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
