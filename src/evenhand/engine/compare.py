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
from evenhand.core.answer_files import FILE, read_answers, suite_of
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError, MeasureError
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.measure import Measure
from evenhand.core.protocols import Respondent, RespondentOptions, SuiteOptions
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, Progress, answer_names, ask_suite
from evenhand.engine.audit import Model, ask_checks, estimate_all, estimate_checks, open_model
from evenhand.engine.estimate import choose, estimate, fitting, read_mask
from evenhand.engine.suites import load_suite
from evenhand.stats.bootstrap import FEW, cluster_totals, generator
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.paired import paired_intervals, permutation_p, permuted_differences

LONGEST = 28  # letters of a short name
Nearness = Literal["nearer", "farther", "equally far", "unclear", "unknown"]
Compared = Model | Path | Answers  # a model, or the answers of a run: their file or its folder
Watch = Callable[[str], AbstractContextManager[Progress | None]]  # shows how far the asking is


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """One of the models: its short name, what it answered, what it scores on all of that."""

    name: str
    answers: Answers
    estimates: tuple[Estimate, ...]
    sanity: tuple[Estimate, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """One measure of one model against the same of the reference, on probes both answered."""

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
        """Whether the difference is shown, after the correction for all that were looked at."""
        return bool(np.isfinite(self.adjusted)) and self.adjusted <= settings.alpha

    def nearness(self, settings: Settings) -> Nearness:
        """Which of the two is nearer to the best value.

        Only a difference that is shown, with a whole interval on one side, makes one nearer.
        """
        low, high = self.distance.low, self.distance.high
        if not np.isfinite(low + high):
            return "unknown"
        if low == high == 0:
            return "equally far"
        if not self.is_shown(settings):
            return "unclear"
        return "nearer" if high < 0 else "farther" if low > 0 else "unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftOut:
    """A measure that one model allows and the other does not."""

    measure: str
    model: str  # the short name of the other, whichever of the two does not allow it
    reason: str  # names the one that does not


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """Several models on one suite; the first is the reference."""

    suite: Suite
    models: tuple[Contestant, ...]
    differences: tuple[Difference, ...]
    left_out: tuple[LeftOut, ...]
    tests: int  # p values that were adjusted together
    settings: Settings

    @property
    def reference(self) -> Contestant:
        """What the others are compared with."""
        return self.models[0]

    def against(self, name: str) -> list[Difference]:
        """The differences of one model from the reference, in the order of a report."""
        return [d for d in self.differences if d.model == name]


def short_names(identities: Sequence[str]) -> list[str]:
    """A name for each model that fits a column.

    Without folder and revision where that tells them apart, else with a number.
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
    """The answers, where a model is given as those of a run: their file, or its folder."""
    if isinstance(model, Answers):
        return model
    if not isinstance(model, str | Path):
        return None
    path = Path(model).expanduser()
    if path.suffix.lower() == ".parquet":
        return read_answers(path)
    return read_answers(path / FILE) if (path / FILE).is_file() else None


def _title(model: Compared) -> str:
    if isinstance(model, Answers):
        return model.respondent
    return model.identity if isinstance(model, Respondent) else str(model)


def _check_same(suites: Sequence[tuple[str, Suite]]) -> None:
    """Raise where two of them are not the same probes."""
    (named, first), *rest = suites
    for name, suite in rest:
        same = (suite.card.name, suite.card.version, suite.digest)
        if same != (first.card.name, first.card.version, first.digest):
            raise EvenhandError(
                f"{named} answers {first.reference}, but {name} answers {suite.reference}: "
                "only answers to the same probes are compared. "
                "Ask one of the models again with the other's suite, language, limit and seed"
            )


@contextmanager
def _naming(model: str) -> Iterator[None]:
    """A measure that cannot be computed says for which model."""
    try:
        yield
    except MeasureError as error:
        raise MeasureError(f"{model}: {error}") from error


def _both(
    measure: Measure, suite: Suite, pair: tuple[Contestant, Contestant], settings: Settings
) -> tuple[list[Answers], list[Estimate]]:
    """The answers and the estimates of two models on the probes that both answered."""
    is_common = pair[0].answers.is_answered & pair[1].answers.is_answered
    answers, estimates = [], []
    for mine, beside in zip(pair, reversed(pair), strict=True):
        whole = next((e for e in mine.estimates if e.measure == measure.name), None)
        if (mine.answers.is_answered == is_common).all():
            answers.append(mine.answers)
            estimates.append(whole or estimate(measure, suite, mine.answers, settings))
            continue
        # another number than that of all answers, and its signature says so
        rest = mine.answers.only(is_common, f"not answered by {beside.answers.respondent}")
        only = {**rest.traits, "only": f"answered by {beside.answers.respondent} too"}
        answers.append(dataclasses.replace(rest, traits=only))
        estimates.append(estimate(measure, suite, answers[-1], settings))
    return answers, estimates


def _note(names: Sequence[str], estimates: Sequence[Estimate], probes: int, clusters: int) -> str:
    """What must be known of a difference: why it is NaN, or rough."""
    if not probes:
        return "no probe was answered by both"
    empty = [
        f"{name}: {e.note}"
        for name, e in zip(names, estimates, strict=True)
        if not np.isfinite(e.value)
    ]
    if empty:
        return "; ".join(empty)
    if clusters < 2:
        return "one cluster only: there is neither interval nor p value"
    if clusters >= FEW:
        return ""
    least = f"{2.0 ** (1 - clusters):.2g}"
    return f"only {clusters} clusters: the interval is rough, and p cannot fall below {least}"


def differ(
    measure: Measure, suite: Suite, reference: Contestant, other: Contestant, settings: Settings
) -> Difference:
    """How far apart two models are by one measure."""
    answers, estimates = _both(measure, suite, (reference, other), settings)
    is_read = read_mask(measure, suite.probes)
    probes = [p for p, read in zip(suite.probes, is_read, strict=True) if read]
    evidence = [measure.evidence(probes, a.values[is_read]) for a in answers]
    totals = cluster_totals(np.hstack(evidence), [p.cluster for p in probes])
    width = evidence[0].shape[1]
    sums = totals[:, :width], totals[:, width:]
    # the generator of `estimate`: the resamples are those of the two values' own intervals
    rng = generator(settings.seed, measure.name)
    apart, distance = paired_intervals(*sums, measure.combine, measure.fair, rng, settings)
    p = float("nan")
    if len(totals) > 1:
        rng = generator(settings.seed, f"{measure.name}/swap")
        swapped = permuted_differences(*sums, measure.combine, rng, settings.permutations)
        p = permutation_p(apart.value, swapped)
    common = int((is_read & answers[0].is_answered & answers[1].is_answered).sum())
    return Difference(
        measure=measure.name,
        model=other.name,
        reference=estimates[0],
        other=estimates[1],
        difference=apart,
        distance=distance,
        p=p,
        adjusted=p,
        probes=common,
        clusters=len(totals),
        note=_note((reference.name, other.name), estimates, common, len(totals)),
    )


def _sign(comparison: Comparison, difference: Difference, other: Answers) -> str:
    """Everything that the difference depends on."""
    suite, first, settings = comparison.suite, comparison.reference.answers, comparison.settings
    names = {**first.traits, **other.traits}
    traits = {k: (first.traits.get(k, "none"), other.traits.get(k, "none")) for k in names}
    return str(
        Signature.of(
            measure=difference.measure,
            suite=suite.reference,
            lang=suite.card.language,
            reference=first.respondent,
            other=other.respondent,
            **{k: a if a == b else f"{a} vs {b}" for k, (a, b) in traits.items()},
            probes=f"{difference.probes} both",
            ci=f"{settings.method}{settings.level * 100:g}x{settings.resamples}/paired cluster",
            test=f"swap x{settings.permutations}/cluster",
            adjusted=f"bh/{comparison.tests}",
            seed=settings.seed,
            evenhand=__version__,
        )
    )


def _refusals(suite: Suite, contestant: Contestant) -> dict[str, str]:
    """The measures that a model's labels do not suffice for, and why."""
    answers = contestant.answers
    given = ", ".join(answers.labels)
    return {
        m.name: f"needs {', '.join(sorted(m.labels - {*answers.labels}))}; "
        f"{contestant.name} gives {given}"
        for m in fitting(suite, answers.options, answers.labels)[1]
    }


def compare_answers(
    suite: Suite,
    contestants: Sequence[Contestant],
    settings: Settings,
    measures: Sequence[str] | None = None,
) -> Comparison:
    """Every model against the first by every measure that both allow; p not adjusted yet."""
    first, *others = contestants
    usable = choose(suite, first.answers.options, first.answers.labels, measures)
    refused = _refusals(suite, first)
    differences: list[Difference] = []
    left_out: list[LeftOut] = []
    for other in others:
        own = choose(suite, other.answers.options, other.answers.labels, measures)
        refused_too = _refusals(suite, other)
        differences += [differ(m, suite, first, other, settings) for m in usable if m in own]
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
    """The same with p values adjusted over all of them together, and signed."""
    p_values = [d.p for c in comparisons for d in c.differences]
    adjusted = iter(benjamini_hochberg(p_values))
    tests = int(np.isfinite(p_values).sum())
    done = []
    for comparison in comparisons:
        counted = dataclasses.replace(comparison, tests=tests)
        answers = {c.name: c.answers for c in comparison.models}
        differences = tuple(
            dataclasses.replace(
                d, adjusted=float(next(adjusted)), signature=_sign(counted, d, answers[d.model])
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


def _contestants(
    suite: Suite, models: Sequence[Compared], options: ComparisonOptions, settings: Settings
) -> list[Contestant]:
    """Ask or read each model and score it on all that it answered."""
    contestants = []
    for model in models:
        with _naming(_title(model)):
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
        choose(suite, *answer_names(suite, respondent), options.measures)
        with options.watch(_title(model)) if options.watch else nullcontext() as progress:
            asking = Asking(cache=options.cache, progress=progress)
            answers = ask_suite(respondent, suite, asking)
            checks = ask_checks(respondent, suite, asking)
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
    """
    options, settings = options or ComparisonOptions(), settings or Settings()
    if len(models) < 2:
        names = ", ".join(map(_title, models)) or "none"
        raise EvenhandError(f"compare needs two or more models; there is {names}")
    kept = ((model, stored_answers(model)) for model in models)
    stored = [(_title(model), suite_of(answers)) for model, answers in kept if answers is not None]
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
    if stored:
        asked = ((f"--suite {s}", suite) for s, suite in zip(suites, loaded, strict=False))
        _check_same([*stored, *asked])
    return adjust(
        [
            compare_answers(
                suite, _contestants(suite, models, options, settings), settings, options.measures
            )
            for suite in loaded
        ]
    )
