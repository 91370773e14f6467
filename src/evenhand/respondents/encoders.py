"""Which option lies nearest to its context? The similarity of two vectors of an encoder, one number an option."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import EvenhandWarning, UnknownNameError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder_routes import EncoderRoute, encode
from evenhand.respondents.encoding import cut_batches
from evenhand.respondents.pooling import Recipe

KEPT = 50_000  # texts whose vectors are kept, so that a sentence that a whole suite repeats is read once and not once a chunk


def cosine(one: Floats, others: Floats) -> Floats:
    """The cosine of the angle; NaN where a vector has no length."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(others @ one / (np.linalg.norm(one) * np.linalg.norm(others, axis=1)))


SIMILARITIES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": cosine,
    "dot": lambda one, others: np.asarray(others @ one),
    "distance": lambda one, others: np.asarray(-np.linalg.norm(others - one, axis=1)),
}


def check_similarity(name: str) -> None:
    """An error that suggests close names where there is no such similarity."""
    if name not in SIMILARITIES:
        raise UnknownNameError("similarity", name, SIMILARITIES)


class Reading(NamedTuple):
    """A text as the model sees it; no vector where it is too long."""

    ids: tuple[int, ...]
    vector: NDArray[np.float32] | None


class EncoderRespondent:
    """An encoder with its pooling and its similarity settled."""

    kinds: frozenset[Kind] = frozenset({"choice"})
    labels: tuple[str, ...] = ()  # those of the suite: the options

    def __init__(
        self,
        name: str,
        revision: str,
        route: EncoderRoute,
        recipe: Recipe,
        options: RespondentOptions,
        head: str = "",
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.route, self.recipe = route, recipe
        self.batch_size = options.batch_size
        check_similarity(options.similarity)
        self.compare = SIMILARITIES[options.similarity]
        self.unanswered: dict[str, int] = {}
        self.has_warned = False
        self.read: dict[str, Reading] = {}
        self.traits: Mapping[str, str] = {
            "scoring": f"{route.pooling}/{options.similarity}",
            "precision": route.precision,
            "route": route.name,
            **({"vectors": "normalised"} if recipe.is_normalised else {}),
            **({"encoder": f"taken out of {head}"} if head else {}),
            **({"modules": f"without {' and '.join(recipe.ignored)}"} if recipe.ignored else {}),
        }

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """One similarity an option; NaN where it cannot be told."""
        values = np.full((len(probes), max((p.width for p in probes), default=0)), np.nan)
        readings = self._read(
            [text for p in probes if all(t.strip() for t in p.texts) for text in p.texts]
        )
        for row, probe in zip(values, probes, strict=True):
            found = self._similarities(probe, readings)
            if isinstance(found, str):
                self.unanswered[found] = self.unanswered.get(found, 0) + 1
            else:
                row[: probe.width] = found
        return values

    def embed(self, texts: Sequence[str]) -> Floats:
        """One vector a text, as the model's own library gives it; NaN for a text that is too long for it."""
        readings = self._read(texts)
        width = next((len(r.vector) for r in readings.values() if r.vector is not None), 0)
        rows = [readings[t].vector for t in texts]
        return np.asarray(
            [np.full(width, np.nan) if row is None else row for row in rows], dtype=np.float64
        ).reshape(len(texts), width)

    def _similarities(self, probe: Probe, readings: Mapping[str, Reading]) -> Floats | str:
        """The numbers, or why there are none."""
        if not probe.texts[0].strip():
            return "there is no context to compare the options with"
        if not all(text.strip() for text in probe.texts):
            return "an option is empty"
        context, *options = (readings[text] for text in probe.texts)
        vectors = [o.vector for o in options if o.vector is not None]
        if context.vector is None or len(vectors) < len(options):
            return f"longer than the model's {self.route.longest} tokens"
        if len({o.ids for o in options}) < len(set(probe.texts[1:])):
            return "the tokeniser cannot tell two options apart"  # a tie that the model never saw is no fairness
        found = self.compare(
            context.vector.astype(np.float64), np.stack(vectors).astype(np.float64)
        )
        return found if np.isfinite(found).all() else "a vector has no length, or is not finite"

    def _read(self, texts: Sequence[str]) -> dict[str, Reading]:
        """Every distinct text, read now or before."""
        found = {text: self.read[text] for text in texts if text in self.read}
        fresh = list(dict.fromkeys(text for text in texts if text not in found))
        encoded = encode(self.route.tokenizer, [self.recipe.prepare(text) for text in fresh])
        fitting = [i for i, e in enumerate(encoded) if len(e.ids) <= self.route.longest]
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch in cut_batches([len(encoded[i].ids) for i in fitting], self.batch_size):
            rows = self.route.vectors([encoded[fitting[i]] for i in batch])
            if self.recipe.is_normalised:
                rows = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)
            vectors.update(zip((fitting[i] for i in batch), rows.astype(np.float32), strict=True))
        found.update(
            {text: Reading(encoded[i].ids, vectors.get(i)) for i, text in enumerate(fresh)}
        )
        self._warn([text for text in fresh if self.route.unknown in found[text].ids])
        self._keep({text: found[text] for text in fresh})
        return found

    def _keep(self, fresh: Mapping[str, Reading]) -> None:
        """The latest texts; the oldest are forgotten first."""
        self.read.update(fresh)
        while len(self.read) > KEPT:
            del self.read[next(iter(self.read))]

    def _warn(self, strange: Sequence[str]) -> None:
        if strange and not self.has_warned:
            self.has_warned = True  # once, not once a chunk
            warnings.warn(
                f"some sentences have characters that the tokeniser of {self.identity} does not know, the first: {strange[0]!r}; "
                "they are asked as the model sees them, unless two options look the same to it",
                EvenhandWarning,
                stacklevel=2,
            )
