"""Audit: from the names of a model and a suite to a finished run."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Breakdown, Estimate, Relation
from evenhand.core.family import Family
from evenhand.core.measure import Measure
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, answer_names, ask_suite
from evenhand.engine.baselines import score_rules
from evenhand.engine.checks import ask_checks, estimate_checks, load_dev, require_dev_kind
from evenhand.engine.estimate import (
    applicable_measures,
    break_down,
    choose_measures,
    estimate,
    relate,
)
from evenhand.engine.suites import load_suite
from evenhand.respondents.function import FunctionRespondent
from evenhand.respondents.locate import open_respondent

Model = str | Respondent | Callable[[list[tuple[str, str]]], Any]


def open_model(model: Model, suite: Suite, opening: RespondentOptions | None = None) -> Respondent:
    """The respondent that a name, a folder, a hub id, a function or a respondent stands for."""
    opening = opening or RespondentOptions()
    if opening.batch_size is not None and opening.batch_size < 1:
        raise EvenhandError(f"batch size is {opening.batch_size}; give at least 1")
    if isinstance(model, str):
        name = str(Path(model).expanduser()) if model.startswith("~") else model
        options = dataclasses.replace(opening, language=suite.card.language)
        return open_respondent(name, suite.kind, options)
    return model if isinstance(model, Respondent) else FunctionRespondent(model)


def estimate_all(
    suite: Suite,
    answers: Answers,
    settings: Settings,
    measures: Sequence[str] | None = None,
) -> tuple[Estimate, ...]:
    """The estimates of the named measures, by default of all that fit, in the order of a report."""
    chosen = choose_measures(suite, answers.options, answers.labels, measures)
    return tuple(estimate(m, suite, answers, settings) for m in chosen)


def _breakdowns(
    family: Family, suite: Suite, answers: Answers, chosen: Sequence[Measure], settings: Settings
) -> tuple[Breakdown, ...]:
    """Every measure by every grouping whose tags the probes have, and what the family adds."""
    groupings = [
        g for g in family.groupings if g.by in suite.tags and (g.needs or g.by) in suite.tags
    ]
    views = [break_down(m, suite, answers, g, settings) for m in chosen for g in groupings]
    more = family.examine(suite, answers, settings) if family.examine else ()
    return (*views, *more)


def _relations(
    family: Family, views: Sequence[Breakdown], settings: Settings
) -> tuple[Relation, ...]:
    """The breakdowns that the family compares with figures of the real world."""
    relations = (
        relate(view, rule.against, settings)
        for view in views
        for rule in family.relations
        if (view.measure, view.by) == (rule.measure, rule.by)
    )
    return tuple(relation for relation in relations if relation is not None)


def judge(
    suite: Suite,
    answers: Answers,
    settings: Settings | None = None,
    *,
    measures: Sequence[str] | None = None,
    checks: Sequence[tuple[Suite, Answers]] = (),
) -> Run:
    """Everything that is computed from answers: estimates, baselines, breakdowns, relations.

    measures: names, None for all that fit; checks: what `ask_checks` returned.
    """
    settings = settings or Settings()
    chosen = choose_measures(suite, answers.options, answers.labels, measures)
    family = catalog.family_of(suite, chosen)
    views = _breakdowns(family, suite, answers, chosen, settings)
    refused = applicable_measures(suite, answers.options, answers.labels)[1]
    return Run(
        family=family.name,
        suite=suite,
        answers=answers,
        estimates=tuple(estimate(m, suite, answers, settings) for m in chosen),
        baselines=score_rules(family, answers, chosen, settings),
        sanity=estimate_checks(checks, settings),
        breakdowns=views,
        settings=settings,
        relations=_relations(family, views, settings),
        refused=tuple(m.name for m in refused),
    )


def audit(
    model: Model = "default",
    suite: str | Suite | None = None,
    *,
    measures: Sequence[str] | None = None,
    opening: RespondentOptions | None = None,
    settings: Settings | None = None,
    asking: Asking | None = None,
    dev: str | Path | Suite | None = None,
) -> Run:
    """Ask a model every probe of a suite and measure its answers.

    model: a name, a folder, a hub id, a Respondent, or a function from (premise, hypothesis)
    pairs to three scores each. suite: a Suite (`evenhand.load_suite`), or the name of one in
    English; the default suite where there is none. dev: a file of labelled NLI pairs in the
    suite's language, whose accuracy is reported beside the scores.
    """
    settings, asking = settings or Settings(), asking or Asking()
    start = time.perf_counter()
    if not isinstance(suite, Suite):
        suite = load_suite(suite or catalog.default_suite())
    if isinstance(dev, str | Path):
        dev = load_dev(Path(dev), suite.card.language)
    respondent = open_model(model, suite, opening)
    require_dev_kind(respondent, dev)
    choose_measures(suite, *answer_names(suite, respondent), measures)  # fail before asking
    loaded = time.perf_counter()
    answers = ask_suite(respondent, suite, asking)
    asked = time.perf_counter()
    checks = ask_checks(respondent, suite, asking, dev)
    run = judge(suite, answers, settings, measures=measures, checks=checks)
    end = time.perf_counter()
    timing = {
        "load_seconds": loaded - start,
        "ask_seconds": asked - loaded,
        "judge_seconds": end - asked,
        "total_seconds": end - start,
    }
    return dataclasses.replace(run, timing={k: round(v, 3) for k, v in timing.items()})
