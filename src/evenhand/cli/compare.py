"""`evenhand compare A B ...`: two or more models on the same probes, every one against the first."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def compare(
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Two or more: models as in `evenhand audit`, or answers of a run (answers.parquet, or the run's folder). The first is the reference.",
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="Suite, `suite:variant`, a suite file (.jsonl), or several with commas [default: that of the answers, else occupation-nli].",
        ),
    ] = None,
    lang: opt.Lang = "en",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only so many probes, strata in turn.")
    ] = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Also write comparison.html, .md, .tex and .json to this folder."
        ),
    ] = None,
    label_map: Annotated[
        str | None,
        typer.Option(
            help="Which output means what, e.g. `entailment=0,neutral=1,contradiction=2`."
        ),
    ] = None,
    data: opt.Data = None,
    captions: opt.Captions = None,
    measures: opt.Measures = None,
    shares: opt.Shares = None,
    dominance: opt.Dominance = 70.0,
    scoring: opt.Scoring = None,
    length: opt.Length = "auto",
    form: opt.Form = None,
    pooling: opt.Pooling = None,
    similarity: opt.Similarity = "cosine",
    batch_size: Annotated[
        str, typer.Option(help="Pairs per batch, or auto. Changes speed, not answers.")
    ] = "auto",
    device: Annotated[
        str, typer.Option(help="auto, cpu, cuda, cuda:1 ... (torch models).")
    ] = "auto",
    cache: Annotated[
        bool, typer.Option(help="Keep answers, so that the same command goes on where it stopped.")
    ] = True,
    resamples: opt.Resamples = 10_000,
    permutations: Annotated[
        int,
        typer.Option(min=100, help="Random swaps of the two models' answers, for the p values."),
    ] = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    as_json: opt.AsJson = False,
) -> None:
    """Compare two or more models on the same probes: differences with paired intervals, p values, and which is nearer to fair.

    Stopped half-way? The same command goes on where it stopped.

    Examples: `evenhand compare default ./my-nli --suite occupation-nli`; `evenhand compare runs/before runs/after --out DIR`;
    `evenhand compare stored:BERT stored:RoBERTa-wwm-ext --suite cgb --lang zh`.
    """
    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.core.errors import EvenhandError
    from evenhand.core.files import require_room
    from evenhand.engine.comparing import compare as run_compare

    if batch_size != "auto" and not (batch_size.isdigit() and int(batch_size) > 0):
        raise EvenhandError(f"batch size '{batch_size}': give a number of at least 1, or auto")
    if out is not None:
        require_room(out)
    with stopping(cache):
        found = run_compare(
            models,
            suites=[name.strip() for name in (suite or "").split(",") if name.strip()],
            lang=lang,
            data=data,
            limit=limit,
            seed=seed,
            measures=measures,
            resamples=resamples,
            permutations=permutations,
            level=level,
            method=method,  # type: ignore[arg-type]
            loading={"captions": captions or (), "shares": shares, "dominance": dominance},
            watch=lambda name: asking_bar(f"asking {name}"),
            label_map=opt.parse_label_map(label_map),
            scoring=scoring,
            length=length,
            form=form,
            pooling=pooling,
            similarity=similarity,
            batch_size=None if batch_size == "auto" else int(batch_size),
            device=device,
            cache=cache,
        )
    from evenhand.report.comparison import comparison_text, write_comparison

    page = write_comparison(found, out) if out is not None else None
    if as_json:
        print(comparison_text(found), end="")
    else:
        from rich.console import Console

        from evenhand.report.comparison_tables import print_comparison

        for comparison in found:
            print_comparison(comparison, Console())
    if page is not None:
        print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)
