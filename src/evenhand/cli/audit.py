"""`evenhand audit MODEL`: ask a model, measure its answers, write a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenhand.cli import options as opt


def audit(
    context: typer.Context,
    model: Annotated[
        str,
        typer.Argument(
            help="`default`, a folder with a Hugging Face or ONNX model, a hub id, a model in a "
            "package (`albert-tiny-zh`), a rule (`fixed:random`, `fixed:male-default`), or answers "
            "that a published file holds (`stored:BERT`). See `evenhand list respondents`."
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="Name of a suite, `suite:variant`, a suite file (.jsonl), or several with commas "
            "[default: occupation-nli]. `evenhand list suites` lists them; `evenhand show SUITE` "
            "names the further options that a suite accepts here.",
        ),
    ] = None,
    lang: opt.Lang = "en",
    limit: opt.Limit = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the report [default: runs/MODEL-SUITE-LANG]."),
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
    trust_remote_code: opt.TrustRemoteCode = False,
    cache: opt.Cache = True,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    target: opt.Target = "new-items",
    no_script: opt.NoScript = False,
    as_json: opt.AsJson = False,
) -> None:
    """Ask MODEL every probe of a suite, print the measures with intervals, and write a report.

    Stopped half-way? Run the same command again: it continues where it stopped.

    Examples: `evenhand audit default`; `evenhand audit ./my-nli --suite nli-coal --data DIR`;
    `evenhand audit org/model --lang ja --limit 500`;
    `evenhand audit ./my-nli --dev snli_dev.jsonl`;
    `evenhand audit albert-tiny-zh --suite contextualised --lang zh`.
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.cli.show_document import deliver
    from evenhand.core import catalog
    from evenhand.core.files import require_room
    from evenhand.engine.ask import Asking
    from evenhand.engine.asking_state import kept_state
    from evenhand.engine.audit import audit as run_audit
    from evenhand.engine.audit_document import audit_document
    from evenhand.engine.results import run_fields, run_files
    from evenhand.engine.suites import load_suite

    names = opt.split_names(suite) or (catalog.default_suite(),)
    options = opt.suite_options(names, context, seed=seed, data=data)
    pairs = opt.dev_suite(dev, lang, dev_limit, seed)
    folders = []
    for name in names:
        own = Path(run_name(model, name, lang))
        folders.append(Path("runs") / own if out is None else out if len(names) == 1 else out / own)
        require_room(folders[-1])
    with stopping(cache):
        for name, own_options, folder in zip(names, options, folders, strict=True):
            questions = load_suite(name, lang, own_options, limit=limit)
            with kept_state(folder, model, name) as keep:
                with asking_bar(f"asking {model}") as progress:
                    run = run_audit(
                        model,
                        questions,
                        measures=measures,
                        opening=opening,
                        settings=settings,
                        asking=Asking(cache=cache, progress=keep(progress)),
                        dev=pairs,
                    )
                document = audit_document(run)
                deliver(
                    document,
                    run_fields(run, document) if as_json else None,
                    folder=folder,
                    files=run_files(run, document),
                    as_json=as_json,
                    has_script=not no_script,
                )


def run_name(model: str, suite: str, lang: str) -> str:
    """The name of a run's folder, in characters that every file system accepts."""
    parts = (Path(model).name or "model", Path(suite).stem, lang)
    return "-".join(
        "".join(c if c.isalnum() or c in "._-" else "-" for c in part) for part in parts
    )
