"""What does an NLI classifier say to a premise and a hypothesis? Raw logits, columns entailment, neutral, contradiction.

MODEL is `default` (the embedded model), a folder in Hugging Face form (ONNX is asked without torch), or a hub id (extra `hf`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from evenhand.core.errors import LabelError
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import Floats, Kind, Probe
from evenhand.respondents.encoding import cut_batches
from evenhand.respondents.labels import LabelOrder, from_config, from_sanity, from_user
from evenhand.respondents.onnx_route import OnnxRoute
from evenhand.respondents.places import graph_of, looks_like_model, require_hub_id, revision_of
from evenhand.respondents.transformers_route import TransformersRoute
from evenhand.respondents.wheels import MASKED_NAMES


class NliRespondent:
    """A classifier with its label order settled."""

    kinds: frozenset[Kind] = frozenset({"pair"})

    def __init__(self, name: str, revision: str, route: OnnxRoute | TransformersRoute, options: RespondentOptions) -> None:
        self.identity = f"{name}@{revision}"
        self.route = route
        self.batch_size = options.batch_size
        self.unanswered: dict[str, int] = {}
        self.order = self._settle(options)
        self.labels = self.order.labels
        self.traits: Mapping[str, str] = {
            "labels": f"{self.order}/{self.order.how.split()[0]}", "scoring": "argmax", "precision": route.precision, "route": route.name,
        }  # fmt: skip

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
            raise LabelError(f"id2label says {told} but label2id says {other}; state the order with --label-map")
        return told or other or from_sanity(self._ask, self.route.width, options.language)

    def _ask(self, pairs: list[tuple[str, str]]) -> Floats:
        """Raw outputs in the model's own order; NaN for a pair that is too long for it."""
        encoded = self.route.encode(pairs)
        values = np.full((len(pairs), self.route.width), np.nan)
        fitting = [i for i, e in enumerate(encoded) if len(e.ids) <= self.route.longest]
        if long := len(pairs) - len(fitting):
            reason = f"longer than the model's {self.route.longest} tokens"
            self.unanswered[reason] = self.unanswered.get(reason, 0) + long
        for batch in cut_batches([len(encoded[i].ids) for i in fitting], self.batch_size):
            rows = [fitting[i] for i in batch]
            values[rows] = self.route.logits([encoded[i] for i in rows])
        return values

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """Logits, columns in the order of `labels`."""
        return np.asarray(self._ask([(p.texts[0], p.texts[1]) for p in probes])[:, list(self.order.columns)])


class NliSource:
    """Folders, hub ids and the embedded default."""

    name = "nli"
    kinds: frozenset[Kind] = frozenset({"pair"})
    description = "NLI classifiers: the embedded default, a local folder (ONNX or safetensors), or a hub id."
    examples = ("default", "./my-model", "cross-encoder/nli-deberta-v3-base")

    def claims(self, reference: str) -> bool:
        """Everything that has no `kind:` in front and everything that is a folder, but not the masked models that have a name here."""
        return looks_like_model(reference) and reference not in MASKED_NAMES

    def open(self, reference: str, options: RespondentOptions) -> NliRespondent:
        """The classifier behind `reference`."""
        is_default = reference == "default"
        folder = Path(str(files("evenhand") / "models" / "default")) if is_default else Path(reference).expanduser()
        if folder.is_dir():
            graph = graph_of(folder)
            found = OnnxRoute(folder, graph) if graph else TransformersRoute(str(folder), options.device)
            return NliRespondent("default" if is_default else folder.resolve().name, revision_of(folder, found), found, options)
        require_hub_id(reference, ["default"])
        route = TransformersRoute(reference, options.device)
        return NliRespondent(reference, (route.commit or "unknown")[:12], route, options)


RESPONDENT = NliSource()
