"""Do people and a model lean the same way in the same sentences? The people's mean fine score beside the model's PB, sentence by sentence.

Both are above 0 where a man is expected. They have no common unit, so what is compared is order and direction: Pearson and Spearman over measuring
sentences that both answered. Sentences with one word pair (he/she) are no independent looks: clusters are drawn again for the intervals and for p; beside that p
stands the one of a test that takes every sentence for itself, as Zhu et al. 2024 print it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from evenhand import __version__
from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Estimate, Interval
from evenhand.core.probe import GENDERS, Floats, Probe
from evenhand.core.signature import Signature
from evenhand.core.suite import Suite
from evenhand.engine.estimating import estimate, generator
from evenhand.people.sentence_lists import Lists, Thresholds, list_sentences
from evenhand.measures.log_odds import MEASURING, OBJECTIVE, log_odds
from evenhand.stats.bootstrap import FEW, quantile_interval
from evenhand.stats.corrections import benjamini_hochberg
from evenhand.stats.correlation import pearson, spearman
from evenhand.stats.resampling import resample_correlations, sided_p
from evenhand.families.contextualised.published import EVERYBODY, PEOPLE

PREFIX = "people:"  # of who answered in a study: people:STUDY together, people:STUDY/annotator-1 ... each
PUBLISHED = tuple(f"stored:{name}" for name in (*PEOPLE, EVERYBODY))
UNITS = ("pair", "sentence")
MOST = 2.0  # the farthest score that people can give
ACCURACY = "objective_accuracy"


@dataclass(frozen=True, kw_only=True)
class People:
    """What people said: one row an annotator, NaN where not asked; the final score is the mean over those who answered."""

    name: str
    suite: Suite
    annotators: tuple[str, ...]
    fine: Floats  # (annotators, sentences); no rows where only the final score is known
    score: Floats  # (sentences,)

    @property
    def strata(self) -> tuple[str, ...]:
        """MS or OS of each sentence; in a suite without strata a sentence with a right answer is objective."""
        return tuple(
            p.stratum or (OBJECTIVE if p.tags.get("gold") else MEASURING) for p in self.suite.probes
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """A coefficient with its interval over clusters, and p: by clusters, adjusted for all that were looked at, and with every sentence for itself."""

    interval: Interval
    p: float
    adjusted: float
    p_sentences: float
    signature: str = ""


@dataclass(frozen=True, kw_only=True)
class Beside:
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
    same_side: float  # share of the sentences where neither is 0 in which both lean the same way
    accuracy: Estimate  # of the model on objective sentences
    lists: Lists
    note: str = ""

    @property
    def coverage(self) -> float:
        """Which share of what people answered did the model answer too?"""
        return len(self.people) / self.asked if self.asked else float("nan")


def is_of_people(answers: Answers) -> bool:
    """Are the numbers scores that people gave, in a study or in the published file, and no logarithms of ratios?"""
    return answers.respondent in PUBLISHED or answers.respondent.startswith(PREFIX)


def values_of(scores: Floats) -> Floats:
    """Scores as the values of Answers: only the difference of the two columns has a meaning."""
    return np.column_stack([scores, np.where(np.isfinite(scores), 0.0, np.nan)])


def people_answers(people: People, scores: Floats, name: str) -> Answers:
    """A row of scores in the form of a model's answers."""
    return Answers(
        respondent=name,
        suite=people.suite.reference,
        labels=GENDERS,
        probes=people.suite.probes,
        values=values_of(scores),
        scale="fine score",
        traits={"scoring": "people"},
    )


def check_scores(source: str, scores: Floats) -> None:
    """An error where these can be no scores of people."""
    known = np.abs(scores[np.isfinite(scores)])
    if (most := float(known.max(initial=0.0))) > MOST:
        raise InputError(
            source,
            f"people's scores lie between -{MOST:g} and {MOST:g}, but one is {most:.3g}. Is it a model? Give the people first",
        )


def align(suite: Suite, answers: Answers) -> Floats:
    """PB of the answers for the sentences of a suite, in its order; NaN where they have no such sentence."""
    rows = {p.id: row for row, p in enumerate(answers.probes)}
    odds, found = log_odds(answers.values), np.full(len(suite.probes), np.nan)
    for place, probe in enumerate(suite.probes):
        row = rows.get(probe.id)
        if row is None:
            continue
        if answers.probes[row].texts != probe.texts:
            theirs = " / ".join(answers.probes[row].texts)
            raise EvenhandError(
                f"sentence {probe.id} is '{' / '.join(probe.texts)}' for the people but '{theirs}' for {answers.respondent}: only answers to the same sentences are "
                "compared. Ask the model again with the suite of the study"
            )
        found[place] = odds[row]
    if not rows.keys() & {p.id for p in suite.probes}:
        raise EvenhandError(
            f"{answers.respondent} answers {answers.suite}, which shares no sentence with {suite.reference}. Ask the model with the suite of the study"
        )
    return found


