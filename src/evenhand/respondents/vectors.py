"""Where does a model place a sentence? One vector a sentence, of encoders and of classifiers alike.

An encoder (`encoder:FOLDER`) has sentence vectors of its own. Of a classifier it is the vector that its last linear layer reads: all that the labels are
made of. Classifiers were trained on pairs; here each reads one sentence alone, between its usual first and last token.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.encoding import Encoded, cut_batches, pad_batch
from evenhand.respondents.nli import NliRespondent
from evenhand.respondents.onnx_route import OnnxRoute
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.transformers_route import TransformersRoute

_LINEAR = ("Gemm", "MatMul", "FusedMatMul", "MatMulInteger", "QGemm", "QLinearMatMul")
_QUANTISED = (
    "DynamicQuantizeLinear",
    "QuantizeLinear",
    "DequantizeLinear",
)  # a vector in whole numbers; the one before it is meant


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """A model that gives every sentence a vector."""

    identity: str
    about: str  # which vector it is
    embed: Callable[[Sequence[str]], Floats]


def open_vectors(reference: str, options: RespondentOptions) -> Vectors:
    """The sentence vectors of the model that the user named; an error where it has none."""
    respondent = open_respondent(
        reference, "choice", options
    )  # who chooses between sentences is who has their vectors
    if isinstance(respondent, NliRespondent):
        return Vectors(
            identity=respondent.identity,
            about="what the classification head reads",
            embed=head_reader(respondent),
        )
    if not callable(embed := getattr(respondent, "embed", None)):
        raise LoadError(
            f"'{reference}' has no sentence vectors. Give a classifier (default, a folder, a hub id), or an encoder: "
            "encoder:MODEL takes the encoder out of a model with another head"
        )
    return Vectors(
        identity=respondent.identity,
        about="sentence vector",
        embed=lambda texts: np.asarray(embed(list(texts)), dtype=np.float64),
    )


def head_reader(respondent: NliRespondent) -> Callable[[Sequence[str]], Floats]:
    """A function from sentences to the vectors that the classifier's last linear layer reads."""
    route = respondent.route
    read = _onnx_reader(route) if isinstance(route, OnnxRoute) else _torch_reader(route)

    def embed(texts: Sequence[str]) -> Floats:
        encoded = route.encode(list(texts))
        for text, one in zip(texts, encoded, strict=True):
            if len(one.ids) > route.longest:
                raise LoadError(
                    f"'{text[:80]}' has {len(one.ids)} tokens; {respondent.identity} takes {route.longest}"
                )
        rows: dict[int, Floats] = {}
        for batch in cut_batches([len(e.ids) for e in encoded], respondent.batch_size):
            found = read([encoded[i] for i in batch])
            if found.ndim != 2:
                raise LoadError(
                    f"the head of {respondent.identity} reads a vector a token (shape {found.shape}), not one a sentence: name its encoder as encoder:FOLDER"
                )
            rows.update(zip(batch, found, strict=True))
        return np.asarray([rows[i] for i in range(len(texts))], dtype=np.float64)

    return embed


def _torch_reader(route: TransformersRoute) -> Callable[[list[Encoded]], Floats]:
    """The last linear layer with as many outputs as there are labels, caught as it is called."""
    heads = [
        m
        for m in route.model.modules()
        if isinstance(m, route.torch.nn.Linear) and m.out_features == route.width
    ]
    if not heads:
        raise LoadError(
            f"'{route.reference}' has no linear layer with {route.width} outputs, so the vector that its head reads cannot be found"
        )

    def read(batch: list[Encoded]) -> Floats:
        caught: list[Any] = []
        hooks = [
            head.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0].detach()))
            for head in heads
        ]
        try:
            route.logits(batch)
        finally:
            for hook in hooks:
                hook.remove()
        return np.asarray(caught[-1].float().cpu().numpy(), dtype=np.float64)

    return read


def find_head_input(graph: Any) -> str:
    """The name of the tensor that the last linear operation before the first output of an ONNX graph reads."""
    makers = {name: node for node in graph.node for name in node.output}
    weights = {w.name for w in graph.initializer} | {
        name for node in graph.node if node.op_type == "Constant" for name in node.output
    }
    waiting, seen = [graph.output[0].name], set()
    while waiting:
        node = makers.get(waiting.pop(0))
        if node is None or node.output[0] in seen:
            continue
        seen.add(node.output[0])
        if node.op_type in _LINEAR:
            found: str = next(name for name in node.input if name not in weights)
            while found in makers and makers[found].op_type in _QUANTISED:
                found = makers[found].input[0]
            return found
        waiting += [name for name in node.input if name not in weights]
    raise LoadError(
        f"no linear layer (Gemm, MatMul) leads to the output '{graph.output[0].name}' of the ONNX graph"
    )


def _onnx_reader(route: OnnxRoute) -> Callable[[list[Encoded]], Floats]:
    """The same graph, in memory, with the vector as one output more."""
    session, name = _open_with_vector(route.graph)

    def read(batch: list[Encoded]) -> Floats:
        feed = pad_batch(batch, route.pad, route.fixed_length)
        return np.asarray(
            session.run([name], {n: feed[n] for n in route.inputs})[0], dtype=np.float64
        )

    return read


def _open_with_vector(path: Path) -> tuple[Any, str]:
    import onnxruntime

    try:
        import onnx
    except ImportError as error:
        raise LoadError(
            f"the vectors inside {path.name} are read with onnx, which is not installed: pip install 'evenhand[picture]'"
        ) from error
    model = onnx.load(str(path))
    name = find_head_input(model.graph)
    if name not in {o.name for o in model.graph.output}:
        model.graph.output.append(onnx.ValueInfoProto(name=name))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ.get("EVENHAND_THREADS", "0"))
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(
            model.SerializeToString(), options, providers=["CPUExecutionProvider"]
        ), name
    except (
        Exception
    ) as error:  # onnxruntime and protobuf (more than 2 GB) have exceptions of their own
        raise LoadError(
            f"{path} cannot be opened with its inner vector as an output: {str(error).splitlines()[0][:300]}"
        ) from error
