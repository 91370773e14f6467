"""A tiny sentence encoder (the hidden layer of the tiny masked model), its similarities by hand."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from masked_models import (
    HIDDEN,
    POSITIONS,
    WEIGHT_STD,
    TinyMasked,
    pieces,
    save_words,
    write_masked,
)
from models import TinyModel, write_model
from onnx import TensorProto, helper

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.locate import open_respondent

BATCHES = (1, 3, 64, None)
TEXTS = (
    "The nurse said he left.",
    "She left.",
    "he",
    "The doctor was here, the man said to the woman, the boy sleeps.",
    "他是医生。",
    "a nurse is here",
)


def choice(context: str, *options: str, identity: str = "") -> Probe:
    name = identity or "|".join((context, *options))
    return Probe(
        id=name, kind="choice", language="en", texts=(context, *options), stratum="S", cluster=name
    )


PROBES = (
    choice("The nurse left.", "he is a nurse", "she is a nurse"),
    choice(
        "the doctor sleeps",
        "The man runs.",
        "The woman runs.",
        "they sing to the boy, the girl said",
    ),
    choice("男孩在说", "他是医生。", "她是医生。"),
    choice("The nurse left.", "she is a nurse"),
)


def write_encoder(
    folder: Path,
    form: str = "tokens",
    *,
    length: int | str = "length",
    name: str = "",
    longest: int = 40,
    **config: Any,
) -> Path:
    """A vector a token (`tokens`), or the mean over those that are no padding (`sentence`)."""
    write_masked(folder, length=length, longest=longest, architectures=["BertModel"], **config)
    graph = TinyMasked().graph("plain", length)
    del graph.graph.node[-2:], graph.graph.output[:]
    name = name or "hidden"
    if form == "sentence":
        name = name if name != "hidden" else "sentence_embedding"
        graph.graph.node.extend(
            [
                helper.make_node("Mul", ["hidden", "wide"], ["inner"]),
                helper.make_node("ReduceSum", ["inner", "middle"], ["total"], keepdims=0),
                helper.make_node("ReduceSum", ["wide", "middle"], ["many"], keepdims=0),
                helper.make_node("Div", ["total", "many"], [name]),
            ]
        )
    shape = ["batch", HIDDEN] if form == "sentence" else ["batch", length, HIDDEN]
    graph.graph.output.extend([helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)])
    onnx.save(graph, str(folder / "model.onnx"))
    return folder


def write_modules(
    folder: Path,
    *names: str,
    pooling: dict[str, object] | None = None,
    place: str = "",
    **beside: object,
) -> Path:
    """What sentence-transformers writes beside a network."""
    paths = {"Transformer": place, **{n: f"{i}_{n}" for i, n in enumerate(names, 1)}}
    rows = [
        {"idx": i, "name": str(i), "path": p, "type": f"sentence_transformers.models.{n}"}
        for i, (n, p) in enumerate(paths.items())
    ]
    (folder / "modules.json").write_text(json.dumps(rows), encoding="utf-8")
    if "Pooling" in names:
        (folder / paths["Pooling"]).mkdir(exist_ok=True)
        (folder / paths["Pooling"] / "config.json").write_text(
            json.dumps(pooling or {}), encoding="utf-8"
        )
    (folder / place / "sentence_bert_config.json").write_text(json.dumps(beside), encoding="utf-8")
    return folder


def opened(reference: object, **options: Any) -> Any:
    return open_respondent(str(reference), "choice", RespondentOptions(**options))


def refusal(reference: object, **options: Any) -> str:
    with pytest.raises(LoadError) as refused:
        opened(reference, **options)
    assert "\n" not in str(refused.value)
    return str(refused.value)


def vector(text: str, pooling: str = "mean") -> list[float]:
    """The tiny encoder's vector of one text, number by number, without padding."""
    rows = TinyMasked().hidden(pieces().encode(text).ids).tolist()
    return (
        rows[0]
        if pooling == "cls"
        else [sum(column) / len(rows) for column in zip(*rows, strict=True)]
    )


def alike(one: Sequence[float], two: Sequence[float], similarity: str) -> float:
    dot = sum(a * b for a, b in zip(one, two, strict=True))
    if similarity == "distance":
        return -math.sqrt(sum((a - b) ** 2 for a, b in zip(one, two, strict=True)))
    return (
        dot
        if similarity == "dot"
        else dot / math.sqrt(sum(a * a for a in one) * sum(b * b for b in two))
    )


def slowly(probes: Sequence[Probe], pooling: str, similarity: str, read: Any = vector) -> Floats:
    rows = [
        [alike(read(p.texts[0], pooling), read(t, pooling), similarity) for t in p.texts[1:]]
        for p in probes
    ]
    return np.asarray([[*row, *[np.nan] * (max(map(len, rows)) - len(row))] for row in rows])


def write_next(folder: Path, **config: Any) -> Path:
    settings: dict[str, Any] = {"architectures": ["BertForNextSentencePrediction"], **config}
    return write_model(folder, TinyModel(outputs=2), labels=["LABEL_0", "LABEL_1"], **settings)


def save_bert(folder: Path, network: str, **config: Any) -> Path:
    """A tiny BERT of a class with random weights."""
    torch, hub = pytest.importorskip("torch"), pytest.importorskip("transformers")
    words = save_words(folder, "bert")
    torch.set_num_threads(1)
    torch.manual_seed(1)
    shape = {
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 64,
        "max_position_embeddings": POSITIONS,
    }
    getattr(hub, network)(
        hub.BertConfig(
            vocab_size=words.get_vocab_size(), initializer_range=WEIGHT_STD, **shape, **config
        )
    ).save_pretrained(folder)
    return folder