def _correlations(
    x: Floats,
    y: Floats,
    clusters: Sequence[str],
    signature: Mapping[str, object],
    *,
    seed: int,
    resamples: int,
    level: float,
) -> tuple[dict[str, Correlation], int]:
    rng = generator(seed, f"people~{signature['model']}")
    *drawn, count = resample_correlations(x, y, clusters, rng, resamples)
    found = {}
    for name, of, told, test in zip(
        ("pearson", "spearman"),
        (pearson, spearman),
        drawn,
        (stats.pearsonr, stats.spearmanr),
        strict=True,
    ):
        value = float(of(x, y)) if len(x) >= 3 else float("nan")
        p = float(test(x, y).pvalue) if np.isfinite(value) else float("nan")
        by_cluster = sided_p(told)
        found[name] = Correlation(
            interval=quantile_interval(value, told, level),
            p=by_cluster,
            adjusted=by_cluster,
            p_sentences=p,
            signature=str(Signature.of(measure=f"{name}_people", **signature)),
        )
    return found, count


def _why(x: Floats, y: Floats, clusters: int, unit: str) -> str:
    """Why is the correlation NaN, or rough?"""
    if len(x) < 3:
        return f"{len(x)} measuring sentences were answered by both; a correlation needs 3"
    for who, values in (("the people", x), ("the model", y)):
        if float(np.ptp(values)) == 0:
            return f"{who} gave every sentence the same score"
    noun = "word pairs" if unit == "pair" else "sentences"
    if clusters < 2:
        return f"only one of the {noun} was answered by both: there is no interval and no p"
    return f"only {clusters} {noun}: the interval is rough" if clusters < FEW else ""


def set_beside(
    people: People,
    name: str,
    answers: Answers,
    *,
    unit: str = "pair",
    thresholds: Thresholds | None = None,
    count: int = 10,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> Beside:
    """One model beside the people. unit: what is drawn again, the word `pair` of a sentence (its cluster) or the `sentence`; count: sentences of each list."""
    if unit not in UNITS:
        raise EvenhandError(f"unit is '{unit}'; draw again by {' or '.join(UNITS)}")
    odds = align(people.suite, answers)
    measuring = np.asarray([s == MEASURING for s in people.strata], dtype=bool)
    is_asked = measuring & np.isfinite(people.score)
    rows = np.flatnonzero(is_asked & np.isfinite(odds))
    probes = tuple(people.suite.probes[r] for r in rows)
    x, y = people.score[rows], odds[rows]
    names = [p.cluster if unit == "pair" else p.id for p in probes]
    traits = {k: v for k, v in answers.traits.items() if k != "only"}
    signature = {
        "suite": people.suite.reference,
        "lang": people.suite.card.language,
        "people": people.name,
        "annotators": len(people.annotators) or None,
        "model": answers.respondent,
        **traits,
        "sentences": f"{len(x)} both",
        "ci": f"percentile{level * 100:g}x{resamples}/{unit}",
        "seed": seed,
        "evenhand": __version__,
    }
    found, clusters = _correlations(
        x, y, names, signature, seed=seed, resamples=resamples, level=level
    )
    is_leaning = (x != 0) & (y != 0)
    whole = dataclasses.replace(
        answers,
        probes=people.suite.probes,
        values=values_of(odds),
        suite=people.suite.reference,
        labels=GENDERS,
    )
    return Beside(
        name=name,
        answers=answers,
        people=x,
        odds=y,
        probes=probes,
        asked=int(is_asked.sum()),
        clusters=clusters,
        **found,
        same_side=float((np.sign(x) == np.sign(y))[is_leaning].mean())
        if is_leaning.any()
        else float("nan"),
        accuracy=accuracy_of(people, whole, seed=seed, resamples=resamples, level=level),
        lists=list_sentences(probes, x, y, thresholds or Thresholds(), count),
        note=_why(x, y, clusters, unit),
    )


def accuracy_of(
    people: People, answers: Answers, *, seed: int, resamples: int, level: float
) -> Estimate:
    """How many objective sentences are right, of those that people were asked?"""
    is_asked = np.isfinite(people.score) & np.asarray(
        [s == OBJECTIVE for s in people.strata], dtype=bool
    )
    values = np.where(is_asked[:, None], answers.values, np.nan)
    kept = [row for row in range(len(is_asked)) if is_asked[row]]
    asked = dataclasses.replace(
        answers, probes=tuple(answers.probes[r] for r in kept), values=values[kept]
    )
    return estimate(
        catalog.measure(ACCURACY), people.suite, asked, seed=seed, resamples=resamples, level=level
    )


def adjust_for_all(found: Sequence[Beside]) -> tuple[Beside, ...]:
    """The same with p values adjusted over both coefficients of all models together (Benjamini-Hochberg)."""
    adjusted = iter(benjamini_hochberg([c.p for b in found for c in (b.pearson, b.spearman)]))
    return tuple(
        dataclasses.replace(
            b,
            pearson=dataclasses.replace(b.pearson, adjusted=float(next(adjusted))),
            spearman=dataclasses.replace(b.spearman, adjusted=float(next(adjusted))),
        )
        for b in found
    )
