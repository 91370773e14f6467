"""Speed of asking a classifier beside what a user would run instead.

Ratios from one interleaved run on this machine; no absolute claim. A classifier of the embedded
model's shape (random weights: speed does not depend on them) is asked the same probes by
evenhand's engine and by three programs that users write: the transformers pipeline one pair at a
time, the same in batches of 32, and batches padded to 128 tokens as the papers do. Run: make bench
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    pipeline,
)

from evenhand.core.probe import NLI_LABELS, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.ask import ask
from evenhand.engine.suites import load_suite
from evenhand.respondents.nli import NliSource
from evenhand.train.export import export_onnx


def make_model(folder: Path) -> tuple[Any, Any]:
    words = str(files("evenhand") / "models" / "default" / "tokenizer.json")
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_file=words,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=512,
    )
    labels = dict(enumerate(NLI_LABELS))
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=12,
        intermediate_size=1536,
        num_labels=3,
        id2label=labels,
        label2id={v: k for k, v in labels.items()},
    )
    model = BertForSequenceClassification(config).eval()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, tokenizer


def padded_to_128(model: Any, tokenizer: Any, probes: list[Probe]) -> None:
    with torch.inference_mode():
        for start in range(0, len(probes), 32):
            part = probes[start : start + 32]
            inputs = tokenizer(
                [p.texts[0] for p in part],
                [p.texts[1] for p in part],
                padding="max_length",
                truncation=True,
                max_length=128,
                return_tensors="pt",
            )
            model(**inputs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--probes", type=int, default=384)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model, tokenizer = make_model(folder / "torch")
        export_onnx(folder / "torch", folder / "onnx")
        respondent = NliSource().open(str(folder / "onnx"), RespondentOptions())
        probes = list(load_suite("occupation-nli", "en", limit=args.probes).probes)
        classify = pipeline(
            "text-classification", model=model, tokenizer=tokenizer, device="cpu", top_k=None
        )
        asked = [{"text": p.texts[0], "text_pair": p.texts[1]} for p in probes]
        ways: dict[str, Callable[[], object]] = {
            "evenhand engine (onnxruntime)": lambda: ask(respondent, probes),
            "transformers pipeline, batch 32": lambda: classify(asked, batch_size=32),
            "transformers pipeline, one by one": lambda: classify(asked, batch_size=1),
            "batches of 32 padded to 128": lambda: padded_to_128(model, tokenizer, probes),
        }
        times: dict[str, list[float]] = {way: [] for way in ways}
        for way in ways.values():
            way()  # warm up
        for _ in range(args.rounds):
            for label, way in ways.items():
                start = time.perf_counter()
                way()
                times[label].append(time.perf_counter() - start)
    own = statistics.median(times["evenhand engine (onnxruntime)"])
    print(
        f"{len(probes)} probes, median of {args.rounds} interleaved rounds, "
        f"{torch.get_num_threads()} threads"
    )
    for label, seconds in times.items():
        middle = statistics.median(seconds)
        print(
            f"{label:36} {len(probes) / middle:8.0f} probes/s   "
            f"{middle / own:5.2f} x evenhand's time"
        )


if __name__ == "__main__":
    main()
