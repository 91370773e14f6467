"""Which weights of one hidden layer fit labelled pairs of sentence vectors best? AdamW on minibatches; the same seed gives the same weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.errors import EvenhandError, UnknownNameError
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.vector_weights import PARTS, SCALINGS, Head, features
from evenhand.train.corpus import Pair
from evenhand.train.loop import Tick

HIDDEN = 512
CHUNK = 4_096  # pairs whose inputs are in memory at once
FLAT = 1e-8  # an input that varies less than this is left as it is


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadRecipe:
    """Everything that decides the outcome besides encoder, data and the head that it starts from."""

    name: str = "vectors"
    hidden: int | None = (
        None  # units of the hidden layer; None: as many as the head has that it starts from, else 512
    )
    scaling: str = "standard"  # of the inputs; a head that is trained further keeps its own
    epochs: int = 15
    learning_rate: float = 1e-3  # linear decay to 0
    batch_size: int = 128
    dropout: float = 0.5  # of the hidden units; of the inputs half as many
    weight_decay: float = 0.01  # of AdamW
    label_smoothing: float = 0.0
    is_best_kept: bool = False  # the epoch with the best dev accuracy and not the last
    seed: int = 13

    def __post_init__(self) -> None:
        for name, least in (("hidden", 1), ("epochs", 1), ("batch_size", 1), ("seed", 0)):
            if (value := getattr(self, name)) is not None and value < least:
                raise EvenhandError(
                    f"{name.replace('_', ' ')} is {value}; give a number of at least {least}"
                )
        if not 0 < self.learning_rate <= 1:
            raise EvenhandError(
                f"learning rate is {self.learning_rate}; give a number above 0 and up to 1, such as 1e-3"
            )
        if not 0 <= self.dropout < 1:
            raise EvenhandError(f"dropout is {self.dropout}; give a share from 0 to less than 1")
        if self.scaling not in SCALINGS:
            raise UnknownNameError("scaling", self.scaling, SCALINGS)


class Rows(NamedTuple):
    """Pairs as rows of a matrix of vectors."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    labels: NDArray[np.intp]


def place_rows(pairs: Sequence[Pair], places: Mapping[str, int], labels: Sequence[str]) -> Rows:
    """Where the vectors of the pairs stand, and their labels as outputs of the head."""
    first, second = (
        np.asarray([places[text] for text in texts])
        for texts in zip(*((p.premise, p.hypothesis) for p in pairs), strict=True)
    )
    return Rows(first, second, np.asarray([labels.index(p.label) for p in pairs]))


def new_head(
    encoder: str, revision: str, vectors: NDArray[np.float32], rows: Rows, recipe: HeadRecipe
) -> Head:
    """A head that knows nothing yet but how its inputs vary."""
    size, hidden = len(PARTS) * vectors.shape[1], recipe.hidden or HIDDEN
    shift, scale = (
        _scaling(vectors, rows) if recipe.scaling == "standard" else (np.zeros(size), np.ones(size))
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        inner, outer = torch.nn.Linear(size, hidden), torch.nn.Linear(hidden, len(NLI_LABELS))
    bare = Head(
        encoder=encoder,
        revision=revision,
        labels=NLI_LABELS,
        scaling=recipe.scaling,
        shift=shift.astype(np.float32),
        scale=scale.astype(np.float32),
        **dict.fromkeys(
            ("inner", "inner_bias", "outer", "outer_bias"), np.zeros(0, dtype=np.float32)
        ),
    )
    return _with_layers(bare, inner, outer)


def train_epochs(
    head: Head,
    vectors: NDArray[np.float32],
    rows: Rows,
    recipe: HeadRecipe,
    tick: Tick | None = None,
) -> Iterator[Head]:
    """The head after each epoch."""
    known, shift, scale = (
        torch.from_numpy(vectors),
        torch.from_numpy(head.shift),
        torch.from_numpy(head.scale),
    )
    first, second, labels = (torch.from_numpy(part) for part in rows)
    inner, outer = _layer(head.inner, head.inner_bias), _layer(head.outer, head.outer_bias)
    network = torch.nn.Sequential(
        torch.nn.Dropout(recipe.dropout / 2),
        inner,
        torch.nn.ReLU(),
        torch.nn.Dropout(recipe.dropout),
        outer,
    )
    count = len(labels)
    steps = recipe.epochs * -(-count // recipe.batch_size)
    optimizer = torch.optim.AdamW(
        network.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / steps))
    loss = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    done, random = 0, None
    for _ in range(recipe.epochs):
        with torch.random.fork_rng(
            devices=[]
        ):  # between two epochs the caller's random numbers are its own
            torch.manual_seed(recipe.seed) if random is None else torch.set_rng_state(random)
            for batch in torch.randperm(count).split(recipe.batch_size):
                u, v = known[first[batch]], known[second[batch]]
                inputs = (torch.cat([u, v, (u - v).abs(), u * v], dim=1) - shift) * scale
                optimizer.zero_grad()
                loss(network(inputs), labels[batch]).backward()
                optimizer.step()
                schedule.step()
                done += 1
                if tick is not None:
                    tick(done, steps, 0)
            random = torch.get_rng_state()
        yield _with_layers(head, inner, outer)


def right_rows(head: Head, vectors: NDArray[np.float32], rows: Rows) -> NDArray[np.bool_]:
    """Which of the pairs does the head label right, asked as it will be asked?"""
    said = [
        head.logits(vectors[rows.first[i : i + CHUNK]], vectors[rows.second[i : i + CHUNK]]).argmax(
            axis=1
        )
        for i in range(0, len(rows.labels), CHUNK)
    ]
    return np.asarray(np.concatenate(said) == rows.labels)


def _scaling(
    vectors: NDArray[np.float32], rows: Rows
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What makes every input of the training pairs vary by 1 around 0."""
    total = squares = np.zeros(len(PARTS) * vectors.shape[1])
    for i in range(0, len(rows.labels), CHUNK):
        part = features(*(vectors[side[i : i + CHUNK]].astype(np.float64) for side in rows[:2]))
        total, squares = total + part.sum(axis=0), squares + (part**2).sum(axis=0)
    mean = total / len(rows.labels)
    spread = np.sqrt(np.maximum(squares / len(rows.labels) - mean**2, 0.0))
    return mean, 1 / np.where(spread > FLAT, spread, 1.0)


def _layer(weights: NDArray[np.float32], bias: NDArray[np.float32]) -> torch.nn.Linear:
    layer = torch.nn.utils.skip_init(torch.nn.Linear, *weights.shape)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.T))
        layer.bias.copy_(torch.from_numpy(bias))
    return layer


def _with_layers(head: Head, inner: torch.nn.Linear, outer: torch.nn.Linear) -> Head:
    parts = (inner.weight.T, inner.bias, outer.weight.T, outer.bias)
    found = [
        np.array(part.detach().numpy(), order="C") for part in parts
    ]  # copies: the layers are trained further
    return replace(head, inner=found[0], inner_bias=found[1], outer=found[2], outer_bias=found[3])
