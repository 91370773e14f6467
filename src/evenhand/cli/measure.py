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
            help="A run's folder or its answers.parquet, or a .csv/.tsv/.jsonl with id (or "
            "premise and hypothesis) and entailment, neutral, contradiction (or label); male, "
            "female (or pb) for blanks; or the predictions .json of StereoSet's own code."
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
    label_map: Annotated[
        str | None,
        typer.Option(
            help="Which number means which label, where a predictions file has numbers as labels: "
            "`entailment=0,neutral=1,contradiction=2`."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write a report to this folder.")
    ] = None,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    target: opt.Target = "new-items",
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Score answers from a file: for models that ran elsewhere, or to score a run again.

    Run your model on the pairs that the first of these writes, then:

    ```console
    evenhand suites export nli-coal --data DIR --out pairs.jsonl
    evenhand measure predictions.csv --suite nli-coal --data DIR
    ```
    """
    settings = opt.make_settings(context.params)
    numbers = opt.parse_label_map(label_map)

    from evenhand.cli.progress import working
    from evenhand.cli.show_document import deliver
    from evenhand.core.answer_files import read_answers, suite_of
    from evenhand.core.errors import InputError
    from evenhand.engine.audit import judge
    from evenhand.engine.audit_document import audit_document
    from evenhand.engine.predictions import read_predictions
    from evenhand.engine.results import run_fields, run_files
    from evenhand.engine.suites import check_suite_of, load_suite

    if answers.is_dir() or answers.suffix.lower() == ".parquet":
        opt.refuse_suite_options(context)
        if numbers is not None:
            raise InputError(answers, "names its labels already; leave --label-map out")
        given = read_answers(answers)
        check_suite_of(given, suite, lang if opt.is_given(context, "lang") else None)
        questions = suite_of(given)
    else:
        if suite is None:
            reason = "say which suite was answered, with --suite (and --lang, --data); "
            raise InputError(answers, f"{reason}ids are looked up there")
        (options,) = opt.suite_options([suite], context, seed=seed, data=data)
        questions = load_suite(suite, lang, options)
        given = read_predictions(answers, questions, numbers)
    with working("computing intervals"):
        run = judge(questions, given, settings, measures=measures)
    document = audit_document(run)
    deliver(
        document,
        run_fields(run, document) if as_json else None,
        folder=out,
        files=run_files(run, document) if out else {},
        is_verbose=verbose,
        as_json=as_json,
    )
