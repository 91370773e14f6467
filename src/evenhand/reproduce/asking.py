"""Asking the models of a table: every model every suite, a reason where one cannot be asked.

Answers come from the cache of the engine, so that a stopped command continues where it was.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, StorageError
from evenhand.core.estimate import NO_INTERVAL, Breakdown, Estimate, Interval
from evenhand.core.family import Grouping
from evenhand.core.protocols import Respondent, RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.core.text import percent
from evenhand.engine.ask import Asking, answer_names, ask_suite
from evenhand.engine.checks import load_dev
from evenhand.engine.compare import Watch, short_names
from evenhand.engine.estimate import break_down, choose_measures, estimate
from evenhand.engine.opened import OpenedModel, require_model
from evenhand.engine.suites import limited, load_suite
from evenhand.reproduce.stored_answers import (
    PackedAnswers,
    PackedModel,
    is_stored,
    join,
    of_suite,
    pack,
    read_stored,
)

TOGETHER = "everybody"  # all people of a study as one


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQuality:
    """How well one person of a study did on its control questions; NaN with a note."""

    name: str  # TOGETHER for all of them
    accuracy: float
    consistency: float
    accuracy_asked: int = 0
    consistency_asked: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TableRequest:
    """Which models are put into the tables of a paper, and how they are asked."""

    models: tuple[str, ...] = ()
    stored: tuple[Path, ...] = ()  # files and folders of stored answers: further models
    after: tuple[str, ...] = ()  # the same models after a mitigation, in their order
    people: str | None = None  # who stands beside the models
    quality: tuple[PersonQuality, ...] = ()  # of these people
    dev: Path | None = None  # labelled pairs, for the accuracy
    dev_limit: int | None = None
    trained_on: str | None = None  # the published set that is in-distribution
    ladders: tuple[Path, ...] = ()  # folders of `evenhand meta run`
    languages: tuple[str, ...] = ()  # () for those that each model is said to know
    data: Path | None = None
    limit: int | None = None
    opening: RespondentOptions = field(default_factory=RespondentOptions)
    settings: Settings = field(default_factory=Settings)
    cache: bool | Path = True
    watch: Watch | None = None

    @property
    def particular(self) -> dict[str, object]:
        """What only some papers read, by its option on the command line."""
        return {
            "--after": self.after,
            "--people": self.people,
            "--dev": self.dev,
            "--dev-limit": self.dev_limit,
            "--trained-on": self.trained_on,
            "--ladder": self.ladders,
            "--lang": self.languages,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TableModel:
    """A model of a table: one that is asked, or one whose answers are stored."""

    name: str  # short
    reference: str  # what the user named, or the identity of a stored model
    packed: PackedModel | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Missing:
    """Why there are no answers, no suite, no score."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A cell: a value with its interval, or why there is none."""

    interval: Interval = NO_INTERVAL
    reason: str = ""  # why there is no value
    note: str = ""  # what must be said beside a value
    signature: str = ""
    coverage: float = math.nan

    @property
    def has_value(self) -> bool:
        """Whether there is a number."""
        return math.isfinite(self.interval.value)


