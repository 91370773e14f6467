"""Where a model places gendered words, professions and emotions: numbers, and a plane to look at.

A linear SVM (scikit-learn) learns to tell sentences with male words from sentences with female
words. It is scored on words that neither the fit nor the scaling has seen: the words of a pair, and
of all pairs that share a word, are left out together. Professions and emotions are placed by the
boundary of all gendered words. t-SNE is for the eye only; its plane has a boundary of its own,
drawn only where it tells unseen words apart better than chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import MeasureError
from evenhand.core.estimate import Interval
from evenhand.core.probe import Floats
from evenhand.core.settings import Settings
from evenhand.picture.boundary import distance, draw_line, fit, is_right, leave_out
from evenhand.picture.scene import Scene, Sense
from evenhand.stats.bootstrap import cluster_totals
from evenhand.stats.correlation import correlate
from evenhand.stats.intervals import EVERYWHERE, SHARE, Range, interval

NEIGHBOURS = 5
SHUFFLES = 20
PERPLEXITY = 30.0
CLUSTERED, CLOSE = 3, 0.05  # the fewest words of a cluster; the share of distances that are close
LEAST = 4  # the fewest groups of gendered words from which a boundary is learned
LEANS = {"male": -1.0, "none": 0.0, "female": 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class NeutralWords:
    """The numbers of one sort of neutral words: professions or emotions."""

    name: Sense
    words: int
    male_side: Interval  # share of them on the male side of the boundary
    by_share: dict[str, Interval]  # `pearson` and `spearman` of distance and share of women
    with_share: int  # how many words have a share
    by_lean: dict[str, Interval]  # the same for the lean: male -1, none 0, female 1
    with_lean: int  # how many words have a lean


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """One model's numbers and its plane; rows in the order of the scene."""

    model: str
    about: str  # which vector of the model it is
    accuracy: Interval  # of the SVM on words it has not seen
    shuffled: float  # the same with genders swapped at random, pairs kept: what chance gives
    purity: Interval  # mean share of a word's neighbours that have its own gender
    chance: float  # the purity of a space without gender
    sorts: tuple[NeutralWords, ...]
    distances: Floats  # to the boundary, female side positive; gendered words were not in its fit
    plane: Floats  # (words, 2)
    kinds: dict[str, Interval]  # mean distance of each kind of word, female side positive
    plane_accuracy: Interval  # of boundaries in the plane, on words that they were not fitted to
    line: tuple[float, float, float] | None  # a x + b y + c = 0 in the plane, female side positive
    clusters: tuple[tuple[int, ...], ...]  # rows of neutral words close together in the space
    notes: tuple[str, ...]


def place_words(
    model: str, about: str, scene: Scene, vectors: Floats, settings: Settings
) -> Picture:
    """The picture of one model, from its vectors of the scene's sentences.

    model: its identity; about: which vector of the model it is.
    """
    check_vectors(model, scene, vectors)
    streams = [np.random.default_rng([settings.seed, i]) for i in range(6)]
    rows = scene.gendered
    known, is_female, groups = vectors[rows], scene.is_female, scene.groups
    held_out = leave_out(known, is_female, groups, streams[0])
    accuracy = ratio_interval(is_right(held_out, is_female), groups, streams[1], settings)
    swapped = [
        float(is_right(leave_out(known, s, groups, streams[2]), s).mean())
        for s in swaps(scene, streams[2], SHUFFLES)
    ]
    pure, chance = purity(known, is_female, scene.partners, NEIGHBOURS)
    deviation = float(held_out.std())
    placed = np.full(len(vectors), np.nan)
    notes = []
    if deviation > 0:
        placed = distance(fit(known, is_female), vectors) / deviation
        placed[rows] = held_out / deviation
    else:
        notes.append(
            "every gendered word is equally far from the boundary, "
            "so distances have no unit and are not told"
        )
    plane = flatten(vectors, settings.seed)
    in_plane = is_right(leave_out(plane[rows], is_female, groups, streams[4]), is_female)
    plane_accuracy = ratio_interval(in_plane, groups, streams[4], settings)
    is_better = plane_accuracy.low > 0.5  # a boundary that may be a coin flip is not drawn
    if accuracy.value in {0.0, 1.0}:
        count = len(set(groups))
        notes.append(
            f"no variation seen: no two of the {count} groups of gendered words differ in "
            "accuracy; the bounds are what so many groups cannot exclude"
        )
    return Picture(
        model=model,
        about=about,
        accuracy=accuracy,
        shuffled=float(np.mean(swapped)),
        purity=ratio_interval(pure, groups, streams[1], settings),
        chance=chance,
        sorts=tuple(_neutral_words(s, scene, placed, streams[3], settings) for s in scene.sorts),
        distances=placed,
        plane=plane,
        kinds=mean_distances(scene, placed, streams[5], settings),
        plane_accuracy=plane_accuracy,
        line=draw_line(plane[rows], is_female) if is_better else None,
        clusters=find_clusters(vectors, scene),
        notes=tuple(notes),
    )


