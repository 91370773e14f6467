"""`evenhand labour ANSWERS...`: set what several models say about occupations against the share of women, in one figure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def labour(
    answers: Annotated[
        list[Path],
        typer.Argument(help="answers.parquet of one or more runs on gendered entailment."),
    ],
    measure: Annotated[
        str, typer.Option("--measure", "-m", help="entailment_gap (absolute) or signed_gap.")
    ] = "signed_gap",
    shares: opt.Shares = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also draw the figure to this .html file.")
    ] = None,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Correlate each model's gap by occupation with the share of women, with intervals, all models in one figure.

    Example: `evenhand labour runs/*/answers.parquet --shares my-country-2023.csv --out labour.html`.
    """
    from evenhand.core import catalog
    from evenhand.core.answer_files import read_answers
    from evenhand.core.errors import InputError
    from evenhand.engine.estimating import break_down
    from evenhand.engine.relating import relate, with_shares
    from evenhand.families.gendered_entailment.labour import read_shares

    chosen, given = catalog.measure(measure), read_shares(shares) if shares else None
    series = []
    for path in answers:
        said = read_answers(path)
        view = break_down(
            chosen,
            said if given is None else with_shares(said, given),
            "occupation",
            "template",
            seed=seed,
            level=level,
        )
        relation = relate(view, seed=seed, resamples=resamples, level=level)
        if relation is None:
            raise InputError(
                path,
                "fewer than three of its occupations have a share of women; was it a run on gendered entailment?",
            )
        series.append((f"{said.respondent} on {said.suite.partition('@')[0]}", relation))
    if out:
        from evenhand.core.files import write_atomic
        from evenhand.report.html import figure_page
        from evenhand.report.labour import relation_figure

        write_atomic(out, figure_page(relation_figure(series)))
    if as_json:
        print(
            json.dumps(
                [
                    {
                        "model": m,
                        "measure": measure,
                        "occupations": len(r.points),
                        "pearson": r.pearson,
                        "spearman": r.spearman,
                    }
                    for m, r in series
                ],
                indent=1,
            )
        )
        return
    from rich.console import Console
    from rich.table import Table

    from evenhand.report.numbers import with_bounds

    table = Table(
        "model",
        "occupations",
        "Pearson",
        "Spearman",
        title=f"{chosen.card.title} against the share of women",
        box=None,
        title_justify="left",
    )
    for model, relation in series:
        table.add_row(
            model,
            str(len(relation.points)),
            with_bounds(relation.pearson),
            with_bounds(relation.spearman),
        )
    Console().print(table)
    if out:
        print(f"figure: {out}")
