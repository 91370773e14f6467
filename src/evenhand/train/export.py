"""Trained models as small ONNX files that run without torch, and back again.

The table of word embeddings is stored as int8 with one scale per row or column, every other weight
matrix as float16; all are unpacked to float32 when the file is loaded (`Cast` and `Mul` on
constants, which onnxruntime folds). Only the file is small: the arithmetic is plain float32, so
answers do not depend on what else is in the batch, as they would with dynamic quantisation.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.core.errors import LoadError
from evenhand.respondents.locate import locate
from evenhand.respondents.networks.batches import FEEDS, Encoded, pad_batch
from evenhand.respondents.networks.onnx import POSITIONS
from evenhand.respondents.networks.torch import TorchMasked

Array = NDArray[np.number]
SMALLEST = 4096  # weights with fewer numbers stay as they are
LARGE = 2_000_000  # those with more become int8, which is precise enough for embeddings
_COPIED = ("config.json", "tokenizer.json", "tokenizer_config.json")
MODEL_FILES = ("model.onnx", *_COPIED)  # what an exported classifier consists of
_READ_AT_END_MARK = frozenset({"bart", "mbart"})  # types of classifiers that do
_HALF, _INT8, _SCALE = ".half", ".int8", ".scale"


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
    """Write a sequence classifier in Hugging Face form as float32 ONNX to `out`/model.onnx.

    Batch and length are free. Of an encoder-decoder such as BART both halves are in the graph.
    """
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(
        folder, attn_implementation="eager", trust_remote_code=False, use_safetensors=True
    ).eval()
    model.config.return_dict = False
    tokenizer = AutoTokenizer.from_pretrained(folder, trust_remote_code=False)
    encoded = tokenizer(
        ["A dog runs.", "Two cats sleep here."],
        ["An animal moves.", "They are awake."],
        padding=True,
        return_tensors="pt",
    )
    sample = {name: encoded[name] for name in FEEDS if name in encoded}
    if model.config.model_type in _READ_AT_END_MARK:
        sample = {name: sample[name] for name in ("input_ids", "attention_mask")}
        model = _read_at_end_mark(model)
    axes = {**{n: {0: "batch", 1: "length"} for n in sample}, "logits": {0: "batch"}}
    return _export(model, (sample,), list(sample), axes, folder, out)


def _read_at_end_mark(model: Any) -> Any:
    """BART's classifier without what cannot be traced: a check of every batch, a cache of keys.

    It reads the decoder's state at the last end mark of each text.
    """
    import torch

    class AtEndMark(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        """The same logits, for any batch and length."""

        def __init__(self) -> None:
            super().__init__()
            self.model, self.head = model.model, model.classification_head

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            states = self.model(
                input_ids=input_ids,
                attention_mask=attention_mask,
                use_cache=False,
                return_dict=True,
            ).last_hidden_state
            places = torch.arange(input_ids.shape[1], device=input_ids.device)
            last = ((input_ids == model.config.eos_token_id) * places).max(dim=1).values
            chosen = last[:, None, None].expand(-1, 1, states.shape[2])
            return self.head(states.gather(1, chosen).squeeze(1))

    model.config.return_dict = True
    return AtEndMark().eval()


def export_masked(folder: Path, out: Path) -> Path:
    """Write a masked language model as float32 ONNX to `out`/model.onnx.

    The vocabulary is computed only at the input `positions` (row x length + column).
    """
    import torch

    network = TorchMasked(locate(str(folder)), "cpu")
    if network.is_discriminator:
        raise LoadError(f"{folder} is an ELECTRA discriminator: it has no vocabulary to export")
    network.model.config.return_dict = False
    network.model.set_attn_implementation("eager")

    class AtPositions(torch.nn.Module):  # type: ignore[misc]  # torch is untyped here
        """The model with the positions as an input."""

        def __init__(self) -> None:
            super().__init__()
            self.model = network.model

        def forward(self, *tensors: Any) -> Any:
            *feed, network.state[POSITIONS] = tensors
            return self.model(**dict(zip(sample, feed, strict=True)))[0]

    batch = [Encoded((network.mask,) * n, (0,) * n) for n in (6, 9)]
    sample = {
        name: torch.from_numpy(table) for name, table in pad_batch(batch, network.pad).items()
    }
    if not network.config.get("type_vocab_size"):
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
        network.tokenizer.save(str(out / "tokenizer.json"))
    return graph


def quantise(weight: Array) -> tuple[Array, Array]:
    """int8 values and scales, one scale per row or per column, whichever loses less."""
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
        array, name = numpy_helper.to_array(weight), weight.name
        if array.dtype != np.float32 or array.ndim != 2 or array.size < SMALLEST:
            kept.append(weight)
            continue
        is_half = array.size < LARGE
        if is_half:
            kept.append(numpy_helper.from_array(array.astype(np.float16), name + _HALF))
        else:
            packed, scale = quantise(array)
            kept.append(numpy_helper.from_array(packed, name + _INT8))
            kept.append(numpy_helper.from_array(scale, name + _SCALE))
        source, target = (name + _HALF, name) if is_half else (name + _INT8, f"{name}.float")
        added.append(helper.make_node("Cast", [source], [target], to=onnx.TensorProto.FLOAT))
        if not is_half:
            added.append(helper.make_node("Mul", [target, name + _SCALE], [name]))
    nodes = [*added, *model.graph.node]
    del model.graph.initializer[:], model.graph.node[:]
    model.graph.initializer.extend(kept)
    model.graph.node.extend(nodes)
    onnx.checker.check_model(model)
    onnx.save(model, str(graph))


def unpack(graph: Path, out: Path) -> None:
    """Write the float32 weights of a graph of `export_onnx` and `pack`.

    Under the names that transformers gives them.
    """
    from safetensors.numpy import save_file

    save_file(weights_of(graph), str(out), metadata={"format": "pt"})


def weights_of(graph: Path) -> dict[str, NDArray[np.float32]]:
    """The weights of a packed graph by name.

    The exporter transposes the weight of a linear layer and drops its name; the node that
    multiplies by it still has the name.
    """
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
    plain = {
        name: value.astype(np.float32)
        for name, value in stored.items()
        if not name.endswith((_HALF, _INT8, _SCALE))
    }
    plain |= {
        name.removesuffix(_HALF): value.astype(np.float32)
        for name, value in stored.items()
        if name.endswith(_HALF)
    }
    plain |= {
        stem: value.astype(np.float32) * stored[stem + _SCALE]
        for name, value in stored.items()
        if name.endswith(_INT8) and (stem := name.removesuffix(_INT8))
    }
    named = {name: value for name, value in plain.items() if name.endswith((".weight", ".bias"))}
    for node in model.node:
        if node.op_type == "MatMul" and node.input[1] in plain:
            layer = node.name.removeprefix("/").removesuffix("/MatMul").replace("/", ".")
            named[f"{layer}.weight"] = np.ascontiguousarray(plain[node.input[1]].T)
    return named
