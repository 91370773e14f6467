"""`evenhand reproduce PAPER`: published numbers beside the same numbers computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def reproduce(
    paper: Annotated[
        str,
        typer.Argument(
            help="nli-coal, sharma, cgb or esp: the paper; all: every number of all of them."
        ),
    ],
    data: opt.Data = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the report [default: runs/reproduce-PAPER]."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute the printed numbers of a paper again, from its published data and its own tables.

    Every number has a verdict: ok, misprint (with the reason), not computed (with the reason), or
    DIFFERS. The exit code is 1 if one of them differs.

    ```console
    evenhand reproduce cgb --data DIR
    evenhand reproduce all
    ```
    """
    from evenhand.cli.show_document import deliver
    from evenhand.core.files import require_room
    from evenhand.core.plain import to_json
    from evenhand.reproduce import paper as papers

    folder = out or Path("runs") / f"reproduce-{paper}"
    if paper == papers.ALL:
        require_room(folder)
        done = papers.reproduce_all(data)
        document = papers.all_document(done)
        fields = {name: papers.reproduction_fields(one) for name, one in done.items()}
    else:
        chosen = papers.find_paper(paper, papers.ALL)
        require_room(folder)
        done = {chosen.name: chosen.reproduce(data)}
        document = papers.reproduction_document(done[chosen.name])
        fields = papers.reproduction_fields(done[chosen.name])
    deliver(
        document,
        fields,
        folder=folder,
        files={"reproduction.json": to_json(fields)},
        is_verbose=True,  # every printed number is what was asked for
        as_json=as_json,
        has_figures=True,
    )
    if any(one.missed for one in done.values()):
        raise typer.Exit(1)
