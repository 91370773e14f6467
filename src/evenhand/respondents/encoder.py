"""Sentence encoders: the similarity of the vectors of a context and each option.

MODEL is an encoder: a folder (ONNX is asked without torch), the name of a model that comes in a
package, or a hub id (extra `hf`). `encoder:MODEL` takes the encoder out of a model with another
head.

Some encoders end in a normalisation, after which dot product, cosine and distance all order options
alike. `dot` and `distance` compare the vectors before it, where evenhand does the normalising; a
graph that gives finished vectors is taken as it is.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import EvenhandWarning, LoadError, UnknownNameError
from evenhand.core.probe import SCORE, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.locate import ModelSource
from evenhand.respondents.location import UNKNOWN, Location, refuse_reranker
from evenhand.respondents.networks.batches import Encoded, batch_traits, cut_batches
from evenhand.respondents.networks.onnx import OnnxEncoder
from evenhand.respondents.networks.tokens import encode
from evenhand.respondents.networks.torch import TorchEncoder
from evenhand.respondents.networks.universal import UniversalEncoder
from evenhand.respondents.packages import ENCODER_NAMES
from evenhand.respondents.pooling import VectorRecipe, read_recipe
from evenhand.respondents.replies import collect, no_answer, too_long

# texts whose vectors are kept, so that a sentence that a whole suite repeats is read once and not
# once per chunk
KEPT = 50_000
NO_CONTEXT = no_answer("there is no context to compare the options with")
EMPTY_OPTION = no_answer("an option is empty")
# options that look the same to the model tie by necessity, which is not fairness
SAME_TOKENS = no_answer("the tokeniser cannot tell two options apart")
NO_LENGTH = no_answer("a vector has no length, or is not finite")


def cosine(one: Floats, others: Floats) -> Floats:
    """The cosine of the angle; NaN where a vector has no length."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(others @ one / (np.linalg.norm(one) * np.linalg.norm(others, axis=1)))


SIMILARITIES: Mapping[str, Callable[[Floats, Floats], Floats]] = {
    "cosine": cosine,
    "dot": lambda one, others: np.asarray(others @ one),
    "distance": lambda one, others: np.asarray(-np.linalg.norm(others - one, axis=1)),
}


UNNORMALISED = ("dot", "distance")  # compare vectors before a normalisation


class EncoderNetwork(Protocol):
    """What the respondent needs of a network."""

    name: str
    precision: str
    is_read_alone: bool  # the batch changes its answers, so each text is read alone
    tokenizer: Any
    unknown: int | None
    longest: int
    pooling: str  # as it is done: mean, cls, or by the graph or the model itself

    def vectors(self, batch: Sequence[Encoded]) -> Floats:
        """One vector per text."""
        ...


class Reading(NamedTuple):
    """A text as the model sees it; no vector where it is too long."""

    ids: tuple[int, ...]
    vector: NDArray[np.float32] | None


