"""A linear boundary (SVM) between male and female words, scored on unseen words."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats

FOLDS = 10


def require_learner() -> None:
    """Raise LoadError where scikit-learn is not installed."""
    if importlib.util.find_spec("sklearn") is None:
        raise LoadError(
            "a boundary is learned with scikit-learn, which is not installed: "
            "pip install 'evenhand[picture]'"
        )


def fit(vectors: Floats, is_female: NDArray[np.bool_]) -> Any:
    """A scaler and a linear SVM, both fitted on these vectors alone."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVC

    return make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(vectors, is_female)


def distance(boundary: Any, vectors: Floats) -> Floats:
    """The distances from the boundary in the scaled space; the female side is positive."""
    return np.asarray(
        boundary.decision_function(vectors) / (np.linalg.norm(boundary[-1].coef_) or 1.0)
    )


def leave_out(
    vectors: Floats,
    is_female: NDArray[np.bool_],
    groups: Sequence[int],
    rng: np.random.Generator,
    folds: int = FOLDS,
) -> Floats:
    """The distance of each gendered word to a boundary that was learned without its group."""
    names = np.unique(groups)
    fold_of = dict(zip(rng.permutation(names), np.arange(len(names)) % folds, strict=True))
    fold = np.asarray([fold_of[g] for g in groups])
    distances = np.full(len(vectors), np.nan)
    for number in np.unique(fold):
        is_out = fold == number
        boundary = fit(vectors[~is_out], is_female[~is_out])
        distances[is_out] = distance(boundary, vectors[is_out])
    return distances


def is_right(distances: Floats, is_female: NDArray[np.bool_]) -> Floats:
    """1 for a word on its own side, 0 for one on the other, 0.5 on the boundary."""
    return np.asarray(0.5 + 0.5 * np.sign(distances) * np.where(is_female, 1, -1))


def draw_line(points: Floats, is_female: NDArray[np.bool_]) -> tuple[float, float, float]:
    """The boundary in the plane (a x + b y + c = 0), its female side positive."""
    boundary = fit(points, is_female)
    scaler, svm = boundary[0], boundary[-1]
    slope = svm.coef_[0] / scaler.scale_
    offset = float(svm.intercept_[0] - slope @ scaler.mean_)
    return float(slope[0]), float(slope[1]), offset
