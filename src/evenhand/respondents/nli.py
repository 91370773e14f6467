"""NLI classifiers: raw logits for a premise and a hypothesis, labels in the standard order.

A choice is asked as one pair for each option: premise the context, hypothesis the option. Pair or
supposition is the form of both kinds of probe, so that the accuracy on ordinary pairs says how
well the model understands what it is asked in that form.

MODEL is `default` (the embedded model), a folder in Hugging Face form (ONNX is asked without
torch), or a hub id (extra `hf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, Protocol

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import LabelError, UnknownNameError
from evenhand.core.probe import CONTRADICTION, NOT_ENTAILMENT, SCORE, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.candidates import pairs_of
from evenhand.respondents.forms import find_form
from evenhand.respondents.labels import (
    LabelOrder,
    check_stated,
    from_config,
    from_sanity,
    from_user,
)
from evenhand.respondents.locate import ModelSource
from evenhand.respondents.location import UNKNOWN, Location
from evenhand.respondents.networks.batches import batch_traits, cut_batches
from evenhand.respondents.networks.onnx import OnnxClassifier
from evenhand.respondents.networks.torch import TorchClassifier
from evenhand.respondents.packages import DEFAULT
from evenhand.respondents.replies import collect, no_answer, too_long

Pair = tuple[str, str]  # premise, hypothesis
KEPT = 50_000  # pairs whose outputs are remembered, as several suites ask the same pairs
BARE = no_answer("a classifier needs a context and an option to compare")
BROKEN = no_answer("the model's outputs are no finite numbers")


class ClassifierNetwork(Protocol):
    """What the respondent needs of a network."""

    name: str
    precision: str
    is_read_alone: bool  # the batch changes its answers, so each pair is read alone
    width: int  # how many outputs
    longest: int

    @property
    def config(self) -> Mapping[str, Any]:
        """The settings of config.json."""
        ...

    def encode(self, texts: Sequence[Any]) -> list[Any]:
        """Pairs or single texts as the network reads them; each has `ids`."""
        ...

    def logits(self, batch: list[Any]) -> Floats:
        """The raw outputs for a batch."""
        ...


class Output(NamedTuple):
    """The network's logits for a pair, in its own order of labels, or why there are none."""

    logits: Floats
    silence: Silence | None


