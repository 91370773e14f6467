"""Several audits at once: models and suites, everything that fits where no suite is named."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.core.protocols import RespondentOptions
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine.audit_plan import (
    AuditOptions,
    AuditPlan,
    NotAsked,
    plan_everything,
)
from evenhand.engine.checks import load_dev
from evenhand.engine.opened import Model
from evenhand.engine.suites import load_suite


@dataclass(frozen=True, kw_only=True)
class RunSet:
    """The runs of one or several models on one or several suites, model by model."""

    runs: tuple[Run, ...]
    not_asked: tuple[NotAsked, ...] = ()

    def of(self, model: str, suite: str) -> Run | None:
        """The run of a model, by its identity, on a suite, by its name; None: not asked."""
        return next(
            (r for r in self.runs if (r.answers.respondent, r.suite.card.name) == (model, suite)),
            None,
        )

    @property
    def models(self) -> tuple[str, ...]:
        """The identity of every model that was asked, in order."""
        return tuple(dict.fromkeys(run.answers.respondent for run in self.runs))

    @property
    def suites(self) -> tuple[str, ...]:
        """The name of every suite that was asked, in order."""
        return tuple(dict.fromkeys(run.suite.card.name for run in self.runs))


def audit_all(
    models: Model | list[Model] = "default",
    suites: Sequence[str | Suite] | None = None,
    *,
    lang: str = "en",
    limit: int | None = None,
    measures: Sequence[str] = (),
    opening: RespondentOptions | None = None,
    settings: Settings | None = None,
    cache: bool | Path = True,
    dev: str | Path | Suite | None = None,
) -> RunSet:
    """Ask every model every suite, and measure the answers.

    models: one of what `audit` takes, or a list of them. suites: names or Suites, each of which
    must fit every model; without any, every built-in suite about bias is asked that a model can
    answer, at most 1,000 probes of each but the default suite. lang: of the suites that are given
    by name. limit: the most probes of each suite. measures: their names, all that fit by
    default. opening: how the models are opened. settings: how intervals are computed. cache:
    whether answers are kept for the next time, or the folder for them. dev: a file of labelled
    pairs. Nothing is written. Raises EvenhandError before the first question where something does
    not fit.
    """
    several = list(models) if isinstance(models, list) else [models]
    options = AuditOptions(
        opening=opening or RespondentOptions(),
        settings=settings or Settings(),
        measures=tuple(measures),
        cache=cache,
        dev=load_dev(Path(dev), lang) if isinstance(dev, str | Path) else dev,
    )
    if suites is None:
        plan = plan_everything(several, lang, options, limit=limit)
    else:
        loaded = [
            suite if isinstance(suite, Suite) else load_suite(suite, lang, limit=limit)
            for suite in suites
        ]
        plan = AuditPlan(several, loaded, options)
    runs = plan.carry_out()
    return RunSet(runs=tuple(runs), not_asked=tuple(plan.not_asked))
