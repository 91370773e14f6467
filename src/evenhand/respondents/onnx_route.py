"""How is an ONNX folder asked without torch? onnxruntime for the network, tokenizers for the words."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.records import Floats
from evenhand.core.storage import read_text
from evenhand.respondents.encoding import Encoded, find_longest

GRAPHS = ("model.onnx", "onnx/model.onnx")
FEEDS = ("input_ids", "attention_mask", "token_type_ids")


def find_graph(folder: Path) -> Path | None:
    """The network of an ONNX folder: model.onnx, onnx/model.onnx, else the only .onnx there is."""
    for name in GRAPHS:
        if (folder / name).exists():
            return folder / name
    others = sorted(folder.glob("*.onnx")) + sorted(folder.glob("onnx/*.onnx"))
    return others[0] if len(others) == 1 else None


def read_config(folder: Path, name: str = "config.json") -> dict[str, Any]:
    """A JSON file of the folder; empty if it is not there."""
    path = folder / name
    if not path.exists():
        return {}
    try:
        return dict(json.loads(read_text(path)))
    except (json.JSONDecodeError, TypeError, ValueError) as error:
        raise LoadError(f"{path} is not JSON ({error})") from error


class OnnxRoute:
    """A network and its tokeniser."""

    name = "onnxruntime"
    precision = "fp32"

    def __init__(self, folder: Path, graph: Path) -> None:
        import onnxruntime
        from tokenizers import Tokenizer

        self.graph = graph
        self.config = read_config(folder)
        self.weights = [graph, *sorted(graph.parent.glob(f"{graph.name}*data"))]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("EVENHAND_THREADS", "0"))
        options.log_severity_level = 3
        words = folder / "tokenizer.json"
        if not words.exists():
            raise LoadError(f"{folder} has no tokenizer.json; save the model with a fast tokeniser (tokenizer.save_pretrained)")
        try:
            self.tokenizer = Tokenizer.from_file(str(words))
            self.session = onnxruntime.InferenceSession(str(graph), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # both libraries raise bare or private exception types
            raise LoadError(f"{folder} cannot be loaded: {str(error).splitlines()[0][:300]}") from error
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        self.inputs = {node.name: node.shape for node in self.session.get_inputs()}
        if other := sorted(set(self.inputs) - set(FEEDS)):
            raise LoadError(f"{graph} wants the inputs {', '.join(other)}; evenhand gives {', '.join(FEEDS)}")
        self.fixed_length = next((s[1] for s in self.inputs.values() if len(s) == 2 and isinstance(s[1], int)), None)
        self.pad = self._pad()
        self.longest = self._longest(folder)
        told = self.session.get_outputs()[0].shape[-1]
        self.width = told if isinstance(told, int) else self.logits(self.encode([("a", "b")])).shape[-1]

    def _pad(self) -> int:
        told = self.config.get("pad_token_id")
        if isinstance(told, int):
            return told
        found = (self.tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
        return next((i for i in found if i is not None), 0)

    def _longest(self, folder: Path) -> int:
        return find_longest(self.config, read_config(folder, "tokenizer_config.json").get("model_max_length"), self.fixed_length)

    def encode(self, pairs: list[tuple[str, str]]) -> list[Encoded]:
        """Token ids and segment numbers, uncut."""
        return [Encoded(tuple(e.ids), tuple(e.type_ids)) for e in self.tokenizer.encode_batch(pairs)]

    def logits(self, batch: list[Encoded]) -> Floats:
        """The raw outputs for a batch, padded to its longest."""
        width = self.fixed_length or max(len(e.ids) for e in batch)
        feed = {name: np.zeros((len(batch), width), dtype=np.int64) for name in FEEDS}
        feed["input_ids"][:] = self.pad
        for row, encoded in enumerate(batch):
            length = len(encoded.ids)
            feed["input_ids"][row, :length] = encoded.ids
            feed["token_type_ids"][row, :length] = encoded.types
            feed["attention_mask"][row, :length] = 1
        try:
            outputs = self.session.run(None, {name: feed[name] for name in self.inputs})
        except Exception as error:  # onnxruntime's exceptions are private; the usual cause is a tokenizer.json of another model
            raise LoadError(f"{self.graph} cannot be run: {str(error).splitlines()[0][:300]}") from error
        return np.asarray(outputs[0], dtype=np.float64)
