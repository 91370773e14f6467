"""`evenhand measure ANSWERS`: score answers that are already there, without any model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def measure(
    answers: Annotated[
        Path,
        typer.Argument(
            help="answers.parquet of a run, or a .csv/.tsv/.jsonl with id and entailment, neutral, contradiction (or label); male, female (or pb) for blanks; "
            "or the predictions .json of StereoSet's own code."
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite", "-s", help="The suite that was answered (needed for predictions files)."
        ),
    ] = None,
    lang: opt.Lang = "en",
    data: opt.Data = None,
    seed: opt.Seed = 0,
    measures: opt.Measures = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write a report to this folder.")
    ] = None,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    as_json: opt.AsJson = False,
) -> None:
    """Score answers from a file: for models that ran elsewhere, or to score a run again.

    Example: `evenhand suites export nli-coal --lang en --data DIR --out pairs.jsonl`, run your model on it, then
    `evenhand measure predictions.csv --suite nli-coal --data DIR`.
    """
    from evenhand.core.answer_files import read_answers, suite_of
    from evenhand.core.errors import InputError
    from evenhand.engine.audit import judge, load_suite
    from evenhand.engine.predictions import read_predictions

    if answers.suffix.lower() == ".parquet":
        said = read_answers(answers)
        questions = suite_of(said)
    else:
        if suite is None:
            raise InputError(
                answers,
                "say which suite was answered, with --suite (and --lang, --data); ids are looked up there",
            )
        questions = load_suite(suite, lang, data=data, seed=seed)
        said = read_predictions(answers, questions)
    run = judge(
        questions,
        said,
        measures=measures,
        seed=seed,
        resamples=resamples,
        level=level,
        method=method,
    )  # type: ignore[arg-type]
    if out:
        from evenhand.report.writing import write

        page = write(run, out)
    if as_json:
        from evenhand.report.results import results_text

        print(results_text(run), end="")
        return
    from rich.console import Console

    from evenhand.report.terminal import print_run

    print_run(run, Console())
    if out:
        print(f"report: {page}")
