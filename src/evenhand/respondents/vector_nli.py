"""NLI classifiers on frozen sentence vectors: raw logits, in numpy, without torch.

For languages that have a sentence encoder and no NLI model: `evenhand train vectors` makes the
folder. The head has one hidden layer on (u, v, |u - v|, u * v). vector_nli.json says which encoder
the vectors come from, what the outputs mean and how large the layers are; head.npz holds the
weights. Choices are asked as pairs, like those of every other NLI classifier. The two
sentences of a pair are read separately, so they cannot be asked as a supposition.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenhand.core.answers import Replies
from evenhand.core.errors import EvenhandError, EvenhandWarning, LoadError
from evenhand.core.files import read_text
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder import RESPONDENT as ENCODERS
from evenhand.respondents.encoder import EncoderRespondent
from evenhand.respondents.forms import find_form
from evenhand.respondents.labels import from_config
from evenhand.respondents.locate import locate
from evenhand.respondents.location import VECTOR_HEAD, revision_of
from evenhand.respondents.next_sentence import RESPONDENT as NEXT_SENTENCES
from evenhand.respondents.nli import NliRespondent

SETTINGS, WEIGHTS = VECTOR_HEAD, "head.npz"
RUNTIME = "vectors"
PARTS = ("u", "v", "|u - v|", "u * v")
SCALINGS = ("standard", "none")
_ARRAYS = ("shift", "scale", "inner", "inner_bias", "outer", "outer_bias")
Array = NDArray[np.float32]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The classifier on sentence vectors, and which encoder it was trained on."""

    encoder: str  # reference, as a user would type it
    revision: str  # of the encoder
    labels: tuple[str, ...]  # what each output means
    scaling: str
    shift: Array  # (4 * width,): taken from the inputs before they are multiplied by `scale`
    scale: Array
    inner: Array  # (4 * width, hidden)
    inner_bias: Array
    outer: Array  # (hidden, labels)
    outer_bias: Array

    @property
    def width(self) -> int:
        """The length of a sentence vector."""
        return len(self.shift) // len(PARTS)

    @property
    def hidden(self) -> int:
        """The number of hidden units."""
        return len(self.inner_bias)

    def logits(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.float64]:
        """One row of raw outputs for each pair of vectors.

        In double precision: the batch that a pair comes in changes nothing that matters.
        """
        parts = features(first.astype(np.float64), second.astype(np.float64))
        inputs = (parts - self.shift) * self.scale
        hidden = np.maximum(inputs @ self.inner + self.inner_bias, 0.0)
        return np.asarray(hidden @ self.outer + self.outer_bias)


def features(first: NDArray[Any], second: NDArray[Any]) -> NDArray[Any]:
    """(n, width) twice to (n, 4 * width)."""
    return np.concatenate([first, second, np.abs(first - second), first * second], axis=1)


def has_head(folder: Path) -> bool:
    """Whether the folder holds a classifier on sentence vectors."""
    return (folder / SETTINGS).is_file()


def write_head(head: Head, folder: Path) -> None:
    """Write both files into a folder that exists."""
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
    """The classifier of a folder; raises LoadError that says what is wrong with it."""
    path = folder / SETTINGS
    try:
        settings = json.loads(read_text(path))
        width, hidden = int(settings["width"]), int(settings["hidden"])
        parts, scaling = settings["features"], str(settings["scaling"])
        labels = tuple(str(label) for label in settings["labels"])
        encoder = str(settings["encoder"]["reference"])
        revision = str(settings["encoder"]["revision"])
    except (KeyError, TypeError, ValueError) as error:
        raise LoadError(
            f"{path} does not describe a classifier on sentence vectors "
            f"({type(error).__name__}: {error})"
        ) from error
    if tuple(parts) != PARTS or scaling not in SCALINGS:
        raise LoadError(
            f"{path} has the features {parts} scaled by '{scaling}'; evenhand computes "
            f"{', '.join(PARTS)}, scaled by {' or '.join(SCALINGS)}"
        )
    if from_config(dict(enumerate(labels)), len(labels)) is None:
        names = ", ".join(labels)
        raise LoadError(f"{path} does not say which labels the outputs mean, but {names}")
    inputs, count = len(PARTS) * width, len(labels)
    shapes = ((inputs,), (inputs,), (inputs, hidden), (hidden,), (hidden, count), (count,))
    arrays = _read_arrays(folder / WEIGHTS)
    wrong = [
        f"{name} {arrays[name].shape if name in arrays else 'missing'}"
        for name, shape in zip(_ARRAYS, shapes, strict=True)
        if name not in arrays or arrays[name].shape != shape
    ]
    if wrong:
        raise LoadError(
            f"{folder / WEIGHTS} does not fit {SETTINGS} (width {width}, hidden {hidden}): "
            f"{', '.join(wrong)}"
        )
    return Head(
        encoder=encoder,
        revision=revision,
        labels=labels,
        scaling=scaling,
        **{name: arrays[name] for name in _ARRAYS},
    )


def _read_arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: np.asarray(stored[name], dtype=np.float32) for name in stored.files}
    except Exception as error:  # zip, numpy and the system each have their own exceptions
        raise LoadError(f"{path} cannot be read ({type(error).__name__}: {error})") from error


class PairOfVectors(NamedTuple):
    """A pair as two vectors.

    ids: as many as the encoder takes, or one more where a sentence is too long for it.
    """

    ids: range
    first: Floats
    second: Floats


