"""Do the people of a study say the same, and what do they say together? Pearson between every two, Krippendorff's alpha, mean score and shares.

Fine scores are compared by Pearson's r, their signs (male, neutral, female) by nominal alpha: on measuring sentences, where there is no right answer and people
may differ, and on objective ones, where they should not. A sentence that somebody was not asked is missing and no category. Intervals: sentences drawn again, or
whole clusters of them (word pairs), which is right where people agree on some words and not on others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.engine.estimating import generator
from evenhand.stats.agreement import krippendorff_alpha
from evenhand.stats.bootstrap import FEW, check_settings, quantile_interval
from evenhand.stats.correlation import fisher_interval, pearson
from evenhand.stats.resampling import correlation_of, correlation_rows, resample_sums
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE

STRATA = (MEASURING, OBJECTIVE)
SIGNS = {"male": 1.0, "female": -1.0, "neutral": 0.0}
OTHERS = "the others"
PAIR, SENTENCE = "pair", "sentence"  # what is drawn again
Clusters = NDArray[np.str_]
MANY = 100  # pairs of people above which their intervals are Fisher's: twenty thousand bootstraps are too many
FEWEST = 3  # sentences that two people share, below which there is no correlation


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
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
    """What one of them, or all together, said of the measuring sentences: how many, the mean fine score, and the share of each sign."""

    name: str
    sentences: int
    mean: Interval
    shares: Mapping[str, float]  # male, female, neutral


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementReport:
    """Everything about how far the people of a study agree."""

    names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    others: tuple[
        Pair, ...
    ]  # each of them against the mean of all others, on measuring sentences: what one more person would give
    alphas: tuple[Alpha, ...]
    everybody: Leaning  # of the final score: the mean over those who answered
    leanings: tuple[Leaning, ...]
    unit: str  # what was drawn again: sentence, or the word pair of sentences
    is_drawn: bool  # were the intervals of the pairs drawn, or by Fisher's z?
    seed: int
    resamples: int
    level: float

    def alpha(self, stratum: str) -> Alpha:
        """The alpha of measuring (MS) or objective (OS) sentences."""
        return next(a for a in self.alphas if a.stratum == stratum)

    def pair(self, stratum: str, first: str, second: str) -> Pair:
        """What two of them have in common."""
        return next(
            p for p in self.pairs if p.stratum == stratum and {p.first, p.second} == {first, second}
        )


def final_scores(fine: Floats) -> Floats:
    """The mean over those who answered, sentence by sentence; NaN where nobody did."""
    counts = np.isfinite(fine).sum(axis=0)
    return np.asarray(np.where(counts > 0, np.nansum(fine, axis=0) / np.maximum(counts, 1), np.nan))


def alpha_rows(signs: Floats) -> Floats:
    """What nominal alpha is a function of, sentence by sentence: how many said each sign, and the pairs that differ, each over the others who answered."""
    counts = np.stack([(signs == s).sum(axis=0) for s in SIGNS.values()], axis=1).astype(np.float64)
    people = counts.sum(axis=1)
    is_shared = people > 1
    counts, people = counts[is_shared], people[is_shared]
    apart = (people**2 - (counts**2).sum(axis=1)) / (people - 1)
    return np.column_stack([counts, apart])


def alpha_of(sums: Floats) -> Floats:
    """Nominal alpha of sums of `alpha_rows` (..., 4): 1 - observed / expected disagreement; NaN where only one sign was given."""
    counts, apart = sums[..., :-1], sums[..., -1]
    total = counts.sum(axis=-1)
    expected = total**2 - (counts**2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(
            np.where(
                expected > 0, 1 - (total - 1) * apart / np.where(expected > 0, expected, 1), np.nan
            )
        )


def _few(unit: str, clusters: Clusters) -> str:
    count = len(set(clusters))
    return (
        f"only {count} {'word pair' if unit == PAIR else 'sentence'}s: the interval is rough"
        if count < FEW
        else ""
    )


def _alpha(
    signs: Floats,
    clusters: Clusters,
    stratum: str,
    unit: str,
    rng: np.random.Generator,
    resamples: int,
    level: float,
) -> Alpha:
    is_shared = np.isfinite(signs).sum(axis=0) > 1
    shared = int(is_shared.sum())
    if not signs.shape[1]:
        return Alpha(
            stratum=stratum,
            interval=Interval(np.nan, np.nan, np.nan),
            sentences=0,
            note=f"no sentences in {stratum}",
        )
    found = krippendorff_alpha(signs)
    if not np.isfinite(found.alpha):
        return Alpha(
            stratum=stratum,
            interval=Interval(np.nan, np.nan, np.nan),
            sentences=shared,
            note=found.note,
        )
    drawn = resample_sums(alpha_rows(signs), alpha_of, rng, resamples, clusters[is_shared])
    return Alpha(
        stratum=stratum,
        interval=quantile_interval(found.alpha, drawn, level),
        sentences=shared,
        note=_few(unit, clusters[is_shared]),
    )


def _pair(
    names: tuple[str, str],
    x: Floats,
    y: Floats,
    clusters: Clusters,
    stratum: str,
    rng: np.random.Generator,
    resamples: int,
    level: float,
    is_drawn: bool = True,
) -> Pair:
    is_shared = np.isfinite(x) & np.isfinite(y)
    x, y = x[is_shared], y[is_shared]
    settings = {"first": names[0], "second": names[1], "stratum": stratum, "sentences": len(x)}
    if len(x) < FEWEST:
        note = f"both answered {len(x)} of these sentences; a correlation needs {FEWEST}"
        return Pair(**settings, pearson=Interval(np.nan, np.nan, np.nan), p=float("nan"), note=note)  # type: ignore[arg-type]
    r = float(pearson(x, y))
    if not np.isfinite(r):
        note = "one of them always gave the same score"
        return Pair(**settings, pearson=Interval(r, np.nan, np.nan), p=float("nan"), note=note)  # type: ignore[arg-type]
    found = fisher_interval(r, len(x), "pearson", level=level)
    if is_drawn:
        found = quantile_interval(
            r,
            resample_sums(
                correlation_rows(x, y), correlation_of, rng, resamples, clusters[is_shared]
            ),
            level,
        )
    return Pair(**settings, pearson=found, p=float(stats.pearsonr(x, y).pvalue))  # type: ignore[arg-type]


def lean(
    name: str,
    scores: Floats,
    clusters: Clusters,
    rng: np.random.Generator,
    *,
    resamples: int,
    level: float,
) -> Leaning:
    """Mean and shares of one row of scores; NaN where there are none."""
    is_known = np.isfinite(scores)
    known = scores[is_known]
    if not len(known):
        return Leaning(
            name=name,
            sentences=0,
            mean=Interval(np.nan, np.nan, np.nan),
            shares=dict.fromkeys(SIGNS, float("nan")),
        )
    rows = np.column_stack([known, np.ones(len(known))])
    drawn = resample_sums(
        rows,
        lambda sums: np.asarray(sums[..., 0] / sums[..., 1]),
        rng,
        resamples,
        clusters[is_known],
    )
    shares = {side: float((np.sign(known) == sign).mean()) for side, sign in SIGNS.items()}
    return Leaning(
        name=name,
        sentences=len(known),
        mean=quantile_interval(float(known.mean()), drawn, level),
        shares=shares,
    )


def agree(
    fine: Floats,
    strata: Sequence[str],
    names: Sequence[str],
    *,
    clusters: Sequence[str] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
) -> AgreementReport:
    """How far do annotators (rows) agree on sentences (columns)? `strata`: MS or OS of each sentence; NaN where somebody was not asked.

    clusters: the word pair of each sentence, which is then drawn again as a whole; without them every sentence is.
    """
    check_settings(level, "percentile")
    fine = np.asarray(fine, dtype=np.float64)
    if fine.ndim != 2 or fine.shape != (len(names), len(strata)):
        raise MeasureError(
            f"scores of shape {fine.shape}, {len(names)} annotators and {len(strata)} sentences; give one row an annotator"
        )
    if len(set(names)) != len(names):
        raise MeasureError(
            f"two annotators have one name: {', '.join(sorted(n for n in set(names) if list(names).count(n) > 1))}"
        )
    if clusters is not None and len(clusters) != len(strata):
        raise MeasureError(
            f"{len(clusters)} clusters for {len(strata)} sentences; give each sentence its own"
        )
    unit = SENTENCE if clusters is None else PAIR
    held = np.asarray(
        [str(i) for i in range(len(strata))] if clusters is None else list(clusters), dtype=np.str_
    )
    places = {s: np.asarray([told == s for told in strata], dtype=bool) for s in STRATA}
    parts = {s: (fine[:, place], held[place]) for s, place in places.items()}
    settings = {"resamples": resamples, "level": level}
    measuring, groups = parts[MEASURING]
    two = list(combinations(range(len(names)), 2))
    is_drawn = len(two) <= MANY
    return AgreementReport(
        names=tuple(names),
        pairs=tuple(
            _pair(
                (names[a], names[b]),
                part[a],
                part[b],
                own,
                s,
                generator(seed, f"{s}/{names[a]}/{names[b]}"),
                resamples,
                level,
                is_drawn,
            )
            for s, (part, own) in parts.items()
            for a, b in two
        ),
        others=tuple(
            _pair(
                (n, OTHERS),
                measuring[a],
                final_scores(np.delete(measuring, a, axis=0)),
                groups,
                MEASURING,
                generator(seed, f"others/{n}"),
                resamples,
                level,
            )
            for a, n in enumerate(names)
            if len(names) > 1
        ),
        alphas=tuple(
            _alpha(np.sign(part), own, s, unit, generator(seed, f"alpha/{s}"), resamples, level)
            for s, (part, own) in parts.items()
        ),
        everybody=lean(
            "everybody",
            final_scores(measuring),
            groups,
            generator(seed, "lean"),
            resamples=resamples,
            level=level,
        ),
        leanings=tuple(
            lean(n, row, groups, generator(seed, f"lean/{n}"), **settings)
            for n, row in zip(names, measuring, strict=True)
        ),  # type: ignore[arg-type]
        unit=unit,
        is_drawn=is_drawn,
        seed=seed,
        resamples=resamples,
        level=level,
    )
