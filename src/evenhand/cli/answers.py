"""`evenhand answers pack|show`: the answers of a model in one small file, for exchange."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt

app = typer.Typer(
    no_args_is_help=True, help="Answers of models in small files that can be exchanged."
)


@app.command("pack", no_args_is_help=True)
def pack(
    runs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RUN...",
            help="Folders of runs, their answers.parquet, or files that were packed before.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="A folder, or for a single model a file NAME.answers.zip."
        ),
    ] = Path(),
    as_json: opt.AsJson = False,
) -> None:
    """Write the answers of each model, to all suites of these runs, to one small file.

    The texts that were asked stay out: the digest of the suite names them. `evenhand table PAPER
    MODEL... --stored DIR` puts the models of such files into its tables.

    ```console
    evenhand answers pack runs/*-my-model-* --out stored/
    ```
    """
    from evenhand.cli.show_document import print_result
    from evenhand.core.files import require_room, write_atomic
    from evenhand.reproduce.stored_answers import (
        pack_runs,
        packed_bytes,
        packs_document,
        packs_fields,
    )

    files = pack_runs(runs, out)
    for path, model in files.items():
        require_room(path.parent)
        write_atomic(path, packed_bytes(model))
    models = {str(path): model for path, model in files.items()}
    print_result(packs_document(models), packs_fields(models), as_json=as_json)


@app.command("show", no_args_is_help=True)
def show(
    files: Annotated[
        list[Path],
        typer.Argument(metavar="FILE...", help="Files NAME.answers.zip, or folders of them."),
    ],
    as_json: opt.AsJson = False,
) -> None:
    """Check files of answers, and say whose they are and to which suites.

    ```console
    evenhand answers show stored/
    ```
    """
    from evenhand.cli.show_document import print_result
    from evenhand.reproduce.stored_answers import packs_document, packs_fields, read_stored

    models = {model.source: model for file in files for model in read_stored(file)}
    print_result(packs_document(models), packs_fields(models), as_json=as_json)
