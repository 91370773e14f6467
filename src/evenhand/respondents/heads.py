"""What can a model say? The last layer that its config names decides who opens it where several could."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

from evenhand.core.errors import LoadError
from evenhand.core.files import read_text
from evenhand.respondents.onnx_route import find_graph

Head = Literal["labels", "words", "text", "next", "vectors"]
_HEADS: tuple[tuple[str, Head], ...] = (
    ("ForSequenceClassification", "labels"),
    ("ForMaskedLM", "words"),
    ("ForPreTraining", "words"),
    ("WithLMHeadModel", "words"),
    ("ForCausalLM", "text"),
    ("LMHeadModel", "text"),
    ("ForNextSentencePrediction", "next"),
)


def read_json(reference: str, name: str) -> Any:
    """A JSON file of a model folder or of the hub; None where there is none (or the hub is out of reach: loading will say so)."""
    path: Path | None = Path(reference).expanduser() / name
    if not Path(reference).expanduser().is_dir():
        try:
            from huggingface_hub import hf_hub_download

            path = Path(
                hf_hub_download(
                    reference, name, local_files_only=os.environ.get("EVENHAND_OFFLINE") == "1"
                )
            )
        except (
            Exception
        ):  # not installed, no such file, no such model, no network: each a type of its own
            path = None
    if path is None or not path.exists():
        return None
    try:
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise LoadError(f"{path} is not JSON ({error})") from error


def read_architecture(config: Mapping[str, Any]) -> str:
    """The class that the weights were saved from; empty where the config names none."""
    told = config.get("architectures") or [""]
    return str(told if isinstance(told, str) else told[0])


def find_head(reference: str) -> Head | None:
    """Labels, words, text, next sentence, or none but vectors; None where no config can be read.

    A config that names no class is judged by what lies beside it: modules of sentence-transformers, names of labels, the outputs of the graph.
    """
    config = read_json(reference, "config.json") or {}
    has_modules = read_json(reference, "modules.json") is not None
    graph = find_graph(Path(reference)) if Path(reference).is_dir() else None
    if not isinstance(config, dict):
        raise LoadError(
            f"config.json of '{reference}' is {type(config).__name__}, not an object with settings"
        )
    if name := read_architecture(config):
        return next((head for suffix, head in _HEADS if name.endswith(suffix)), "vectors")
    if has_modules:
        return "vectors"
    if config.get("id2label") or config.get("label2id"):
        return "labels"
    return _head_of_graph(graph) if graph else "vectors" if config else None


def _head_of_graph(graph: Path) -> Head | None:
    """A graph whose first output is called `logits` has a head, one logit vector a token a mask head; None where it does not load."""
    import onnxruntime

    try:
        session = onnxruntime.InferenceSession(str(graph), providers=["CPUExecutionProvider"])
    except (
        Exception
    ):  # onnxruntime raises private exception types; opening it in earnest will say what is wrong
        return None
    first = session.get_outputs()[0]
    if first.name != "logits":
        return "vectors"
    return (
        "words"
        if len(first.shape) == 3 or "positions" in {node.name for node in session.get_inputs()}
        else "labels"
    )


def refuse_reranker(reference: str, config: Mapping[str, Any]) -> None:
    """An error where a classifier has one output: it ranks pairs, and has neither labels nor vectors of sentences."""
    count = config.get("num_labels") or len(config.get("id2label") or {})
    if read_architecture(config).endswith("ForSequenceClassification") and count == 1:
        raise LoadError(
            f"'{reference}' is a reranker: a cross-encoder with one output, which has neither the labels of an NLI classifier nor vectors of sentences. "
            "Give an NLI classifier, or a sentence encoder such as minilm."
        )