def mean_distances(
    scene: Scene, placed: Floats, rng: np.random.Generator, settings: Settings
) -> dict[str, Interval]:
    """The mean signed distance of every kind of word, with an interval over groups of words.

    None of the words was in the fit of the boundary that it is measured from.
    """
    group_of = dict(zip(scene.gendered, scene.groups, strict=True))
    return {
        kind: ratio_interval(
            placed[rows], [group_of.get(row, row) for row in rows], rng, settings, EVERYWHERE
        )
        for kind, rows in scene.kinds.items()
    }


def check_vectors(model: str, scene: Scene, vectors: Floats) -> None:
    """Raise MeasureError where no boundary can be learned from the vectors or the words."""
    if (count := len(set(scene.groups))) < LEAST:
        raise MeasureError(
            f"{count} groups of gendered words; at least {LEAST} are needed to learn a boundary"
        )
    bad = [
        w.sentence for w, v in zip(scene.words, vectors, strict=True) if not np.isfinite(v).all()
    ]
    if bad:
        raise MeasureError(f"{model} has no vector for '{bad[0]}' ({len(bad)} such sentences)")
    if np.ptp(vectors[scene.gendered], axis=0).max() == 0:
        raise MeasureError(
            f"{model} gives every gendered word the same vector: "
            "does its vocabulary have the words of this language?"
        )


def swaps(scene: Scene, rng: np.random.Generator, count: int) -> list[NDArray[np.bool_]]:
    """`count` random assignments of genders: whole groups are swapped, so that pairs stay pairs."""
    groups = np.asarray(scene.groups)
    return [
        scene.is_female ^ rng.integers(0, 2, size=groups.max() + 1).astype(bool)[groups]
        for _ in range(count)
    ]


def purity(
    vectors: Floats, is_female: NDArray[np.bool_], partners: Sequence[frozenset[int]], k: int
) -> tuple[Floats, float]:
    """For each word, the share of its k nearest gendered words that have its gender; and chance.

    By cosine, without partners. Words that tie for the last place share it, so that the order of
    the rows has no effect.
    """
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms > 0, norms, 1)
    near = np.round(unit @ unit.T, 9)
    shares, chances = [], []
    for row in range(len(vectors)):
        others = np.asarray([i for i in range(len(vectors)) if i != row and i not in partners[row]])
        own = is_female[others] == is_female[row]
        most = min(k, len(others))
        last = np.sort(near[row, others])[-most]
        is_above, is_last = near[row, others] > last, near[row, others] == last
        shares.append((own[is_above].sum() + (most - is_above.sum()) * own[is_last].mean()) / most)
        chances.append(own.mean())
    return np.asarray(shares), float(np.mean(chances))


def ratio_interval(
    scores: Floats,
    groups: Sequence[int],
    rng: np.random.Generator,
    settings: Settings,
    limits: Range = SHARE,
) -> Interval:
    """The mean score with an interval over the groups; limits: the ends of a score."""
    rows = np.column_stack([scores, np.ones(len(scores))])
    totals = cluster_totals(rows, [f"{g:06d}" for g in groups])
    return interval(totals, lambda sums: sums[..., 0] / sums[..., 1], rng, settings, limits)


def _neutral_words(
    name: Sense, scene: Scene, placed: Floats, rng: np.random.Generator, settings: Settings
) -> NeutralWords:
    rows = scene.rows(name)
    distances = placed[rows]
    share = np.asarray([scene.words[i].share for i in rows])
    lean = np.asarray([LEANS.get(scene.words[i].lean, np.nan) for i in rows])
    is_male = np.where(np.isfinite(distances), 0.5 - 0.5 * np.sign(distances), np.nan)
    return NeutralWords(
        name=name,
        words=len(rows),
        male_side=ratio_interval(is_male, range(len(rows)), rng, settings),
        by_share=correlate(share, distances, rng, settings),
        with_share=int(np.isfinite(share).sum()),
        by_lean=correlate(lean, distances, rng, settings),
        with_lean=int(np.isfinite(lean).sum()),
    )


def find_clusters(vectors: Floats, scene: Scene) -> tuple[tuple[int, ...], ...]:
    """Neutral words of one sort that lie close together in the space.

    Average linkage by cosine, cut at the distance below which one in twenty of all lies.
    """
    from scipy.cluster.hierarchy import fcluster, linkage
    from scipy.spatial.distance import pdist

    clusters: list[tuple[int, ...]] = []
    for sort in scene.sorts:
        rows = scene.rows(sort)
        if len(rows) < CLUSTERED:
            continue
        apart = np.clip(np.nan_to_num(pdist(vectors[rows], "cosine"), nan=1.0), 0, None)
        number = fcluster(linkage(apart, "average"), np.quantile(apart, CLOSE), "distance")
        members = [
            tuple(r for r, n in zip(rows, number, strict=True) if n == c) for c in np.unique(number)
        ]
        clusters += [m for m in members if len(m) >= CLUSTERED]
    return tuple(clusters)


def flatten(vectors: Floats, seed: int) -> Floats:
    """Two dimensions by t-SNE, started from the principal components."""
    from sklearn.manifold import TSNE

    # exact: a few hundred points need no approximation, and the number of threads has no effect
    method = "exact" if len(vectors) <= 600 else "barnes_hut"
    perplexity = min(PERPLEXITY, len(vectors) / 4)
    tsne = TSNE(
        metric="cosine", init="pca", perplexity=perplexity, random_state=seed, method=method
    )
    return np.asarray(tsne.fit_transform(vectors), dtype=np.float64)
