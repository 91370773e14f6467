"""`evenhand train vectors`: train an NLI classifier on the vectors of a sentence encoder."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def vectors(
    train: opt.TrainFiles,
    dev: opt.DevFiles,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="Folder for the classifier and its run card training.json."
        ),
    ],
    encoder: Annotated[
        str,
        typer.Option(
            help="Encoder whose vectors are used: universal (16 languages, numpy), minilm, a "
            "folder, a hub id; encoder:MODEL takes the encoder out of a model with another head."
        ),
    ] = "universal",
    start: Annotated[
        Path | None,
        typer.Option(
            help="Train the classifier in this folder further; it must use the same encoder "
            "[default: start a new one]."
        ),
    ] = None,
    hidden: Annotated[
        int | None,
        typer.Option(help="Units of the hidden layer [default: 512, or those of --start]."),
    ] = None,
    epochs: Annotated[int, typer.Option(help="Passes over the training pairs.")] = 15,
    learning_rate: Annotated[
        float, typer.Option(help="Learning rate of AdamW at the start; it falls to 0.")
    ] = 1e-3,
    batch_size: Annotated[int, typer.Option(help="Pairs per step.")] = 128,
    dropout: Annotated[
        float,
        typer.Option(
            help="Share of the hidden units dropped in each step; half of it for the inputs."
        ),
    ] = 0.5,
    best: Annotated[
        bool, typer.Option(help="Keep the epoch with the best dev accuracy, not the last.")
    ] = False,
    seed: Annotated[int, typer.Option(help="Seed of everything random.")] = 13,
    limit: opt.TrainLimit = None,
    cache: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            help="Folder where the vectors are kept for the next run [default: the cache folder].",
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option(help="Leave a folder alone that the same command has already finished.")
    ] = True,
    as_json: opt.AsJson = False,
) -> None:
    """Train an NLI classifier on frozen sentence vectors, for languages that have no NLI model.

    The folder is audited like any other NLI model, in numpy:
    `evenhand audit OUT --suite occupation-nli --lang ja`.

    ```console
    evenhand train vectors --train jsnli_train.tsv --dev jnli_valid.jsonl \\
      --out DIR
    ```
    """
    from evenhand.cli.progress import asking_bar
    from evenhand.core.files import require_room
    from evenhand.train import require_packages
    from evenhand.train.corpus import read_corpora
    from evenhand.train.recipes import HeadRecipe, RunOptions
    from evenhand.train.run_cards import CARD

    recipe = HeadRecipe(
        hidden=hidden,
        epochs=epochs,
        learning_rate=learning_rate,
        batch_size=batch_size,
        dropout=dropout,
        is_best_kept=best,
        seed=seed,
    )
    require_packages()
    require_room(out)
    corpora = read_corpora(train, dev)

    from evenhand.train.vector_heads import HeadBasis, fit_head

    def say(line: str) -> None:
        print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    basis = HeadBasis(encoder=encoder, start=start, vectors=cache)
    with asking_bar("training") if sys.stderr.isatty() else nullcontext() as tick:
        options = RunOptions(limit=limit, is_resumed=resume, say=say, tick=tick)
        card = fit_head(basis, corpora, recipe, out, options)
    if as_json:
        print(card.text(), end="")
        return
    for line in card.accuracy_lines():
        print(line)
    print(f"model: {out}; run card: {out / CARD}")
