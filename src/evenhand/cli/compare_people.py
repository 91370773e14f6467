"""`evenhand compare-people PEOPLE RUN...`: the people of a study, or of the published CGB file, beside models on the same sentences."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def compare_people(
    people: Annotated[
        str,
        typer.Argument(
            metavar="PEOPLE",
            help="A study file (.toml), answers exported from one (.parquet, or a folder of them), or `cgb`: the published annotators.",
        ),
    ],
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Models as in `evenhand audit` (asked now), runs of it (the folder, or its answers.parquet), or `stored:BERT` with cgb.",
        ),
    ],
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            "-l",
            help="Only the sentences of this language [default: all that people answered].",
        ),
    ] = None,
    data: opt.Data = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Also write people.html, .md, .tex, .json and the figures to this folder.",
        ),
    ] = None,
    unit: Annotated[
        str,
        typer.Option(
            help="What is drawn again for intervals and p: pair (the word pair of a sentence) or sentence."
        ),
    ] = "pair",
    count: Annotated[
        int, typer.Option(min=0, help="Sentences in each list of --out; the terminal shows one.")
    ] = 10,
    seed: opt.Seed = 0,
    scoring: opt.Scoring = None,
    length: opt.Length = "auto",
    batch_size: Annotated[
        int | None, typer.Option(min=1, help="Sentences per batch [default: as many as fit].")
    ] = None,
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda, cuda:1 ... (torch models).")
    ] = "auto",
    cache: Annotated[
        bool, typer.Option(help="Keep answers, so that the same command goes on where it stopped.")
    ] = True,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Do people and models lean the same way in the same sentences? Correlations with intervals, agreement among people, and where they part.

    A study may still be running: what was answered so far counts, without parts that are to be done again. Only sentences that people answered are asked.

    Stopped half-way? The same command goes on where it stopped.

    Examples: `evenhand compare-people cgb stored:BERT stored:ELECTRA --data DATA --out people`; `evenhand compare-people study.toml ./my-bert --out people`.
    """
    from evenhand.people.compare import compare_people as run_compare
    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.core.files import require_room

    if out is not None:
        require_room(out)
    with stopping(cache):
        found = run_compare(
            people,
            models,
            lang=lang,
            data=data,
            unit=unit,
            count=count,
            seed=seed,
            resamples=resamples,
            level=level,
            cache=cache,
            watch=lambda name: asking_bar(f"asking {name}"),
            scoring=scoring,
            length=length,
            batch_size=batch_size,
            device=device,
        )
    from evenhand.report.people_models import people_text, write_people

    page = write_people(found, out) if out is not None else None
    if as_json:
        print(people_text(found), end="")
    else:
        from rich.console import Console

        from evenhand.report.people_tables import print_people

        print_people(found, Console())
    if page is not None:
        print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)
