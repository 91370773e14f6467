"""Where does a model lie, and which revision is it? A folder, a hub id, or an error that says what would do."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from evenhand.core.errors import LoadError
from evenhand.respondents.onnx_route import find_graph

_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")
_DESCRIBED = (
    "config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
    "merges.txt",
)


class Weighted(Protocol):
    """A route with files."""

    name: str
    weights: list[Path]


def looks_like_model(reference: str) -> bool:
    """A folder, or anything that has no `kind:` in front."""
    return Path(reference).is_dir() or ":" not in reference


def require_hub_id(reference: str, known: Sequence[str]) -> None:
    """An error where `reference`, which is no folder, cannot be the id of a model on the hub; close names of `known` are suggested."""
    close = difflib.get_close_matches(reference, known, cutoff=0.6)
    if reference[:1] in "./~" or not _HUB_ID.fullmatch(reference) or close:
        hint = (
            f"Did you mean {close[0]}?"
            if close
            else f"Give {' or '.join(f'`{k}`' for k in known)}, a folder that exists, or a hub id such as org/model."
        )
        raise LoadError(f"unknown model '{reference}': there is no such folder. {hint}")


def graph_of(folder: Path) -> Path | None:
    """The ONNX graph of a model folder, None where it is to be asked through transformers; an error where it holds no model."""
    graph = find_graph(folder)
    if graph is None and not (folder / "config.json").exists():
        found = ", ".join(sorted(p.name for p in folder.iterdir())[:8]) or "nothing"
        raise LoadError(
            f"{folder} is no model folder: it has neither an .onnx file nor a config.json (found: {found})"
        )
    return graph


def revision_of(folder: Path, route: Weighted) -> str:
    """Twelve digits that change with the weights, the words or the route."""
    state = hashlib.sha256(route.name.encode())
    for path in [*(folder / n for n in _DESCRIBED if (folder / n).exists()), *route.weights]:
        with path.open("rb") as stream:
            state.update(path.name.encode())
            while block := stream.read(1 << 20):
                state.update(block)
    return state.hexdigest()[:12]
