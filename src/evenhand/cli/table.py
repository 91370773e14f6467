"""`evenhand table PAPER MODEL...`: the tables and figures of a source paper for any models."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.reproduce.asking import PersonQuality


def table(
    context: typer.Context,
    paper: Annotated[
        str, typer.Argument(metavar="PAPER", help="nli-coal, sharma, cgb or esp: the paper.")
    ],
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]...",
            help="The rows: models as in `evenhand audit`, runs of it, or files of answers "
            "(NAME.answers.zip).",
        ),
    ] = None,
    stored: Annotated[
        list[Path] | None,
        typer.Option(
            help="Folder of answers that were given elsewhere (`evenhand answers pack`): their "
            "models are further rows (repeatable)."
        ),
    ] = None,
    after: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="sharma: a model after mitigation; once for each model, in the same order.",
        ),
    ] = None,
    dev: opt.Dev = None,
    dev_limit: opt.DevLimit = None,
    trained_on: Annotated[
        str | None,
        typer.Option(help="sharma: snli or mnli, the set whose premises the models know."),
    ] = None,
    people: Annotated[
        str | None,
        typer.Option(
            help="cgb: a study file (.toml), or answers exported from one [default: the published "
            "annotators]."
        ),
    ] = None,
    ladder: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="DIR", help="nli-coal: folder of `evenhand meta run` (one for each language)."
        ),
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            "-l",
            help="nli-coal: languages with commas, en,ja,zh [default: those that each model is "
            "said to know, else en].",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the tables [default: runs/table-PAPER]."),
    ] = None,
    data: opt.Data = None,
    limit: opt.Limit = None,
    seed: opt.Seed = 0,
    label_map: opt.LabelMap = None,
    scoring: opt.Scoring = None,
    length: opt.Length = "auto",
    form: opt.Form = None,
    pooling: opt.Pooling = None,
    similarity: opt.Similarity = "cosine",
    batch_size: opt.BatchSize = "auto",
    device: opt.Device = "auto",
    dtype: opt.Dtype = "fp32",
    revision: opt.Revision = None,
    trust_remote_code: opt.TrustRemoteCode = False,
    cache: opt.Cache = True,
    resamples: opt.Resamples = 10_000,
    permutations: opt.Permutations = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Make the tables and figures of a source paper for your models, with intervals.

    A cell that a model cannot have is n/a, with the reason below the table. The folder gets
    table.html, .md, .tex and .json, the figures, and the answers of every model that was asked, in
    a file that others can take with --stored.

    Stopped half-way? Run the same command again: it continues where it stopped.

    ```console
    evenhand table nli-coal default ./my-nli --out DIR
    evenhand table sharma ./before --after ./mitigated --trained-on snli \\
      --dev dev.jsonl
    evenhand table cgb stored:BERT ./my-bert --people study.toml
    ```
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.cli.show_document import deliver
    from evenhand.core.files import require_room
    from evenhand.core.plain import to_json
    from evenhand.reproduce.asking import Asker, TableRequest
    from evenhand.reproduce.paper import check_request, find_paper
    from evenhand.reproduce.stored_answers import file_name, packed_bytes
    from evenhand.reproduce.tables import page_document, page_fields, require_value

    chosen = find_paper(paper)
    request = TableRequest(
        models=tuple(models or ()),
        stored=tuple(stored or ()),
        after=tuple(after or ()),
        people=people,
        dev=dev,
        dev_limit=dev_limit,
        trained_on=trained_on,
        ladders=tuple(ladder or ()),
        languages=opt.split_names(lang),
        data=data,
        limit=limit,
        opening=opening,
        settings=settings,
        cache=cache,
        watch=lambda name: asking_bar(f"asking {name}"),
    )
    check_request(chosen, request)
    folder = out or Path("runs") / f"table-{chosen.name}"
    require_room(folder)
    asker = Asker(dataclasses.replace(request, quality=_quality(people)))
    with stopping(cache):
        page = chosen.table(asker)
    require_value(page)
    fields = page_fields(page, asker, chosen.name)
    deliver(
        page_document(page, asker),
        fields,
        folder=folder,
        files={
            "table.json": to_json(fields),
            **{file_name(model.respondent): packed_bytes(model) for model in asker.packs()},
        },
        is_verbose=verbose,
        as_json=as_json,
        has_figures=True,
    )


def _quality(people: str | None) -> tuple[PersonQuality, ...]:
    """How the people of a study did on its control questions; nothing of other people."""
    if people is None or not people.lower().endswith(".toml"):
        return ()
    from evenhand.cli.study_quality import study_quality

    return study_quality(Path(people).expanduser())
