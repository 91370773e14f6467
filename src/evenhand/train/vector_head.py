"""What does `evenhand train vectors` do? It trains an NLI classifier on frozen sentence vectors and writes it as a folder that evenhand can ask.

A run takes a minute or two, too short for checkpoints: one that was killed starts again, one that is finished is not trained again. With `start` it goes on
from another head on the same encoder.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.files import require_writable, staged, write_atomic
from evenhand.core.probe import NLI_LABELS
from evenhand.respondents.vector_nli import open_sentences, revision_of_head, settle_reference
from evenhand.respondents.vector_weights import SETTINGS, Head, has_head, read_head, write_head
from evenhand.train.checkpoints import read_finished
from evenhand.train.corpus import Corpus, Pair, name_corpora, require_all_labels, require_apart
from evenhand.train.fit import CARD, LEVEL, accuracy_interval, settings_of, versions
from evenhand.train.head_fitting import HeadRecipe, new_head, place_rows, right_rows, train_epochs
from evenhand.train.loop import Tick
from evenhand.train.sentence_vectors import SentenceVectors
from evenhand.train.tuning import draw

Say = Callable[[str], None]


def fit_head(
    encoder: str,
    train: Sequence[Corpus],
    dev: Sequence[Corpus],
    recipe: HeadRecipe,
    out: Path,
    *,
    start: Path | None = None,
    vectors: Path | None = None,
    limit: int | None = None,
    is_resumed: bool = True,
    say: Say = print,
    tick: Tick | None = None,
) -> dict[str, Any]:
    """Train on the files, unless that is done already, and write the head to `out`; the run card.

    `vectors` is the folder where the vectors of sentences are kept for the next run [the user's cache folder].
    """
    if start is None:
        require_all_labels(train)
    sentences = open_sentences(encoder)
    revision = sentences.identity.rpartition("@")[2]
    begun = None if start is None else _open_start(start, revision, recipe, out)
    card: dict[str, Any] = {
        "recipe": asdict(recipe),
        "form": "pair",
        "encoder": {"name": encoder, "revision": revision},
        "limit": limit,
        "start": None
        if start is None
        else {"name": str(start), "revision": revision_of_head(start)},
        "data": {"train": [c.describe() for c in train], "dev": [c.describe() for c in dev]},
    }
    require_apart(card["data"])
    require_writable(out)
    if is_resumed and (old := _finished(out, card)) is not None:
        say(f"{out} is finished, nothing is trained; --no-resume trains it again")
        return old
    (out / CARD).unlink(missing_ok=True)
    pairs = draw([pair for corpus in train for pair in corpus.pairs], limit, recipe.seed)
    held = dict(zip(name_corpora(dev), (corpus.pairs for corpus in dev), strict=True))
    clock = time.monotonic()
    texts = [
        text
        for part in (pairs, *held.values())
        for pair in part
        for text in (pair.premise, pair.hypothesis)
    ]
    places, matrix = SentenceVectors(sentences, vectors).read(
        texts, lambda done, of: say(f"{encoder}: {done:,} of {of:,} sentences read")
    )
    card |= {
        "pairs": len(pairs),
        "sentences": len(places),
        "seconds of reading": round(time.monotonic() - clock, 1),
    }
    labels = begun.labels if begun else NLI_LABELS
    rows = place_rows(pairs, places, labels)
    rows_held = {name: place_rows(part, places, labels) for name, part in held.items()}

    def judge(head: Head) -> float:
        return float(
            np.concatenate([right_rows(head, matrix, part) for part in rows_held.values()]).mean()
        )

    head = begun or new_head(settle_reference(encoder), revision, matrix, rows, recipe)
    head, kept, scores = _train(
        train_epochs(head, matrix, rows, recipe, tick), recipe, judge if held else None, say
    )
    rights = {name: right_rows(head, matrix, part) for name, part in rows_held.items()}
    card |= {
        "hidden": head.hidden,
        "scaling": head.scaling,
        "steps": recipe.epochs * -(-len(pairs) // recipe.batch_size),
    }
    card |= {
        "seconds": round(time.monotonic() - clock, 1),
        "dev accuracy by epoch": scores,
        "kept epoch": kept,
    }
    card |= {"train accuracy": float(right_rows(head, matrix, rows).mean())}
    card |= _judged(rights, held)
    card |= {"processes": 1, "device": "cpu", "torch": torch.__version__, "versions": versions()}
    with staged(out) as stage:
        write_head(head, stage)
    write_atomic(out / CARD, json.dumps(card, indent=1, ensure_ascii=False) + "\n")
    say(f"{recipe.name}: done in {card['seconds']:.0f} s")
    return card


def _train(
    epochs: Iterator[Head], recipe: HeadRecipe, judge: Callable[[Head], float] | None, say: Say
) -> tuple[Head, int, list[float]]:
    """The head that is kept, its epoch, and the dev accuracy after each."""
    kept, best, scores = 0, None, []
    for epoch, head in enumerate(epochs, 1):
        if judge is None:
            kept, best = epoch, head
            continue
        scores.append(judge(head))
        say(f"{recipe.name}: epoch {epoch} of {recipe.epochs}, dev accuracy {scores[-1]:.2%}")
        if not recipe.is_best_kept or scores[-1] > max(scores[:-1], default=-1.0):
            kept, best = epoch, head
    assert best is not None  # there is at least one epoch
    return best, kept, scores


def _judged(rights: Mapping[str, Any], held: Mapping[str, Sequence[Pair]]) -> dict[str, Any]:
    """Accuracy with its interval, and beside it what always saying the most frequent label would get."""
    intervals = {
        name: accuracy_interval(right, [p.premise for p in held[name]])
        for name, right in rights.items()
    }
    return {
        "accuracy": {name: i.value for name, i in intervals.items()},
        "interval": {
            name: {"low": i.low, "high": i.high, "level": LEVEL, "pairs": len(held[name])}
            for name, i in intervals.items()
        },
        "majority": {
            name: max(Counter(p.label for p in part).values()) / len(part)
            for name, part in held.items()
        },
    }


def _open_start(start: Path, revision: str, recipe: HeadRecipe, out: Path) -> Head:
    """The head to go on from; an error where it stands on another encoder or has another size."""
    if not has_head(start):
        raise LoadError(
            f"{start} holds no classifier on sentence vectors: it has no {SETTINGS}. `evenhand train vectors` makes one."
        )
    if out.resolve() == start.resolve():
        raise EvenhandError(
            f"--out {out} is the folder of the head to start from, which would be overwritten; choose another one"
        )
    head = read_head(start)
    if head.revision != revision:
        raise LoadError(
            f"{start} stands on the encoder '{head.encoder}' at {head.revision}, not on the one named now, at {revision}; name the same"
        )
    if recipe.hidden not in (None, head.hidden):
        raise EvenhandError(
            f"{start} has {head.hidden} hidden units and cannot go on with {recipe.hidden}; leave out --hidden"
        )
    return head


def _finished(out: Path, card: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card of a finished run of the same settings, None where there is none; an error where the folder holds something else."""
    if not has_head(out) and ((out / CARD).exists() or (out / "config.json").exists()):
        raise EvenhandError(
            f"{out} holds a model that this command did not make; choose another folder, or overwrite it with --no-resume"
        )
    if not (out / CARD).exists():
        return None
    return read_finished(out / CARD, card, _settings, "evenhand train vectors")


def _settings(card: Mapping[str, Any]) -> dict[str, Any]:
    return {**settings_of(card), "start": (card.get("start") or {}).get("revision")}
