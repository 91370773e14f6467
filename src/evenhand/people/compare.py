"""People beside models: whether they lean the same way in the same sentences.

The people's mean fine score stands beside the model's PB, sentence by sentence; both are above 0
where a man is expected. They have no common unit, so what is compared is order and direction:
Pearson and Spearman over measuring sentences that both answered. Sentences with the same word
pair (he/she) are not independent, so clusters are resampled for the intervals and for p; beside it
stands the p of a test that treats sentences as independent, as Zhu et al. 2024 print it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from scipy import stats

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answer_files import FILE
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.estimate import FEW_LEVELS, Estimate, Interval
from evenhand.core.probe import Bools, Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.core.settings import Settings
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.compare import Compared, Watch, short_names, stored_answers
from evenhand.engine.estimate import estimate
from evenhand.engine.opened import open_model
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.families.contextualised.measures import log_odds
from evenhand.people.agreement import PAIR, SENTENCE, AgreementReport, agree
from evenhand.people.density import Density, find_density
from evenhand.people.scores import STORED, PeopleScores, aligned, to_answers
from evenhand.people.sentence_lists import SentenceLists, Thresholds, list_sentences
from evenhand.people.sources import Source, answered_only, of_language, read_people
from evenhand.stats.bootstrap import generator, quantile_interval
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.correlation import pearson, spearman
from evenhand.stats.resampling import resample_correlations, two_sided_p

UNITS = (PAIR, SENTENCE)
ACCURACY = "objective_accuracy"


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleOptions:
    """Which sentences are compared, how they are resampled and listed, and how models are asked."""

    lang: str | None = None  # None: all languages that people answered in
    data: Path | None = None  # the folder of published data
    unit: str = PAIR  # what is resampled: word pairs (the clusters of sentences) or sentences
    thresholds: Thresholds = field(default_factory=Thresholds)
    count: int = 10  # sentences of each list
    opening: RespondentOptions = field(default_factory=RespondentOptions)
    cache: bool | Path = True
    watch: Watch | None = None

    def __post_init__(self) -> None:
        if self.unit not in UNITS:
            raise EvenhandError(f"unit is '{self.unit}'; draw again by {' or '.join(UNITS)}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A coefficient with its interval over clusters, and three p values."""

    interval: Interval
    p: float  # by clusters
    adjusted: float  # for all comparisons together
    p_sentences: float  # with sentences treated as independent
    signature: str = ""


@dataclass(frozen=True, kw_only=True)
class ComparedModel:
    """One model beside the people, on the measuring sentences that both answered."""

    name: str
    answers: Answers
    people: Floats  # scores and PB of the sentences that both answered
    odds: Floats
    probes: tuple[Probe, ...]
    asked: int  # measuring sentences that people answered
    clusters: int
    pearson: Correlation
    spearman: Correlation
    same_side: float  # share, of sentences with neither at 0, in which both lean the same way
    accuracy: Estimate  # of the model on objective sentences
    lists: SentenceLists
    note: str = ""

    @property
    def coverage(self) -> float:
        """The share of the people's sentences that the model answered too."""
        return len(self.people) / self.asked if self.asked else float("nan")


@dataclass(frozen=True, kw_only=True)
class PeopleComparison:
    """People and models on the same sentences."""

    people: PeopleScores  # of the sentences that somebody answered
    agreement: AgreementReport | None  # None where only the final score is known
    accuracies: tuple[Estimate, ...]  # on objective sentences: of all together, then of each
    models: tuple[ComparedModel, ...]
    density: Density | None  # None where no sentence was answered by both
    unit: str  # what was resampled: pair or sentence
    thresholds: Thresholds
    settings: Settings

    def is_shown(self, model: ComparedModel) -> bool:
        """Whether a model's correlation is shown after the correction for all comparisons."""
        adjusted = model.pearson.adjusted
        return bool(np.isfinite(adjusted)) and adjusted <= 1 - self.settings.level


def _correlations(
    x: Floats,
    y: Floats,
    clusters: Sequence[str],
    signature: Mapping[str, object],
    settings: Settings,
) -> tuple[dict[str, Correlation], int]:
    """Pearson and Spearman by name, and the number of clusters."""
    rng = generator(settings.seed, f"people~{signature['model']}")
    *drawn, count = resample_correlations(x, y, clusters, rng, settings.resamples)
    functions = ((pearson, stats.pearsonr), (spearman, stats.spearmanr))
    correlations = {}
    for (coefficient, test), values in zip(functions, drawn, strict=True):
        value = float(coefficient(x, y)) if len(x) >= 3 else float("nan")
        p = two_sided_p(values)
        name = coefficient.__name__
        correlations[name] = Correlation(
            interval=quantile_interval(value, values, settings.level),
            p=p,
            adjusted=p,
            p_sentences=float(test(x, y).pvalue) if np.isfinite(value) else float("nan"),
            signature=str(Signature.of(measure=f"{name}_people", **signature)),
        )
    return correlations, count


def _note(x: Floats, y: Floats, clusters: int, unit: str) -> str:
    """Why a correlation is NaN, or rough."""
    if len(x) < 3:
        return f"{len(x)} measuring sentences were answered by both; a correlation needs 3"
    for who, values in (("the people", x), ("the model", y)):
        if float(np.ptp(values)) == 0:
            return f"{who} gave every sentence the same score"
    noun = "word pairs" if unit == PAIR else "sentences"
    if clusters < 2:
        return f"only one of the {noun} was answered by both: there is no interval and no p"
    return f"only {clusters} {noun}: the interval is rough" if clusters < FEW_LEVELS else ""


