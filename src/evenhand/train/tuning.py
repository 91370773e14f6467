"""What does `evenhand train nli` do? It checks all that can be checked, trains or goes on, writes the model, its run card and its ONNX form."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import transformers

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.storage import read_text, require_writable, staged
from evenhand.respondents.places import revision_of
from evenhand.respondents.suppositions import find_form
from evenhand.train.checkpoints import EVERY, require_same
from evenhand.train.corpus import Corpus, Pair, require_all_labels
from evenhand.train.export import export_onnx
from evenhand.train.fit import CARD, fit, load, settings_of
from evenhand.train.loop import Tick
from evenhand.train.processes import open_processes
from evenhand.train.recipes import Recipe

WEIGHTS = ("*.safetensors", "pytorch_model*.bin")
ONNX = Path("onnx") / "model.onnx"


def fine_tune(
    encoder: str, train: Sequence[Corpus], dev: Sequence[Corpus], recipe: Recipe, out: Path,
    *, limit: int | None = None, has_onnx: bool = True, is_resumed: bool = True, every: int = EVERY,
    say: Callable[[str], None] = print, tick: Tick | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Fine-tune on the files, unless that is done already; the run card."""
    find_form(recipe.form)
    require_all_labels(train)
    about: dict[str, Any] = {
        "encoder": describe_encoder(encoder),
        "limit": limit,
        "data": {"train": [c.describe() for c in train], "dev": [c.describe() for c in dev]},
    }
    _require_apart(about["data"])
    if has_onnx and importlib.util.find_spec("onnx") is None:
        raise EvenhandError("the ONNX form needs the package onnx: pip install 'evenhand[train]', or give --no-onnx")
    if Path(encoder).is_dir() and out.resolve() == Path(encoder).resolve():
        raise EvenhandError(f"--out {out} is the folder of the encoder, which would be overwritten; choose another one")
    require_writable(out)
    crew = open_processes()
    is_first = crew.rank == 0
    silent = say if is_first else lambda _: None
    card = _finished(out, {"recipe": asdict(recipe), **about}) if is_resumed else None
    if card is not None:
        silent(f"{out} is finished, nothing is trained; --no-resume trains it again")
    else:
        crew.wait()  # no process may look for the card after another has removed it
        if is_first:
            (out / CARD).unlink(missing_ok=True)
            (out / ONNX).unlink(missing_ok=True)
        pairs = draw([pair for corpus in train for pair in corpus.pairs], limit, recipe.seed)
        held = dict(zip(_names(dev), (corpus.pairs for corpus in dev), strict=True))
        card = fit(
            encoder, pairs, held, recipe, out, say=silent, about=about, processes=crew, every=every, is_resumed=is_resumed,
            tick=tick if is_first else None,
        )  # fmt: skip
    if has_onnx and is_first and not (out / ONNX).exists():
        _export(out)
    crew.wait()
    return card


def describe_encoder(encoder: str) -> dict[str, str]:
    """Its name, and digits that change with its weights or words; an error where there is no tokeniser or no configuration."""
    transformers.logging.set_verbosity_error()  # that the head is new is what is wanted
    transformers.logging.disable_progress_bar()
    config = load(transformers.AutoConfig.from_pretrained, encoder)
    load(transformers.AutoTokenizer.from_pretrained, encoder)
    folder = Path(encoder)
    if not folder.is_dir():
        return {"name": encoder, "revision": str(getattr(config, "_commit_hash", None) or "unknown")}
    files = SimpleNamespace(name="encoder", weights=sorted(p for pattern in WEIGHTS for p in folder.glob(pattern)))
    return {"name": encoder, "revision": revision_of(folder, files)}


def draw(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """`limit` of the pairs at random, in their order; all where there is no limit."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), size=limit, replace=False)
    return [pairs[i] for i in np.sort(chosen)]


def _names(corpora: Sequence[Corpus]) -> list[str]:
    stems = [corpus.path.stem for corpus in corpora]
    return stems if len(set(stems)) == len(stems) else [str(corpus.path) for corpus in corpora]


def _require_apart(data: Mapping[str, Sequence[Mapping[str, Any]]]) -> None:
    """A dev file that is also trained on, or given twice, would say nothing."""
    seen = {file["sha256"]: file["file"] for file in data["train"]}
    for file in data["dev"]:
        if file["sha256"] in seen:
            raise InputError(file["file"], f"is the same file as {seen[file['sha256']]}; a dev file must be another than all the rest")
        seen[file["sha256"]] = file["file"]


def _finished(out: Path, card: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card of a finished run of the same settings, None where there is none; an error where the folder holds something else."""
    if not (out / CARD).exists():
        if not (out / "checkpoint").exists() and any(True for pattern in WEIGHTS for _ in out.glob(pattern)):
            raise EvenhandError(
                f"{out} holds a model that this command did not make; choose another folder, or overwrite it with --no-resume"
            )
        return None
    try:
        old = json.loads(read_text(out / CARD))
        told = settings_of(old)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            out / CARD, "is no run card of `evenhand train nli`; choose another folder, or overwrite it with --no-resume"
        ) from error
    require_same(out, told, json.loads(json.dumps(settings_of(card))))
    return dict(old)


def _export(out: Path) -> None:
    with staged(out / ONNX.parent) as stage, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, about branches that depend on the shape
        try:
            export_onnx(out, stage)
        except OSError:
            raise
        except Exception as error:  # torch.onnx raises what it likes
            reason = str(error).strip().splitlines()[0][:300] if str(error).strip() else type(error).__name__
            raise EvenhandError(f"the model is trained and written to {out}, but it cannot be written as ONNX: {reason}") from error
