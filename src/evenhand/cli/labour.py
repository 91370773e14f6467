"""`evenhand labour ANSWERS...`: several models against the share of women, in one figure."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.core.answers import Answers
    from evenhand.core.estimate import Relation
    from evenhand.core.settings import Settings


def labour(
    answers: Annotated[
        list[Path],
        typer.Argument(
            help="One or more runs on gendered entailment: folders, or answers.parquet."
        ),
    ],
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure",
            "-m",
            help="entailment_gap (absolute), signed_gap or another of its measures "
            "[default: signed_gap].",
        ),
    ] = None,
    shares: Annotated[
        Path | None,
        typer.Option(
            help="Table of occupation and share of women in percent (.csv, .tsv, .jsonl) instead "
            "of the figures in the answers."
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also draw the figure to this .html file.")
    ] = None,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    as_json: opt.AsJson = False,
) -> None:
    """Correlate each model's gap by occupation with the share of women, with intervals.

    All models share one figure.

    Example: `evenhand labour runs/*/answers.parquet --shares my-country-2023.csv --out
    labour.html`.
    """
    from evenhand.cli.show_document import print_result
    from evenhand.core.answer_files import read_answers
    from evenhand.core.errors import InputError
    from evenhand.core.files import write_atomic
    from evenhand.core.settings import Settings
    from evenhand.families.gendered_entailment.labour import read_shares, with_shares
    from evenhand.families.gendered_entailment.labour_document import (
        ModelRelation,
        RelationSummary,
        labour_document,
    )
    from evenhand.report.html import to_html

    if out is not None and out.suffix.lower() != ".html":
        raise InputError(out, f"'{out.suffix}' is not a form of the figure; name a .html file")
    settings = Settings(seed=seed, resamples=resamples, level=level)
    table = read_shares(shares) if shares else None
    series = []
    for path in answers:
        given = read_answers(path)
        relation = _relation(
            given if table is None else with_shares(given, table), measure, settings
        )
        if relation is None:
            raise InputError(
                path,
                "fewer than three of its occupations have a share of women; "
                "was it a run on gendered entailment?",
            )
        model = f"{given.respondent} on {given.suite.partition('@')[0]}"
        series.append(ModelRelation(model=model, relation=relation))
    document = labour_document(series, settings)
    if out:
        write_atomic(out, to_html(document))
    print_result(document, [RelationSummary.of(one) for one in series], as_json=as_json)
    if out:
        print(f"figure: {out}", file=sys.stderr if as_json else sys.stdout)


def _relation(answers: Answers, measure: str | None, settings: Settings) -> Relation | None:
    """How a measure by group relates to the figures of the real world that its family names.

    measure: None for the first that a family relates to figures. Returns None where fewer than
    three groups have a figure. Raises UnknownNameError for a measure of any other family, and
    MeasureError where it cannot be computed from such answers.
    """
    from evenhand.core import catalog
    from evenhand.core.answer_files import suite_of
    from evenhand.core.errors import MeasureError, UnknownNameError
    from evenhand.engine.estimate import break_down, relate

    families = [family for family in catalog.families().values() if family.relations]
    owners = {m.name: family for family in families for m in family.measures}
    name = measure or families[0].relations[0].measure
    if name not in owners:
        raise UnknownNameError("measure", name, owners)
    family, chosen = owners[name], catalog.measure(name)
    if reason := chosen.why_unreadable(answers):
        raise MeasureError(f"{answers.respondent}: no {name}, {reason}")
    rules = family.relations
    rule = next((rule for rule in rules if rule.measure == name), rules[0])
    grouping = next(grouping for grouping in family.groupings if grouping.by == rule.by)
    view = break_down(chosen, suite_of(answers), answers, grouping, settings)
    return relate(view, rule.against, settings)
