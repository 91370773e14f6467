"""How likely does a causal language model (GPT-2, Llama ...) find each candidate for a blank, or each option of a choice? Log-likelihoods, one column a candidate.

MODEL is `causal:` and a folder, a hub id or an alias of a model that comes in a package. Such a model sees only what comes before, so it is asked for texts:

blanks     log-likelihood of the whole sentence with the candidate in it, summed over all its tokens; log p_male - log p_female is then the log-ratio of two
           sentences, and no word is too long and no blank too early for it. So Japanese blanks, for which there is no masked model here, can be answered.
           A choice that names a sentence and its words (`likelihood.py`) is asked in the same way. `--length mean` divides by the tokens of the sentence.
options    behind a context: log-likelihood of the option's tokens given the context; `auto` and `mean` divide by their number, `sum` does not.
sentences  without a context: log-likelihood of the whole sentence, summed. The rules `shared` and `changed` of CrowS-Pairs need a masked model.

The first token is predicted too: before every text stands the token with which the model's texts start (BOS; EOS, which parts texts, where there is none).
The signature names it as `start`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.blanks import Filling, Unanswerable, find_places
from evenhand.respondents.causal_routes import CausalRoute, CausalTransformers
from evenhand.respondents.likelihood import (
    Wanted,
    blank_texts,
    check_words,
    find_options,
    is_continued,
    read_plan,
    shown_texts,
    warn_of_unknown,
)
from evenhand.respondents.places import revision_of
from evenhand.respondents.weighing import Plan, check_rules, weigh
from evenhand.respondents.wheels import CAUSAL_NAMES, WHEELS, locate

PREFIX = "causal:"


class CausalRespondent:
    """A model with its rules settled."""

    kinds: frozenset[Kind] = frozenset({"mask", "choice"})
    labels: tuple[str, ...] = ()  # those of the suite: the roles of the candidates

    def __init__(
        self, name: str, revision: str, route: CausalRoute, options: RespondentOptions
    ) -> None:
        if options.scoring is not None:
            raise EvenhandError(
                f"scoring '{options.scoring}' is a rule of masked models; a causal model reads from left to right: leave it out"
            )
        check_rules("together", options.length)
        self.identity = f"{name}@{revision}"
        self.route = route
        self.batch_size, self.length = options.batch_size, options.length
        self.unanswered: dict[str, int] = {}
        self.has_warned = False
        start = "none" if route.start is None else str(route.tokenizer.id_to_token(route.start))
        self.traits: Mapping[str, str] = {
            "scoring": "likelihood",
            "length": self.length,
            "start": start,
            "precision": route.precision,
            "route": route.name,
        }

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """One log-likelihood a candidate; NaN where it cannot be told."""
        values = np.full((len(probes), max((p.width for p in probes), default=0)), np.nan)
        texts = [shown_texts(p) for p in probes]
        encodings = iter(
            self.route.tokenizer.encode_batch(
                [t for group in texts for t in group], add_special_tokens=False
            )
        )
        plan, strange = Plan(), []
        wanted: dict[int, tuple[Wanted, str]] = {}
        for row, (probe, group) in enumerate(zip(probes, texts, strict=True)):
            cut = [next(encodings) for _ in group]
            if self.route.unknown is not None and any(self.route.unknown in e.ids for e in cut):
                strange.append(probe.id)
            found = self._find(probe, cut)
            if isinstance(found, Unanswerable):
                self.unanswered[found.reason] = self.unanswered.get(found.reason, 0) + 1
            else:
                wanted[row] = [self._wants(plan, part) for part in found[0]], found[1]
        if strange and not self.has_warned:
            self.has_warned = True  # once, not once a chunk
            warn_of_unknown(self.identity, strange)
        numbers = read_plan(plan, self.route, self.batch_size)
        for row, (wants, length) in wanted.items():
            values[row, : len(wants)] = weigh(numbers, wants, length)
        return values

    def _find(self, probe: Probe, cut: Sequence[Any]) -> tuple[list[Filling], str] | Unanswerable:
        """Which tokens of each text count, and how they are added up; or why the probe cannot be answered."""
        if max(len(e.ids) for e in cut) + (self.route.start is not None) > self.route.longest:
            return Unanswerable(f"longer than the model's {self.route.longest} tokens")
        found = self._parts(probe, cut)
        if not isinstance(found, Unanswerable):
            if any(part.start == part.end for part in found[0]):
                return Unanswerable("a sentence has no tokens")
            if self.route.start is None and any(part.start == 0 for part in found[0]):
                return Unanswerable(
                    "the tokeniser has no token for the start of a text, and nothing predicts the first word"
                )
        return found

    def _parts(self, probe: Probe, cut: Sequence[Any]) -> tuple[list[Filling], str] | Unanswerable:
        whole = [Filling(tuple(e.ids), 0, len(e.ids)) for e in cut]
        if blanks := blank_texts(probe):
            wrong = check_words(probe) or find_places(
                blanks, cut, self.route.unknown
            )  # a word that it cannot write has no likelihood
            return (
                wrong
                if isinstance(wrong, Unanswerable)
                else (whole, "mean" if self.length == "mean" else "sum")
            )
        if is_continued(probe):
            options = find_options(probe, cut, self.route.unknown)
            return (
                options
                if isinstance(options, Unanswerable)
                else (options, "sum" if self.length == "sum" else "mean")
            )
        rule = probe.tags.get("scoring", "whole")
        if rule != "whole" or probe.texts[0]:
            return Unanswerable(
                f"a causal model weighs sentences without a context as a whole, not by the rule '{rule}'"
            )
        return whole, "sum"

    def _wants(self, plan: Plan, part: Filling) -> list[int]:
        before = () if self.route.start is None else (self.route.start,)
        text = (*before, *part.ids)
        return [
            plan.want(text, k, text[k])
            for k in range(part.start + len(before), part.end + len(before))
        ]


class CausalSource:
    """Folders, aliases and hub ids of causal language models."""

    name = "causal"
    kinds: frozenset[Kind] = CausalRespondent.kinds
    description = "Causal language models (GPT-2, Llama ...): causal: and a local folder (weights or GGUF) or a hub id."
    examples: tuple[str, ...] = (*CAUSAL_NAMES, "causal:./my-causal-model", "causal:gpt2")

    def claims(self, reference: str) -> bool:
        """Anything that starts with `causal:`, and the causal models that have a name here."""
        return reference.startswith(PREFIX) or reference in CAUSAL_NAMES

    def open(self, reference: str, options: RespondentOptions) -> CausalRespondent:
        """The causal model behind the colon."""
        name = reference.removeprefix(PREFIX)
        folder = locate(WHEELS[name]) if name in WHEELS else Path(name).expanduser()
        if name and folder.is_dir():
            found = CausalTransformers(str(folder), options.device)
            return CausalRespondent(
                name if name in WHEELS else folder.resolve().name,
                revision_of(folder, found),
                found,
                options,
            )
        if name[:1] in ("", ".", "/", "~") or name.count("/") > 1 or ":" in name or " " in name:
            raise LoadError(
                f"unknown model '{reference}': there is no such folder. Give causal: and a folder that exists, or a hub id such as causal:gpt2."
            )
        route = CausalTransformers(name, options.device)
        return CausalRespondent(name, (route.commit or "unknown")[:12], route, options)


RESPONDENT = CausalSource()
