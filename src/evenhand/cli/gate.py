"""`evenhand gate RUN|MODEL`: judge a run, or a model, by limits; the exit code is the verdict."""

from __future__ import annotations

import dataclasses
import os
import sys
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenhand.cli import options as opt
from evenhand.core.errors import EvenhandError, InputError

if TYPE_CHECKING:
    from evenhand.core.protocols import RespondentOptions
    from evenhand.core.settings import Settings
    from evenhand.core.suite import Suite
    from evenhand.gate.judge import Verdict
    from evenhand.gate.policy import Policy, Rule
    from evenhand.gate.records import RunRecord

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"  # the file that GitHub shows on the page of a job
# options that a policy decides itself
_OF_POLICY = ("target", "level", "min_coverage", "min_validity")
# options that say how a model is asked, and nothing to a run
_OF_MODEL = (
    "limit data dev dev_limit out label_map scoring length form pooling similarity batch_size "
    "device dtype revision trust_remote_code cache resamples method seed level"
).split()


def gate(
    context: typer.Context,
    what: Annotated[
        str,
        typer.Argument(
            metavar="RUN|MODEL",
            help="The folder of a run or of several, or a model as in `evenhand audit`, which is "
            "then audited on the suites that the rules need.",
        ),
    ],
    at_most: Annotated[
        list[str] | None,
        typer.Option("--max", help="MEASURE=NUMBER: not above this (repeatable): nli_coal=0.25."),
    ] = None,
    at_least: Annotated[
        list[str] | None,
        typer.Option("--min", help="MEASURE=NUMBER: not below this (repeatable)."),
    ] = None,
    within: Annotated[
        list[str] | None,
        typer.Option(
            "--within",
            help="NUMBER: the headline of each suite at most this far from fair; or MEASURE=NUMBER "
            "(repeatable).",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option("--baseline", help="Folder of an earlier run on the same probes."),
    ] = None,
    no_regression: Annotated[
        bool,
        typer.Option(
            "--no-regression",
            help="No measure of bias is shown to be farther from fair than in --baseline.",
        ),
    ] = False,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="TOML file with rules; see docs/gate.md.")
    ] = None,
    min_coverage: Annotated[
        float | None,
        typer.Option(help="Least share of the probes that must be answered [default: 0.9]."),
    ] = None,
    min_validity: Annotated[
        float | None,
        typer.Option(
            help="Least accuracy on plain pairs, or on --dev [default: what the report calls "
            "weak; 0: do not ask]."
        ),
    ] = None,
    junit: Annotated[
        Path | None, typer.Option("--junit", help="Also write JUnit XML to this file.")
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            "--summary",
            help="Also write Markdown to this file. Where GITHUB_STEP_SUMMARY is set, it is "
            "appended there too.",
        ),
    ] = None,
    suite: Annotated[
        str | None,
        typer.Option(
            "--suite",
            "-s",
            help="The suite that the options above are about [default: the one that has the "
            "measure]. A policy names its suites itself.",
        ),
    ] = None,
    lang: opt.Lang = "en",
    limit: opt.Limit = None,
    seed: opt.Seed = 0,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder of the audits [default: runs/gate-MODEL]."),
    ] = None,
    dev: opt.Dev = None,
    dev_limit: opt.DevLimit = None,
    data: opt.Data = None,
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
    as_json: opt.AsJson = False,
) -> None:
    """Judge a run, or audit a model and judge it, by limits on its measures.

    Exit code 0: every rule is kept. 1: a rule is missed. 3: not sure, an interval lies on both
    sides of a limit. 2: an error. What was not measured is never passed.

    ```console
    evenhand gate runs/mine --max nli_coal=0.25
    evenhand gate ./my-nli --within 0.05
    evenhand gate runs/after --baseline runs/before --no-regression
    evenhand gate ./my-nli --policy policy.toml --junit gate.xml
    ```
    """
    opening = opt.respondent_options(context.params)
    settings = opt.make_settings(context.params)

    from evenhand.cli.show_document import print_result
    from evenhand.core.files import write_atomic
    from evenhand.gate.decide import decide
    from evenhand.gate.document import gate_document, verdict_fields
    from evenhand.gate.junit import to_junit
    from evenhand.gate.records import read_records, run_folders
    from evenhand.report.markdown import to_markdown

    rules = _policy(context, settings)
    earlier = [] if rules.baseline is None else read_records(rules.baseline)
    path = Path(what).expanduser()
    if run_folders(path):
        given = [name for name in _OF_MODEL if opt.is_given(context, name)]
        if given:
            flag = opt.flag_of(context, given[0])
            raise InputError(path, f"is a run, which is judged as it is; leave {flag} out")
        records = read_records(path)
    elif path.is_dir() and not any(path.iterdir()):
        raise InputError(path, "is empty: it is neither a run nor a model")
    else:
        questions = opt.dev_suite(dev, lang, dev_limit, seed)
        folder = out or Path("runs") / f"gate-{_clean(path.name or what)}"
        records = _audited(context, what, rules, folder, (opening, settings, questions))
    verdict = decide(rules, records, earlier, today=date.today())
    document = gate_document(verdict)
    if junit is not None:
        write_atomic(junit, to_junit(verdict))
    if summary is not None:
        write_atomic(summary, to_markdown(document))
    if os.environ.get(STEP_SUMMARY):
        _append(Path(os.environ[STEP_SUMMARY]), to_markdown(document))
    print_result(document, verdict_fields(verdict), as_json=as_json)
    _tell(verdict)
    raise typer.Exit(verdict.exit_code)


