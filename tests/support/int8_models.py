"""The tiny networks as dynamic int8 graphs, whose answers depend on the batch."""

from __future__ import annotations

import logging
from pathlib import Path

import onnx
from onnx import helper
from onnxruntime.quantization import QuantType, quantize_dynamic


def make_int8(folder: Path) -> Path:
    """The same model folder, its matrices multiplied in whole numbers."""
    path = folder / "model.onnx"
    logging.disable(logging.WARNING)  # of the quantiser, about shapes that are not stated
    try:
        quantize_dynamic(
            onnx.load(str(path)),
            str(path),
            weight_type=QuantType.QInt8,
            op_types_to_quantize=["MatMul"],
        )
    finally:
        logging.disable(logging.NOTSET)
    return folder


def round_output(folder: Path) -> Path:
    """The same model folder, its first output rounded to 256 steps of the range of the batch."""
    path = folder / "model.onnx"
    model = onnx.load(str(path))
    output = model.graph.output[0]
    model.graph.node.extend(
        [
            helper.make_node("DynamicQuantizeLinear", [output.name], ["steps", "step", "zero"]),
            helper.make_node("DequantizeLinear", ["steps", "step", "zero"], ["rounded"]),
        ]
    )
    output.name = "rounded"
    onnx.save(model, str(path))
    return folder
