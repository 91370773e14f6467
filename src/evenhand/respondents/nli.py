"""What does an NLI classifier say to a premise and a hypothesis? Raw logits, columns entailment, neutral, contradiction.

A choice is asked as one pair for each option: premise the context, hypothesis the option. Pair or supposition is the form of both kinds of probe, so that the
accuracy on ordinary pairs says how well the model understands what it is asked in that form.

MODEL is `default` (the embedded model), a folder in Hugging Face form (ONNX is asked without torch), or a hub id (extra `hf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from evenhand.core.errors import LabelError, UnknownNameError
from evenhand.core.probe import CONTRADICTION, NOT_ENTAILMENT, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoding import cut_batches
from evenhand.respondents.labels import LabelOrder, from_config, from_sanity, from_user
from evenhand.respondents.onnx_route import OnnxRoute
from evenhand.respondents.places import graph_of, looks_like_model, require_hub_id, revision_of
from evenhand.respondents.suppositions import find_form
from evenhand.respondents.transformers_route import TransformersRoute
from evenhand.respondents.wheels import WHEELS

Pair = tuple[str, str]  # premise, hypothesis
KEPT = 50_000  # pairs whose outputs are remembered: the suites of sentence reasoning share theirs
BARE = "a classifier needs a context and an option to compare"
BROKEN = "the model's outputs are no finite numbers"


class Said(NamedTuple):
    """What the network says to a pair, in its own order of labels, or why it says nothing."""

    logits: Floats
    reason: str


class NliRespondent:
    """A classifier with its label order settled, and its form: a pair, or a supposition."""

    kinds: frozenset[Kind] = frozenset({"pair", "choice"})

    def __init__(
        self,
        name: str,
        revision: str,
        route: OnnxRoute | TransformersRoute,
        options: RespondentOptions,
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.route = route
        self.batch_size = options.batch_size
        told = route.config.get(
            "evenhand_form"
        )  # what `evenhand train nli --form` wrote: the model is asked as it was taught
        self.form = find_form(options.form or (told if isinstance(told, str) else None))
        self.known: dict[Pair, Said] = {}
        self.unanswered: dict[str, int] = {}
        self.order = self._settle(options)
        self.labels = self.order.labels
        if options.scoring is not None and options.scoring not in self.labels:
            raise UnknownNameError("scoring of a classifier", options.scoring, self.labels)
        self.scoring = options.scoring
        self.spread = len(self.labels) if self.scoring is None else 1
        self.traits: Mapping[str, str] = {
            "labels": f"{self.order}/{self.order.how.split()[0]}",
            "scoring": self.scoring or "argmax",
            **({"form": self.form.name} if self.form else {}),
            "precision": route.precision,
            "route": route.name,
        }

    def _settle(self, options: RespondentOptions) -> LabelOrder:
        if options.label_map is not None:
            return from_user(options.label_map, self.route.width)
        try:
            names = {int(k): str(v) for k, v in (self.route.config.get("id2label") or {}).items()}
            reverse = {int(v): str(k) for k, v in (self.route.config.get("label2id") or {}).items()}
        except (AttributeError, TypeError, ValueError) as error:
            raise LabelError(
                f"id2label or label2id of the model's config cannot be read ({error}); state the order with --label-map"
            ) from error
        told, other = from_config(names, self.route.width), from_config(reverse, self.route.width)
        if told and other and told.columns != other.columns:
            raise LabelError(
                f"id2label says {told} but label2id says {other}; state the order with --label-map"
            )
        return told or other or from_sanity(self._outputs, self.route.width, options.language)

    def _outputs(self, pairs: list[Pair]) -> Floats:
        """Raw outputs in the model's own order."""
        said = self._ask(pairs)
        return np.asarray([said[pair].logits for pair in pairs])

    def _ask(self, pairs: Sequence[Pair]) -> dict[Pair, Said]:
        """What is said to each pair, asked once however often it comes."""
        asked = dict.fromkeys(pairs)
        fresh = [pair for pair in asked if pair not in self.known]
        self.known.update(zip(fresh, self._read(fresh), strict=True))
        found = {pair: self.known[pair] for pair in asked}
        for pair in list(islice(self.known, max(0, len(self.known) - KEPT))):  # the oldest first
            del self.known[pair]
        return found

    def _read(self, pairs: Sequence[Pair]) -> list[Said]:
        """The network itself, in batches of similar length."""
        encoded = self.route.encode(
            [self.form.write(*pair) for pair in pairs] if self.form else pairs
        )
        values = np.full((len(pairs), self.route.width), np.nan)
        is_fitting = [len(e.ids) <= self.route.longest for e in encoded]
        fitting = [i for i, fits in enumerate(is_fitting) if fits]
        for batch in cut_batches([len(encoded[i].ids) for i in fitting], self.batch_size):
            rows = [fitting[i] for i in batch]
            values[rows] = self.route.logits([encoded[i] for i in rows])
        long = f"longer than the model's {self.route.longest} tokens"
        return [
            Said(row, "" if np.isfinite(row).all() else BROKEN if fits else long)
            for row, fits in zip(values, is_fitting, strict=True)
        ]

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """Logits, columns in the order of `labels`; of a choice one set for each option, or the one number of the scoring."""
        asked = [
            [] if is_bare(p) else [(p.texts[0], option) for option in p.texts[1:]] for p in probes
        ]
        said = self._ask([pair for group in asked for pair in group])
        values = np.full(
            (len(probes), max((self._width(p) for p in probes), default=len(self.labels))), np.nan
        )
        for row, probe, group in zip(values, probes, asked, strict=True):
            if reason := next(
                (said[pair].reason for pair in group if said[pair].reason), "" if group else BARE
            ):
                self.unanswered[reason] = self.unanswered.get(reason, 0) + 1
                continue
            logits = np.stack([said[pair].logits for pair in group])[:, list(self.order.columns)]
            row[: self._width(probe)] = self._scored(logits, probe).reshape(-1)
        return values

    def _width(self, probe: Probe) -> int:
        return len(self.labels) if probe.kind == "pair" else probe.width * self.spread

    def _scored(self, logits: Floats, probe: Probe) -> Floats:
        """The label that is scored, the higher the more preferred: what speaks against an option counts with a minus."""
        if probe.kind == "pair" or self.scoring is None:
            return logits
        column = self.labels.index(self.scoring)
        return np.asarray(
            -logits[:, column]
            if self.scoring in (CONTRADICTION, NOT_ENTAILMENT)
            else logits[:, column]
        )


