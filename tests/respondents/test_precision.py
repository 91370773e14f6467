"""The precision in a signature is what the graph or the parameters say, never assumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from int8_models import make_int8
from models import build_classifier, open_model, write_model
from onnx import TensorProto, helper, numpy_helper

from evenhand.respondents.location import default_folder
from evenhand.respondents.networks.onnx_file import read_onnx

SIZE = 64


def weights(kind: type, name: str = "w", count: int = SIZE * SIZE) -> onnx.TensorProto:
    side = int(np.sqrt(count))
    return numpy_helper.from_array(np.ones((side, side), dtype=kind), name)


def precision_of(
    folder: Path, nodes: Sequence[onnx.NodeProto], held: Sequence[onnx.TensorProto], kind: int
) -> str:
    """What the graph x -> y with these nodes and weights is said to compute in."""
    x, y = (helper.make_tensor_value_info(name, kind, [1, SIZE]) for name in "xy")
    graph = helper.make_graph(list(nodes), "g", [x], [y], initializer=list(held))
    onnx.save(helper.make_model(graph), str(folder / "model.onnx"))
    return read_onnx(folder / "model.onnx").precision


def node(operation: str, inputs: str, outputs: str, **attributes: Any) -> onnx.NodeProto:
    return helper.make_node(operation, inputs.split(), outputs.split(), **attributes)


FLOAT, HALF = TensorProto.FLOAT, TensorProto.FLOAT16
STEP = numpy_helper.from_array(np.float32(0.1), "s")
ZERO = numpy_helper.from_array(np.uint8(0), "z")


@pytest.mark.parametrize(
    ("nodes", "held", "kind", "expected"),
    [
        ([node("MatMul", "x w", "y")], [weights(np.float32)], FLOAT, "fp32"),
        ([node("MatMul", "x w", "y")], [weights(np.float16)], HALF, "fp16"),
        ([node("MatMul", "x w", "y")], [weights(np.float64)], TensorProto.DOUBLE, "fp64"),
        (  # stored as half, unpacked before it is multiplied
            [node("Cast", "w", "v", to=FLOAT), node("MatMul", "x v", "y")],
            [weights(np.float16)],
            FLOAT,
            "fp32/weights fp16",
        ),
        (  # numbers in and out are fp32, everything between is half
            [
                node("Cast", "x", "h", to=HALF),
                node("MatMul", "h w", "m"),
                node("Cast", "m", "y", to=FLOAT),
            ],
            [weights(np.float16)],
            FLOAT,
            "fp16",
        ),
        (
            [node("DequantizeLinear", "w s", "v"), node("MatMul", "x v", "y")],
            [weights(np.int8), STEP],
            FLOAT,
            "fp32/weights int8",
        ),
        (  # a mask that is computed from the input decides nothing
            [
                node("Equal", "x x", "b"),
                node("Where", "b h h", "c"),
                node("MatMul", "c w", "y"),
            ],
            [weights(np.float16), weights(np.float16, "h", 64)],
            FLOAT,
            "fp16",
        ),
        (
            [
                node("DynamicQuantizeLinear", "x", "q qs qz"),
                node("MatMulInteger", "q w qz", "i"),
                node("Cast", "i", "f", to=FLOAT),
                node("Mul", "f qs", "y"),
            ],
            [weights(np.int8)],
            FLOAT,
            "int8/dynamic",
        ),
        (
            [node("QLinearMatMul", "q s z w s z s z", "y")],
            [weights(np.uint8), weights(np.uint8, "q"), STEP, ZERO],
            TensorProto.UINT8,
            "int8/static",
        ),
        (
            [
                node("QuantizeLinear", "x s z", "q"),
                node("DequantizeLinear", "q s z", "d"),
                node("DequantizeLinear", "w s", "v"),
                node("MatMul", "d v", "y"),
            ],
            [weights(np.int8), STEP, ZERO],
            FLOAT,
            "int8/static",
        ),
        (
            [node("MatMulNBits", "x w s", "y", K=SIZE, N=SIZE, bits=4, domain="com.microsoft")],
            [weights(np.uint8), STEP],
            FLOAT,
            "fp32/weights int4",
        ),
        (  # most of it fp32, a hundredth part of it half
            [node("Cast", "h", "v", to=FLOAT), node("MatMul", "x w", "y")],
            [weights(np.float32), weights(np.float16, "h", 36)],
            FLOAT,
            "fp32",
        ),
        ([node("Mul", "x x", "y")], [], FLOAT, "unknown"),
    ],
)
def test_the_precision_of_a_graph(
    tmp_path: Path, nodes: Any, held: Any, kind: int, expected: str
) -> None:
    assert precision_of(tmp_path, nodes, held, kind) == expected


def test_the_embedded_model_computes_in_fp32_and_is_stored_in_less() -> None:
    assert read_onnx(default_folder() / "model.onnx").precision == "fp32/weights fp16+int8"
    assert open_model(Path("default")).traits["precision"] == "fp32/weights fp16+int8"


def test_the_signature_of_an_int8_graph_does_not_say_fp32(tmp_path: Path) -> None:
    folder = write_model(tmp_path / "tiny")
    assert open_model(folder).traits["precision"] == "fp32"
    assert open_model(make_int8(folder)).traits["precision"] == "int8/dynamic"


@pytest.mark.torch
def test_the_precision_of_a_torch_model_is_that_of_its_parameters(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    from evenhand.respondents.networks.torch import parameter_types

    respondent = open_model(build_classifier(tmp_path / "bert", "bert"))
    assert respondent.traits["precision"] == "fp32"
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 64))
    assert parameter_types(model.half()) == "fp16"
    model[0].to(torch.bfloat16)
    assert parameter_types(model) == "bf16+fp16"
