"""`evenhand labour ANSWERS...`: several models against the labour market, on the same axes."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenhand.cli import options as opt

if TYPE_CHECKING:
    from evenhand.core.answers import Answers
    from evenhand.core.estimate import Relation
    from evenhand.core.settings import Settings
    from evenhand.core.suite import Suite


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
            "[default: both of these].",
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
        Path | None, typer.Option("--out", "-o", help="Also draw the figures to this .html file.")
    ] = None,
    seed: opt.Seed = 0,
    resamples: opt.Resamples = 10_000,
    level: opt.Level = 0.95,
    verbose: opt.Verbose = False,
    as_json: opt.AsJson = False,
) -> None:
    """Correlate each model's gap by occupation with the share of women and with domination.

    Domination is the distance of the share from 50 percent. Every figure names its model, the
    source of the shares and r with its interval; those of several models share their axes.

    ```console
    evenhand labour runs/*/answers.parquet --shares my-country-2023.csv \\
      --out labour.html
    ```
    """
    from evenhand.cli.show_document import print_result
    from evenhand.core.answer_files import read_answers, suite_of
    from evenhand.core.errors import InputError
    from evenhand.core.files import write_atomic
    from evenhand.core.settings import Settings
    from evenhand.families.gendered_entailment.labour import with_shares
    from evenhand.families.gendered_entailment.labour_document import (
        ModelRelation,
        RelationSummary,
        labour_document,
    )
    from evenhand.families.leans import read_shares
    from evenhand.report.html import to_html

    if out is not None and out.suffix.lower() != ".html":
        raise InputError(out, f"'{out.suffix}' is not a form of the figure; name a .html file")
    settings = Settings(seed=seed, resamples=resamples, level=level)
    table = read_shares(shares) if shares else None
    by_model = []
    for path in answers:
        given = read_answers(path)
        suite = suite_of(given)
        if table is not None and shares is not None:
            given = with_shares(given, table, shares.name)
        relations = _relations(suite, given, measure, settings)
        if not relations:
            raise InputError(
                path,
                "fewer than three of its occupations have a share of women; "
                "was it a run on gendered entailment?",
            )
        model = f"{given.respondent} on {given.suite.partition('@')[0]}"
        by_model.append([ModelRelation(model=model, relation=r) for r in relations])
    figures = [list(series) for series in zip(*by_model, strict=True)]
    document = labour_document(figures, settings)
    if out:
        write_atomic(out, to_html(document))
    summaries = [RelationSummary.of(one) for series in figures for one in series]
    print_result(document, summaries, is_verbose=verbose, as_json=as_json)
    if out:
        print(f"figures: {out}", file=sys.stderr if as_json else sys.stdout)


def _relations(
    suite: Suite, answers: Answers, measure: str | None, settings: Settings
) -> list[Relation]:
    """How measures by group relate to the figures of the real world that their family names.

    measure: None for all that a family relates to figures; one that it does not is set against
    all of its figures. Empty where fewer than three groups have a figure. Raises UnknownNameError
    for a measure of any other family, and MeasureError where it cannot be computed from such
    answers.
    """
    from evenhand.core import catalog
    from evenhand.core.errors import MeasureError, UnknownNameError
    from evenhand.engine.estimate import break_down, relate

    families = [family for family in catalog.families().values() if family.relations]
    owners = {m.name: family for family in families for m in family.measures}
    if measure is not None and measure not in owners:
        raise UnknownNameError("measure", measure, owners)
    family = families[0] if measure is None else owners[measure]
    rules = [rule for rule in family.relations if measure in (None, rule.measure)]
    if measure is not None and not rules:
        figures = {rule.against: rule for rule in family.relations}
        rules = [dataclasses.replace(rule, measure=measure) for rule in figures.values()]
    relations: list[Relation] = []
    for rule in rules:
        chosen = catalog.measure(rule.measure)
        if reason := chosen.why_unreadable(answers):
            raise MeasureError(f"{answers.respondent}: no {rule.measure}, {reason}")
        grouping = next(grouping for grouping in family.groupings if grouping.by == rule.by)
        view = break_down(chosen, suite, answers, grouping, settings)
        if (relation := relate(view, rule.against, settings)) is None:
            return []
        relations.append(relation)
    return relations
