"""How does one go on from the embedded model? Its packed ONNX weights become a folder that transformers can train."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.core.files import cache_folder, staged

NAME = "default"
_WEIGHTS = "model.safetensors"
_BESIDE = ("config.json", "tokenizer.json", "tokenizer_config.json")


def find_encoder(reference: str) -> str:
    """The folder or hub id to train from: what the user typed, or the embedded model where that is `default`."""
    return str(unpacked_default()) if reference == NAME else reference


def unpacked_default() -> Path:
    """The embedded model in Hugging Face form, unpacked once into the cache folder."""
    source = Path(str(files("evenhand") / "models" / NAME))
    graph = source / "model.onnx"
    out = cache_folder() / "models" / f"default-{graph.stat().st_size:x}"
    if not all((out / name).exists() for name in (_WEIGHTS, *_BESIDE)):
        with staged(out) as stage:
            unpack(graph, stage / _WEIGHTS)
            for name in _BESIDE:
                shutil.copyfile(source / name, stage / name)
    return out


def unpack(graph: Path, out: Path) -> None:
    """Write the float32 weights of a graph of `export.export_onnx` and `export.pack`, under the names that transformers gives them."""
    from safetensors.numpy import save_file

    save_file(weights_of(graph), str(out), metadata={"format": "pt"})


def weights_of(graph: Path) -> dict[str, NDArray[np.float32]]:
    """The weights by name. The exporter turns a linear layer's weight round and takes away its name; the node that multiplies by it still has it."""
    try:
        import onnx
        from onnx import numpy_helper
    except ImportError as error:
        raise LoadError(
            f"training from the embedded model needs onnx ({error}): pip install 'evenhand[train]'"
        ) from error
    model = onnx.load(str(graph)).graph
    stored: dict[str, Any] = {
        weight.name: numpy_helper.to_array(weight) for weight in model.initializer
    }
    found = {
        name: value.astype(np.float32)
        for name, value in stored.items()
        if not name.endswith((".half", ".int8", ".scale"))
    }
    found |= {
        name.removesuffix(".half"): value.astype(np.float32)
        for name, value in stored.items()
        if name.endswith(".half")
    }
    found |= {
        stem: value.astype(np.float32) * stored[f"{stem}.scale"]
        for name, value in stored.items()
        if name.endswith(".int8") and (stem := name.removesuffix(".int8"))
    }
    named = {name: value for name, value in found.items() if name.endswith((".weight", ".bias"))}
    for node in model.node:
        if node.op_type == "MatMul" and node.input[1] in found:
            layer = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
            named[f"{layer}.weight"] = np.ascontiguousarray(found[node.input[1]].T)
    return named
