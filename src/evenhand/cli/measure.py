"""`evenhand measure ANSWERS`: score answers that exist already, without any model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def measure(
    context: typer.Context,
    answers: Annotated[
        Path,
        typer.Argument(
            help="A run's folder or its answers.parquet, or a .csv/.tsv/.jsonl with id and "
            "entailment, neutral, contradiction (or label); male, female (or pb) for blanks; or "
            "the predictions .json of StereoSet's own code."
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

    Example: `evenhand suites export nli-coal --lang en --data DIR --out pairs.jsonl`, run your
    model on it, then `evenhand measure predictions.csv --suite nli-coal --data DIR`.
    """
    settings = opt.make_settings(seed, resamples, level, method)

    from evenhand.cli.show_document import deliver
    from evenhand.core.answer_files import FILE, read_answers, suite_of
    from evenhand.core.errors import InputError
    from evenhand.engine.audit import judge
    from evenhand.engine.audit_document import audit_document
    from evenhand.engine.predictions import read_predictions
    from evenhand.engine.results import run_fields, run_files
    from evenhand.engine.suites import load_suite

    if answers.is_dir():
        answers = answers / FILE
    if answers.suffix.lower() == ".parquet":
        opt.refuse_suite_options(context)
        given = read_answers(answers)
        questions = suite_of(given)
    else:
        if suite is None:
            reason = "say which suite was answered, with --suite (and --lang, --data); "
            raise InputError(answers, f"{reason}ids are looked up there")
        (options,) = opt.suite_options([suite], context, seed=seed, data=data)
        questions = load_suite(suite, lang, options)
        given = read_predictions(answers, questions)
    run = judge(questions, given, settings, measures=measures)
    document = audit_document(run)
    deliver(
        document,
        run_fields(run, document) if as_json else None,
        folder=out,
        files=run_files(run, document) if out else {},
        as_json=as_json,
    )