class NliRespondent:
    """A classifier with its label order settled, and its form: a pair, or a supposition."""

    kinds: frozenset[Kind] = frozenset({"pair", "choice"})
    reads_tags = False

    def __init__(
        self, name: str, revision: str, network: ClassifierNetwork, options: RespondentOptions
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.is_cacheable = revision != UNKNOWN
        self.network = network
        self.batch_size = 1 if network.is_read_alone else options.batch_size
        # `evenhand train nli --supposition` writes it: the model is asked as it was trained
        own_form = network.config.get("evenhand_form")
        self.form = find_form(options.form or (own_form if isinstance(own_form, str) else None))
        self.known: dict[Pair, Output] = {}
        self.order = self._find_order(options)
        self.labels = self.order.labels
        if options.scoring is not None and options.scoring not in self.labels:
            raise UnknownNameError("scoring of a classifier", options.scoring, self.labels)
        self.scoring = options.scoring
        self.traits: Mapping[str, str] = {
            "labels": f"{self.order}/{self.order.how.split()[0]}",
            "scoring": self.scoring or "argmax",
            **({"form": self.form.name} if self.form else {}),
            "precision": network.precision,
            **batch_traits(network.is_read_alone),
            "route": network.name,
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Its labels; one score for options where the user chose a label as the score."""
        return self.labels if kind == "pair" or self.scoring is None else (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Logits in the order of the labels, or the one number of the scoring."""
        asked = [[] if is_bare(p) else pairs_of(p) for p in probes]
        outputs = self._ask([pair for group in asked for pair in group])
        answers: list[Floats | Silence] = []
        for probe, group in zip(probes, asked, strict=True):
            silences = (outputs[pair].silence for pair in group)
            silence = next(filter(None, silences), None) if group else BARE
            if silence is not None:
                answers.append(silence)
                continue
            logits = np.stack([outputs[pair].logits for pair in group])
            answers.append(self._scored(logits[:, list(self.order.columns)], probe))
        kinds = {p.kind for p in probes} or {"pair"}
        return collect(probes, max(len(self.labels_for(kind)) for kind in kinds), answers)

    def _find_order(self, options: RespondentOptions) -> LabelOrder:
        width, config = self.network.width, self.network.config
        if options.label_map is not None:
            return from_user(options.label_map, width)
        try:
            names = {int(k): str(v) for k, v in (config.get("id2label") or {}).items()}
            reverse = {int(v): str(k) for k, v in (config.get("label2id") or {}).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise LabelError(
                f"id2label or label2id of the model's config cannot be read ({error}); "
                "state the order with --label-map"
            ) from error
        order, other = from_config(names, width), from_config(reverse, width)
        if order and other and order.columns != other.columns:
            raise LabelError(
                f"id2label says {order} but label2id says {other}; state the order with --label-map"
            )
        if stated := order or other:
            check_stated(stated, self._logits, options.language)
            return stated
        return from_sanity(self._logits, width, options.language)

    def _logits(self, pairs: list[Pair]) -> Floats:
        """Raw outputs in the model's own order."""
        outputs = self._ask(pairs)
        return np.asarray([outputs[pair].logits for pair in pairs])

    def _ask(self, pairs: Sequence[Pair]) -> dict[Pair, Output]:
        """The output for each pair, asked once however often it occurs."""
        asked = dict.fromkeys(pairs)
        fresh = [pair for pair in asked if pair not in self.known]
        self.known.update(zip(fresh, self._read(fresh), strict=True))
        outputs = {pair: self.known[pair] for pair in asked}
        for pair in list(islice(self.known, max(0, len(self.known) - KEPT))):  # the oldest first
            del self.known[pair]
        return outputs

    def _read(self, pairs: Sequence[Pair]) -> list[Output]:
        """The network itself, in batches of similar length."""
        network = self.network
        encoded = network.encode([self.form.write(*p) for p in pairs] if self.form else pairs)
        values = np.full((len(pairs), network.width), np.nan)
        is_fitting = [len(e.ids) <= network.longest for e in encoded]
        fitting = [i for i, fits in enumerate(is_fitting) if fits]
        for batch in cut_batches([len(encoded[i].ids) for i in fitting], self.batch_size):
            rows = [fitting[i] for i in batch]
            values[rows] = network.logits([encoded[i] for i in rows])
        long = too_long(network.longest)
        return [
            Output(row, None if np.isfinite(row).all() else BROKEN if fits else long)
            for row, fits in zip(values, is_fitting, strict=True)
        ]

    def _scored(self, logits: Floats, probe: Probe) -> Floats:
        """(option, label): all labels, or the one that is scored, the higher the more preferred.

        What speaks against an option counts with a minus.
        """
        if probe.kind == "pair" or self.scoring is None:
            return logits
        column = self.labels.index(self.scoring)
        sign = -1 if self.scoring in (CONTRADICTION, NOT_ENTAILMENT) else 1
        return np.asarray(sign * logits[:, [column]])


def is_bare(probe: Probe) -> bool:
    """Whether a choice lacks its context, as in CrowS-Pairs, or one of its options is empty."""
    return probe.kind == "choice" and not all(text.strip() for text in probe.texts)


class NliSource(ModelSource[NliRespondent]):
    """Folders, hub ids and the embedded default."""

    name = "nli"
    kinds = NliRespondent.kinds
    description = (
        "NLI classifiers: the embedded default, a local folder (ONNX or safetensors), or a hub id."
    )
    names = (DEFAULT,)
    examples = (DEFAULT, "./my-model", "cross-encoder/nli-deberta-v3-base")
    heads = frozenset({"labels"})

    def check(self, options: RespondentOptions) -> None:
        """Refuse an unknown form before anything is loaded."""
        find_form(options.form)

    def build(self, location: Location, options: RespondentOptions) -> NliRespondent:
        """The classifier at a location."""
        location.require_files()
        network: ClassifierNetwork = (
            OnnxClassifier(location)
            if location.graph
            else TorchClassifier(location, options.device)
        )
        return NliRespondent(location.name, location.revision, network, options)


RESPONDENT = NliSource()
