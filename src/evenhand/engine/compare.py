"""Comparison: every model against the first on the same probes, paired cluster by cluster.

Only probes that both answered count. The models are asked and estimated, nothing else.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Literal

import numpy as np

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answer_files import FILE, read_answers, refuse_overview, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, MeasureError
from evenhand.core.estimate import FEW_LEVELS, Estimate, Interval
from evenhand.core.measure import Measure
from evenhand.core.protocols import Respondent, RespondentOptions, SuiteOptions
from evenhand.core.run import Check
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, Progress, answer_names, ask_suite
from evenhand.engine.audit import estimate_all
from evenhand.engine.checks import ask_checks, estimate_checks, load_dev, require_dev_kind
from evenhand.engine.estimate import (
    applicable_measures,
    choose_measures,
    estimate,
    evidence_table,
    few_levels,
    find_factors,
    interval_method,
    interval_note,
    read_mask,
    traits_of,
)
from evenhand.engine.opened import Model, open_model
from evenhand.engine.suites import load_suite
from evenhand.stats.bootstrap import generator
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.crossed import Factor
from evenhand.stats.intervals import Bounds
from evenhand.stats.paired import (
    Scale,
    paired_intervals,
    paired_table,
    permutation_p,
    permuted_differences,
)

LONGEST = 28  # letters of a short name
_NOTHING = Interval(float("nan"), float("nan"), float("nan"))
Nearness = Literal["nearer", "farther", "equally far", "unclear", "unknown"]
Compared = Model | Path | Answers  # a model, or the answers of a run: their file or its folder
Watch = Callable[[str], AbstractContextManager[Progress | None]]  # shows progress, by model


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One of the models: its short name, all of its answers, and their estimates."""

    name: str
    answers: Answers
    estimates: tuple[Estimate, ...]
    sanity: tuple[Check, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One measure of a model compared with the reference, on the probes that both answered."""

    measure: str
    model: str  # the short name of the other
    reference: Estimate
    other: Estimate
    difference: Interval  # other - reference
    distance: Interval  # |other - fair| - |reference - fair|: below 0, the other is nearer
    p: float
    adjusted: float
    probes: int  # that both answered and the measure reads
    clusters: int
    signature: str = ""
    note: str = ""  # why something is NaN, or rough

    @property
    def differing_fields(self) -> dict[str, tuple[str | None, str | None]]:
        """In which fields the signatures of the two values differ."""
        first = Signature.parse(self.reference.signature)
        return first.differences(Signature.parse(self.other.signature))

    def is_shown(self, settings: Settings) -> bool:
        """Whether the p value, adjusted for the number of comparisons, is small enough."""
        return bool(np.isfinite(self.adjusted)) and self.adjusted <= settings.alpha

    def nearness(self, settings: Settings) -> Nearness:
        """Which of the two is nearer to the best value.

        Only where the difference is shown and the interval of the distance excludes 0.
        """
        _, low, high = self.distance
        if not self.distance.has_bounds:
            return "unknown"
        if low == high == 0:
            return "equally far"
        if not self.is_shown(settings):
            return "unclear"
        return "nearer" if high < 0 else "farther" if low > 0 else "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A measure that only one of the two models has the labels for."""

    measure: str
    model: str  # the short name of the other, whichever of the two lacks the labels
    reason: str  # names the one that lacks them


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several models on one suite; the first is the reference."""

    suite: Suite
    models: tuple[Contestant, ...]
    differences: tuple[Difference, ...]
    left_out: tuple[LeftOut, ...]
    tests: int  # how many p values were adjusted together
    settings: Settings

    @property
    def reference(self) -> Contestant:
        """The model that the others are compared with."""
        return self.models[0]

    def against(self, name: str) -> list[Difference]:
        """The differences of one model from the reference, in the order of a report."""
        return [d for d in self.differences if d.model == name]


def short_names(identities: Sequence[str]) -> list[str]:
    """A name for each model that is short enough for a table column.

    Without folder and revision where the names stay distinct; a repeated name gets a number.
    """
    bare = [_cut(PurePosixPath(i.rpartition("@")[0] or i).name or i) for i in identities]
    is_clear = [
        bare.count(name) == 1 or identities.count(identity) > 1
        for name, identity in zip(bare, identities, strict=True)
    ]
    names = [
        name if clear else _cut(identity)
        for name, identity, clear in zip(bare, identities, is_clear, strict=True)
    ]
    seen: Counter[str] = Counter()
    for place, name in enumerate(names):
        seen[name] += 1
        if seen[name] > 1:
            names[place] = f"{name} ({seen[name]})"
    return names


def _cut(name: str) -> str:
    half = LONGEST // 2
    return name if len(name) <= LONGEST else f"{name[:half]}…{name[-(half - 1) :]}"


def stored_answers(model: Compared) -> Answers | None:
    """The answers of a model that is given as answers, as their file or as the folder of a run.

    None for a model that is still to be asked.
    """
    if isinstance(model, Answers):
        return model
    if not isinstance(model, str | Path):
        return None
    path = Path(model).expanduser()
    if path.suffix.lower() == ".parquet":
        return read_answers(path)
    refuse_overview(path)
    return read_answers(path / FILE) if (path / FILE).is_file() else None


def _name_of(model: Compared) -> str:
    if isinstance(model, Answers):
        return model.respondent
    return model.identity if isinstance(model, Respondent) else str(model)


def _check_same(suites: Sequence[tuple[str, Suite]]) -> None:
    """Raise EvenhandError where two of the (name, suite) pairs have different probes."""
    (first_name, first), *rest = suites
    for name, suite in rest:
        same = (suite.card.name, suite.card.version, suite.digest)
        if same != (first.card.name, first.card.version, first.digest):
            raise EvenhandError(
                f"{first_name} answers {first.reference}, but {name} answers {suite.reference}: "
                "only answers to the same probes are compared. "
                "Ask one of the models again with the other's suite, language, limit and seed"
            )


@contextmanager
def _errors_name(model: str) -> Iterator[None]:
    """Put the name of the model before the message of any MeasureError."""
    try:
        yield
    except MeasureError as error:
        raise MeasureError(f"{model}: {error}") from error


def _on_common_probes(
    measure: Measure, suite: Suite, pair: tuple[Contestant, Contestant], settings: Settings
) -> tuple[list[Answers], list[Estimate]]:
    """The answers and the estimates of two models on the probes that both answered."""
    is_common = pair[0].answers.is_answered & pair[1].answers.is_answered
    answers, estimates = [], []
    for model, partner in zip(pair, reversed(pair), strict=True):
        whole = next((e for e in model.estimates if e.measure == measure.name), None)
        if (model.answers.is_answered == is_common).all():
            answers.append(model.answers)
            estimates.append(whole or estimate(measure, suite, model.answers, settings))
            continue
        # the signature must differ from that of the estimate on all answers
        rest = model.answers.only(is_common, f"not answered by {partner.answers.respondent}")
        traits = {**rest.traits, "only": f"answered by {partner.answers.respondent} too"}
        answers.append(dataclasses.replace(rest, traits=traits))
        estimates.append(estimate(measure, suite, answers[-1], settings))
    return answers, estimates


def _note(
    names: Sequence[str],
    estimates: Sequence[Estimate],
    probes: int,
    factors: Sequence[Factor],
    difference: Bounds,
) -> str:
    """Why a difference is NaN or its interval is rough, or that nothing varies; else empty."""
    if not probes:
        return "no probe was answered by both"
    empty = [
        f"{name}: {e.note}"
        for name, e in zip(names, estimates, strict=True)
        if not np.isfinite(e.value)
    ]
    if empty:
        return "; ".join(empty)
    clusters = factors[0].levels
    if clusters < 2:
        return f"one {factors[0].name} only: there is neither interval nor p value"
    is_unvaried = not difference.has_variation and difference.interval != (0, 0, 0)
    rough = interval_note(factors, difference) if is_unvaried else few_levels(factors)
    if clusters >= FEW_LEVELS:
        return rough
    least = f"{2.0 ** (1 - clusters):.2g}"
    return f"{rough}, and p cannot fall below {least}"


def _two_units(measure: Measure, pair: Sequence[Contestant]) -> str:
    """That the values of two models have no common unit; empty where they have."""
    units = [measure.unit_of(model.answers) for model in pair]
    if units[0] == units[1]:
        return ""
    first, second = (f"{m.name} is in {unit}" for m, unit in zip(pair, units, strict=True))
    return (
        f"no common unit ({first}, {second}): there is no difference and no p value. "
        "Compare the models by a measure that is a share"
    )


def find_difference(
    measure: Measure, suite: Suite, reference: Contestant, other: Contestant, settings: Settings
) -> Difference:
    """The difference of two models by one measure; its p value is not adjusted yet."""
    answers, estimates = _on_common_probes(measure, suite, (reference, other), settings)
    is_read = read_mask(measure, suite.probes)
    probes = [p for p, read in zip(suite.probes, is_read, strict=True) if read]
    evidence = [measure.evidence(probes, measure.readable_values(a)[is_read]) for a in answers]
    tables = [evidence_table(measure, probes, rows) for rows in evidence]
    both = paired_table(*tables)
    factors = find_factors(measure, suite.card, probes, np.hstack(evidence))
    # seeded as in `estimate`, so that the resamples are those of the two values' own intervals
    rng = generator(settings.seed, measure.name)
    scale = Scale(measure.fair, *measure.card.range)
    bounds = paired_intervals(both, factors, measure.combine, scale, rng, settings)
    apart = bounds.difference
    p = float("nan")
    refusal = _two_units(measure, (reference, other))
    if factors[0].levels > 1 and not refusal:
        rng = generator(settings.seed, f"{measure.name}/swap")
        first, second = (table.totals(factors[0]) for table in tables)
        swapped = permuted_differences(first, second, measure.combine, rng, settings.permutations)
        p = permutation_p(apart.interval.value, swapped, apart.widening)
    common = int((is_read & answers[0].is_answered & answers[1].is_answered).sum())
    return Difference(
        measure=measure.name,
        model=other.name,
        reference=estimates[0],
        other=estimates[1],
        difference=_NOTHING if refusal else apart.interval,
        distance=_NOTHING if refusal else bounds.distance.interval,
        p=p,
        adjusted=p,
        probes=common,
        clusters=factors[0].levels,
        note=refusal or _note((reference.name, other.name), estimates, common, factors, apart),
    )


def _signature_of(comparison: Comparison, difference: Difference, other: Answers) -> str:
    """The signature of a difference: everything that it depends on."""
    suite, first, settings = comparison.suite, comparison.reference.answers, comparison.settings
    measure = catalog.measure(difference.measure)
    one, two = traits_of(measure, first), traits_of(measure, other)
    traits = {k: (one.get(k, "none"), two.get(k, "none")) for k in {**one, **two}}
    return str(
        Signature.of(
            measure=difference.measure,
            suite=suite.reference,
            lang=suite.card.language,
            reference=first.respondent,
            other=other.respondent,
            **{k: a if a == b else f"{a} vs {b}" for k, (a, b) in traits.items()},
            probes=f"{difference.probes} both",
            target=settings.target,
            ci=f"{interval_method(suite, settings)}, paired",
            test=f"swap x{settings.permutations}/{suite.card.factors[0]}",
            adjusted=f"bh/{comparison.tests}",
            seed=settings.seed,
            evenhand=__version__,
        )
    )


def _refusals(suite: Suite, contestant: Contestant) -> dict[str, str]:
    """By name, why a model's labels do not suffice for a measure."""
    answers = contestant.answers
    given = ", ".join(answers.labels)
    return {
        m.name: f"needs {', '.join(sorted(m.labels - {*answers.labels}))}; "
        f"{contestant.name} gives {given}"
        for m in applicable_measures(suite, answers.options, answers.labels)[1]
    }


def compare_answers(
    suite: Suite,
    contestants: Sequence[Contestant],
    settings: Settings,
    measures: Sequence[str] | None = None,
) -> Comparison:
    """Every model against the first by every measure that applies to both.

    The p values are not adjusted yet, and the differences have no signatures: see `adjust`.
    """
    first, *others = contestants
    usable = choose_measures(suite, first.answers.options, first.answers.labels, measures)
    refused = _refusals(suite, first)
    differences: list[Difference] = []
    left_out: list[LeftOut] = []
    for other in others:
        own = choose_measures(suite, other.answers.options, other.answers.labels, measures)
        refused_too = _refusals(suite, other)
        differences += [
            find_difference(m, suite, first, other, settings) for m in usable if m in own
        ]
        left_out += [
            LeftOut(measure=m.name, model=other.name, reason=reasons[m.name])
            for chosen, reasons in ((usable, refused_too), (own, refused))
            for m in chosen
            if m.name in reasons
        ]
    return Comparison(
        suite=suite,
        models=tuple(contestants),
        differences=tuple(differences),
        left_out=tuple(left_out),
        tests=0,
        settings=settings,
    )


def adjust(comparisons: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The comparisons with p values adjusted over all of them together, and with signatures."""
    p_values = [d.p for c in comparisons for d in c.differences]
    adjusted = iter(benjamini_hochberg(p_values))
    tests = int(np.isfinite(p_values).sum())
    done = []
    for comparison in comparisons:
        counted = dataclasses.replace(comparison, tests=tests)
        answers = {c.name: c.answers for c in comparison.models}
        differences = tuple(
            dataclasses.replace(
                d,
                adjusted=float(next(adjusted)),
                signature=_signature_of(counted, d, answers[d.model]),
            )
            for d in comparison.differences
        )
        done.append(dataclasses.replace(counted, differences=differences))
    return tuple(done)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonOptions:
    """What is compared and how the models are asked."""

    suites: tuple[str | Suite, ...] = ()  # default: that of the answers, else the default suite
    lang: str = "en"
    limit: int | None = None
    suite_options: SuiteOptions | None = None
    measures: Sequence[str] | None = None
    opening: RespondentOptions = field(default_factory=RespondentOptions)
    cache: bool | Path = True
    watch: Watch | None = None
    dev: str | Path | Suite | None = None  # a file of labelled pairs, for the models' accuracy


def _contestants(
    suite: Suite, models: Sequence[Compared], options: ComparisonOptions, settings: Settings
) -> list[Contestant]:
    """Every model with its answers, asked or read from a file, and its estimates."""
    contestants = []
    for model in models:
        with _errors_name(_name_of(model)):
            contestants.append(_contestant(suite, model, options, settings))
    names = short_names([c.answers.respondent for c in contestants])
    return [dataclasses.replace(c, name=name) for c, name in zip(contestants, names, strict=True)]


def _contestant(
    suite: Suite, model: Compared, options: ComparisonOptions, settings: Settings
) -> Contestant:
    answers, checks = stored_answers(model), []
    if answers is None:
        assert not isinstance(model, Answers)
        asked = str(model) if isinstance(model, Path) else model
        respondent = open_model(asked, suite, options.opening)
        dev = options.dev if isinstance(options.dev, Suite) else None
        require_dev_kind(respondent, dev)
        choose_measures(suite, *answer_names(suite, respondent), options.measures)
        with options.watch(_name_of(model)) if options.watch else nullcontext() as progress:
            asking = Asking(cache=options.cache, progress=progress)
            answers = ask_suite(respondent, suite, asking)
            checks = ask_checks(respondent, suite, asking, dev)
    return Contestant(
        name="",
        answers=answers,
        estimates=estimate_all(suite, answers, settings, options.measures),
        sanity=estimate_checks(checks, settings),
    )


def compare(
    models: Sequence[Compared],
    options: ComparisonOptions | None = None,
    settings: Settings | None = None,
) -> tuple[Comparison, ...]:
    """Every model against the first on every suite, p values adjusted over all together.

    models: what `audit` takes, or the answers of a run (`answers.parquet`, or its folder).
    options: suites, limit and how the models are asked. settings: how intervals and p values are
    computed.
    """
    options, settings = options or ComparisonOptions(), settings or Settings()
    if settings.target != "new items":
        raise EvenhandError(
            f"the target is '{settings.target}': a comparison is about new items; on exactly these "
            "probes a difference has no interval"
        )
    if len(models) < 2:
        names = ", ".join(map(_name_of, models)) or "none"
        raise EvenhandError(f"compare needs two or more models; there is {names}")
    kept = ((model, stored_answers(model)) for model in models)
    stored = [
        (_name_of(model), suite_of(answers)) for model, answers in kept if answers is not None
    ]
    suites = options.suites
    if stored and len(suites) > 1:
        raise EvenhandError(
            f"{stored[0][0]} answers one suite, {stored[0][1].reference}; "
            f"--suite names {len(suites)}. Leave --suite out"
        )
    if stored and not suites and options.limit is not None:
        raise InputError(
            stored[0][0],
            f"its probes are asked as they are; leave --limit {options.limit} out, "
            "or name the suite it was cut from with --suite",
        )
    named = suites or ((stored[0][1],) if stored else (catalog.default_suite(),))
    loaded = [
        s
        if isinstance(s, Suite)
        else load_suite(s, options.lang, options.suite_options, limit=options.limit)
        for s in named
    ]
    if isinstance(options.dev, str | Path):
        dev = load_dev(Path(options.dev), loaded[0].card.language)
        options = dataclasses.replace(options, dev=dev)
    if stored:
        asked = ((f"--suite {suite.card.name}", suite) for suite in loaded if suites)
        _check_same([*stored, *asked])
    return adjust(
        [
            compare_answers(
                suite, _contestants(suite, models, options, settings), settings, options.measures
            )
            for suite in loaded
        ]
    )