def _answered(people: PeopleScores, stratum: str) -> Bools:
    """Which sentences are of this stratum and were answered by people."""
    is_in = np.asarray([s == stratum for s in people.strata], dtype=bool)
    return np.asarray(is_in & np.isfinite(people.final))


def accuracy_of(
    people: PeopleScores, suite: Suite, answers: Answers, settings: Settings
) -> Estimate:
    """The share of objective sentences that answers get right, of those that people answered.

    answers: to the sentences of `people`, in their order; suite: what the signature names.
    """
    rows = np.flatnonzero(_answered(people, OBJECTIVE))
    settings = dataclasses.replace(settings, method="bca")
    return estimate(catalog.measure(ACCURACY), suite, answers.select(rows), settings)


def compare_model(
    people: PeopleScores, name: str, answers: Answers, options: PeopleOptions, settings: Settings
) -> ComparedModel:
    """One model beside the people; its p values are not adjusted yet."""
    whole = aligned(answers, people.suite)
    odds = log_odds(whole.values)
    is_asked = _answered(people, MEASURING)
    rows = np.flatnonzero(is_asked & np.isfinite(odds))
    probes = tuple(people.suite.probes[r] for r in rows)
    x, y = people.final[rows], odds[rows]
    signature = {
        "suite": people.suite.reference,
        "lang": people.suite.card.language,
        "people": people.identity,
        "annotators": len(people.annotators) or None,
        "model": answers.respondent,
        **{k: v for k, v in answers.traits.items() if k != "only"},
        "sentences": f"{len(x)} both",
        "ci": f"percentile{settings.level * 100:g}x{settings.resamples}/{options.unit}",
        "seed": settings.seed,
        "evenhand": __version__,
    }
    names = [p.cluster if options.unit == PAIR else p.id for p in probes]
    correlations, clusters = _correlations(x, y, names, signature, settings)
    is_leaning = (x != 0) & (y != 0)
    is_same = (np.sign(x) == np.sign(y))[is_leaning]
    return ComparedModel(
        name=name,
        answers=answers,
        people=x,
        odds=y,
        probes=probes,
        asked=int(is_asked.sum()),
        clusters=clusters,
        pearson=correlations["pearson"],
        spearman=correlations["spearman"],
        same_side=float(is_same.mean()) if len(is_same) else float("nan"),
        accuracy=accuracy_of(people, people.suite, whole, settings),
        lists=list_sentences(probes, x, y, options.thresholds, options.count),
        note=_note(x, y, clusters, options.unit),
    )


def _adjusted(models: Sequence[ComparedModel]) -> tuple[ComparedModel, ...]:
    """The same with p values adjusted over both coefficients of all models (Benjamini-Hochberg)."""
    p_values = [c.p for m in models for c in (m.pearson, m.spearman)]
    adjusted = iter(benjamini_hochberg(p_values))
    return tuple(
        dataclasses.replace(
            m,
            pearson=dataclasses.replace(m.pearson, adjusted=float(next(adjusted))),
            spearman=dataclasses.replace(m.spearman, adjusted=float(next(adjusted))),
        )
        for m in models
    )


def _model_answers(
    model: Compared, suite: Suite, options: PeopleOptions, settings: Settings
) -> Answers:
    """What a model answered: a run is read, anything else is asked now."""
    if (stored := stored_answers(model)) is not None:
        return stored
    assert not isinstance(model, Answers)
    if isinstance(model, str | Path):
        path = Path(model).expanduser()
        if path.is_dir() and (path / "results.json").is_file():
            raise LoadError(
                f"{path} has no {FILE}; ask the model again with `evenhand audit ... --out {path}`"
            )
        model = str(model)
    opening = dataclasses.replace(options.opening, seed=settings.seed)
    respondent = open_model(model, suite, opening)
    with options.watch(respondent.identity) if options.watch else nullcontext() as progress:
        return ask_suite(respondent, suite, Asking(cache=options.cache, progress=progress))


def compare_people(
    people: Source,
    models: Sequence[Compared],
    options: PeopleOptions | None = None,
    settings: Settings | None = None,
) -> PeopleComparison:
    """People beside models: correlations, lists of sentences, agreement, accuracy.

    people: `cgb`, a study file, its exported answers, or their scores; models: as in `audit`, runs,
    or `stored:BERT` with cgb. options: data and language. settings: how intervals are computed.
    Only sentences that people answered are asked. Raises EvenhandError
    where there is nobody, no model, or no sentence in common.
    """
    options, settings = options or PeopleOptions(), settings or Settings()
    if not models:
        raise EvenhandError(
            "compare_people needs one model or more beside the people; "
            "give a model as in `audit`, a run, or stored:BERT with cgb"
        )
    whole = of_language(read_people(people, options.data), options.lang)
    asked = answered_only(whole)
    answers = [_model_answers(m, asked.suite, options, settings) for m in models]
    names = short_names([a.respondent.removeprefix(STORED) for a in answers])
    compared = [
        compare_model(asked, name, a, options, settings)
        for name, a in zip(names, answers, strict=True)
    ]
    agreement = None
    if asked.annotators:
        clusters = asked.clusters if options.unit == PAIR else None
        agreement = agree(
            asked.fine, asked.strata, asked.names, clusters=clusters, settings=settings
        )
    series = [(m.name, m.people, m.odds) for m in compared if len(m.people)]
    return PeopleComparison(
        people=asked,
        agreement=agreement,
        # signed with the people's own suite, as in `measure`, and not with what was asked of models
        accuracies=tuple(accuracy_of(asked, whole.suite, a, settings) for a in to_answers(asked)),
        models=_adjusted(compared),
        density=find_density(series) if series else None,
        unit=options.unit,
        thresholds=options.thresholds,
        settings=settings,
    )
