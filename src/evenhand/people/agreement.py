"""Agreement: how far people agree with one another, and what they say together.

Fine scores are compared by Pearson's r, their signs (male, neutral, female) by nominal alpha: on
measuring sentences, where there is no right answer and people may differ, and on objective ones,
where they should not. A sentence that somebody was not asked is missing, not a category. For
intervals sentences are resampled, or whole clusters of them (word pairs), which is right where
people agree on some words and not on others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.core.errors import MeasureError
from evenhand.core.estimate import FEW_LEVELS, NO_INTERVAL, Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE
from evenhand.stats.agreement import krippendorff_alpha
from evenhand.stats.bootstrap import generator, quantile_interval
from evenhand.stats.correlation import fisher_interval, pearson
from evenhand.stats.resampling import correlation_of, correlation_rows, resample_sums

STRATA = (MEASURING, OBJECTIVE)
SIGNS = {"male": 1.0, "female": -1.0, "neutral": 0.0}
OTHERS = "the others"
PAIR, SENTENCE = "pair", "sentence"  # what is resampled
Clusters = NDArray[np.str_]
MANY = 100  # with more pairs of people their intervals are Fisher's: bootstraps would take hours
FEWEST = 3  # sentences that two people share, below which there is no correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class PeoplePair:
    """Two people on the sentences of one stratum that both answered."""

    first: str
    second: str
    stratum: str
    pearson: Interval
    p: float
    sentences: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Alpha:
    """Krippendorff's alpha of one stratum, over the sentences that two or more people judged."""

    stratum: str
    interval: Interval
    sentences: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaning:
    """What one person, or all together, said of the measuring sentences."""

    name: str
    sentences: int
    mean: Interval  # of the fine score
    shares: Mapping[str, float]  # of each sign: male, female, neutral


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """Everything about how far the people of a study agree."""

    names: tuple[str, ...]
    pairs: tuple[PeoplePair, ...]
    # each against the mean of all others, on measuring sentences: what one more person would give
    others: tuple[PeoplePair, ...]
    alphas: tuple[Alpha, ...]
    everybody: Leaning  # of the final score: the mean over those who answered
    leanings: tuple[Leaning, ...]
    unit: str  # what was resampled: sentences, or word pairs with all their sentences
    is_drawn: bool  # whether the intervals of the pairs are bootstrapped; else they are Fisher's
    settings: Settings

    def alpha(self, stratum: str) -> Alpha:
        """The alpha of measuring (MS) or objective (OS) sentences."""
        return next(a for a in self.alphas if a.stratum == stratum)

    def pair(self, stratum: str, first: str, second: str) -> PeoplePair:
        """How far two people agree on one stratum."""
        return next(
            p for p in self.pairs if p.stratum == stratum and {p.first, p.second} == {first, second}
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """The scores of one stratum."""

    stratum: str
    fine: Floats  # (annotators, sentences)
    clusters: Clusters


def final_scores(fine: Floats) -> Floats:
    """The mean over those who answered, sentence by sentence; NaN where nobody did."""
    counts = np.isfinite(fine).sum(axis=0)
    return np.asarray(np.where(counts > 0, np.nansum(fine, axis=0) / np.maximum(counts, 1), np.nan))


def alpha_rows(signs: Floats) -> Floats:
    """The numbers, sentence by sentence, from whose sums nominal alpha is computed.

    How many people gave each sign, and the disagreeing pairs of people per other person.
    """
    counts = np.stack([(signs == s).sum(axis=0) for s in SIGNS.values()], axis=1).astype(np.float64)
    people = counts.sum(axis=1)
    is_shared = people > 1
    counts, people = counts[is_shared], people[is_shared]
    apart = (people**2 - (counts**2).sum(axis=1)) / (people - 1)
    return np.column_stack([counts, apart])


def alpha_of(sums: Floats) -> Floats:
    """Nominal alpha of sums of `alpha_rows` (..., 4): 1 - observed / expected disagreement.

    NaN where only one sign was given.
    """
    counts, apart = sums[..., :-1], sums[..., -1]
    total = counts.sum(axis=-1)
    expected = total**2 - (counts**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        alpha = 1 - (total - 1) * apart / np.where(expected > 0, expected, 1)
        return np.asarray(np.where(expected > 0, alpha, np.nan))


def _few(unit: str, clusters: Clusters) -> str:
    count = len(set(clusters))
    noun = "word pair" if unit == PAIR else "sentence"
    return f"only {count} {noun}s: the interval is rough" if count < FEW_LEVELS else ""


def _alpha(part: _Part, unit: str, settings: Settings) -> Alpha:
    signs, stratum = np.sign(part.fine), part.stratum
    if not signs.shape[1]:
        note = f"no sentences in {stratum}"
        return Alpha(stratum=stratum, interval=NO_INTERVAL, sentences=0, note=note)
    is_shared = np.isfinite(signs).sum(axis=0) > 1
    shared = int(is_shared.sum())
    alpha, note = krippendorff_alpha(signs)
    if not np.isfinite(alpha):
        return Alpha(stratum=stratum, interval=NO_INTERVAL, sentences=shared, note=note)
    rng, clusters = generator(settings.seed, f"alpha/{stratum}"), part.clusters[is_shared]
    drawn = resample_sums(alpha_rows(signs), alpha_of, rng, settings.resamples, clusters)
    return Alpha(
        stratum=stratum,
        interval=quantile_interval(alpha, drawn, settings.level),
        sentences=shared,
        note=_few(unit, clusters),
    )


def _pair(
    names: tuple[str, str],
    scores: tuple[Floats, Floats],
    part: _Part,
    rng: np.random.Generator | None,
    settings: Settings,
) -> PeoplePair:
    """Pearson's r of two rows of scores; without `rng` its interval is Fisher's."""
    is_shared = np.isfinite(scores[0]) & np.isfinite(scores[1])
    x, y = scores[0][is_shared], scores[1][is_shared]

    def pair(interval: Interval, p: float = float("nan"), note: str = "") -> PeoplePair:
        return PeoplePair(
            first=names[0],
            second=names[1],
            stratum=part.stratum,
            pearson=interval,
            p=p,
            sentences=len(x),
            note=note,
        )

    if len(x) < FEWEST:
        note = f"both answered {len(x)} of these sentences; a correlation needs {FEWEST}"
        return pair(NO_INTERVAL, note=note)
    r = float(pearson(x, y))
    if not np.isfinite(r):
        return pair(NO_INTERVAL, note="one of them always gave the same score")
    interval = fisher_interval(r, len(x), "pearson", level=settings.level)
    if rng is not None:
        drawn = resample_sums(
            correlation_rows(x, y),
            correlation_of,
            rng,
            settings.resamples,
            part.clusters[is_shared],
        )
        interval = quantile_interval(r, drawn, settings.level)
    return pair(interval, float(stats.pearsonr(x, y).pvalue))


def lean(
    name: str, scores: Floats, clusters: Clusters, rng: np.random.Generator, settings: Settings
) -> Leaning:
    """Mean and shares of one row of scores; NaN where there are none."""
    is_known = np.isfinite(scores)
    known = scores[is_known]
    if not len(known):
        shares = dict.fromkeys(SIGNS, float("nan"))
        return Leaning(name=name, sentences=0, mean=NO_INTERVAL, shares=shares)
    rows = np.column_stack([known, np.ones(len(known))])
    drawn = resample_sums(
        rows,
        lambda sums: np.asarray(sums[..., 0] / sums[..., 1]),
        rng,
        settings.resamples,
        clusters[is_known],
    )
    return Leaning(
        name=name,
        sentences=len(known),
        mean=quantile_interval(float(known.mean()), drawn, settings.level),
        shares={side: float((np.sign(known) == sign).mean()) for side, sign in SIGNS.items()},
    )


def _check(
    fine: Floats, strata: Sequence[str], names: Sequence[str], clusters: Sequence[str] | None
) -> None:
    if fine.ndim != 2 or fine.shape != (len(names), len(strata)):
        raise MeasureError(
            f"scores of shape {fine.shape}, {len(names)} annotators and {len(strata)} sentences; "
            "give one row an annotator"
        )
    if len(set(names)) != len(names):
        twice = ", ".join(sorted(n for n in set(names) if list(names).count(n) > 1))
        raise MeasureError(f"two annotators have one name: {twice}")
    if clusters is not None and len(clusters) != len(strata):
        raise MeasureError(
            f"{len(clusters)} clusters for {len(strata)} sentences; give each sentence its own"
        )


def agree(
    fine: Floats,
    strata: Sequence[str],
    names: Sequence[str],
    *,
    clusters: Sequence[str] | None = None,
    settings: Settings | None = None,
) -> AgreementReport:
    """How far annotators (rows) agree on sentences (columns); NaN where somebody was not asked.

    strata: MS or OS of each sentence; clusters: the word pair of each sentence, which is then
    resampled as a whole (without them single sentences are). Raises MeasureError where shapes do
    not fit.
    """
    settings = settings or Settings()
    seed = settings.seed
    fine = np.asarray(fine, dtype=np.float64)
    _check(fine, strata, names, clusters)
    unit = SENTENCE if clusters is None else PAIR
    ids = list(map(str, range(len(strata)))) if clusters is None else list(clusters)
    cluster_of = np.asarray(ids, dtype=np.str_)
    parts = []
    for stratum in STRATA:
        is_in = np.asarray([s == stratum for s in strata], dtype=bool)
        parts.append(_Part(stratum=stratum, fine=fine[:, is_in], clusters=cluster_of[is_in]))
    measuring = parts[STRATA.index(MEASURING)]
    couples = list(combinations(range(len(names)), 2))
    is_drawn = len(couples) <= MANY
    pairs = [
        _pair(
            (names[a], names[b]),
            (part.fine[a], part.fine[b]),
            part,
            generator(seed, f"{part.stratum}/{names[a]}/{names[b]}") if is_drawn else None,
            settings,
        )
        for part in parts
        for a, b in couples
    ]
    others = [
        _pair(
            (name, OTHERS),
            (measuring.fine[a], final_scores(np.delete(measuring.fine, a, axis=0))),
            measuring,
            generator(seed, f"others/{name}"),
            settings,
        )
        for a, name in enumerate(names)
        if len(names) > 1
    ]
    everybody = final_scores(measuring.fine)
    return AgreementReport(
        names=tuple(names),
        pairs=tuple(pairs),
        others=tuple(others),
        alphas=tuple(_alpha(part, unit, settings) for part in parts),
        everybody=lean(
            "everybody", everybody, measuring.clusters, generator(seed, "lean"), settings
        ),
        leanings=tuple(
            lean(name, row, measuring.clusters, generator(seed, f"lean/{name}"), settings)
            for name, row in zip(names, measuring.fine, strict=True)
        ),
        unit=unit,
        is_drawn=is_drawn,
        settings=settings,
    )
