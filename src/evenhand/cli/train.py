"""`evenhand train nli`: fine-tune an encoder on NLI files."""

from __future__ import annotations

import json
import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import options as opt
from evenhand.cli import train_vectors

DEFAULT = "default"
app = typer.Typer(
    no_args_is_help=True, help="Fine-tune models, so that how a model was trained can be compared."
)
_WORDS = ("tokenizer.json", "vocab.txt", "vocab.json", ".model")  # how the files of tokenizers end


@app.command(no_args_is_help=True)
def nli(
    encoder: Annotated[
        str,
        typer.Option(
            help="What is fine-tuned: a folder in Hugging Face form, a hub id, or `default`: the embedded model."
        ),
    ],
    train: Annotated[
        list[Path],
        typer.Option(
            help="Training file (repeatable): .jsonl, .csv, .tsv or .txt of SNLI, MNLI, JSNLI, OCNLI, JNLI ..."
        ),
    ],
    dev: Annotated[
        list[Path],
        typer.Option(help="File that the accuracy is measured on after every epoch (repeatable)."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the model, its run card training.json and its ONNX form.",
        ),
    ],
    recipe: Annotated[
        str,
        typer.Option(
            help="nli-coal, sharma, sharma-1e-5, supposition (as printed in the papers), plain, layered, polished (small encoders)."
        ),
    ] = "nli-coal",
    form: Annotated[
        str | None,
        typer.Option(
            help="pair, or a supposition preset: esp, clean, or your own text with {h} and {p} [default: the recipe's]."
        ),
    ] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of the recipe's.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Instead of the recipe's.")] = None,
    batch_size: Annotated[
        int | None,
        typer.Option(help="Pairs in a step, of all processes together, instead of the recipe's."),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Tokens that a training pair is cut to, instead of the recipe's."),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Stop after so many epochs without a better dev accuracy [default: never]."
        ),
    ] = None,
    fresh_pooler: Annotated[
        bool,
        typer.Option(
            "--fresh-pooler",
            help="Train an encoder that was saved without its pooler: it starts at random.",
        ),
    ] = False,
    lora: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="RANK",
            help="Train low-rank adapters of this rank and the head; 0: all weights.",
        ),
    ] = 0,
    lora_alpha: Annotated[
        float | None,
        typer.Option(help="The adapters count ALPHA / RANK [default: twice the rank]."),
    ] = None,
    pairing: Annotated[
        float | None,
        typer.Option(
            metavar="WEIGHT",
            help="Pull the logits of each pair and of its twin together; twins are made by `mitigate swap --paired`.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of everything random, instead of the recipe's.")
    ] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Train on so many pairs only, drawn at random.")
    ] = None,
    onnx: Annotated[
        bool, typer.Option(help="Also write OUT/onnx, which is asked without torch.")
    ] = True,
    resume: Annotated[bool, typer.Option(help="Go on where the same command stopped.")] = True,
    checkpoint_every: Annotated[
        int,
        typer.Option(
            min=1, help="Steps between two checkpoints; there is one after every epoch too."
        ),
    ] = 500,
    as_json: opt.AsJson = False,
) -> None:
    """Fine-tune an encoder on NLI pairs, or on suppositions, and keep the epoch with the best dev accuracy.

    Stopped or killed half-way? The same command goes on from the last checkpoint and ends with the same weights. Several GPUs or machines:
    `accelerate launch -m evenhand train nli ...`.

    With `--lora` the learning rate is ten times the recipe's, at most 1e-3, unless you give one; the adapter is in OUT/adapter and, added to the weights, in
    the model.

    Example: `evenhand train nli --encoder bert-base-uncased --train snli_train.jsonl --dev snli_dev.jsonl --out models/snli`.
    """
    from evenhand.cli.progress import asking_bar
    from evenhand.core.errors import LoadError
    from evenhand.core.files import require_room
    from evenhand.respondents.forms import find_form
    from evenhand.train.corpus import read_corpus, require_all_labels, require_twins
    from evenhand.train.recipes import adapted, find_recipe

    told: dict[str, Any] = {
        "epochs": epochs,
        "learning_rate": learning_rate,
        "batch_size": batch_size,
        "max_length": max_length,
        "patience": patience,
        "seed": seed,
        "form": form,
        "pairing": pairing,
        "has_fresh_pooler": fresh_pooler or None,
    }
    chosen = replace(
        find_recipe(recipe), **{name: value for name, value in told.items() if value is not None}
    )
    chosen = adapted(chosen, lora, lora_alpha or 0.0, learning_rate)
    supposition = find_form(chosen.form)
    chosen = replace(chosen, form=supposition.name if supposition else "pair")
    encoder = _require_encoder(encoder)
    require_room(out)
    files = {
        part: [read_corpus(path) for path in paths]
        for part, paths in (("train", train), ("dev", dev))
    }
    require_all_labels(files["train"])
    if chosen.pairing:
        require_twins(files["train"])
    try:
        from evenhand.train.tuning import fine_tune
    except ImportError as error:
        raise LoadError(
            f"training needs torch and transformers ({error}): pip install 'evenhand[train]'"
        ) from error

    is_first = (
        os.environ.get("RANK", "0") == "0"
    )  # of the processes that `accelerate launch` starts, one speaks

    def say(line: str) -> None:
        if is_first:
            print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    for corpus in (*files["train"], *files["dev"]):
        say(
            f"{corpus.path}: {len(corpus.pairs):,} pairs"
            + (
                f", {corpus.undecided:,} rows without a gold label left out"
                if corpus.undecided
                else ""
            )
        )
    if lora:
        reason = (
            "as given"
            if learning_rate is not None
            else f"the recipe's is {find_recipe(recipe).learning_rate:g}, for all weights"
        )
        say(
            f"adapters of rank {lora}, alpha {chosen.alpha:g}: learning rate {chosen.learning_rate:g} ({reason})"
        )
    try:
        with (
            asking_bar(f"training {chosen.name}")
            if is_first and sys.stderr.isatty()
            else nullcontext() as tick
        ):
            card = fine_tune(
                encoder,
                files["train"],
                files["dev"],
                chosen,
                out,
                limit=limit,
                has_onnx=onnx,
                is_resumed=resume,
                every=checkpoint_every,
                say=say,
                tick=tick,
            )
    except KeyboardInterrupt:
        again = "the same command" if resume else "the same command without --no-resume"
        kept = (
            f"{again} goes on from the last checkpoint"
            if (out / "checkpoint" / "state.pt").exists()
            else "there is no checkpoint yet"
        )
        print(f"\nstopped: {kept}", file=sys.stderr)
        raise typer.Exit(130) from None
    if is_first:
        _tell(card, out, has_onnx=onnx, as_json=as_json)


