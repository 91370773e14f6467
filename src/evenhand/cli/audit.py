"""`evenhand audit MODEL...`: ask models, measure their answers, write one report."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.core.document import Document
    from evenhand.core.run import Run
    from evenhand.core.suite import Suite
    from evenhand.engine.ask import Progress
    from evenhand.engine.audit_plan import AuditOptions, AuditPlan


def audit(
    context: typer.Context,
    models: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL...",
            help="`default`, a folder with a Hugging Face or ONNX model, a hub id, a model in a "
            "package (`albert-tiny-zh`), a rule (`fixed:random`, `fixed:male-default`), or answers "
            "that a published file holds (`stored:BERT`). See `evenhand list respondents`.",
        ),
    ],
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="Name of a suite, `suite:variant`, a suite file (.jsonl), or several with commas "
            "[default: every built-in one that the model can answer, the first of them whole and "
            "1,000 probes of each other]. `evenhand list suites` lists them; `evenhand show SUITE` "
            "names the further options that a suite accepts here.",
        ),
    ] = None,
    whole: Annotated[
        bool,
        typer.Option("--whole", help="Without --suite: ask every probe of each suite that fits."),
    ] = False,
    lang: opt.Lang = "en",
    limit: opt.Limit = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            help="Folder of the report [default: runs/MODEL, followed by --suite, --lang, --limit "
            "and --seed where they are given].",
        ),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Write over a different run in the folder.")
    ] = False,
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
    level: opt.Level = 0.95,
    method: opt.Method = "bca",
    target: opt.Target = "new-items",
    no_script: opt.NoScript = False,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Ask every MODEL everything that fits, print the measures, and write one report.

    Stopped half-way? Run the same command again: it continues where it stopped. Exit code 1: a
    score could not be computed; the report says why.

    ```console
    evenhand audit default
    evenhand audit default ./my-nli --suite occupation-nli
    evenhand audit org/model --lang ja --limit 500
    evenhand audit ./my-nli --dev snli_dev.jsonl
    evenhand audit albert-tiny-zh --suite contextualised --lang zh
    ```
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.progress import stopping
    from evenhand.core.errors import EvenhandError
    from evenhand.core.files import require_room
    from evenhand.engine.audit_plan import AuditOptions
    from evenhand.engine.run_folders import folder_name

    models = list(dict.fromkeys(opt.take_suite_options(models, context)))
    names = opt.split_names(suite)
    if whole and (names or limit is not None):
        which = "--suite" if names else "--limit"
        raise EvenhandError(f"--whole is about everything that fits; leave it or {which} out")
    own = folder_name(models, names, language=lang, limit=limit, seed=seed, is_whole=whole)
    folder = Path("runs") / own if out is None else out
    asked = AuditOptions(
        opening=opening,
        settings=settings,
        measures=tuple(measures or ()),
        cache=cache,
        dev=opt.dev_suite(dev, lang, dev_limit, seed),
    )
    require_room(folder)
    with stopping(cache):
        plan = _plan(context, models, names, asked)
        results = _Results(folder, plan, has_script=not no_script)
        results.check(is_forced=force)
        plan.carry_out(results.watch, results.finish)
    code = results.show(is_verbose=verbose, as_json=as_json)
    if code:
        raise typer.Exit(code)


def _plan(
    context: typer.Context, models: Sequence[str], names: Sequence[str], asked: AuditOptions
) -> AuditPlan:
    """What is asked: the named suites, or everything that fits."""
    from evenhand.engine.audit_plan import AuditPlan, plan_everything, suites_in
    from evenhand.engine.suites import load_suite

    values = context.params
    lang, limit = values["lang"], values["limit"]
    wanted = names or suites_in(lang)[0]
    options = opt.suite_options(wanted, context, seed=values["seed"], data=values["data"])
    by_name = dict(zip(wanted, options, strict=True))

    def load(name: str) -> Suite:
        return load_suite(name, lang, by_name[name], limit=limit)

    if names:
        return AuditPlan(models, [load(name) for name in names], asked)
    return plan_everything(models, lang, asked, limit=limit, is_whole=values["whole"], load=load)


class _Results:
    """The folder of an audit: a run, or an overview with a folder for each run."""

    def __init__(self, folder: Path, plan: AuditPlan, *, has_script: bool) -> None:
        from evenhand.engine.run_folders import run_names

        self._folder, self._plan, self._has_script = folder, plan, has_script
        self._names = run_names(plan.assignments)
        self._is_stale = False  # the folder holds a different run, which is to be replaced
        self._done: list[tuple[Run, Document, str]] = []

    @property
    def _is_single(self) -> bool:
        return len(self._names) == 1

    @property
    def _has_models(self) -> bool:
        return len({one.model for one in self._plan.assignments}) > 1

    def check(self, *, is_forced: bool) -> None:
        """Raise EvenhandError where the folder holds a different run, unless that is wished."""
        from evenhand.core.errors import EvenhandError
        from evenhand.engine.run_folders import require_same, require_same_set

        assignments, options = self._plan.assignments, self._plan.options
        try:
            if self._is_single:
                require_same(self._folder, assignments[0], options)
            else:
                require_same_set(self._folder, self._names, assignments, options)
        except EvenhandError:
            if not is_forced:
                raise
            self._is_stale = True

    def _place(self, place: int) -> Path:
        return self._folder if self._is_single else self._folder / self._names[place]

    @contextmanager
    def watch(self, place: int, title: str) -> Iterator[Progress]:
        """A progress bar, and the state of the run on the disk."""
        from evenhand.cli.progress import asking_bar
        from evenhand.engine.asking_state import kept_state

        one = self._plan.assignments[place]
        folder = self._place(place)
        with (
            kept_state(folder, one.model, one.suite.card.name) as keep,
            asking_bar(title) as progress,
        ):
            yield keep(progress)

    def finish(self, place: int, run: Run) -> None:
        """Write a run; its page is that of the folder, or where there are several models, its own.

        With one model its sections are in the page of all suites.
        """
        from evenhand.engine.audit_document import audit_document
        from evenhand.engine.results import run_files
        from evenhand.engine.run_folders import clear_others, write_files
        from evenhand.report.write import write_document

        if self._is_stale:
            clear_others(self._folder, () if self._is_single else self._names)
            self._is_stale = False
        document = audit_document(run)
        files = run_files(run, document)
        folder = self._place(place)
        if self._is_single or self._has_models:
            write_document(document, folder, extra=files, has_script=self._has_script)
        else:
            write_files(folder, files)
        self._done.append((run, document, self._names[place]))

    def show(self, *, is_verbose: bool, as_json: bool) -> int:
        """Write the overview where there are several runs, print the result; the exit code."""
        from evenhand.cli.show_document import print_result
        from evenhand.core.answer_files import OVERVIEW
        from evenhand.core.plain import to_json
        from evenhand.engine.audit_all import RunSet
        from evenhand.engine.overview_document import (
            all_fields,
            faults,
            overview_document,
            overview_fields,
            short_document,
            unasked_lines,
        )
        from evenhand.engine.results import run_fields
        from evenhand.report.write import write_document

        runs, documents, places = zip(*self._done, strict=True)
        found = RunSet(runs=runs, not_asked=tuple(self._plan.not_asked))
        if self._is_single:
            fields = run_fields(runs[0], documents[0]) if as_json else None
            print_result(documents[0], fields, as_json=as_json, is_verbose=is_verbose)
            page = self._folder / f"{documents[0].name}.html"
            for line in unasked_lines(found):
                print(f"not asked: {line}", file=sys.stderr)
        else:
            document = overview_document(found, documents, places)
            page = write_document(
                document,
                self._folder,
                extra={OVERVIEW: to_json(overview_fields(found, document, places))},
                has_script=self._has_script,
            )
            fields = all_fields(found, documents) if as_json else None
            shown = document if is_verbose else short_document(document)
            print_result(shown, fields, as_json=as_json, is_verbose=is_verbose)
        print(f"report: {page}", file=sys.stderr if as_json else sys.stdout)
        lines = faults(runs)
        for line in lines:
            print(f"no result: {line}", file=sys.stderr)
        return 1 if lines else 0
