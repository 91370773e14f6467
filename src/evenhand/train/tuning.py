"""What does `evenhand train nli` do? It checks all that can be checked, trains or goes on, writes the model, its run card and its ONNX form."""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.files import require_writable, staged
from evenhand.respondents.suppositions import find_form
from evenhand.train.checkpoints import EVERY, read_finished
from evenhand.train.corpus import (
    Corpus,
    Pair,
    name_corpora,
    require_all_labels,
    require_apart,
    require_twins,
)
from evenhand.train.encoders import WEIGHTS, describe_encoder
from evenhand.train.export import export_onnx
from evenhand.train.fit import CARD, fit, settings_of
from evenhand.train.loop import Tick
from evenhand.train.lora import ADAPTER, require_peft
from evenhand.train.processes import open_processes, sole
from evenhand.train.recipes import Recipe
from evenhand.train.unpack import find_encoder

ONNX = Path("onnx") / "model.onnx"


def fine_tune(
    encoder: str,
    train: Sequence[Corpus],
    dev: Sequence[Corpus],
    recipe: Recipe,
    out: Path,
    *,
    limit: int | None = None,
    has_onnx: bool = True,
    is_resumed: bool = True,
    every: int = EVERY,
    say: Callable[[str], None] = print,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """Fine-tune on the files, unless that is done already; the run card. The encoder `default` is the embedded model."""
    find_form(recipe.form)
    require_all_labels(train)
    if recipe.pairing:
        require_twins(train)
    if recipe.lora:
        require_peft()
    crew = open_processes()
    is_first = crew.rank == 0
    if is_first:
        find_encoder(
            encoder
        )  # the embedded model is unpacked by one process, and found by the others
    crew.wait()
    place = find_encoder(encoder)
    about: dict[str, Any] = {
        "encoder": describe_encoder(encoder, place),
        "limit": limit,
        "data": {"train": [c.describe() for c in train], "dev": [c.describe() for c in dev]},
    }
    require_apart(about["data"])
    if has_onnx and importlib.util.find_spec("onnx") is None:
        raise EvenhandError(
            "the ONNX form needs the package onnx: pip install 'evenhand[train]', or give --no-onnx"
        )
    if Path(place).is_dir() and out.resolve() == Path(place).resolve():
        raise EvenhandError(
            f"--out {out} is the folder of the encoder, which would be overwritten; choose another one"
        )
    pairs = draw([pair for corpus in train for pair in corpus.pairs], limit, recipe.seed)
    if recipe.pairing and not any(pair.twin for pair in pairs):
        raise EvenhandError(
            f"none of the {len(pairs)} pairs that were drawn has a twin, which --pairing compares with; give a higher --limit"
        )
    require_writable(out)
    silent = say if is_first else lambda _: None
    with sole(out) if is_first else nullcontext():
        card = _finished(out, {"recipe": asdict(recipe), **about}) if is_resumed else None
        if card is not None:
            silent(f"{out} is finished, nothing is trained; --no-resume trains it again")
        else:
            crew.wait()  # no process may look for the card after another has removed it
            if is_first:
                _clear(out)
            held = dict(zip(name_corpora(dev), (corpus.pairs for corpus in dev), strict=True))
            card = fit(
                place,
                pairs,
                held,
                recipe,
                out,
                say=silent,
                about=about,
                processes=crew,
                every=every,
                is_resumed=is_resumed,
                tick=tick if is_first else None,
            )
        if has_onnx and is_first and not (out / ONNX).exists():
            _export(out)
        crew.wait()
    return card


def _clear(out: Path) -> None:
    """Remove what an earlier run left and this one may not write again."""
    for path in (out / CARD, out / ONNX):
        path.unlink(missing_ok=True)
    for folder in (out / ADAPTER, *out.glob(f".{ADAPTER}.*")):
        shutil.rmtree(folder, ignore_errors=True)


def draw(pairs: Sequence[Pair], limit: int | None, seed: int) -> list[Pair]:
    """`limit` of the pairs at random, in their order; all where there is no limit."""
    if limit is None or limit >= len(pairs):
        return list(pairs)
    chosen = np.random.default_rng(seed).choice(len(pairs), size=limit, replace=False)
    return [pairs[i] for i in np.sort(chosen)]


def _finished(out: Path, card: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card of a finished run of the same settings, None where there is none; an error where the folder holds something else."""
    if not (out / CARD).exists():
        if not (out / "checkpoint").exists() and any(
            True for pattern in WEIGHTS for _ in out.glob(pattern)
        ):
            raise EvenhandError(
                f"{out} holds a model that this command did not make; choose another folder, or overwrite it with --no-resume"
            )
        return None
    return read_finished(out / CARD, card, settings_of, "evenhand train nli")


def _export(out: Path) -> None:
    with staged(out / ONNX.parent) as stage, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, about branches that depend on the shape
        try:
            export_onnx(out, stage)
        except OSError:
            raise
        except Exception as error:  # torch.onnx raises what it likes
            reason = (
                str(error).strip().splitlines()[0][:300]
                if str(error).strip()
                else type(error).__name__
            )
            raise EvenhandError(
                f"the model is trained and written to {out}, but it cannot be written as ONNX: {reason}"
            ) from error
