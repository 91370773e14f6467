"""`evenhand mitigate run`: train a model by several methods; bias and accuracy before and after."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated, Any

import typer

from evenhand.cli import options as opt

NameFinder = Annotated[
    str,
    typer.Option(
        help="What finds named persons, whose pronouns are not swapped without the name: auto, "
        "spacy or spacy:MODEL, lists, or a token classifier."
    ),
]


def run(
    model: Annotated[
        str,
        typer.Argument(
            help="The NLI model to start from: `default`, a folder in Hugging Face form, or a hub "
            "id."
        ),
    ],
    train: Annotated[
        list[Path],
        typer.Option(
            help="Training file (repeatable): .jsonl, .csv, .tsv or .txt, as in "
            "`evenhand train nli`."
        ),
    ],
    dev: Annotated[
        list[Path],
        typer.Option(
            help="File of held-out pairs that the accuracy before and after is measured on "
            "(repeatable)."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            "-o",
            help="Folder for one model per method, mitigation.html, .md, .tex, .json and figures.",
        ),
    ],
    methods: Annotated[
        str,
        typer.Option(
            help="Methods, with commas: none (the control), swap, swap-occupations (only pairs "
            "that name one, as in Sharma et al. 2021), pairing, anchors, or several in one "
            "training: swap+anchors, pairing+anchors."
        ),
    ] = "none,swap,pairing,anchors",
    lang: opt.Lang = "en",
    suites: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "--suites",
            "-s",
            help="Suites that all models are asked, with commas; published ones (nli-coal, "
            "sharma2021) need --data [default: every built-in suite of pairs about bias].",
        ),
    ] = None,
    data: opt.Data = None,
    recipe: Annotated[
        str,
        typer.Option(
            help="mitigate (one epoch, low learning rate), or a recipe of `evenhand train nli`."
        ),
    ] = "mitigate",
    epochs: opt.Epochs = None,
    learning_rate: opt.LearningRate = None,
    batch_size: Annotated[
        int | None, typer.Option(help="Pairs per step [default: the recipe's].")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            "--train-limit",
            min=1,
            help="Train on only this many pairs of the files, the same for every method.",
        ),
    ] = None,
    pairing: Annotated[
        float,
        typer.Option(
            help="Method pairing: weight of the difference between the logits of a pair and of "
            "its twin."
        ),
    ] = 1.0,
    anchors: Annotated[
        float, typer.Option(help="Method anchors: how many, as a share of the training pairs.")
    ] = 0.05,
    name_finder: NameFinder = "auto",
    seeds: Annotated[
        int,
        typer.Option(
            min=1,
            help="Training runs of each method, with consecutive seeds; the tables show how far "
            "they differ.",
        ),
    ] = 1,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    permutations: opt.Permutations = 10_000,
    level: opt.Level = 0.95,
    resume: opt.Resume = True,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Mitigate a model by several methods; measure bias and accuracy before and after.

    All models are asked the same probes.

    Stopped half-way? Run the same command again: finished models are not trained again, and a
    training continues from its last checkpoint.

    ```console
    evenhand mitigate run default --train snli_train.jsonl \\
      --dev snli_dev.jsonl --methods none,swap,swap+anchors \\
      --out runs/mitigation
    ```
    """
    settings = opt.make_settings(
        {"seed": seed, "resamples": resamples, "level": level, "permutations": permutations}
    )

    from evenhand.cli.progress import asking_bar, interruptible
    from evenhand.cli.show_document import deliver
    from evenhand.core.plain import to_json
    from evenhand.mitigate.document import mitigation_document, report_fields
    from evenhand.mitigate.records import FILE
    from evenhand.mitigate.run import MitigationOptions, mitigate, mitigation_recipe
    from evenhand.train.recipes import RecipeChanges

    changes = RecipeChanges(epochs=epochs, learning_rate=learning_rate, batch_size=batch_size)
    options = MitigationOptions(
        model=model,
        train=tuple(train),
        dev=tuple(dev),
        out=out,
        recipe=mitigation_recipe(recipe, changes),
        methods=methods,
        language=lang,
        suites=opt.split_names(suites),
        data=data,
        limit=limit,
        pairing=pairing,
        anchors=anchors,
        name_finder=name_finder,
        seeds=seeds,
        is_resumed=resume,
        settings=settings,
    )

    def watch(text: str) -> AbstractContextManager[Any]:
        # without a terminal the training prints its progress line by line
        return asking_bar(text) if sys.stderr.isatty() else nullcontext()

    def say(line: str) -> None:
        print(line, file=sys.stderr if as_json else sys.stdout, flush=True)

    again = "the same command" if resume else "the same command without --no-resume"
    advice = f"{again} goes on from the last checkpoint; what is finished in {out} is kept"
    with interruptible(lambda: advice):
        record = mitigate(options, say, watch)
    fields = report_fields(record)
    deliver(
        mitigation_document(record),
        fields,
        folder=out,
        files={FILE: to_json(fields)},
        is_verbose=verbose,
        as_json=as_json,
        has_figures=True,
    )
