"""`evenhand compare-people PEOPLE RUN...`: people and models on the same sentences."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def compare_people(
    context: typer.Context,
    people: Annotated[
        str,
        typer.Argument(
            metavar="PEOPLE",
            help="A study file (.toml), answers exported from one (.parquet, or a folder of them), "
            "or `cgb`: the published annotators.",
        ),
    ],
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="RUN",
            help="Models as in `evenhand audit` (asked now), runs of it (the folder, or its "
            "answers.parquet), or `stored:BERT` with cgb.",
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
            help="What is resampled for intervals and p values: pair (all sentences with the same "
            "word pair together) or sentence."
        ),
    ] = "pair",
    count: Annotated[
        int, typer.Option("--most", min=0, help="Sentences in each list; the terminal shows three.")
    ] = 10,
    seed: opt.Seed = 0,
    scoring: opt.Scoring = None,
    length: opt.Length = "auto",
    batch_size: opt.BatchSize = "auto",
    device: opt.Device = "auto",
    dtype: opt.Dtype = "fp32",
    revision: opt.Revision = None,
    trust_remote_code: opt.TrustRemoteCode = False,
    cache: opt.Cache = True,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Compare people with models on the same sentences: do they lean the same way?

    The report has correlations with intervals, agreement among people, and the sentences where
    people and models differ. A study may still be running: what was answered so far counts, except
    parts that have to be done again. Models are asked only the sentences that people answered.

    Stopped half-way? Run the same command again: it continues where it stopped.

    ```console
    evenhand compare-people cgb stored:BERT stored:ELECTRA --data DATA \\
      --out people
    evenhand compare-people study.toml ./my-bert --out people
    ```
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.cli.show_document import deliver
    from evenhand.core.files import require_room
    from evenhand.core.plain import to_json
    from evenhand.people.compare import PeopleOptions
    from evenhand.people.compare import compare_people as run_compare
    from evenhand.people.document import people_document
    from evenhand.people.results import people_fields

    options = PeopleOptions(
        lang=lang,
        data=data,
        unit=unit,
        count=count,
        opening=opening,
        cache=cache,
        watch=lambda name: asking_bar(f"asking {name}"),
    )
    if out is not None:
        require_room(out)
    with stopping(cache):
        comparison = run_compare(people, models, options, settings)
    fields = people_fields(comparison)
    deliver(
        people_document(comparison),
        fields,
        folder=out,
        files={"people.json": to_json(fields)},
        is_verbose=verbose,
        as_json=as_json,
        has_figures=True,
    )
