"""`evenhand reproduce PAPER`: published numbers beside the same numbers computed here."""

from __future__ import annotations

import json
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


class Paper(StrEnum):
    """A paper whose numbers can be computed again."""

    cgb = "cgb"


def reproduce(
    paper: Annotated[
        Paper, typer.Argument(help="cgb: Table 1, section 4.4 and Figure 4 of Zhu et al. 2024.")
    ],
    data: opt.Data = None,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="Where Figure 4 is drawn: .html, .svg, .pdf or .png."),
    ] = Path("runs/reproduce-cgb/figure4.html"),
    as_json: opt.AsJson = False,
) -> None:
    """Compute the printed numbers of a paper again from its published data; exit code 1 if one of them does not come out.

    Example: `evenhand reproduce cgb --data DIR`.
    """
    from evenhand.core.files import write_atomic
    from evenhand.report.html import figure_page
    from evenhand.report.people import people_figure
    from evenhand.report.picture import FORMS, save_figure
    from evenhand.reproduce import cgb, comparison

    suite, said = cgb.load(data)
    rows = list(cgb.compare(suite, said))
    figure = people_figure(cgb.series(suite, said))
    if out.suffix in FORMS:
        save_figure(figure, out)
    else:
        write_atomic(out, figure_page(figure))
    missed = [row for row in rows if not row.is_met]
    if as_json:
        print(
            json.dumps(
                {"suite": suite.reference, "rows": comparison.to_json(rows), "figure": str(out)},
                ensure_ascii=False,
                indent=1,
            )
        )
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, pad_edge=False, header_style="bold")
        for name in ("where", "what", "printed", "computed", "difference", ""):
            table.add_column(
                name,
                justify="left" if name in ("where", "what", "") else "right",
                no_wrap=name != "what",
            )
        for row in rows:
            table.add_row(
                row.where,
                row.what,
                f"{row.printed:g}",
                f"{row.found:.4f}",
                f"{row.found - row.printed:+.4f}",
                "ok" if row.is_met else "DIFFERS",
            )
        Console().print(table)
        print(
            f"{len(rows) - len(missed)} of {len(rows)} printed numbers come out within {rows[0].tolerance:g}, from {suite.reference}"
        )
        print(f"figure: {out}")
    if missed:
        raise typer.Exit(1)