class EncoderRespondent:
    """An encoder with its pooling and its similarity settled."""

    kinds: frozenset[Kind] = frozenset({"choice"})
    reads_tags = False

    def __init__(
        self,
        location: Location,
        network: EncoderNetwork,
        recipe: VectorRecipe,
        options: RespondentOptions,
        head: str = "",
    ) -> None:
        name = f"{EncoderSource.prefix}{location.name}" if head else location.name
        self.identity = f"{name}@{location.revision}"
        self.is_cacheable = location.revision != UNKNOWN
        self.network, self.recipe = network, recipe
        self.batch_size = 1 if network.is_read_alone else options.batch_size
        self.compare = SIMILARITIES[options.similarity]
        is_raw = options.similarity in UNNORMALISED
        self.has_warned = False
        self.known: dict[str, Reading] = {}
        normalises = recipe.is_normalised
        self.traits: Mapping[str, str] = {
            "scoring": f"{network.pooling}/{options.similarity}",
            "precision": network.precision,
            **batch_traits(network.is_read_alone),
            "route": network.name,
            **({"vectors": "before normalising" if is_raw else "normalised"} if normalises else {}),
            # as JSON, so that a line break in it does not break the line of the signature
            **({"prompt": json.dumps(recipe.prompt, ensure_ascii=False)} if recipe.prompt else {}),
            **({"encoder": f"taken out of {head}"} if head else {}),
            **({"modules": f"without {' and '.join(recipe.ignored)}"} if recipe.ignored else {}),
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """One score."""
        return (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """One similarity per option."""
        readings = self._read(
            [text for p in probes if all(t.strip() for t in p.texts) for text in p.texts]
        )
        return collect(probes, 1, [self._similarities(p, readings) for p in probes])

    def embed(self, texts: Sequence[str]) -> Floats:
        """One vector per text, as the model's own library gives it; NaN where it is too long."""
        readings = self._read(texts)
        width = next((len(r.vector) for r in readings.values() if r.vector is not None), 0)
        rows = [readings[t].vector for t in texts]
        table = np.asarray(
            [np.full(width, np.nan) if row is None else row for row in rows], dtype=np.float64
        ).reshape(len(texts), width)
        if not self.recipe.is_normalised or not width:
            return table
        return np.asarray(table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12))

    def _similarities(self, probe: Probe, readings: Mapping[str, Reading]) -> Floats | Silence:
        """The numbers, or why there are none."""
        if not probe.texts[0].strip():
            return NO_CONTEXT
        if not all(text.strip() for text in probe.texts):
            return EMPTY_OPTION
        context, *options = (readings[text] for text in probe.texts)
        vectors = [o.vector for o in options if o.vector is not None]
        if context.vector is None or len(vectors) < len(options):
            return too_long(self.network.longest)
        if len({o.ids for o in options}) < len(set(probe.texts[1:])):
            return SAME_TOKENS
        values = self.compare(
            context.vector.astype(np.float64), np.stack(vectors).astype(np.float64)
        )
        return values[:, np.newaxis] if np.isfinite(values).all() else NO_LENGTH

    def _read(self, texts: Sequence[str]) -> dict[str, Reading]:
        """Every distinct text, read now or before."""
        readings = {text: self.known[text] for text in texts if text in self.known}
        fresh = list(dict.fromkeys(text for text in texts if text not in readings))
        encoded = encode(self.network.tokenizer, [self.recipe.prepare(text) for text in fresh])
        fitting = [i for i, e in enumerate(encoded) if len(e.ids) <= self.network.longest]
        vectors: dict[int, NDArray[np.float32]] = {}
        for batch in cut_batches([len(encoded[i].ids) for i in fitting], self.batch_size):
            rows = self.network.vectors([encoded[fitting[i]] for i in batch])
            vectors.update(zip((fitting[i] for i in batch), rows.astype(np.float32), strict=True))
        readings.update(
            {text: Reading(encoded[i].ids, vectors.get(i)) for i, text in enumerate(fresh)}
        )
        self._warn([text for text in fresh if self.network.unknown in readings[text].ids])
        self._keep({text: readings[text] for text in fresh})
        return readings

    def _keep(self, fresh: Mapping[str, Reading]) -> None:
        """Remember the latest texts; the oldest are forgotten first."""
        self.known.update(fresh)
        while len(self.known) > KEPT:
            del self.known[next(iter(self.known))]

    def _warn(self, with_unknown: Sequence[str]) -> None:
        if with_unknown and not self.has_warned:
            self.has_warned = True  # once per respondent, not per chunk
            warnings.warn(
                f"some sentences have characters that the tokeniser of {self.identity} does not "
                f"know, the first: {with_unknown[0]!r}; they are asked as the model sees them, "
                "unless two options look the same to it",
                EvenhandWarning,
                stacklevel=2,
            )


class EncoderSource(ModelSource[EncoderRespondent]):
    """Folders, names and hub ids of sentence encoders."""

    name = "encoder"
    kinds = EncoderRespondent.kinds
    description = (
        "Sentence encoders (`encoder:` where the model has another head): "
        "the vectors of context and option compared."
    )
    names = ENCODER_NAMES
    examples = (*ENCODER_NAMES, "./my-encoder", "encoder:./my-nli")
    heads = frozenset({"vectors"})
    prefix = "encoder:"

    def check(self, options: RespondentOptions) -> None:
        """Refuse an unknown similarity before anything is loaded."""
        if options.similarity not in SIMILARITIES:
            raise UnknownNameError("similarity", options.similarity, SIMILARITIES)

    def build(self, location: Location, options: RespondentOptions) -> EncoderRespondent:
        """The encoder at a location; one with another head only where the user wrote `encoder:`."""
        if location.package and location.package.runtime:
            return self._build_universal(location, options)
        recipe = read_recipe(location, options.pooling)
        inner = location.within(recipe.subfolder)
        refuse_reranker(inner)
        head = inner.architecture if inner.head not in ("vectors", None) else ""
        if head and not location.prefix:
            raise LoadError(
                f"'{location.place}' is a {head}, not a sentence encoder. Write "
                f"{self.prefix}{location.place} to compare the vectors of the encoder in it."
            )
        inner.require_files()
        network: EncoderNetwork = (
            OnnxEncoder(inner, recipe, options.pooling)
            if inner.graph
            else TorchEncoder(inner, options.device, recipe)
        )
        return EncoderRespondent(inner, network, recipe, options, head)

    def _build_universal(self, location: Location, options: RespondentOptions) -> EncoderRespondent:
        if options.pooling is not None:
            raise LoadError(
                f"'{location.name}' gives finished vectors of sentences: its pooling cannot be "
                f"chosen. Leave out --pooling {options.pooling}."
            )
        network = UniversalEncoder(location)
        return EncoderRespondent(location, network, VectorRecipe(pooling=network.pooling), options)


RESPONDENT = EncoderSource()