class Asker:
    """The models of a request, and everything that was asked of them so far."""

    def __init__(self, request: TableRequest) -> None:
        """Read the stored answers and find the models.

        Raises EvenhandError where a file of answers is damaged, or a model is not known.
        """
        self.request = request
        self.models = self._find(request.models, request.stored)
        self.after = self._find(request.after)
        self._suites: dict[tuple[str, str], Suite | Missing] = {}
        self._wholes: dict[str, Suite] = {}  # the suite that one was cut from, by its reference
        self._answers: dict[tuple[str, str], Answers | Missing] = {}
        self._estimates: dict[tuple[str, str, str], Estimate | Missing] = {}
        self._opened: OpenedModel | None = None  # the model that was asked last
        self.identities: dict[str, str] = {}  # reference of a model -> its identity

    def _find(
        self, references: Sequence[str], stored: Sequence[Path] = ()
    ) -> tuple[TableModel, ...]:
        given: list[tuple[str, PackedModel | None]] = []
        for reference in references:
            if is_stored(reference):
                given += [(m.respondent, m) for m in read_stored(Path(reference))]
            else:
                require_model(reference)
                given.append((reference, None))
        given += [(m.respondent, m) for path in stored for m in read_stored(path)]
        names = short_names([reference for reference, _ in given])
        return tuple(
            TableModel(name=name, reference=reference, packed=packed)
            for name, (reference, packed) in zip(names, given, strict=True)
        )

    def suite(self, name: str, language: str = "en") -> Suite | Missing:
        """The suite, cut to the limit; why it cannot be had."""
        whole = self.whole(name, language)
        if isinstance(whole, Missing):
            return whole
        asked = limited(whole, self.request.limit, self.request.settings.seed)
        self._wholes[asked.reference] = whole
        return asked

    def whole(self, name: str, language: str = "en") -> Suite | Missing:
        """The suite, not cut; why it cannot be had."""
        key = (name, language)
        if key not in self._suites:
            options = SuiteOptions(data=self.request.data, seed=self.request.settings.seed)
            try:
                self._suites[key] = load_suite(name, language, options)
            except StorageError:
                raise
            except EvenhandError as error:
                self._suites[key] = Missing(reason=str(error))
        return self._suites[key]

    def dev(self, language: str = "en") -> Suite | Missing:
        """The pairs of the file of the user, at most as many as wanted."""
        request = self.request
        if request.dev is None:
            return Missing(reason="needs labelled pairs: give --dev FILE")
        key = (f"--dev {request.dev}", language)
        if key not in self._suites:
            seed = request.settings.seed
            self._suites[key] = load_dev(request.dev, language, limit=request.dev_limit, seed=seed)
        return self._suites[key]

    def answers(self, model: TableModel, suite: Suite | Missing) -> Answers | Missing:
        """What a model answers to a suite; why it cannot."""
        if isinstance(suite, Missing):
            return suite
        key = (model.reference, suite.reference)
        if key not in self._answers:
            try:
                self._answers[key] = self._stored(model, suite) or self._ask(model, suite)
            except StorageError:
                raise
            except EvenhandError as error:
                self._answers[key] = Missing(reason=str(error))
        answers = self._answers[key]
        if isinstance(answers, Answers):
            self.identities[model.reference] = answers.respondent
        return answers

    def _stored(self, model: TableModel, suite: Suite) -> Answers | Missing | None:
        if model.packed is None:
            return None
        packed = model.packed.to(suite)
        if packed is None:
            return Missing(
                reason=f"{model.packed.source} has no answers of it to {suite.card.name} "
                f"({suite.card.language})"
            )
        whole = self._wholes.get(suite.reference, suite)
        return of_suite(packed, whole, suite, model.packed.source)

    def _ask(self, model: TableModel, suite: Suite) -> Answers:
        request = self.request
        respondent = self._respondent(model.reference, suite)
        # fail before asking; the measures of a table are chosen one by one
        choose_measures(suite, *answer_names(suite, respondent))
        title = f"{model.name}, {suite.card.name}"
        with request.watch(title) if request.watch else nullcontext() as progress:
            return ask_suite(respondent, suite, Asking(cache=request.cache, progress=progress))

    def _respondent(self, reference: str, suite: Suite) -> Respondent:
        """The respondent, which stays open until another model is asked."""
        if self._opened is None or self._opened.model != reference:
            self._opened = OpenedModel(reference, self.request.opening)
        return self._opened.respondent(suite.kind, suite.card.language)

    def estimate(
        self, model: TableModel, suite: Suite | Missing, measure: str
    ) -> Estimate | Missing:
        """A measure of a model on a suite; why there is none."""
        if isinstance(suite, Missing):
            return suite
        key = (model.reference, suite.reference, measure)
        if key not in self._estimates:
            self._estimates[key] = self._estimate(model, suite, measure)
        return self._estimates[key]

    def _estimate(self, model: TableModel, suite: Suite, measure: str) -> Estimate | Missing:
        answers = self.answers(model, suite)
        if isinstance(answers, Missing):
            return answers
        try:
            (chosen,) = choose_measures(suite, answers.options, answers.labels, [measure])
            return estimate(chosen, suite, answers, self.request.settings)
        except StorageError:
            raise
        except EvenhandError as error:
            return Missing(reason=str(error))

    def entry(
        self, model: TableModel, suite: Suite | Missing, measure: str, part: str = ""
    ) -> Entry:
        """The cell of a measure, or of one of its parts."""
        found = self.estimate(model, suite, measure)
        if isinstance(found, Missing):
            return Entry(reason=found.reason)
        interval = found.parts[part] if part else found.interval
        notes = [found.note] if found.note else []
        if found.coverage < 1:
            notes.append(f"answered {percent(found.coverage, 1)} of what it reads")
        is_known = math.isfinite(interval.value)
        return Entry(
            interval=interval,
            reason="" if is_known else "; ".join(notes) or "not defined on these answers",
            note="; ".join(notes) if is_known else "",
            signature=found.signature,
            coverage=found.coverage,
        )

    def breakdown(
        self, model: TableModel, suite: Suite | Missing, measure: str, grouping: Grouping
    ) -> Breakdown | Missing:
        """A measure of a model group by group; why there is none."""
        whole = self.estimate(model, suite, measure)
        if isinstance(whole, Missing):
            return whole
        answers = self.answers(model, suite)
        assert isinstance(answers, Answers) and isinstance(suite, Suite)
        return break_down(catalog.measure(measure), suite, answers, grouping, self.request.settings)

    def packs(self) -> list[PackedModel]:
        """The answers of every model that was asked here, to be exchanged."""
        asked = {m.reference for m in (*self.models, *self.after) if m.packed is None}
        parts: dict[tuple[str, str], tuple[str, PackedAnswers]] = {}
        for (reference, suite), answers in self._answers.items():
            # pairs of a file of the user are known to nobody else
            if reference in asked and suite in self._wholes and isinstance(answers, Answers):
                parts.setdefault((answers.respondent, suite), (reference, pack(answers)))
        return join(parts.values())