def _require_encoder(encoder: str) -> str:
    """Its folder or its hub id; an error now where the folder holds no encoder, or the name can be none of the hub."""
    from evenhand.core.errors import LoadError
    from evenhand.respondents.locate import require_hub_id

    folder = Path(encoder).expanduser()
    if encoder == DEFAULT:
        return encoder
    if not folder.is_dir():
        require_hub_id(encoder, (DEFAULT,))
        return encoder
    found = {path.name for path in folder.iterdir()}
    lacking = [
        what
        for what, is_there in (
            ("no config.json", "config.json" in found),
            (
                "no weights (*.safetensors, *.bin)",
                any(name.endswith((".safetensors", ".bin")) for name in found),
            ),
            (
                "no tokenizer (tokenizer.json, vocab.txt, ...)",
                any(name.endswith(_WORDS) for name in found),
            ),
        )
        if not is_there
    ]
    if lacking:
        raise LoadError(
            f"{encoder} is no encoder that can be trained: it has {', '.join(lacking)} (found: {', '.join(sorted(found)[:8]) or 'nothing'})"
        )
    return str(folder)


def _tell(card: dict[str, Any], out: Path, *, has_onnx: bool, as_json: bool) -> None:
    if as_json:
        print(json.dumps(card, ensure_ascii=False, indent=1))
        return
    for name, value in card["accuracy"].items():
        bounds = card["interval"][name]
        print(
            f"dev accuracy on {name}: {value:.2%} [{bounds['low']:.2%}, {bounds['high']:.2%}], {bounds['pairs']:,} pairs"
        )
    if lora := card.get("lora"):
        sizes = card["parameters"]
        print(
            f"adapter of rank {lora['rank']}: {out / 'adapter'}; {sizes['trained']:,} weights trained, {sizes['trained'] / sizes['all']:.1%} of the model's"
        )
    print(
        f"model: {out}"
        + (f" and {out / 'onnx'}" if has_onnx else "")
        + f"; run card: {out / 'training.json'}"
    )


app.command("vectors", no_args_is_help=True)(train_vectors.vectors)
