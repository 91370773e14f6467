"""Is the option the next sentence after its context? The next-sentence head of BERT: logit of "is next" less logit of "is not".

Of the two logits the first means "is next" (transformers: BertForNextSentencePrediction, FNet, MobileBERT ... alike).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoder_routes import encode
from evenhand.respondents.encoding import Encoded, cut_batches
from evenhand.respondents.heads import read_architecture, read_json
from evenhand.respondents.onnx_route import OnnxRoute
from evenhand.respondents.words_network import WordsNetwork

IS_NEXT, IS_NOT = 0, 1


class NextRoute(Protocol):
    """What the respondent needs of either route."""

    name: str
    precision: str
    tokenizer: Any
    longest: int
    weights: list[Path]

    def logits(self, batch: list[Encoded]) -> Floats:
        """Two raw outputs a pair."""
        ...


class NextOnnx(OnnxRoute):
    """A graph with two outputs, exported from a next-sentence head."""

    def __init__(self, folder: Path, graph: Path) -> None:
        super().__init__(folder, graph)
        told = read_architecture(self.config)
        if not told.endswith("ForNextSentencePrediction") or self.width != 2:
            raise LoadError(
                f'{graph} has {self.width} outputs and its config.json names {told or "no class"}: whether they mean "is next" and "is not" cannot be told. '
                "Export a BertForNextSentencePrediction."
            )


class NextTransformers(WordsNetwork):
    """BERT and its like, with the head that was trained on pairs of sentences."""

    def __init__(self, reference: str, device: str) -> None:
        refuse_headless(reference)
        super().__init__(reference, device, "AutoModelForNextSentencePrediction")
        if untrained := sorted(
            self.missing, key=lambda key: "seq_relationship" not in key
        ):  # the head itself first
            raise LoadError(
                f"'{reference}' has no trained next-sentence head ({', '.join(untrained[:3])} not among its weights): its answers would be random. "
                "Give a model that was trained on next sentences, such as bert-base-uncased."
            )
        self.settle()

    def logits(self, batch: list[Encoded]) -> Floats:
        """One run of the network."""
        return np.asarray(self.forward(batch).logits.float().cpu().numpy(), dtype=np.float64)


def refuse_headless(reference: str) -> None:
    """An error where no model of this family was ever trained on next sentences."""
    family = str((read_json(reference, "config.json") or {}).get("model_type") or "")
    try:
        from transformers.models.auto import modeling_auto
    except ImportError:
        return  # loading will say what is not installed
    known = modeling_auto.MODEL_FOR_NEXT_SENTENCE_PREDICTION_MAPPING_NAMES
    if family and family not in known:
        raise LoadError(
            f"'{reference}' is of the family {family}, which has no next-sentence head; {', '.join(sorted(known))} have"
        )


class NextRespondent:
    """A next-sentence head."""

    kinds: frozenset[Kind] = frozenset({"choice"})
    labels: tuple[str, ...] = ()  # those of the suite: the options

    def __init__(
        self, name: str, revision: str, route: NextRoute, options: RespondentOptions
    ) -> None:
        self.identity = f"{name}@{revision}"
        self.route = route
        self.batch_size = options.batch_size
        self.unanswered: dict[str, int] = {}
        self.traits: Mapping[str, str] = {
            "scoring": f"next-sentence/logit {IS_NEXT} (is next) - logit {IS_NOT} (is not)",
            "precision": route.precision,
            "route": route.name,
        }

    def answer(self, probes: Sequence[Probe]) -> Floats:
        """One difference of logits an option; NaN where it cannot be told."""
        values = np.full((len(probes), max((p.width for p in probes), default=0)), np.nan)
        asked = list(
            dict.fromkeys(
                (p.texts[0], t)
                for p in probes
                for t in p.texts[1:]
                if p.texts[0].strip() and t.strip()
            )
        )
        encoded = dict(zip(asked, encode(self.route.tokenizer, asked), strict=True))
        rows: dict[int, list[Encoded]] = {}
        for row, probe in enumerate(probes):
            cut = [
                encoded[probe.texts[0], text]
                for text in probe.texts[1:]
                if (probe.texts[0], text) in encoded
            ]
            if reason := self._refusal(probe, cut):
                self.unanswered[reason] = self.unanswered.get(reason, 0) + 1
            else:
                rows[row] = cut
        said = self._ask(list(dict.fromkeys(pair for cut in rows.values() for pair in cut)))
        for row, cut in rows.items():
            values[row, : len(cut)] = [said[pair] for pair in cut]
        return values

    def _refusal(self, probe: Probe, cut: Sequence[Encoded]) -> str:
        """Why a probe cannot be answered; empty where it can."""
        if not probe.texts[0].strip():
            return "there is no context to compare the options with"
        if len(cut) < probe.width:
            return "an option is empty"
        if max(len(pair.ids) for pair in cut) > self.route.longest:
            return f"longer than the model's {self.route.longest} tokens"
        return (
            "the tokeniser cannot tell two options apart"
            if len(set(cut)) < len(set(probe.texts[1:]))
            else ""
        )

    def _ask(self, pairs: Sequence[Encoded]) -> dict[Encoded, float]:
        """Logit of "is next" less logit of "is not" of every pair."""
        said: dict[Encoded, float] = {}
        for batch in cut_batches([len(pair.ids) for pair in pairs], self.batch_size):
            rows = [pairs[i] for i in batch]
            logits = self.route.logits(rows)
            said.update(zip(rows, (logits[:, IS_NEXT] - logits[:, IS_NOT]).tolist(), strict=True))
        return said
