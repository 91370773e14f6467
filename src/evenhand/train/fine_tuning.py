"""`evenhand train nli`: fine-tune an encoder on NLI files and write model, run card and ONNX form.

Everything that can be checked is checked first. A run that was stopped continues; one that is
finished is not trained again.
"""

from __future__ import annotations

import importlib.util
import shutil
import warnings
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import AutoTokenizer

from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError
from evenhand.core.files import require_writable, staged
from evenhand.core.probe import Bools
from evenhand.respondents.forms import find_form
from evenhand.respondents.location import first_line
from evenhand.respondents.networks.batches import find_longest
from evenhand.train.batches import EncodedPairs, choose_loss, in_order, logits_of, shuffled
from evenhand.train.checkpoints import FOLDER, Checkpoints, locked
from evenhand.train.corpus import Corpora, draw_pairs
from evenhand.train.encoders import (
    ADAPTER,
    Opened,
    add_adapters,
    describe_encoder,
    find_encoder,
    label_order,
    load_pretrained,
    merge_adapters,
    open_classifier,
    require_peft,
    save_adapters,
    weight_files,
)
from evenhand.train.export import export_onnx
from evenhand.train.loop import Processes, RunHooks, TrainingRun, open_processes
from evenhand.train.recipes import Recipe, RunOptions, Say
from evenhand.train.run_cards import (
    CARD,
    RunCard,
    accuracy_facts,
    finished_card,
    installed_versions,
)

COMMAND = "evenhand train nli"
ONNX = Path("onnx") / "model.onnx"
ACCURACY_BATCH = 64
_NAMED = 4  # new weights that a warning names


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingData:
    """Pairs to train on, pairs of each dev file, and what the run card says of the files."""

    train: Sequence[Pair]
    dev: Mapping[str, Sequence[Pair]]
    about: Mapping[str, Any] = field(default_factory=dict)


def fine_tune(
    encoder: str, corpora: Corpora, recipe: Recipe, out: Path, options: RunOptions | None = None
) -> RunCard:
    """Fine-tune on the files, unless that is done already; returns the run card.

    The encoder `default` is the embedded model. Raises EvenhandError where the run cannot work.
    """
    options = options or RunOptions()
    find_form(recipe.form)
    corpora.require_all_labels()
    if recipe.pairing:
        corpora.require_twins()
    if recipe.lora:
        require_peft()
    processes = open_processes()
    is_first = processes.rank == 0
    if is_first:
        find_encoder(encoder)  # one process unpacks the embedded model, the others find it
    processes.wait()
    place = find_encoder(encoder)
    about: dict[str, Any] = {
        "encoder": describe_encoder(encoder, place),
        "limit": options.limit,
        "data": corpora.describe(),
    }
    if options.has_onnx and importlib.util.find_spec("onnx") is None:
        raise EvenhandError(
            "the ONNX form needs the package onnx: pip install 'evenhand[train]', or give --no-onnx"
        )
    if Path(place).is_dir() and out.resolve() == Path(place).resolve():
        raise EvenhandError(
            f"--out {out} is the folder of the encoder, which would be overwritten; "
            "choose another one"
        )
    pairs = draw_pairs(corpora.pairs, options.limit, recipe.seed)
    if recipe.pairing and not any(pair.twin for pair in pairs):
        raise EvenhandError(
            f"none of the {len(pairs)} pairs that were drawn has a twin, "
            "which --pairing compares with; give a higher --train-limit"
        )
    require_writable(out)
    if not is_first:
        options = replace(options, say=lambda _: None, tick=None)
    with locked(out) if is_first else nullcontext():
        planned = RunCard({"recipe": asdict(recipe), **about})
        card = _finished(out, planned) if options.is_resumed else None
        if card is not None:
            options.say(f"{out} is finished, nothing is trained; --no-resume trains it again")
        else:
            processes.wait()  # no process may look for the card after another has removed it
            if is_first:
                _clear(out)
            data = TrainingData(train=pairs, dev=corpora.held_out, about=about)
            card = fit(place, data, recipe, out, options, processes)
        if options.has_onnx and is_first and not (out / ONNX).exists():
            _export(out)
        processes.wait()
    return card


def _finished(out: Path, planned: RunCard) -> RunCard | None:
    """The card of a finished run of the same settings, None where there is none.

    Raises EvenhandError where the folder holds something else.
    """
    if (out / CARD).exists():
        return finished_card(out, planned, COMMAND)
    if weight_files(out) and not (out / FOLDER).exists():
        raise EvenhandError(
            f"{out} holds a model that this command did not make; choose another folder, "
            "or overwrite it with --no-resume"
        )
    return None


def _clear(out: Path) -> None:
    """Remove files of an earlier run that this one might not overwrite."""
    for path in (out / CARD, out / ONNX):
        path.unlink(missing_ok=True)
    for folder in (out / ADAPTER, *out.glob(f".{ADAPTER}.*")):
        shutil.rmtree(folder, ignore_errors=True)


def _export(out: Path) -> None:
    with staged(out / ONNX.parent) as stage, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the tracer, about branches that depend on the shape
        try:
            export_onnx(out, stage)
        except OSError:
            raise
        except Exception as error:  # torch.onnx raises what it likes
            raise EvenhandError(
                f"the model is trained and written to {out}, "
                f"but it cannot be written as ONNX: {first_line(error)}"
            ) from error


