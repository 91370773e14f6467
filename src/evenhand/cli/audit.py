"""`evenhand audit MODEL`: ask a model, measure its answers, leave a report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def audit(
    model: Annotated[
        str,
        typer.Argument(
            help="`default`, a folder with a Hugging Face or ONNX model, a hub id, a model in a package (`albert-tiny-zh`), `fixed:random|constant|fair|stereotyped`, "
            "or answers that a published file holds (`stored:BERT`). See `evenhand list respondents`."
        ),
    ],
    suite: Annotated[
        str,
        typer.Option(
            "--suite",
            "-s",
            help="Suite, `suite:variant`, a suite file (.jsonl), or several with commas. See `evenhand list suites`.",
        ),
    ] = "occupation-nli",
    lang: opt.Lang = "en",
    limit: Annotated[
        int | None, typer.Option(min=1, help="Ask only so many probes, strata in turn.")
    ] = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the report [default: runs/MODEL-SUITE-LANG]."),
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
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    as_json: opt.AsJson = False,
) -> None:
    """Ask MODEL every probe of a suite, print the measures with intervals, and write a report.

    Stopped half-way? The same command goes on where it stopped.

    Examples: `evenhand audit default`; `evenhand audit ./my-nli --suite nli-coal --data DIR`; `evenhand audit org/model --lang ja --limit 500`;
    `evenhand audit albert-tiny-zh --suite contextualised --lang zh`.
    """
    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.core.errors import EvenhandError
    from evenhand.core.files import require_room
    from evenhand.engine.audit import audit as run_audit

    if batch_size != "auto" and not (batch_size.isdigit() and int(batch_size) > 0):
        raise EvenhandError(f"batch size '{batch_size}': give a number of at least 1, or auto")
    names = [name.strip() for name in suite.split(",") if name.strip()]
    folders = [
        Path("runs") / _run_name(model, name, lang)
        if out is None
        else out
        if len(names) == 1
        else out / _run_name(model, name, lang)
        for name in names
    ]
    for folder in folders:
        require_room(folder)
    with stopping(cache):
        for name, folder in zip(names, folders, strict=True):
            with asking_bar(f"asking {model}") as progress:
                run = run_audit(
                    model,
                    suite=name,
                    lang=lang,
                    limit=limit,
                    seed=seed,
                    label_map=opt.parse_label_map(label_map),
                    data=data,
                    captions=captions or (),
                    shares=shares,
                    dominance=dominance,
                    scoring=scoring,
                    length=length,
                    form=form,
                    pooling=pooling,
                    similarity=similarity,
                    measures=measures,
                    batch_size=None if batch_size == "auto" else int(batch_size),
                    device=device,
                    cache=cache,
                    resamples=resamples,
                    level=level,
                    method=method,
                    progress=progress,  # type: ignore[arg-type]
                )
            _tell(run, folder, as_json=as_json)


def _run_name(model: str, suite: str, lang: str) -> str:
    parts = (Path(model).name or "model", Path(suite).stem, lang)
    return "-".join(
        "".join(c if c.isalnum() or c in "._-" else "-" for c in part) for part in parts
    )


def _tell(run: object, folder: Path, *, as_json: bool) -> None:
    from typing import cast

    from evenhand.core.run import Run
    from evenhand.report.writing import write

    run = cast("Run", run)
    page = write(run, folder)
    if as_json:
        from evenhand.report.results import results_text

        print(results_text(run), end="")
    else:
        from rich.console import Console

        from evenhand.report.terminal import print_run

        print_run(run, Console())
    print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)