class VectorNetwork:
    """An encoder and the head on it, in place of a network that reads both sentences at once."""

    name = RUNTIME

    def __init__(self, head: Head, encoder: EncoderRespondent) -> None:
        self.head, self.encoder = head, encoder
        self.width, self.longest = len(head.labels), encoder.network.longest
        self.precision = encoder.network.precision
        self.is_read_alone = encoder.network.is_read_alone
        self.config: Mapping[str, Any] = {"id2label": dict(enumerate(head.labels))}

    def encode(self, texts: Sequence[tuple[str, str]]) -> list[PairOfVectors]:
        """The vectors of both sentences; a sentence that comes again is read once."""
        if not texts:
            return []
        vectors = self.encoder.embed([text for pair in texts for text in pair])
        rows = vectors.reshape(len(texts), 2, -1)
        lengths = [1 if row.size and np.isfinite(row).all() else self.longest + 1 for row in rows]
        return [PairOfVectors(range(n), *row) for n, row in zip(lengths, rows, strict=True)]

    def logits(self, batch: list[PairOfVectors]) -> Floats:
        """The raw outputs for a batch."""
        return self.head.logits(
            np.stack([v.first for v in batch]), np.stack([v.second for v in batch])
        )


class VectorNliRespondent:
    """An encoder with a classifier on it, asked as an NLI classifier is."""

    kinds: frozenset[Kind] = NliRespondent.kinds
    reads_tags = False

    def __init__(
        self, name: str, revision: str, network: VectorNetwork, options: RespondentOptions
    ) -> None:
        self.network = network
        # An attribute and not the base class: code that looks for an NliRespondent wants its
        # network, which reads both sentences at once, and there is none here.
        with warnings.catch_warnings():
            # the pairs that the order of the labels is tested with are no part of any suite
            warnings.simplefilter("ignore", EvenhandWarning)
            self.classifier = NliRespondent(name, revision, network, options)
        network.encoder.has_warned = False
        self.identity, self.is_cacheable = self.classifier.identity, self.classifier.is_cacheable
        self.traits: Mapping[str, str] = {
            **self.classifier.traits,
            "encoder": network.encoder.identity,
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Its labels; one score for options where the user chose a label as the score."""
        return self.classifier.labels_for(kind)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Logits in the order of the labels, or the one number of the scoring."""
        return self.classifier.answer(probes)

    def embed(self, texts: Sequence[str]) -> Floats:
        """The encoder's vectors, which are all that the head reads."""
        return self.network.encoder.embed(texts)


def open_sentences(reference: str, options: RespondentOptions | None = None) -> EncoderRespondent:
    """The sentence encoder that a head stands on.

    options: language, batch size and device are taken from it; without it no language is known.
    Raises LoadError where the reference names something else.
    """
    given = options or RespondentOptions(language="")
    is_next = reference.startswith(NEXT_SENTENCES.prefix)
    location = None if is_next else locate(reference, ENCODERS.names, ENCODERS.prefix)
    if location is None or (not location.prefix and location.head in NEXT_SENTENCES.heads):
        raise LoadError(
            f"'{reference}' is a next-sentence head; a classifier on sentence vectors needs a "
            "sentence encoder, such as universal"
        )
    return ENCODERS.open(
        reference,
        RespondentOptions(
            language=given.language,
            batch_size=given.batch_size,
            device=given.device,
            dtype=given.dtype,
            trust_remote_code=given.trust_remote_code,
        ),
        location,
    )


def revision_of_head(folder: Path) -> str:
    """Twelve digits that change with the weights, the labels or the encoder."""
    return revision_of(folder, RUNTIME, [folder / SETTINGS, folder / WEIGHTS])


def settle_reference(reference: str) -> str:
    """The reference to store: the folder of an encoder with its absolute path."""
    prefix = ENCODERS.prefix if reference.startswith(ENCODERS.prefix) else ""
    folder = Path(reference.removeprefix(prefix)).expanduser()
    return f"{prefix}{folder.resolve()}" if folder.is_dir() else reference


class VectorNliSource:
    """Folders with a classifier on sentence vectors."""

    name = "vector-nli"
    kinds: frozenset[Kind] = VectorNliRespondent.kinds
    description = (
        "Classifiers on the vectors of a sentence encoder, made by `evenhand train vectors`: "
        "a local folder, asked in numpy."
    )
    examples = ("./my-head",)

    def claims(self, reference: str) -> bool:
        """Folders that say so themselves."""
        return has_head(Path(reference).expanduser())

    def open(self, reference: str, options: RespondentOptions) -> VectorNliRespondent:
        """The classifier in the folder, on the encoder that it was trained on and no other."""
        if form := find_form(options.form):
            raise EvenhandError(
                f"'{reference}' reads premise and hypothesis apart, so it cannot be asked the "
                f"supposition '{form.name}'; leave out --supposition"
            )
        folder = Path(reference).expanduser()
        head = read_head(folder)
        try:
            encoder = open_sentences(head.encoder, options)
        except LoadError as error:
            raise LoadError(
                f"{folder} stands on the encoder '{head.encoder}', which cannot be opened: {error}"
            ) from error
        revision = encoder.identity.rpartition("@")[2]
        if revision != head.revision:
            raise LoadError(
                f"{folder} was trained on the vectors of '{head.encoder}' at {head.revision}, and "
                f"here that is {revision}, whose vectors mean something else. Give it the same "
                "version of the encoder, or train the head again with `evenhand train vectors`."
            )
        network = VectorNetwork(head, encoder)
        return VectorNliRespondent(
            folder.resolve().name, revision_of_head(folder), network, options
        )


RESPONDENT = VectorNliSource()
