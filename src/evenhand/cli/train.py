"""`evenhand train nli`: fine-tune an encoder on NLI files."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt
from evenhand.cli import train_vectors
from evenhand.respondents.packages import DEFAULT

if TYPE_CHECKING:
    from evenhand.train.run_cards import RunCard

app = typer.Typer(
    no_args_is_help=True, help="Fine-tune models, so that how a model was trained can be compared."
)
_WEIGHTS = ".safetensors"  # how the names of weight files end
_TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", ".model")  # and those of tokenizers


@app.command(no_args_is_help=True)
def nli(
    encoder: Annotated[
        str,
        typer.Option(
            help="What is fine-tuned: a folder in Hugging Face form, a hub id, or `default`: the "
            "embedded model."
        ),
    ],
    train: opt.TrainFiles,
    dev: opt.DevFiles,
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for the model, its run card training.json and its ONNX form.",
        ),
    ],
    recipe: Annotated[
        str | None,
        typer.Option(
            help="nli-coal [default], sharma, sharma-1e-5, supposition (as printed in the papers), "
            "plain, layered, polished (small encoders)."
        ),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--supposition",
            help="pair, or a supposition preset: esp, clean, or your own text with {h} and {p} "
            "[default: the recipe's].",
        ),
    ] = None,
    epochs: opt.Epochs = None,
    learning_rate: opt.LearningRate = None,
    batch_size: Annotated[
        int | None,
        typer.Option(help="Pairs per step, over all processes [default: the recipe's]."),
    ] = None,
    max_length: Annotated[
        int | None,
        typer.Option(help="Tokens that a training pair is cut to [default: the recipe's]."),
    ] = None,
    patience: Annotated[
        int | None,
        typer.Option(
            help="Stop after this many epochs without a better dev accuracy [default: never]."
        ),
    ] = None,
    fresh_pooler: Annotated[
        bool,
        typer.Option(
            "--fresh-pooler",
            help="Accept an encoder that was saved without its pooler, which then starts at "
            "random.",
        ),
    ] = False,
    lora: Annotated[
        int,
        typer.Option(
            min=0,
            metavar="RANK",
            help="Train only the head and low-rank adapters of this rank; 0 trains all weights.",
        ),
    ] = 0,
    lora_alpha: Annotated[
        float | None,
        typer.Option(help="Adapters are scaled by ALPHA / RANK [default: twice the rank]."),
    ] = None,
    pairing: Annotated[
        float | None,
        typer.Option(
            metavar="WEIGHT",
            help="Pull the logits of each pair and of its twin together; twins are made by "
            "`mitigate swap --paired`.",
        ),
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Seed of everything random [default: the recipe's].")
    ] = None,
    limit: opt.TrainLimit = None,
    onnx: Annotated[
        bool, typer.Option(help="Also write OUT/onnx, which can be audited without torch.")
    ] = True,
    resume: opt.Resume = True,
    checkpoint_every: Annotated[
        int,
        typer.Option(
            min=1, help="Steps between checkpoints; there is always one after every epoch."
        ),
    ] = 500,
    as_json: opt.AsJson = False,
) -> None:
    """Fine-tune an encoder on NLI pairs, or on suppositions; the best epoch on dev is kept.

    Stopped or killed half-way? Run the same command again: it continues from the last checkpoint
    and ends with the same weights.

    Several GPUs or machines: `accelerate launch -m evenhand train nli ...`.

    With `--lora` the learning rate is ten times the recipe's, at most 1e-3, unless you give one;
    the adapter is written to OUT/adapter and is also added to the weights of the model.

    ```console
    evenhand train nli --encoder bert-base-uncased \\
      --train snli_train.jsonl --dev snli_dev.jsonl --out models/snli
    ```
    """
    from evenhand.cli.progress import asking_bar, interruptible
    from evenhand.core.files import require_room
    from evenhand.respondents.forms import find_form
    from evenhand.train import require_packages
    from evenhand.train.corpus import read_corpora
    from evenhand.train.recipes import (
        DEFAULT_RECIPE,
        RecipeChanges,
        RunOptions,
        adapted,
        find_recipe,
    )

    named = find_recipe(recipe or DEFAULT_RECIPE)
    changes = RecipeChanges(
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        max_length=max_length,
        patience=patience,
        seed=seed,
        form=form,
        pairing=pairing,
        has_fresh_pooler=fresh_pooler or None,
    )
    chosen = adapted(changes.apply(named), lora, lora_alpha or 0.0, learning_rate)
    supposition = find_form(chosen.form)
    chosen = replace(chosen, form=supposition.name if supposition else "pair")
    encoder = _require_encoder(encoder)
    require_packages()
    require_room(out)
    corpora = read_corpora(train, dev)
    corpora.require_all_labels()
    if chosen.pairing:
        corpora.require_twins()

    from evenhand.train.checkpoints import FOLDER, STATE
    from evenhand.train.fine_tuning import fine_tune

    # of the processes that `accelerate launch` starts, only the first prints
    is_first = os.environ.get("RANK", "0") == "0"

    def say(line: str) -> None:
        if is_first:
            print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    for corpus in (*corpora.train, *corpora.dev):
        left_out = ""
        if corpus.undecided:
            left_out = f", {corpus.undecided:,} rows without a gold label left out"
        say(f"{corpus.path}: {len(corpus.pairs):,} pairs{left_out}")
    if lora:
        reason = f"the recipe's is {named.learning_rate:g}, for all weights"
        if learning_rate is not None:
            reason = "as given"
        say(
            f"adapters of rank {lora}, alpha {chosen.alpha:g}: "
            f"learning rate {chosen.learning_rate:g} ({reason})"
        )

    def advice() -> str:
        if not (out / FOLDER / STATE).exists():
            return "there is no checkpoint yet"
        again = "the same command" if resume else "the same command without --no-resume"
        return f"{again} goes on from the last checkpoint"

    has_bar = is_first and sys.stderr.isatty()
    bar = asking_bar(f"training {chosen.name}") if has_bar else nullcontext()
    with interruptible(advice), bar as tick:
        options = RunOptions(
            limit=limit,
            has_onnx=onnx,
            is_resumed=resume,
            checkpoint_every=checkpoint_every,
            say=say,
            tick=tick,
        )
        card = fine_tune(encoder, corpora, chosen, out, options)
    if is_first:
        _print_card(card, out, has_onnx=onnx, as_json=as_json)


def _require_encoder(encoder: str) -> str:
    """The folder or hub id of an encoder.

    Raises LoadError where the folder does not hold an encoder, or the name cannot be a hub id.
    """
    from evenhand.core.errors import LoadError
    from evenhand.respondents.locate import require_hub_id
    from evenhand.respondents.trust import refuse_pickles

    folder = Path(encoder).expanduser()
    if encoder == DEFAULT:
        return encoder
    if not folder.is_dir():
        require_hub_id(encoder, (DEFAULT,))
        return encoder
    refuse_pickles(folder, way_out="")
    names = {path.name for path in folder.iterdir()}
    lacking = []
    if "config.json" not in names:
        lacking.append("no config.json")
    if not any(name.endswith(_WEIGHTS) for name in names):
        lacking.append("no weights (*.safetensors)")
    if not any(name.endswith(_TOKENIZERS) for name in names):
        lacking.append("no tokenizer (tokenizer.json, vocab.txt, ...)")
    if lacking:
        there = ", ".join(sorted(names)[:8]) or "nothing"
        raise LoadError(
            f"{encoder} is no encoder that can be trained: it has {', '.join(lacking)} "
            f"(found: {there})"
        )
    return str(folder)


def _print_card(card: RunCard, out: Path, *, has_onnx: bool, as_json: bool) -> None:
    from evenhand.train.run_cards import CARD

    if as_json:
        print(card.text(), end="")
        return
    for line in card.accuracy_lines():
        print(line)
    if lora := card.facts.get("lora"):
        trained, total = card.facts["parameters"]["trained"], card.facts["parameters"]["all"]
        print(
            f"adapter of rank {lora['rank']}: {out / 'adapter'}; {trained:,} weights trained, "
            f"{trained / total:.1%} of the model's"
        )
    folders = f"{out} and {out / 'onnx'}" if has_onnx else str(out)
    print(f"model: {folders}; run card: {out / CARD}")


app.command("vectors", no_args_is_help=True)(train_vectors.vectors)
