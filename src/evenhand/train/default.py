"""The embedded model: `python -m evenhand.train.default --data DIR --out DIR`.

Run this module to train it further. The first recipe starts from an encoder, by default the model
that is embedded now; the second goes on from the first; their weights are averaged (Wortsman et
al. 2022). Whichever of the runs and the average is the most accurate on the first half of each dev
file is exported; the second halves are for reporting it. Only corpora whose licence allows a
redistributable model are used.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

from evenhand.core.checksums import write_sums
from evenhand.core.corpora import Pair
from evenhand.core.files import require_files
from evenhand.respondents.packages import DEFAULT
from evenhand.train.batches import EncodedPairs
from evenhand.train.corpus import draw_pairs, read_pairs
from evenhand.train.encoders import find_encoder
from evenhand.train.export import MODEL_FILES, export_onnx, pack
from evenhand.train.fine_tuning import TrainingData, fit, right_rows
from evenhand.train.recipes import EMBEDDED, Recipe
from evenhand.train.run_cards import CARD

TRAIN = (
    "en.snli-train100k",
    "en.mnli-train10k",
    "en.mnli-train20k",
    "en.cf-nli-train",
    "en.wanli-train15k",
    "en.conjnli-adv15k",
)
DEV = ("en.snli-dev", "en.mnli-dev-matched")
LIMITS = {"broad": 128_000}  # pairs that a recipe reads, drawn at random
LONGEST = 512  # tokens of a dev pair
HALVES = ("first", "second")


def corpus_paths(data: Path, names: Iterable[str]) -> dict[str, Path]:
    """NLI files by name, packed or not; raises InputError where one is not there."""
    paths = {}
    for name in names:
        plain = data / f"{name}.jsonl"
        paths[name] = plain if plain.exists() else plain.with_name(f"{plain.name}.gz")
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
    parser.add_argument("--out", type=Path, required=True, help=out)
    return parser


def average_weights(folders: list[Path]) -> Any:
    """One model whose weights are the mean of those in `folders`."""
    models = [
        AutoModelForSequenceClassification.from_pretrained(
            folder, trust_remote_code=False, use_safetensors=True
        )
        for folder in folders
    ]
    states = [model.state_dict() for model in models]
    mean = {
        name: torch.stack([s[name].float() for s in states]).mean(0).to(value.dtype)
        for name, value in states[0].items()
    }
    models[0].load_state_dict(mean)
    return models[0]


def in_halves(name: str, pairs: Sequence[Pair]) -> dict[str, Sequence[Pair]]:
    """The two halves of a dev file, in its order: one to choose by, one to report."""
    middle = len(pairs) // 2
    parts = (pairs[:middle], pairs[middle:])
    return {f"{name}, {half} half": part for half, part in zip(HALVES, parts, strict=True)}


def chosen_by(scores: Mapping[str, Mapping[str, float]]) -> str:
    """The candidate that is the most accurate on the first halves."""
    return max(
        scores, key=lambda name: sum(v for half, v in scores[name].items() if HALVES[0] in half)
    )


def train_all(
    encoder: str, data: Path, out: Path, recipes: Sequence[Recipe]
) -> dict[str, dict[str, float]]:
    """Train every recipe that is not done yet; returns the dev accuracy of runs and averages."""
    paths = corpus_paths(data, (*TRAIN, *DEV))
    dev = {
        half: part
        for name in DEV
        for half, part in in_halves(name, read_pairs([paths[name]])).items()
    }
    scores: dict[str, dict[str, float]] = {}
    for recipe in recipes:
        card = out / recipe.name / CARD
        if not card.exists():
            files = [paths[name] for name in TRAIN for _ in range(recipe.repeats.get(name, 1))]
            train = draw_pairs(read_pairs(files), LIMITS.get(recipe.name), recipe.seed)
            fit(
                out / recipe.start if recipe.start else find_encoder(encoder),
                TrainingData(train=train, dev=dev),
                recipe,
                out / recipe.name,
            )
        scores[recipe.name] = json.loads(card.read_text(encoding="utf-8"))["accuracy"]
    trained = sorted(scores)
    tokenizer = AutoTokenizer.from_pretrained(out / trained[0], trust_remote_code=False)
    held_out = {name: EncodedPairs(tokenizer, pairs, LONGEST) for name, pairs in dev.items()}
    for names in [c for size in range(2, len(trained) + 1) for c in combinations(trained, size)]:
        label = "+".join(names)
        model = average_weights([out / name for name in names])
        model.save_pretrained(out / label)
        tokenizer.save_pretrained(out / label)
        scores[label] = {
            name: float(right_rows(model, pairs).mean()) for name, pairs in held_out.items()
        }
        print(label, scores[label])
    return scores


def main() -> None:
    """Train, choose, export."""
    parser = argument_parser(
        "evenhand.train.default",
        __doc__,
        "folder for the runs; the chosen model goes to OUT/default",
    )
    parser.add_argument(
        "--encoder",
        default=DEFAULT,
        help="the embedded model as it is now (%(default)s), or the folder of an encoder",
    )
    parser.add_argument(
        "--recipe", action="append", choices=sorted(EMBEDDED), help="only this recipe (repeatable)"
    )
    args = parser.parse_args()
    recipes = [EMBEDDED[name] for name in args.recipe or EMBEDDED]
    scores = train_all(args.encoder, args.data, args.out, recipes)
    best = chosen_by(scores)
    pack(export_onnx(args.out / best, args.out / "default"))
    write_sums(args.out / "default", MODEL_FILES)
    card = {"chosen": best, "accuracy before packing": scores}
    path = args.out / "default" / CARD
    path.write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(f"chosen: {best} {scores[best]}; written to {args.out / 'default'}")


if __name__ == "__main__":
    main()
