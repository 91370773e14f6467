"""How does a trained model become a small file that runs without torch?

The network is exported to ONNX. The table of word embeddings is stored as int8 with one scale a row or column, every other weight matrix as float16; all
are unpacked to float32 when the file is loaded (`Cast` and `Mul` on constants, which onnxruntime folds).
Only the file is small: the arithmetic is plain float32, so answers do not depend on
what else is in the batch, as they would with dynamic quantisation.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.respondents.encoding import FEEDS, Encoded, pad_batch
from evenhand.respondents.masked_routes import POSITIONS, MaskedTransformers

Array = NDArray[np.number]
SMALLEST = 4096  # weights with fewer numbers stay as they are
LARGE = 2_000_000  # those with more become int8: half the size of float16 again, at a cost in accuracy that a table of embeddings can bear
_COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json")


def _export(
    model: Any,
    arguments: tuple[Any, ...],
    names: list[str],
    axes: Mapping[str, Mapping[int, str]],
    folder: Path,
    out: Path,
) -> Path:
    """Trace the model on `arguments` and copy what describes it."""
    import torch

    out.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        model,
        arguments,
        str(out / "model.onnx"),
        input_names=names,
        output_names=["logits"],
        dynamic_axes=axes,
        opset_version=17,
        dynamo=False,
    )
    for name in _COPIED:
        if (folder / name).exists():
            shutil.copy(folder / name, out / name)
    return out / "model.onnx"


def export_onnx(folder: Path, out: Path) -> Path:
    """Write `folder` (a sequence classifier in Hugging Face form) as float32 ONNX with free batch and length to `out`/model.onnx."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager"
    ).eval()
    model.config.return_dict = False
    tokenizer = AutoTokenizer.from_pretrained(folder)
    told = tokenizer(
        ["A dog runs.", "Two cats sleep here."],
        ["An animal moves.", "They are awake."],
        padding=True,
        return_tensors="pt",
    )
    sample = {name: told[name] for name in FEEDS if name in told}
    axes = {**{n: {0: "batch", 1: "length"} for n in sample}, "logits": {0: "batch"}}
    return _export(model, (sample,), list(sample), axes, folder, out)


def export_masked(folder: Path, out: Path) -> Path:
    """Write a masked language model as float32 ONNX; its vocabulary is computed only at the input `positions` (row x length + column)."""
    import torch

    route = MaskedTransformers(str(folder), "cpu")
    if route.is_discriminator:
        raise LoadError(f"{folder} is an ELECTRA discriminator: it has no vocabulary to export")
    route.model.config.return_dict = False
    route.model.set_attn_implementation("eager")

    class AtPositions(torch.nn.Module):  # type: ignore[misc]  # torch is not there where types are checked
        """The model with the positions as an input."""

        def __init__(self) -> None:
            super().__init__()
            self.model = route.model

        def forward(self, *tensors: Any) -> Any:
            *feed, route.state[POSITIONS] = tensors
            return self.model(**dict(zip(sample, feed, strict=True)))[0]

    batch = [Encoded((route.mask,) * n, (0,) * n) for n in (6, 9)]
    sample = {name: torch.from_numpy(table) for name, table in pad_batch(batch, route.pad).items()}
    if not route.config.get("type_vocab_size"):
        del sample["token_type_ids"]
    axes = {
        **{n: {0: "batch", 1: "length"} for n in sample},
        POSITIONS: {0: "asked"},
        "logits": {0: "asked"},
    }
    graph = _export(
        AtPositions().eval(),
        (*sample.values(), torch.tensor([1, 12])),
        [*sample, POSITIONS],
        axes,
        folder,
        out,
    )
    if not (out / "tokenizer.json").exists():
        route.tokenizer.save(str(out / "tokenizer.json"))
    return graph


def quantise(weight: Array) -> tuple[Array, Array]:
    """int8 values and scales, one scale a row or a column, whichever loses less."""
    best: tuple[float, Array, Array] | None = None
    for axis in (0, 1):
        scale = np.abs(weight).max(axis=axis, keepdims=True) / 127
        scale = np.where(scale == 0, 1, scale).astype(np.float32)
        packed = np.clip(np.rint(weight / scale), -127, 127).astype(np.int8)
        loss = float(((packed * scale - weight) ** 2).sum())
        if best is None or loss < best[0]:
            best = (loss, packed, scale)
    assert best is not None
    return best[1], best[2]


def pack(graph: Path) -> None:
    """Replace the weights of an ONNX file by smaller ones that are unpacked when it is loaded."""
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load(str(graph))
    kept, added = [], []
    for weight in model.graph.initializer:
        array = numpy_helper.to_array(weight)
        if array.dtype != np.float32 or array.ndim != 2 or array.size < SMALLEST:
            kept.append(weight)
            continue
        if array.size < LARGE:
            kept.append(numpy_helper.from_array(array.astype(np.float16), f"{weight.name}.half"))
            added.append(
                helper.make_node(
                    "Cast", [f"{weight.name}.half"], [weight.name], to=onnx.TensorProto.FLOAT
                )
            )
            continue
        packed, scale = quantise(array)
        kept += [
            numpy_helper.from_array(packed, f"{weight.name}.int8"),
            numpy_helper.from_array(scale, f"{weight.name}.scale"),
        ]
        added += [
            helper.make_node(
                "Cast", [f"{weight.name}.int8"], [f"{weight.name}.float"], to=onnx.TensorProto.FLOAT
            ),
            helper.make_node(
                "Mul", [f"{weight.name}.float", f"{weight.name}.scale"], [weight.name]
            ),
        ]
    nodes = [*added, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(graph))
