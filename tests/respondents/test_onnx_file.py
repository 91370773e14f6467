"""An ONNX file read without the package onnx says what that package says."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from models import TinyModel
from onnx import TensorProto, helper, numpy_helper

from evenhand.core.errors import LoadError
from evenhand.respondents.location import default_folder
from evenhand.respondents.networks.onnx_file import read_onnx


def save(folder: Path, **external: object) -> Path:
    path = folder / "model.onnx"
    onnx.save(TinyModel().graph(), str(path), **external)
    return path


def test_operations_and_weights_are_those_of_the_graph(tmp_path: Path) -> None:
    path, model = save(tmp_path), TinyModel()
    file = read_onnx(path)
    assert file.external_data == ()
    assert file.operations == {
        "Gather",
        "Add",
        "Cast",
        "Unsqueeze",
        "Mul",
        "ReduceSum",
        "Div",
        "MatMul",
    }
    floats = sum(a.size for a in (model.words, model.segments, model.weights, model.bias))
    assert file.weight_types == {"fp32": floats, "int64": 2}


def test_the_embedded_model_is_read_as_onnx_reads_it() -> None:
    path = default_folder() / "model.onnx"
    graph, file = onnx.load(str(path)).graph, read_onnx(path)
    assert file.operations == {node.op_type for node in graph.node}
    halves = [w for w in graph.initializer if w.data_type == TensorProto.FLOAT16]
    assert file.weight_types["fp16"] == sum(int(np.prod(w.dims)) for w in halves)


def test_every_file_that_holds_weights_is_named(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    path = save(
        tmp_path, save_as_external_data=True, location="parts/weights.bin", size_threshold=0
    )
    assert read_onnx(path).external_data == ("parts/weights.bin",)


def test_inner_graphs_and_constants_are_read_too(tmp_path: Path) -> None:
    inner = helper.make_graph(
        [
            helper.make_node(
                "Constant", [], ["a"], value=numpy_helper.from_array(np.ones(5, np.int8), "five")
            ),
            helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        ],
        "inner",
        [],
        [helper.make_tensor_value_info("a", TensorProto.INT8, [5])],
    )
    node = helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=inner)
    x = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
    y = helper.make_tensor_value_info("y", TensorProto.INT8, [5])
    path = tmp_path / "if.onnx"
    onnx.save(helper.make_model(helper.make_graph([node], "outer", [x], [y])), str(path))
    file = read_onnx(path)
    assert file.operations == {"If", "Constant", "DynamicQuantizeLinear"}
    assert file.weight_types == {"int8": 10}


@pytest.mark.parametrize("raw", [b"", b"hello, this is no graph", b"\x08\x08"])
def test_what_is_no_graph_is_a_load_error(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "model.onnx").write_bytes(raw)
    with pytest.raises(LoadError, match=r"model\.onnx is not a whole ONNX graph"):
        read_onnx(tmp_path / "model.onnx")


def test_a_cut_graph_is_a_load_error(tmp_path: Path) -> None:
    path = save(tmp_path)
    raw = path.read_bytes()
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(LoadError, match="it ends too early"):
        read_onnx(path)
