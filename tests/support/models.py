"""An NLI network of a few hundred numbers, as ONNX, with its own arithmetic in numpy beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordLevel
from tokenizers.processors import TemplateProcessing

from evenhand import lexicons
from evenhand.core.answers import Replies, Silence, Status
from evenhand.core.probe import Floats, Kind, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.engine.suites import load_suite
from evenhand.respondents.nli import RESPONDENT, NliRespondent

SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]")
USUAL = ("entailment", "neutral", "contradiction")
HIDDEN = 6
POSITIONS = 64  # how many tokens the transformers models take
# Of their random weights: large enough that pairs differ by whole logits (0.02, the usual value,
# gives 1e-4). Rounding in fp32 grows with it: batches of 64 differ from single pairs by 1.4e-6
# here and by 1.3e-5 at 0.6; batches of one by nothing at all.
WEIGHT_STD = 0.3


@cache
def vocabulary() -> dict[str, int]:
    """Every word of the English suites and sanity pairs."""
    texts = [
        t
        for name in ("occupation-nli", "ordinary-nli:plain", "ordinary-nli:hard")
        for p in load_suite(name, "en").probes
        for t in p.texts
    ]
    texts += [row[c] for row in lexicons.table("en", "sanity") for c in ("premise", "hypothesis")]
    words = sorted({w for t in texts for w in re.findall(r"\w+|[^\w\s]+", t.lower())})
    return {w: i for i, w in enumerate((*SPECIAL, *words))}


@dataclass(frozen=True)
class TinyModel:
    """logits = mean over the tokens of (word + segment) @ weights + bias."""

    outputs: int = 3
    seed: int = 0
    words: Floats = field(init=False)
    segments: Floats = field(init=False)
    weights: Floats = field(init=False)
    bias: Floats = field(init=False)

    def __post_init__(self) -> None:
        rng = np.random.default_rng(self.seed)
        shapes = {
            "words": (len(vocabulary()), HIDDEN),
            "segments": (2, HIDDEN),
            "weights": (HIDDEN, self.outputs),
            "bias": (self.outputs,),
        }
        for name, shape in shapes.items():
            object.__setattr__(
                self,
                name,
                rng.normal(scale=0.1 if name in {"bias", "segments"} else 2.0, size=shape).astype(
                    np.float32
                ),
            )
        # what every pair has in common decides nothing, so that each label is given to some pair
        self.words[: len(SPECIAL)] = 0

    def forward(self, premise: str, hypothesis: str) -> Floats:
        """What the network says, worked out here without onnxruntime and without padding."""
        first, second = (
            [vocabulary().get(w, 1) for w in re.findall(r"\w+|[^\w\s]+", t.lower())]
            for t in (premise, hypothesis)
        )
        ids, types = [2, *first, 3, *second, 3], [0] * (len(first) + 2) + [1] * (len(second) + 1)
        mean = (self.words[ids] + self.segments[types]).astype(np.float64).mean(axis=0)
        return np.asarray(mean @ self.weights + self.bias)

    def graph(
        self, length: int | str = "length", batch: int | str = "batch", extra_input: str = ""
    ) -> onnx.ModelProto:
        """The network as an ONNX graph."""
        names = [
            "input_ids",
            "attention_mask",
            "token_type_ids",
            *([extra_input] if extra_input else []),
        ]
        inputs = [
            helper.make_tensor_value_info(n, TensorProto.INT64, [batch, length]) for n in names
        ]
        output = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, self.outputs])
        constants = {
            "words": self.words,
            "segments": self.segments,
            "weights": self.weights,
            "bias": self.bias,
            "last": np.asarray([2], dtype=np.int64),
            "middle": np.asarray([1], dtype=np.int64),
        }
        nodes = [
            helper.make_node("Gather", ["words", "input_ids"], ["w"]),
            helper.make_node("Gather", ["segments", "token_type_ids"], ["s"]),
            helper.make_node("Add", ["w", "s"], ["both"]),
            helper.make_node("Cast", ["attention_mask"], ["mask"], to=TensorProto.FLOAT),
            helper.make_node("Unsqueeze", ["mask", "last"], ["wide"]),
            helper.make_node("Mul", ["both", "wide"], ["kept"]),
            helper.make_node("ReduceSum", ["kept", "middle"], ["sum"], keepdims=0),
            helper.make_node("ReduceSum", ["wide", "middle"], ["count"], keepdims=0),
            helper.make_node("Div", ["sum", "count"], ["mean"]),
            helper.make_node("MatMul", ["mean", "weights"], ["product"]),
            helper.make_node("Add", ["product", "bias"], ["logits"]),
        ]
        held = [numpy_helper.from_array(value, name) for name, value in constants.items()]
        built = helper.make_graph(nodes, "tiny", inputs, [output], initializer=held)
        return helper.make_model(built, ir_version=8, opset_imports=[helper.make_opsetid("", 17)])


def write_tokenizer(path: Path, lowercase: bool = True) -> None:
    """A tokenizer.json that splits at spaces and punctuation, one that knows pairs."""
    tokenizer = Tokenizer(WordLevel(vocabulary(), unk_token="[UNK]"))
    if lowercase:
        tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokenizer.save(str(path))


def write_model(
    folder: Path,
    model: TinyModel | None = None,
    *,
    labels: Sequence[str] = USUAL,
    longest: int | None = 128,
    length: int | str = "length",
    batch: int | str = "batch",
    extra_input: str = "",
    **config: object,
) -> Path:
    """A model folder: model.onnx, tokenizer.json, config.json with id2label from `labels`."""
    folder.mkdir(parents=True, exist_ok=True)
    model = model or TinyModel(outputs=len(labels))
    onnx.save(model.graph(length, batch, extra_input), str(folder / "model.onnx"))
    write_tokenizer(folder / "tokenizer.json")
    settings = {
        "id2label": {str(i): name for i, name in enumerate(labels)},
        "max_position_embeddings": longest,
        "pad_token_id": 0,
        **config,
    }
    (folder / "config.json").write_text(
        json.dumps({k: v for k, v in settings.items() if v is not None}), encoding="utf-8"
    )
    return folder


def open_model(
    folder: Path,
    *,
    batch_size: int | None = None,
    label_map: Mapping[str, int] | None = None,
    language: str = "en",
) -> NliRespondent:
    """The respondent in a folder."""
    return RESPONDENT.open(
        str(folder),
        RespondentOptions(batch_size=batch_size, label_map=label_map, language=language),
    )


def build_classifier(folder: Path, family: str, labels: tuple[str, ...] = USUAL) -> Path:
    """A tiny network with random weights, saved as transformers saves it."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    torch.manual_seed(0)
    pad = 0 if family == "bert" else 1  # RoBERTa's positions start behind this
    shape = {
        "vocab_size": len(vocabulary()),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
        "type_vocab_size": 2 if family == "bert" else 1,
        "pad_token_id": pad,
        "initializer_range": WEIGHT_STD,
        "id2label": dict(enumerate(labels)),
        "label2id": {n: i for i, n in enumerate(labels)},
    }
    config, network = {
        "bert": (hub.BertConfig, hub.BertForSequenceClassification),
        "roberta": (hub.RobertaConfig, hub.RobertaForSequenceClassification),
    }[family]
    folder.mkdir(parents=True, exist_ok=True)
    network(config(**shape)).save_pretrained(folder)
    write_tokenizer(folder / "words.json")
    names = ["input_ids", "attention_mask", *(["token_type_ids"] if family == "bert" else [])]
    special = {
        "pad_token": ("[PAD]", "[UNK]")[pad],
        "unk_token": "[UNK]",
        "cls_token": "[CLS]",
        "sep_token": "[SEP]",
    }
    words = hub.PreTrainedTokenizerFast(
        tokenizer_file=str(folder / "words.json"), model_input_names=names, **special
    )
    words.save_pretrained(folder)
    (folder / "words.json").unlink()
    return folder


