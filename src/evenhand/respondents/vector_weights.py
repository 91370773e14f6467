"""What does a small classifier say of two sentence vectors? One hidden layer on (u, v, |u - v|, u * v), written down so that numpy alone can ask it.

vector_nli.json says which encoder the vectors come from, what the outputs mean and how large the layers are; head.npz holds the weights.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.files import read_text
from evenhand.respondents.labels import from_config

SETTINGS, WEIGHTS = "vector_nli.json", "head.npz"
PARTS = ("u", "v", "|u - v|", "u * v")
SCALINGS = ("standard", "none")
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The classifier and what it stands on."""

    encoder: str  # reference, as a user would type it
    revision: str  # of the encoder
    labels: tuple[str, ...]  # what each output means
    scaling: str
    shift: (
        Array  # (4 * width,): what is taken from the inputs before they are multiplied by `scale`
    )
    scale: Array
    inner: Array  # (4 * width, hidden)
    inner_bias: Array
    outer: Array  # (hidden, labels)
    outer_bias: Array

    @property
    def width(self) -> int:
        """How long is a sentence vector?"""
        return len(self.shift) // len(PARTS)

    @property
    def hidden(self) -> int:
        """How many hidden units are there?"""
        return len(self.inner_bias)

    def logits(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
        """One row of raw outputs for each pair of vectors, in double precision: the batch that a pair comes in changes nothing that matters."""
        inputs = (
            features(first.astype(np.float64), second.astype(np.float64)) - self.shift
        ) * self.scale
        return np.asarray(
            np.maximum(inputs @ self.inner + self.inner_bias, 0.0) @ self.outer + self.outer_bias
        )


def features(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """(n, width) twice to (n, 4 * width)."""
    return np.concatenate([first, second, np.abs(first - second), first * second], axis=1)


def has_head(folder: Path) -> bool:
    """Does the folder hold a classifier on sentence vectors?"""
    return (folder / SETTINGS).is_file()


def write_head(head: Head, folder: Path) -> None:
    """Both files, in a folder that exists."""
    settings = {
        "encoder": {"reference": head.encoder, "revision": head.revision},
        "labels": list(head.labels),
        "features": list(PARTS),
        "width": head.width,
        "hidden": head.hidden,
        "scaling": head.scaling,
    }
    (folder / SETTINGS).write_text(
        json.dumps(settings, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", newline=""
    )
    np.savez(
        folder / WEIGHTS, allow_pickle=False, **{name: getattr(head, name) for name in _ARRAYS}
    )


def read_head(folder: Path) -> Head:
    """The classifier of a folder; an error that says what is wrong with it."""
    path = folder / SETTINGS
    try:
        told = json.loads(read_text(path))
        parts, width, hidden = told["features"], int(told["width"]), int(told["hidden"])
        labels = tuple(str(label) for label in told["labels"])
        encoder, revision, scaling = (
            str(x)
            for x in (told["encoder"]["reference"], told["encoder"]["revision"], told["scaling"])
        )
    except (KeyError, TypeError, ValueError) as error:
        raise LoadError(
            f"{path} does not describe a classifier on sentence vectors ({type(error).__name__}: {error})"
        ) from error
    if tuple(parts) != PARTS or scaling not in SCALINGS:
        raise LoadError(
            f"{path} has the features {parts} scaled by '{scaling}'; evenhand computes {', '.join(PARTS)}, scaled by {' or '.join(SCALINGS)}"
        )
    if from_config(dict(enumerate(labels)), len(labels)) is None:
        raise LoadError(
            f"{path} does not say which labels the outputs mean, but {', '.join(labels)}"
        )
    shapes = dict(
        zip(
            _ARRAYS,
            ((len(PARTS) * width,),) * 2
            + ((len(PARTS) * width, hidden), (hidden,), (hidden, len(labels)), (len(labels),)),
            strict=True,
        )
    )
    arrays = _read_arrays(folder / WEIGHTS)
    if wrong := [
        f"{name} {arrays[name].shape if name in arrays else 'missing'}"
        for name in shapes
        if name not in arrays or arrays[name].shape != shapes[name]
    ]:
        raise LoadError(
            f"{folder / WEIGHTS} does not fit {SETTINGS} (width {width}, hidden {hidden}): {', '.join(wrong)}"
        )
    return Head(
        encoder=encoder,
        revision=revision,
        labels=labels,
        scaling=scaling,
        **{name: arrays[name] for name in _ARRAYS},
    )


_ARRAYS = ("shift", "scale", "inner", "inner_bias", "outer", "outer_bias")


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: np.asarray(stored[name], dtype=np.float32) for name in stored.files}
    except Exception as error:  # zip, numpy and the system each have their own exceptions
        raise LoadError(f"{path} cannot be read ({type(error).__name__}: {error})") from error
