"""What is asked of which model: everything that fits, decided before the first question."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, LoadError, MeasureError
from evenhand.core.probe import Kind
from evenhand.core.protocols import RespondentOptions, SuiteSource
from evenhand.core.run import Run
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import listed
from evenhand.engine.ask import Asking, Progress, answer_names
from evenhand.engine.audit import Auditor
from evenhand.engine.checks import require_dev_kind
from evenhand.engine.estimate import applicable_measures, choose_measures
from evenhand.engine.opened import Model, OpenedModel, require_model
from evenhand.engine.suites import limited, load_suite

# Probes of each suite but the default one where everything that fits is asked: more would hardly
# narrow an interval for new items, which rests on how many occupations, sentences and words there
# are. The default suite is asked whole: its headline is what a reader looks at first.
PROBES = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class NotAsked:
    """A suite that a model was not asked."""

    model: str
    suite: str
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """A suite that a model is asked."""

    model: str  # what the user calls it
    identity: str
    traits: Mapping[str, str]
    suite: Suite
    options: tuple[str, ...]  # that its answers will have
    labels: tuple[str, ...]
    measures: tuple[str, ...] | None  # None: all that fit


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditOptions:
    """How models are asked and their answers measured."""

    opening: RespondentOptions = field(default_factory=RespondentOptions)
    settings: Settings = field(default_factory=Settings)
    measures: tuple[str, ...] = ()  # (): all that fit
    cache: bool | Path = True
    dev: Suite | None = None  # labelled pairs, whose accuracy is reported beside the scores


Watch = Callable[[int, str], AbstractContextManager[Progress | None]]
Finish = Callable[[int, Run], None]


def bias_suites() -> list[SuiteSource]:
    """The suites that need no data of others and are about bias, the default suite first."""
    families = sorted(catalog.families().values(), key=lambda family: not family.is_default)
    return [
        source
        for family in families
        for source in family.suites
        if not source.is_published and not family.is_check
    ]


def suites_in(language: str) -> tuple[list[str], dict[str, str]]:
    """The names of `bias_suites` that have the language; the others with why they are not asked."""
    sources = bias_suites()
    known = [source.name for source in sources if language in source.languages]
    reasons = {
        source.name: f"is not in '{language}', only in {listed(source.languages)}"
        for source in sources
        if language not in source.languages
    }
    return known, reasons


class AuditPlan:
    """Which models are asked which suites; each model is open while it is asked, and only then."""

    def __init__(
        self,
        models: Sequence[Model],
        suites: Sequence[Suite],
        options: AuditOptions | None = None,
        *,
        is_named: bool = True,
    ) -> None:
        """Find out what fits, and ask nothing yet.

        is_named: the user chose these suites, so that each must fit each model; otherwise what
        does not fit is in `not_asked`. Raises EvenhandError where a model cannot be opened, a
        named suite does not fit, or nothing does.
        """
        self.options = options or AuditOptions()
        self.is_named = is_named
        self._models = {m.name: m for m in (OpenedModel(m, self.options.opening) for m in models)}
        self._seconds: dict[str, float] = {}  # for opening each model
        self._auditors: dict[str, Auditor] = {}  # by identity, of the model that is open
        self.not_asked: list[NotAsked] = []
        self.assignments: list[Assignment] = []
        if not models or not suites:
            raise EvenhandError("there is nothing to ask: name a model and a suite")
        for model in self._models.values():
            if isinstance(model.model, str):
                require_model(model.model)
        for name, model in self._models.items():
            self._assign(name, model, suites)
            if name != next(iter(self._models)):
                model.close()  # the first is asked at once; of large ones two need not fit

    def _assign(self, name: str, model: OpenedModel, suites: Sequence[Suite]) -> None:
        """Add what this model is asked."""
        start, before, first = time.perf_counter(), len(self.assignments), None
        for suite in suites:
            try:
                self.assignments.append(self._assignment(name, model, suite))
            except (LoadError, MeasureError) as error:
                first = first or error
                if self.is_named:
                    raise self._refusal(model, suite, suites, error) from error
                reason = str(error)
                if kinds := _kinds_of(model, suites):
                    is_kind = suite.kind not in kinds
                    reason = _kind_reason(suite.kind, kinds) if is_kind else reason
                self.not_asked.append(NotAsked(model=name, suite=suite.card.name, reason=reason))
        self._seconds[name] = time.perf_counter() - start
        if first is not None and len(self.assignments) == before:
            raise first

    def _assignment(self, name: str, model: OpenedModel, suite: Suite) -> Assignment:
        respondent = model.respondent(suite.kind, suite.card.language)
        if suite.kind not in respondent.kinds:
            raise LoadError(
                f"{respondent.identity} answers {listed(sorted(respondent.kinds))} probes, and "
                f"{suite.card.name} asks {suite.kind} probes"
            )
        require_dev_kind(respondent, self.options.dev)
        options, labels = answer_names(suite, respondent)
        return Assignment(
            model=name,
            identity=respondent.identity,
            traits=dict(respondent.traits),
            suite=suite,
            options=options,
            labels=labels,
            measures=self._measures(suite, options, labels),
        )

    def _measures(
        self, suite: Suite, options: tuple[str, ...], labels: tuple[str, ...]
    ) -> tuple[str, ...] | None:
        """Those of the wanted measures that the suite has. Raises MeasureError where none fits."""
        wanted = self.options.measures
        usable = {m.name for m in applicable_measures(suite, options, labels)[0]}
        own = tuple(name for name in wanted if name in usable)
        choose_measures(suite, options, labels, own or wanted or None)
        return own or None

    def _refusal(
        self, model: OpenedModel, suite: Suite, suites: Sequence[Suite], error: EvenhandError
    ) -> EvenhandError:
        """The error for a suite that was named and does not fit, with what would."""
        if isinstance(error, MeasureError):
            return error
        fitting = [s.name for s in bias_suites() if _fits(model, s, suite.card.language)]
        if not fitting:
            return error  # it cannot be opened at all
        return LoadError(f"{str(error).rstrip('.')}. Suites that fit this model: {listed(fitting)}")

    def carry_out(self, watch: Watch | None = None, finish: Finish | None = None) -> list[Run]:
        """Ask everything, model by model, and measure the answers.

        watch: shows the progress of an assignment, which is given by its place, under a title;
        finish: is given each run as soon as there is one. A suite that a model refuses when it is
        asked is in `not_asked`, unless it was named.
        """
        runs, refused = [], None
        for place, one in enumerate(self.assignments):
            whole = len(self.assignments)
            where = f" {one.suite.card.name} ({place + 1} of {whole})" if whole > 1 else ""
            title = f"asking {one.model}{where}"
            try:
                with watch(place, title) if watch else nullcontext() as progress:
                    run = self._run(one, progress)
                    if finish is not None:
                        finish(place, run)
                runs.append(run)
            except LoadError as error:
                if self.is_named:
                    raise
                refused = refused or error
                self.not_asked.append(
                    NotAsked(model=one.model, suite=one.suite.card.name, reason=str(error))
                )
        if refused is not None and not runs:
            raise refused
        return runs

    def _run(self, one: Assignment, progress: Progress | None) -> Run:
        start = time.perf_counter()
        if one.identity not in self._auditors:
            self._auditors.clear()
            for name, model in self._models.items():
                if name != one.model:
                    model.close()
        respondent = self._models[one.model].respondent(one.suite.kind, one.suite.card.language)
        auditor = self._auditors.get(one.identity)
        if auditor is None or auditor.respondent is not respondent:
            auditor = Auditor(respondent, self.options.settings, self.options.dev)
            self._auditors[one.identity] = auditor
        loading = self._seconds.pop(one.model, 0.0) + time.perf_counter() - start
        asking = Asking(cache=self.options.cache, progress=progress)
        return auditor.audit(one.suite, asking, measures=one.measures, loading=loading)


def _kinds_of(model: OpenedModel, suites: Sequence[Suite]) -> set[Kind]:
    """The kinds of probes, of those that the suites have, that a model answers."""
    kinds = {}
    for suite in suites:
        kinds[suite.kind] = _answers(model, suite.kind, suite.card.language)
    return {kind for kind, can in kinds.items() if can}


def _answers(model: OpenedModel, kind: Kind, language: str) -> bool:
    try:
        return kind in model.respondent(kind, language).kinds
    except LoadError:
        return False


def _fits(model: OpenedModel, source: SuiteSource, language: str) -> bool:
    return language in source.languages and _answers(model, source.kind, language)


def _kind_reason(kind: Kind, kinds: set[Kind]) -> str:
    return f"asks {kind} probes, and the model answers {listed(sorted(kinds))} probes"


def plan_everything(
    models: Sequence[Model],
    language: str = "en",
    options: AuditOptions | None = None,
    *,
    limit: int | None = None,
    is_whole: bool = False,
    load: Callable[[str], Suite] | None = None,
) -> AuditPlan:
    """The plan of every suite about bias that needs no data, where it fits a model.

    limit: the most probes of each suite; without it the default suite is asked whole and the others
    up to PROBES, all of them whole with `is_whole`. load: how a suite is built by its name. Raises
    EvenhandError where nothing fits.
    """
    options = options or AuditOptions()
    names, reasons = suites_in(language)
    if not names:
        raise EvenhandError(
            f"no built-in suite about bias is in '{language}'; name a suite with --suite"
        )
    build = load or (lambda name: load_suite(name, language))
    unlimited = names if is_whole else [catalog.default_suite()]
    sizes = {name: limit or (None if name in unlimited else PROBES) for name in names}
    suites = [limited(build(name), sizes[name], options.settings.seed) for name in names]
    plan = AuditPlan(models, suites, options, is_named=False)
    asked = dict.fromkeys(one.model for one in plan.assignments)
    plan.not_asked += [
        NotAsked(model=model, suite=suite, reason=reason)
        for model in asked
        for suite, reason in reasons.items()
    ]
    return plan