class Counting:
    """A respondent that answers by the length of the texts and writes down what it was asked."""

    kinds: frozenset[Kind] = frozenset({"pair"})
    is_cacheable = True
    reads_tags = False

    def __init__(
        self, identity: str = "counting@1", silent: str = "", order: str = "e0n1c2"
    ) -> None:
        self.identity = identity
        self.silent = silent  # probes with this word get no answer
        self.traits: Mapping[str, str] = {"labels": order}
        self.calls: list[list[str]] = []

    @property
    def asked(self) -> list[str]:
        """The second text of every probe that was asked, in order."""
        return [text for call in self.calls for text in call]

    def labels_for(self, kind: Kind) -> tuple[str, ...]:
        """Three labels."""
        return USUAL

    def answer(self, probes: Sequence[Probe]) -> Replies:
        """Three numbers that depend on the texts alone."""
        self.calls.append([p.texts[1] for p in probes])
        values = np.asarray([truth(p) for p in probes]).reshape(len(probes), 1, 3)
        silences = {}
        for row, probe in enumerate(probes):
            if self.silent and self.silent in probe.texts[1]:
                values[row] = np.nan
                silences[row] = Silence(status=Status.NO_ANSWER, reason="silent")
        return Replies(values=values, silences=silences)


def truth(probe: Probe) -> tuple[float, float, float]:
    """What `Counting` says to a probe."""
    return (
        len(probe.texts[0]) / 7,
        len(probe.texts[1]) / 3,
        float(sum(map(ord, probe.texts[1])) % 11),
    )


def pairs(*texts: str, premise: str = "A nurse sleeps.") -> tuple[Probe, ...]:
    """Pair probes with these hypotheses, ids in order."""
    return tuple(
        Probe(id=f"p{i}", kind="pair", language="en", texts=(premise, t), stratum="PS", cluster=t)
        for i, t in enumerate(texts)
    )


def numbered(count: int) -> Iterator[str]:
    """So many different hypotheses."""
    return (f"A woman sleeps for {i} hours." for i in range(count))