def is_bare(probe: Probe) -> bool:
    """Is there nothing to draw a conclusion from, or none to draw? A choice without a context, as in CrowS-Pairs, or with an empty option."""
    return probe.kind == "choice" and not all(text.strip() for text in probe.texts)


class NliSource:
    """Folders, hub ids and the embedded default."""

    name = "nli"
    kinds: frozenset[Kind] = NliRespondent.kinds
    description = (
        "NLI classifiers: the embedded default, a local folder (ONNX or safetensors), or a hub id."
    )
    examples = ("default", "./my-model", "cross-encoder/nli-deberta-v3-base")

    def claims(self, reference: str) -> bool:
        """Everything that has no `kind:` in front and everything that is a folder, but not the models of another kind that have a name here."""
        return looks_like_model(reference) and reference not in WHEELS

    def open(self, reference: str, options: RespondentOptions) -> NliRespondent:
        """The classifier behind `reference`."""
        find_form(options.form)  # an error now rather than after the loading
        is_default = reference == "default"
        folder = (
            Path(str(files("evenhand") / "models" / "default"))
            if is_default
            else Path(reference).expanduser()
        )
        if folder.is_dir():
            graph = graph_of(folder)
            found = (
                OnnxRoute(folder, graph)
                if graph
                else TransformersRoute(str(folder), options.device)
            )
            return NliRespondent(
                "default" if is_default else folder.resolve().name,
                revision_of(folder, found),
                found,
                options,
            )
        require_hub_id(reference, ["default"])
        route = TransformersRoute(reference, options.device)
        return NliRespondent(reference, (route.commit or "unknown")[:12], route, options)


RESPONDENT = NliSource()
