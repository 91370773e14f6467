"""Causal language models (GPT-2, Llama ...): the log-likelihood of each candidate or option.

MODEL is `causal:` and a folder, a hub id or the name of a model that comes in a package. Such a
model sees only what comes before, so it is asked for texts:

blanks     log-likelihood of the whole sentence with the candidate in it, summed over all its
           tokens; log p_male - log p_female is then the log-ratio of two sentences, which is
           defined for words of any length and blanks anywhere. So Japanese blanks, for which there
           is no masked model here, can be answered. A choice that names a sentence and its words
           is asked in the same way. `--length mean` divides by the tokens of the sentence.
options    after a context: log-likelihood of the option's tokens given the context; `auto` and
           `mean` divide by their number, `sum` does not.
sentences  without a context: log-likelihood of the whole sentence, summed. The rules `shared` and
           `changed` of CrowS-Pairs need a masked model.

The first token is predicted too: before every text stands the token with which the model's texts
start (BOS, or where there is none EOS, which separates texts). The signature names it as `start`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Protocol

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import SCORE, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.candidates import (
    PREMISES,
    TURNED,
    Span,
    blank_texts,
    check_words,
    find_blanks,
    find_options,
    is_continued,
    texts_to_read,
)
from evenhand.respondents.locate import ModelSource
from evenhand.respondents.location import UNKNOWN, Location
from evenhand.respondents.networks.batches import batch_traits
from evenhand.respondents.networks.causal import TorchCausal
from evenhand.respondents.packages import CAUSAL_NAMES
from evenhand.respondents.replies import no_answer, too_long
from evenhand.respondents.token_scores import (
    LookupPlan,
    Scored,
    TokenNetwork,
    check_rules,
    score_probes,
    warn_of_unknown,
)


class CausalNetwork(TokenNetwork, Protocol):
    """What the respondent needs of a network."""

    start: int | None  # the token that stands before every text; None where there is none


class CausalRespondent:
    """A model with its rules settled."""

    kinds: frozenset[Kind] = frozenset({"mask", "choice"})
    reads_tags = False

    def __init__(
        self, name: str, revision: str, network: CausalNetwork, options: RespondentOptions
    ) -> None:
        if options.scoring is not None:
            raise EvenhandError(
                f"scoring '{options.scoring}' is a rule of masked models; "
                "a causal model reads from left to right: leave it out"
            )
        check_rules("together", options.length)
        self.identity = f"{name}@{revision}"
        self.is_cacheable = revision != UNKNOWN
        self.network = network
        self.batch_size = 1 if network.is_read_alone else options.batch_size
        self.length = options.length
        self.has_warned = False
        has_start = network.start is not None
        start = str(network.tokenizer.id_to_token(network.start)) if has_start else "none"
        self.traits: Mapping[str, str] = {
            "scoring": "likelihood",
            "length": self.length,
            "start": start,
            "precision": network.precision,
            **batch_traits(network.is_read_alone),
            "route": network.name,
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """One score."""
        return (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """One log-likelihood per candidate or option."""
        texts = [texts_to_read(p) for p in probes]
        encodings = iter(
            self.network.tokenizer.encode_batch(
                [t for group in texts for t in group], add_special_tokens=False
            )
        )
        plan, with_unknown = LookupPlan(), []
        scored: list[Scored | Silence] = []
        for probe, group in zip(probes, texts, strict=True):
            cut = [next(encodings) for _ in group]
            if self.network.unknown is not None and any(self.network.unknown in e.ids for e in cut):
                with_unknown.append(probe.id)
            scored.append(self._score(probe, cut, plan))
        if with_unknown and not self.has_warned:
            self.has_warned = True  # once per respondent, not per chunk
            warn_of_unknown(self.identity, with_unknown)
        return score_probes(probes, scored, plan.read(self.network, self.batch_size))

    def _score(self, probe: Probe, cut: Sequence[Any], plan: LookupPlan) -> Scored | Silence:
        """Which tokens of each text count, and how they are added up; or why not."""
        if max(len(e.ids) for e in cut) + (self.network.start is not None) > self.network.longest:
            return too_long(self.network.longest)
        spans = self._spans(probe, cut)
        if isinstance(spans, Silence):
            return spans
        if any(span.start == span.end for span in spans):
            return no_answer("a sentence has no tokens")
        if self.network.start is None and any(span.start == 0 for span in spans):
            return no_answer(
                "the tokeniser has no token for the start of a text, "
                "and nothing predicts the first word"
            )
        return Scored([self._look_up(plan, span) for span in spans], self._length_rule(probe))

    def _length_rule(self, probe: Probe) -> str:
        """Options are compared by the mean of their tokens, everything else by the sum."""
        if blank_texts(probe):
            return "mean" if self.length == "mean" else "sum"
        if is_continued(probe):
            return "sum" if self.length == "sum" else "mean"
        return "sum"

    def _spans(self, probe: Probe, cut: Sequence[Any]) -> list[Span] | Silence:
        if is_continued(probe):
            return find_options(probe, cut, self.network.unknown)
        if blanks := blank_texts(probe):
            # a word that the tokeniser cannot write has no likelihood
            words = check_words(probe) or find_blanks(blanks, cut, self.network.unknown)
            if isinstance(words, Silence):
                return words
        else:
            rule = probe.tags.get("scoring", "whole")
            if rule == TURNED:
                return PREMISES
            if rule != "whole" or probe.texts[0]:
                return no_answer(
                    "a causal model weighs sentences without a context as a whole, "
                    f"not by the rule '{rule}'"
                )
        return [Span(tuple(e.ids), 0, len(e.ids)) for e in cut]

    def _look_up(self, plan: LookupPlan, span: Span) -> list[int]:
        before = () if self.network.start is None else (self.network.start,)
        text = (*before, *span.ids)
        positions = range(span.start + len(before), span.end + len(before))
        return [plan.look_up(text, k, text[k]) for k in positions]


class CausalSource(ModelSource[CausalRespondent]):
    """Folders, names and hub ids of causal language models."""

    name = "causal"
    kinds = CausalRespondent.kinds
    description = (
        "Causal language models (GPT-2, Llama ...): causal: and a local folder "
        "(weights or GGUF) or a hub id."
    )
    names = CAUSAL_NAMES
    examples = (*CAUSAL_NAMES, "causal:./my-causal-model", "causal:gpt2")
    heads = frozenset({"text"})
    prefix = "causal:"
    takes_any = False

    def build(self, location: Location, options: RespondentOptions) -> CausalRespondent:
        """The causal model at a location; its weights, even where a graph lies beside them."""
        location = replace(location, graph=None)
        network = TorchCausal(location, options.device)
        return CausalRespondent(location.name, location.revision, network, options)


RESPONDENT = CausalSource()
