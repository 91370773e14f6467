"""How is an ONNX folder asked without torch? onnxruntime for the network, tokenizers for the words."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import LoadError
from evenhand.core.probe import Floats
from evenhand.respondents.encoding import FEEDS, Encoded, find_longest, pad_batch
from evenhand.respondents.tokens import find_pad, open_tokenizer, read_config

GRAPHS = ("model.onnx", "onnx/model.onnx")
Text = tuple[str, str] | str  # what a classifier reads: a pair, or one text


def find_graph(folder: Path) -> Path | None:
    """The network of an ONNX folder: model.onnx, onnx/model.onnx, else the only .onnx there is."""
    for name in GRAPHS:
        if (folder / name).exists():
            return folder / name
    others = sorted(folder.glob("*.onnx")) + sorted(folder.glob("onnx/*.onnx"))
    return others[0] if len(others) == 1 else None


class OnnxNetwork:
    """A network and its tokeniser, whatever its outputs mean."""

    name = "onnxruntime"
    precision = "fp32"
    feeds: tuple[str, ...] = FEEDS

    def __init__(self, folder: Path, graph: Path) -> None:
        import onnxruntime

        self.graph = graph
        self.config = read_config(folder)
        self.weights = [graph, *sorted(graph.parent.glob(f"{graph.name}*data"))]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = int(os.environ.get("EVENHAND_THREADS", "0"))
        options.log_severity_level = 3
        self.tokenizer = open_tokenizer(folder)
        try:
            self.session = onnxruntime.InferenceSession(
                str(graph), options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime raises private exception types
            raise LoadError(
                f"{folder} cannot be loaded: {str(error).splitlines()[0][:300]}"
            ) from error
        self.inputs = {node.name: node.shape for node in self.session.get_inputs()}
        if other := sorted(set(self.inputs) - set(self.feeds)):
            raise LoadError(
                f"{graph} wants the inputs {', '.join(other)}; evenhand gives {', '.join(self.feeds)}"
            )
        self.fixed_length = next(
            (
                s[1]
                for n, s in self.inputs.items()
                if n in FEEDS and len(s) == 2 and isinstance(s[1], int)
            ),
            None,
        )
        self.pad = find_pad(self.config, self.tokenizer)
        self.longest = find_longest(
            self.config,
            read_config(folder, "tokenizer_config.json").get("model_max_length"),
            self.fixed_length,
        )

    def run(self, batch: Sequence[Encoded], **more: Any) -> list[Any]:
        """The outputs for a batch, padded to its longest."""
        feed = {**pad_batch(batch, self.pad, self.fixed_length), **more}
        try:
            return list(self.session.run(None, {name: feed[name] for name in self.inputs}))
        except Exception as error:  # onnxruntime's exceptions are private; the usual cause is a tokenizer.json of another model
            raise LoadError(
                f"{self.graph} cannot be run: {str(error).splitlines()[0][:300]}"
            ) from error


class OnnxRoute(OnnxNetwork):
    """A sequence classifier."""

    def __init__(self, folder: Path, graph: Path) -> None:
        super().__init__(folder, graph)
        told = self.session.get_outputs()[0].shape[-1]
        self.width = (
            told if isinstance(told, int) else self.logits(self.encode([("a", "b")])).shape[-1]
        )

    def encode(self, texts: Sequence[Text]) -> list[Encoded]:
        """Token ids and segment numbers of pairs or of single texts, uncut."""
        return [
            Encoded(tuple(e.ids), tuple(e.type_ids))
            for e in self.tokenizer.encode_batch(list(texts))
        ]

    def logits(self, batch: list[Encoded]) -> Floats:
        """The raw outputs for a batch."""
        return np.asarray(self.run(batch)[0], dtype=np.float64)
