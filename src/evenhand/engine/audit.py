"""Audit: from the names of a model and a suite to a finished run."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.estimate import Breakdown, Estimate, Relation
from evenhand.core.family import Family
from evenhand.core.measure import Measure
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.run import Check, Run
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
from evenhand.engine.opened import Model, open_model
from evenhand.engine.suites import load_suite


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
    sanity: Sequence[Check] = (),
) -> Run:
    """Everything that is computed from answers: estimates, baselines, breakdowns, relations.

    measures: names, None for all that fit; checks: what `ask_checks` returned; sanity: checks that
    were estimated already.
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
        sanity=(*sanity, *estimate_checks(checks, settings)),
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

    model: a name, a folder, a hub id, a Respondent, (model, tokenizer) or a pipeline of
    transformers, or a function from (premise, hypothesis) pairs to three scores each
    (`evenhand.function` for others). suite: a Suite (`evenhand.load_suite`), or the name of one in
    English; the default suite where there is none. measures: only these; all that fit by default.
    opening: how the model is opened. settings: how intervals are computed. asking: cache and
    progress. dev: a file of labelled NLI pairs in the suite's language, whose accuracy is reported
    beside the scores.
    """
    start = time.perf_counter()
    if not isinstance(suite, Suite):
        suite = load_suite(suite or catalog.default_suite())
    if isinstance(dev, str | Path):
        dev = load_dev(Path(dev), suite.card.language)
    respondent = open_model(model, suite, opening)
    require_dev_kind(respondent, dev)
    choose_measures(suite, *answer_names(suite, respondent), measures)  # fail before asking
    loading = time.perf_counter() - start
    auditor = Auditor(respondent, settings or Settings(), dev)
    return auditor.audit(suite, asking or Asking(), measures=measures, loading=loading)


class Auditor:
    """A respondent that is asked one suite after another, and what was found about all of them."""

    def __init__(
        self, respondent: Respondent, settings: Settings, dev: Suite | None = None
    ) -> None:
        """dev: labelled pairs, whose accuracy is reported beside the scores."""
        self.respondent = respondent
        self._settings = settings
        self._dev = dev
        # by language, and by the suite where that is a check itself: whether it understands
        self._sanity: dict[tuple[str, str], tuple[Check, ...]] = {}

    def audit(
        self,
        suite: Suite,
        asking: Asking,
        *,
        measures: Sequence[str] | None = None,
        loading: float = 0.0,
    ) -> Run:
        """Ask every probe of a suite and measure the answers.

        measures: names, None for all that fit. loading: the seconds that opening took.
        """
        start = time.perf_counter()
        answers = ask_suite(self.respondent, suite, asking)
        asked = time.perf_counter()
        sanity = self._checked(suite, asking)
        run = judge(suite, answers, self._settings, measures=measures, sanity=sanity)
        end = time.perf_counter()
        timing = {
            "load_seconds": loading,
            "ask_seconds": asked - start,
            "judge_seconds": end - asked,
            "total_seconds": loading + end - start,
        }
        return dataclasses.replace(run, timing={k: round(v, 3) for k, v in timing.items()})

    def _checked(self, suite: Suite, asking: Asking) -> tuple[Check, ...]:
        """How well the respondent does on clear pairs; asked and computed once."""
        stem = suite.card.name.partition(":")[0]
        is_check = any(stem == source.name for f in catalog.checks() for source in f.suites)
        key = (suite.card.language, stem if is_check else "")
        if key not in self._sanity:
            checks = ask_checks(self.respondent, suite, asking, self._dev)
            self._sanity[key] = estimate_checks(checks, self._settings)
        return self._sanity[key]
