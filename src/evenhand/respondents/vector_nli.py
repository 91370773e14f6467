"""What does an NLI classifier on frozen sentence vectors say? Raw logits, columns entailment, neutral, contradiction; in numpy, without torch.

For languages that have a sentence encoder and no NLI model: `evenhand train vectors` makes the folder. Choices are asked as pairs, like those of every
other NLI classifier. A pair is two sentences that are read apart, so there is no supposition to ask in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoders import EncoderRespondent
from evenhand.respondents.nli import NliRespondent
from evenhand.respondents.pairs import ENCODER
from evenhand.respondents.pairs import RESPONDENT as ENCODERS
from evenhand.respondents.places import revision_of
from evenhand.respondents.suppositions import find_form
from evenhand.respondents.vector_weights import SETTINGS, WEIGHTS, Head, has_head, read_head

if TYPE_CHECKING:
    from evenhand.respondents.onnx_route import OnnxRoute


class Vectored(NamedTuple):
    """A pair as two vectors; as many `ids` as the encoder takes, or one more where a sentence is too long for it."""

    ids: range
    first: Floats
    second: Floats


class VectorRoute:
    """An encoder and the head on it: what `NliRespondent` asks instead of a network that reads both sentences at once."""

    name = "vectors"

    def __init__(self, head: Head, encoder: EncoderRespondent) -> None:
        self.head, self.encoder = head, encoder
        self.width, self.longest, self.precision = (
            len(head.labels),
            encoder.route.longest,
            encoder.route.precision,
        )
        self.config: Mapping[str, Any] = {"id2label": dict(enumerate(head.labels))}

    def encode(self, pairs: Sequence[tuple[str, str]]) -> list[Vectored]:
        """The vectors of both sentences; a sentence that comes again is read once."""
        if not pairs:
            return []
        found = self.encoder.embed([text for pair in pairs for text in pair])
        rows = found.reshape(len(pairs), 2, -1)
        return [
            Vectored(range(1 if row.size and np.isfinite(row).all() else self.longest + 1), *row)
            for row in rows
        ]

    def logits(self, batch: list[Vectored]) -> Floats:
        """The raw outputs for a batch."""
        return self.head.logits(
            np.stack([v.first for v in batch]), np.stack([v.second for v in batch])
        )


class VectorNliRespondent:
    """An encoder with a classifier on it, asked as an NLI classifier is."""

    kinds: frozenset[Kind] = NliRespondent.kinds

    def __init__(
        self, name: str, revision: str, route: VectorRoute, options: RespondentOptions
    ) -> None:
        self.route = route
        # A part and not the parent: whoever looks for an NliRespondent wants the network that it has, and this one has none.
        self.asked = NliRespondent(name, revision, cast("OnnxRoute", route), options)
        self.identity, self.labels, self.unanswered = (
            self.asked.identity,
            self.asked.labels,
            self.asked.unanswered,
        )
        self.spread = self.asked.spread
        self.traits: Mapping[str, str] = {**self.asked.traits, "encoder": route.encoder.identity}

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """Logits, columns in the order of `labels`; of a choice one set for each option, or the one number of the scoring."""
        return self.asked.answer(probes)

    def embed(self, texts: Sequence[str]) -> Floats:
        """The encoder's vectors, which are all that the head reads."""
        return self.route.encoder.embed(texts)


def open_sentences(reference: str, options: RespondentOptions | None = None) -> EncoderRespondent:
    """The sentence encoder that a head stands on; an error where the reference names something else."""
    asked = options or RespondentOptions()
    found = ENCODERS.open(
        reference, RespondentOptions(batch_size=asked.batch_size, device=asked.device)
    )
    if not isinstance(found, EncoderRespondent):
        raise LoadError(
            f"'{reference}' is a next-sentence head; a classifier on sentence vectors needs a sentence encoder, such as universal"
        )
    return found


def revision_of_head(folder: Path) -> str:
    """Twelve digits that change with the weights, the labels or the encoder."""
    return revision_of(
        folder,
        SimpleNamespace(name=VectorRoute.name, weights=[folder / SETTINGS, folder / WEIGHTS]),
    )


def settle_reference(reference: str) -> str:
    """The reference as it is written down: the folder of an encoder is named in full, so that it is found from everywhere."""
    prefix = ENCODER if reference.startswith(ENCODER) else ""
    folder = Path(reference.removeprefix(prefix)).expanduser()
    return f"{prefix}{folder.resolve()}" if folder.is_dir() else reference


class VectorNliSource:
    """Folders with a classifier on sentence vectors."""

    name = "vector-nli"
    kinds: frozenset[Kind] = VectorNliRespondent.kinds
    description = "Classifiers on the vectors of a sentence encoder, made by `evenhand train vectors`: a local folder, asked in numpy."
    examples = ("./my-head",)

    def claims(self, reference: str) -> bool:
        """Folders that say so themselves."""
        return has_head(Path(reference).expanduser())

    def open(self, reference: str, options: RespondentOptions) -> VectorNliRespondent:
        """The classifier in the folder, on the encoder that it was trained on and no other."""
        if form := find_form(options.form):
            raise EvenhandError(
                f"'{reference}' reads premise and hypothesis apart, so it cannot be asked the supposition '{form.name}'; leave out --form"
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
                f"{folder} was trained on the vectors of '{head.encoder}' at {head.revision}, and here that is {revision}, whose vectors mean something else. "
                "Give it the same version of the encoder, or train the head again with `evenhand train vectors`."
            )
        return VectorNliRespondent(
            folder.resolve().name, revision_of_head(folder), VectorRoute(head, encoder), options
        )


RESPONDENT = VectorNliSource()
