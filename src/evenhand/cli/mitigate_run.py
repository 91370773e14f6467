"""`evenhand mitigate run`: train a model by several methods, audit all of them, and say what each one changed and what it cost."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import options as opt


def run(
    model: Annotated[
        str,
        typer.Argument(
            help="The NLI model to start from: `default`, a folder in Hugging Face form, or a hub id."
        ),
    ],
    train: Annotated[
        list[Path],
        typer.Option(
            help="Training file (repeatable): .jsonl, .csv, .tsv or .txt, as in `evenhand train nli`."
        ),
    ],
    dev: Annotated[
        list[Path],
        typer.Option(
            help="File of held-out pairs that the accuracy before and after is measured on (repeatable)."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for a model a method, mitigation.html, .md, .tex, .json and the figures.",
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(
            help="none (the control), swap, pairing, anchors, or several at once: swap+anchors, pairing+anchors."
        ),
    ] = "none,swap,pairing,anchors",
    lang: opt.Lang = "en",
    suites: Annotated[
        str,
        typer.Option(
            "--suites",
            "-s",
            help="What all models are asked; published suites (nli-coal, sharma2021) with --data.",
        ),
    ] = "occupation-nli,gendered-entailment",
    data: opt.Data = None,
    recipe: Annotated[
        str,
        typer.Option(
            help="mitigate (one epoch, low learning rate), or a recipe of `evenhand train nli`."
        ),
    ] = "mitigate",
    epochs: Annotated[int | None, typer.Option(help="Instead of the recipe's.")] = None,
    learning_rate: Annotated[float | None, typer.Option(help="Instead of the recipe's.")] = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pairs in a step, instead of the recipe's.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=1, help="Train on so many pairs of the files only, the same ones by every method."
        ),
    ] = None,
    pairing: Annotated[
        float,
        typer.Option(
            help="Method pairing: weight of the difference between the logits of a pair and of its twin."
        ),
    ] = 1.0,
    anchors: Annotated[
        float, typer.Option(help="Method anchors: how many, as a share of the training pairs.")
    ] = 0.05,
    swap: Annotated[
        str,
        typer.Option(
            help="Method swap: copies of all pairs with a gender word, or only of those that name an occupation: all, occupations."
        ),
    ] = "all",
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    permutations: Annotated[
        int, typer.Option(min=100, help="Random swaps of two models' answers, for the p values.")
    ] = 10_000,
    level: opt.Level = 0.95,
    resume: Annotated[bool, typer.Option(help="Go on where the same command stopped.")] = True,
    as_json: opt.AsJson = False,
) -> None:
    """Mitigate a model by several methods and measure bias and accuracy before and after, on the same probes.

    Stopped half-way? The same command goes on: finished models are not trained again, a training goes on from its last checkpoint.

    Example: `evenhand mitigate run default --train snli_train.jsonl --dev snli_dev.jsonl --methods none,swap,swap+anchors --out runs/mitigation`.
    """
    from evenhand.cli.progress import asking_bar
    from evenhand.mitigate.preparing import Wish, recipe_of
    from evenhand.mitigate.running import mitigate
    from evenhand.report.mitigation import mitigation_text, write_mitigation

    chosen = recipe_of(recipe, epochs=epochs, learning_rate=learning_rate, batch_size=batch_size)
    wish = Wish(
        model=model,
        train=train,
        dev=dev,
        out=out,
        recipe=chosen,
        methods=methods,
        language=lang,
        data=data,
        limit=limit,
        pairing=pairing,
        anchors=anchors,
        scope=swap,
        suites=[name.strip() for name in suites.split(",") if name.strip()],
        seed=seed,
        is_resumed=resume,
        resamples=resamples,
        permutations=permutations,
        level=level,
    )

    def watch(text: str) -> AbstractContextManager[Any]:
        return (
            asking_bar(text) if sys.stderr.isatty() else nullcontext()
        )  # without a terminal the training says its steps line by line

    try:
        found = mitigate(
            wish,
            say=lambda line: print(line, file=sys.stderr if as_json else sys.stdout, flush=True),
            watch=watch,
        )
    except KeyboardInterrupt:
        again = "the same command" if resume else "the same command without --no-resume"
        print(
            f"\nstopped: {again} goes on from the last checkpoint; what is finished in {out} is kept",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
    page = write_mitigation(found, out)
    if as_json:
        print(mitigation_text(found), end="")
    else:
        from rich.console import Console

        from evenhand.report.mitigation_tables import print_mitigation

        print_mitigation(found, Console())
    print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)
