"""`evenhand compare A B ...`: two or more models on the same probes, each against the first."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def compare(
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="A B ...",
            help="Two or more: models as in `evenhand audit`, or answers of a run "
            "(answers.parquet, or the run's folder). The first is the reference.",
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="Name of a suite, `suite:variant`, a suite file (.jsonl), or several with commas "
            "[default: the suite of the given answers, else occupation-nli].",
        ),
    ] = None,
    lang: opt.Lang = "en",
    limit: opt.Limit = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Also write comparison.html, .md, .tex and .json to this folder."
        ),
    ] = None,
    dev: opt.Dev = None,
    dev_limit: opt.DevLimit = None,
    data: opt.Data = None,
    measures: opt.Measures = None,
    label_map: opt.LabelMap = None,
    scoring: opt.Scoring = None,
    length: opt.Length = "auto",
    form: opt.Form = None,
    pooling: opt.Pooling = None,
    similarity: opt.Similarity = "cosine",
    batch_size: opt.BatchSize = "auto",
    device: opt.Device = "auto",
    dtype: opt.Dtype = "fp32",
    revision: opt.Revision = None,
    trust_remote_code: opt.TrustRemoteCode = False,
    cache: opt.Cache = True,
    resamples: opt.Resamples = 10_000,
    permutations: opt.Permutations = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    no_script: opt.NoScript = False,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Compare two or more models on the same probes: differences with paired intervals and p.

    Says which of the two is nearer to fair, but only where the difference is statistically shown.

    Stopped half-way? Run the same command again: it continues where it stopped.

    ```console
    evenhand compare default ./my-nli --suite occupation-nli
    evenhand compare runs/before runs/after --out DIR
    evenhand compare stored:BERT stored:RoBERTa-wwm-ext --suite cgb --lang zh
    ```
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.cli.show_document import deliver
    from evenhand.core import catalog
    from evenhand.core.files import require_room
    from evenhand.core.plain import to_json
    from evenhand.engine.compare import ComparisonOptions
    from evenhand.engine.compare import compare as run_compare
    from evenhand.engine.compare_document import comparison_document, comparison_fields
    from evenhand.engine.suites import load_suite

    if out is not None:
        require_room(out)
    models = opt.take_suite_options(models, context)
    names = opt.split_names(suite)
    if context.args and not names:
        names = (catalog.default_suite(),)
    own_options = opt.suite_options(names, context, seed=seed, data=data)
    suites = tuple(
        load_suite(name, lang, own, limit=limit)
        for name, own in zip(names, own_options, strict=True)
    )
    options = ComparisonOptions(
        suites=suites,
        lang=lang,
        limit=limit,
        measures=measures,
        opening=opening,
        cache=cache,
        watch=lambda name: asking_bar(f"asking {name}"),
        dev=opt.dev_suite(dev, lang, dev_limit, seed),
    )
    with stopping(cache):
        comparisons = run_compare(models, options, settings)
    fields = comparison_fields(comparisons)
    deliver(
        comparison_document(comparisons),
        fields,
        folder=out,
        files={"comparison.json": to_json(fields)},
        is_verbose=verbose,
        as_json=as_json,
        has_script=not no_script,
    )
