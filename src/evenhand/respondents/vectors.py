"""Where a model places a sentence: one vector per sentence, for encoders and classifiers alike.

An encoder (`encoder:FOLDER`) has sentence vectors of its own. Of a classifier it is the vector that
its last linear layer reads: all that the labels are made of. Classifiers were trained on pairs;
here each reads one sentence alone, between its usual first and last token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.core.protocols import RespondentOptions
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.location import first_line
from evenhand.respondents.networks.batches import Encoded, cut_batches, pad_batch
from evenhand.respondents.networks.onnx import OnnxClassifier, open_session
from evenhand.respondents.networks.torch import TorchClassifier
from evenhand.respondents.nli import NliRespondent

_LINEAR = ("Gemm", "MatMul", "FusedMatMul", "MatMulInteger", "QGemm", "QLinearMatMul")
# operations that turn a vector into whole numbers; the vector before them is the one wanted
_QUANTISED = ("DynamicQuantizeLinear", "QuantizeLinear", "DequantizeLinear")
Reader = Callable[[list[Encoded]], Floats]


@runtime_checkable
class Embedder(Protocol):
    """A respondent that has sentence vectors."""

    identity: str

    def embed(self, texts: Sequence[str]) -> Floats:
        """One vector per text."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Vectors:
    """A model that gives every sentence a vector."""

    identity: str
    about: str  # which vector it is
    embed: Callable[[Sequence[str]], Floats]


def open_vectors(reference: str, options: RespondentOptions) -> Vectors:
    """The sentence vectors of the model that the user named; raises LoadError if it has none."""
    # the respondents that choose between sentences are those that have sentence vectors
    respondent = open_respondent(reference, "choice", options)
    if isinstance(respondent, NliRespondent):
        return Vectors(
            identity=respondent.identity,
            about="what the classification head reads",
            embed=head_reader(respondent),
        )
    if isinstance(respondent, Embedder):
        return Vectors(
            identity=respondent.identity, about="sentence vector", embed=respondent.embed
        )
    raise LoadError(
        f"'{reference}' has no sentence vectors. Give a classifier (default, a folder, a hub id), "
        "or an encoder: encoder:MODEL takes the encoder out of a model with another head"
    )


def head_reader(respondent: NliRespondent) -> Callable[[Sequence[str]], Floats]:
    """A function from sentences to the vectors that the classifier's last linear layer reads."""
    network = respondent.network
    if isinstance(network, OnnxClassifier):
        read = _onnx_reader(network)
    elif isinstance(network, TorchClassifier):
        read = _torch_reader(network)
    else:
        raise LoadError(f"{respondent.identity} runs on {network.name}, which has no linear head")

    def embed(texts: Sequence[str]) -> Floats:
        encoded = network.encode(list(texts))
        for text, one in zip(texts, encoded, strict=True):
            if len(one.ids) > network.longest:
                raise LoadError(
                    f"'{text[:80]}' has {len(one.ids)} tokens; "
                    f"{respondent.identity} takes {network.longest}"
                )
        rows: dict[int, Floats] = {}
        for batch in cut_batches([len(e.ids) for e in encoded], respondent.batch_size):
            vectors = read([encoded[i] for i in batch])
            if vectors.ndim != 2:
                raise LoadError(
                    f"the head of {respondent.identity} reads a vector a token (shape "
                    f"{vectors.shape}), not one a sentence: name its encoder as encoder:FOLDER"
                )
            rows.update(zip(batch, vectors, strict=True))
        return np.asarray([rows[i] for i in range(len(texts))], dtype=np.float64)

    return embed


def _torch_reader(network: TorchClassifier) -> Reader:
    """The last linear layer with as many outputs as there are labels, caught as it is called."""
    heads = [
        m
        for m in network.model.modules()
        if isinstance(m, network.torch.nn.Linear) and m.out_features == network.width
    ]
    if not heads:
        raise LoadError(
            f"'{network.place}' has no linear layer with {network.width} outputs, "
            "so the vector that its head reads cannot be found"
        )

    def read(batch: list[Encoded]) -> Floats:
        caught: list[Any] = []
        hooks = [
            head.register_forward_pre_hook(lambda _, inputs: caught.append(inputs[0].detach()))
            for head in heads
        ]
        try:
            network.logits(batch)
        finally:
            for hook in hooks:
                hook.remove()
        return np.asarray(caught[-1].float().cpu().numpy(), dtype=np.float64)

    return read


def find_head_input(graph: Any) -> str:
    """The name of the tensor that the last linear operation before the first output reads."""
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
            tensor: str = next(name for name in node.input if name not in weights)
            while tensor in makers and makers[tensor].op_type in _QUANTISED:
                tensor = makers[tensor].input[0]
            return tensor
        waiting += [name for name in node.input if name not in weights]
    output = graph.output[0].name
    raise LoadError(
        f"no linear layer (Gemm, MatMul) leads to the output '{output}' of the ONNX graph"
    )


def _onnx_reader(network: OnnxClassifier) -> Reader:
    """The same graph, in memory, with the vector as an additional output."""
    session, name = _open_with_vector(network.graph)

    def read(batch: list[Encoded]) -> Floats:
        feed = pad_batch(batch, network.pad, network.fixed_length)
        outputs = session.run([name], {n: feed[n] for n in network.inputs})
        return np.asarray(outputs[0], dtype=np.float64)

    return read


def _open_with_vector(path: Path) -> tuple[Any, str]:
    try:
        import onnx
    except ImportError as error:
        raise LoadError(
            f"the vectors inside {path.name} are read with onnx, which is not installed: "
            "pip install 'evenhand[picture]'"
        ) from error
    model = onnx.load(str(path))
    name = find_head_input(model.graph)
    if name not in {o.name for o in model.graph.output}:
        model.graph.output.append(onnx.ValueInfoProto(name=name))
    try:
        return open_session(model.SerializeToString()), name
    except Exception as error:  # onnxruntime and protobuf (more than 2 GB) have their own
        raise LoadError(
            f"{path} cannot be opened with its inner vector as an output: {first_line(error)}"
        ) from error