def _policy(context: typer.Context, settings: Settings) -> Policy:
    """The rules of the policy file and of the options, checked."""
    from evenhand.gate.policy import Policy, read_policy

    values = context.params
    own = _rules(context, settings)
    policy = Policy(rules=own)
    if (path := values["policy"]) is not None:
        given = [name for name in _OF_POLICY if opt.is_given(context, name)]
        if given and not own:
            flag = f"--{given[0].replace('_', '-')}"
            raise InputError(path, f"is what decides; leave {flag} out, or write it there")
        policy = read_policy(path)
        policy = dataclasses.replace(policy, rules=(*policy.rules, *own))
    elif opt.is_given(context, "level"):
        policy = dataclasses.replace(policy, level=settings.level)
    if values["baseline"] is not None:
        policy = dataclasses.replace(policy, baseline=values["baseline"])
    if not policy.rules:
        raise EvenhandError(
            "there is no rule to judge by: give --max, --min, --within, --baseline with "
            "--no-regression, or --policy"
        )
    if policy.needs_baseline and policy.baseline is None:
        raise EvenhandError("a rule compares with an earlier run: name it with --baseline RUN")
    if values["baseline"] is not None and not policy.needs_baseline:
        raise EvenhandError(
            f"--baseline {values['baseline']} is compared by no rule: add --no-regression"
        )
    return policy


def _rules(context: typer.Context, settings: Settings) -> tuple[Rule, ...]:
    """The rules that the options state, checked."""
    from evenhand.gate.policy import EVERY, HEADLINE, MIN_COVERAGE, Rule, check_rule, parse_limit

    values = context.params
    common = Rule(
        suite=values["suite"] or "",
        lang=values["lang"] if opt.is_given(context, "lang") else "",
        target=settings.target,
        min_coverage=MIN_COVERAGE if values["min_coverage"] is None else values["min_coverage"],
        min_validity=values["min_validity"],
    )
    rules = []
    for option, field in (("--max", "at_most"), ("--min", "at_least"), ("--within", "within")):
        for text in values[field] or ():
            is_bare = field == "within" and "=" not in text
            name, value = parse_limit(option, f"any={text}" if is_bare else text)
            measure = HEADLINE if is_bare else name
            limit: dict[str, Any] = {"measure": measure, field: value}
            rules.append(dataclasses.replace(common, **limit))
    if values["no_regression"]:
        rules.append(dataclasses.replace(common, measure=EVERY, no_regression=True))
    for rule in rules:
        check_rule(rule)
    return tuple(rules)


def _audited(
    context: typer.Context,
    model: str,
    policy: Policy,
    folder: Path,
    asked: tuple[RespondentOptions, Settings, Suite | None],
) -> list[RunRecord]:
    """The model on every suite that the rules need, each in a folder of its own."""
    from evenhand.cli.progress import asking_bar, stopping
    from evenhand.core.files import require_room
    from evenhand.core.protocols import SuiteOptions
    from evenhand.engine.audit_plan import AuditOptions
    from evenhand.engine.suites import load_suite
    from evenhand.gate.audits import audit_for, suite_for
    from evenhand.gate.policy import EVERY, HEADLINE

    opening, settings, dev = asked
    values = context.params
    needed: dict[tuple[str, str], list[str]] = {}
    for rule in policy.rules:
        names = needed.setdefault((suite_for(rule), rule.lang or values["lang"]), [])
        if rule.measure not in (HEADLINE, EVERY):
            names.append(rule.measure)
    options = SuiteOptions(seed=values["seed"], data=values["data"])
    suites = [
        (load_suite(name, lang, options, limit=values["limit"]), tuple(dict.fromkeys(measures)))
        for (name, lang), measures in needed.items()
    ]
    require_room(folder)
    if policy.level is not None:
        settings = dataclasses.replace(settings, level=policy.level)
    with stopping(values["cache"]):
        records = audit_for(
            model,
            suites,
            folder,
            AuditOptions(
                opening=opening,
                settings=settings,
                cache=values["cache"],
                dev=dev,
            ),
            asking_bar,
        )
    for record in records:
        print(f"run: {record.place}", file=sys.stderr)
    return records


def _append(path: Path, text: str) -> None:
    from evenhand.core.files import storage_error

    try:
        with path.open("a", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise storage_error(path, error) from error


def _tell(verdict: Verdict) -> None:
    """Name the outcome on standard error too, so that a log that is cut still has it."""
    print(f"gate: {verdict.outcome}", file=sys.stderr)


def _clean(name: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "-" for c in name)
