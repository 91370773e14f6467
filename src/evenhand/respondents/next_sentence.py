"""Next-sentence heads: logit of "is next" minus logit of "is not", for each option of a choice.

`nsp:MODEL` asks a BERT whether the option is the next sentence after its context. Of the two
logits the first means "is next" (transformers: BertForNextSentencePrediction, FNet, MobileBERT ...
alike).

`--scoring stereoset-code` takes the index that the released code of StereoSet takes: 0 where the
model's name starts with `bert` or is `roberta-base`, else 1, whatever the index means to the model.
Its probability is kept as log-odds, which order options alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from evenhand.core.answers import Replies, Silence
from evenhand.core.errors import UnknownNameError
from evenhand.core.probe import SCORE, Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.candidates import pairs_of
from evenhand.respondents.encoder import EMPTY_OPTION, NO_CONTEXT, SAME_TOKENS
from evenhand.respondents.locate import ModelSource
from evenhand.respondents.location import UNKNOWN, Location
from evenhand.respondents.networks.batches import Encoded, batch_traits, cut_batches
from evenhand.respondents.networks.onnx import OnnxNextSentence
from evenhand.respondents.networks.tokens import encode
from evenhand.respondents.networks.torch import TorchNextSentence
from evenhand.respondents.replies import collect, too_long
from evenhand.respondents.token_scores import RELEASED

IS_NEXT, IS_NOT = 0, 1


def released_index(model: str) -> int:
    """The index of the logit that the released code of StereoSet takes for a model's name."""
    return 0 if model.startswith("bert") or model == "roberta-base" else 1


class NextSentenceNetwork(Protocol):
    """What the respondent needs of a network."""

    name: str
    precision: str
    is_read_alone: bool  # the batch changes its answers, so each pair is read alone
    tokenizer: Any
    longest: int

    def logits(self, batch: list[Encoded]) -> Floats:
        """Two raw outputs per pair."""
        ...


class NextSentenceRespondent:
    """A next-sentence head."""

    kinds: frozenset[Kind] = frozenset({"choice"})
    reads_tags = False

    def __init__(
        self, name: str, revision: str, network: NextSentenceNetwork, options: RespondentOptions
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.is_cacheable = revision != UNKNOWN
        self.network = network
        self.batch_size = 1 if network.is_read_alone else options.batch_size
        scoring = f"next-sentence/logit {IS_NEXT} (is next) - logit {IS_NOT} (is not)"
        self.index = IS_NEXT
        if options.scoring == RELEASED:
            self.index = released_index(name.removeprefix(NextSentenceSource.prefix))
            scoring = f"{RELEASED}/logit {self.index} - logit {1 - self.index}"
        self.traits: Mapping[str, str] = {
            "scoring": scoring,
            "precision": network.precision,
            **batch_traits(network.is_read_alone),
            "route": network.name,
        }

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """One score."""
        return (SCORE,)

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """One difference of logits per option."""
        pairs = [pair for p in probes for pair in pairs_of(p)]
        whole = list(dict.fromkeys(pair for pair in pairs if all(t.strip() for t in pair)))
        encoded = dict(zip(whole, encode(self.network.tokenizer, whole), strict=True))
        options = [[encoded[pair] for pair in pairs_of(p) if pair in encoded] for p in probes]
        silences = [self._silence(p, cut) for p, cut in zip(probes, options, strict=True)]
        asked = [cut for cut, silence in zip(options, silences, strict=True) if silence is None]
        scores = self._ask(list(dict.fromkeys(pair for cut in asked for pair in cut)))
        answers = [
            silence or np.asarray([[scores[pair]] for pair in cut])
            for cut, silence in zip(options, silences, strict=True)
        ]
        return collect(probes, 1, answers)

    def _silence(self, probe: Probe, cut: Sequence[Encoded]) -> Silence | None:
        """Why a probe cannot be answered; None where it can."""
        if not probe.texts[0].strip():
            return NO_CONTEXT
        if len(cut) < probe.option_count:
            return EMPTY_OPTION
        if max(len(pair.ids) for pair in cut) > self.network.longest:
            return too_long(self.network.longest)
        return SAME_TOKENS if len(set(cut)) < len(set(probe.texts[1:])) else None

    def _ask(self, pairs: Sequence[Encoded]) -> dict[Encoded, float]:
        """The logit that counts minus the other one, for every pair."""
        scores: dict[Encoded, float] = {}
        for batch in cut_batches([len(pair.ids) for pair in pairs], self.batch_size):
            rows = [pairs[i] for i in batch]
            logits = self.network.logits(rows)
            leads = logits[:, self.index] - logits[:, 1 - self.index]
            scores.update(zip(rows, leads.tolist(), strict=True))
        return scores


class NextSentenceSource(ModelSource[NextSentenceRespondent]):
    """Folders and hub ids of models with a next-sentence head."""

    name = "next-sentence"
    kinds = NextSentenceRespondent.kinds
    description = "Next-sentence heads (`nsp:`): whether the option follows its context."
    examples = ("nsp:bert-base-uncased",)
    heads = frozenset({"next"})
    prefix = "nsp:"

    def check(self, options: RespondentOptions) -> None:
        """Refuse an unknown scoring before anything is loaded."""
        if options.scoring not in (None, RELEASED):
            raise UnknownNameError("scoring of next sentences", options.scoring, (RELEASED,))

    def build(self, location: Location, options: RespondentOptions) -> NextSentenceRespondent:
        """The next-sentence head at a location."""
        location.require_files()
        network: NextSentenceNetwork = (
            OnnxNextSentence(location)
            if location.graph
            else TorchNextSentence(location, options.device)
        )
        name = f"{self.prefix}{location.name}"
        return NextSentenceRespondent(name, location.revision, network, options)


RESPONDENT = NextSentenceSource()
