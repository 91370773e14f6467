"""`evenhand reproduce PAPER`: published numbers beside the same numbers computed here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def reproduce(
    paper: Annotated[
        str, typer.Argument(help="cgb: Table 1, section 4.4 and Figure 4 of Zhu et al. 2024.")
    ],
    data: opt.Data = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the report [default: runs/reproduce-PAPER]."),
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute the printed numbers of a paper again from its published data.

    The exit code is 1 if one of them is not reproduced.

    Example: `evenhand reproduce cgb --data DIR`.
    """
    from evenhand.cli.show_document import deliver
    from evenhand.core.files import require_room
    from evenhand.core.plain import to_json
    from evenhand.reproduce.paper import find_paper, reproduction_document, reproduction_fields

    chosen = find_paper(paper)
    folder = out or Path("runs") / f"reproduce-{chosen.name}"
    require_room(folder)
    reproduction = chosen.reproduce(data)
    fields = reproduction_fields(reproduction)
    deliver(
        reproduction_document(reproduction),
        fields,
        folder=folder,
        files={"reproduction.json": to_json(fields)},
        as_json=as_json,
        has_figures=True,
    )
    if reproduction.missed:
        raise typer.Exit(1)