def fit(
    encoder: Path | str,
    data: TrainingData,
    recipe: Recipe,
    out: Path,
    options: RunOptions | None = None,
    processes: Processes | None = None,
) -> RunCard:
    """Fine-tune `encoder` and write the weights that the recipe keeps to `out`; the run card.

    A run of the same recipe and data that was stopped goes on from its last checkpoint, unless
    the options say otherwise.
    """
    options, processes = options or RunOptions(), processes or Processes()
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    tokenizer = load_pretrained(AutoTokenizer.from_pretrained, encoder)
    opened = open_classifier(encoder, recipe)
    _warn_of_new(encoder, opened, options.say)
    model = add_adapters(opened, recipe) if recipe.lora else opened.model
    if model.config.pad_token_id is None:
        # causal models look for the last word before the padding
        model.config.pad_token_id = tokenizer.pad_token_id
    if processes.rank:  # the same head everywhere, but other units dropped
        torch.manual_seed(recipe.seed + processes.rank)
    longest = find_longest(model.config.to_dict(), tokenizer.model_max_length)
    shortened = min(recipe.max_length, longest)
    order, has_twins = label_order(model.config), recipe.pairing > 0
    train = EncodedPairs(tokenizer, data.train, shortened, recipe.form, order, has_twins=has_twins)
    dev = {
        name: EncodedPairs(tokenizer, pairs, longest, recipe.form, order)
        for name, pairs in data.dev.items()
    }
    loss_of = choose_loss(
        logits_of(processes.prepare_model(model), processes.device), train, recipe
    )
    run = TrainingRun(model, len(train), loss_of, recipe, processes=processes, rng=rng)
    facts: dict[str, Any] = {
        "recipe": asdict(recipe),
        "form": recipe.form,
        **data.about,
        "pairs": len(data.train),
    }
    trained = sum(p.numel() for p in run.trained)
    if recipe.pairing:
        facts["pairs with a twin"] = int((train.twins >= 0).sum())
    if recipe.lora:
        facts["lora"] = {"rank": recipe.lora, "alpha": recipe.alpha}
    facts["tokens of a pair, at most"] = {"train": shortened, "dev": longest}
    keeper = None
    if every := options.checkpoint_every:
        keeper = Checkpoints(out, RunCard(facts).settings, processes, every=every)
        if options.is_resumed and keeper.restore(run):
            options.say(f"{recipe.name}: goes on from step {run.at.step} of {run.steps}")
        else:
            keeper.discard()

    def judge() -> float:
        rights = [right_rows(model, pairs, processes) for pairs in dev.values()]
        return float(np.concatenate(rights).mean())

    is_judged = bool(dev) and (recipe.is_best_kept or recipe.patience > 0)
    run.go(
        lambda: shuffled(train.lengths, recipe.batch_size, rng),
        RunHooks(
            say=options.say,
            tick=options.tick,
            judge=judge if is_judged else None,
            keeper=keeper,
        ),
    )
    if recipe.lora:
        if processes.rank == 0:
            save_adapters(model, out)
        model = merge_adapters(model)
    facts |= {
        "parameters": {"trained": trained, "all": sum(p.numel() for p in model.parameters())},
        "new weights": list(opened.new),
        "steps": run.at.step,
        "seconds": round(run.at.seconds),
        "dev accuracy by epoch": run.at.scores,
        "kept epoch": run.at.best if run.best else run.at.epoch,
        **accuracy_facts(lambda name: right_rows(model, dev[name], processes), data.dev),
        "processes": processes.count,
        "device": str(processes.device),
        "torch": torch.__version__,
        "versions": installed_versions(),
    }
    card = RunCard(facts)
    if processes.rank == 0:
        _write(out, card, model, tokenizer)
    if keeper:
        keeper.discard()
    minutes = f"{run.at.seconds / 60:.0f} min"
    options.say(f"{recipe.name}: done in {minutes}; {_accuracy_text(facts)}")
    return card


def _accuracy_text(facts: Mapping[str, Any]) -> str:
    bounds = facts["interval"]
    return ", ".join(
        f"{name} {value:.2%} [{bounds[name]['low']:.2%}, {bounds[name]['high']:.2%}]"
        for name, value in facts["accuracy"].items()
    )


def _write(out: Path, card: RunCard, model: Any, tokenizer: Any) -> None:
    with staged(out) as stage:
        model.save_pretrained(stage)
        tokenizer.save_pretrained(stage)
        for path in stage.iterdir():
            path.chmod(0o644)  # safetensors are written for their owner alone
    card.write(out)


def _warn_of_new(encoder: Path | str, opened: Opened, say: Say) -> None:
    if new := opened.new_within:
        rest = f" and {len(new) - _NAMED} more" if len(new) > _NAMED else ""
        say(
            f"warning: {encoder} has no weights for {', '.join(new[:_NAMED])}{rest}; "
            "they start at random and are trained with the rest"
        )


def right_rows(model: Any, data: EncodedPairs, processes: Processes | None = None) -> Bools:
    """Which of the pairs the model labels right; each process asks its part."""
    processes = processes or Processes()
    model.eval()
    is_right = np.zeros(len(data), dtype=bool)
    batches = list(in_order(data.lengths, ACCURACY_BATCH))
    with torch.inference_mode():
        for rows in batches[processes.rank :: processes.count]:
            inputs, labels = data.batch(rows)
            logits = logits_of(model, processes.device)(inputs)
            is_right[rows] = (logits.argmax(-1).cpu() == labels).numpy()
    return np.asarray(np.logical_or.reduce(processes.gather(is_right)))
