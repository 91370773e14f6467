"""`evenhand train vectors`: an NLI classifier on frozen sentence vectors, written as a folder.

One hidden layer, AdamW on minibatches; the same seed gives the same weights. A run takes a minute
or two, too short for checkpoints: one that was killed starts again, one that is finished is not
trained again. With a start it continues from another head on the same encoder.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from evenhand.core.corpora import Pair
from evenhand.core.errors import EvenhandError, LoadError
from evenhand.core.files import require_writable, staged
from evenhand.core.probe import NLI_LABELS, Bools, Floats
from evenhand.respondents.vector_nli import (
    PARTS,
    SETTINGS,
    Head,
    features,
    has_head,
    open_sentences,
    read_head,
    revision_of_head,
    settle_reference,
    write_head,
)
from evenhand.train.corpus import Corpora, draw_pairs
from evenhand.train.recipes import HeadRecipe, RunOptions, Say, Tick
from evenhand.train.run_cards import (
    CARD,
    RunCard,
    accuracy_facts,
    finished_card,
    installed_versions,
)
from evenhand.train.sentence_vectors import SentenceVectors

COMMAND = "evenhand train vectors"
HIDDEN = 512
CHUNK = 4_096  # pairs whose inputs are in memory at once
FLAT = 1e-8  # an input that varies less than this is left as it is
Vectors = NDArray[np.float32]
Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadBasis:
    """What a classifier is built on: the encoder, and the head that it starts from."""

    encoder: str  # as a user would type it
    start: Path | None = None  # the folder of another head on the same encoder
    vectors: Path | None = None  # where vectors are kept for the next run; None: the cache folder


class PairRows(NamedTuple):
    """Pairs as rows of a matrix of vectors."""

    first: Places
    second: Places
    labels: Places


def fit_head(
    basis: HeadBasis,
    corpora: Corpora,
    recipe: HeadRecipe,
    out: Path,
    options: RunOptions | None = None,
) -> RunCard:
    """Train on the files, unless that is done already, and write the head to `out`; the run card.

    Raises EvenhandError where the run cannot work.
    """
    options, start = options or RunOptions(), basis.start
    say = options.say
    if start is None:
        corpora.require_all_labels()
    sentences = open_sentences(basis.encoder)
    revision = sentences.identity.rpartition("@")[2]
    begun = None if start is None else _open_start(start, revision, recipe, out)
    facts: dict[str, Any] = {
        "recipe": asdict(recipe),
        "form": "pair",
        "encoder": {"name": basis.encoder, "revision": revision},
        "limit": options.limit,
        "start": None
        if start is None
        else {"name": str(start), "revision": revision_of_head(start)},
        "data": corpora.describe(),
    }
    require_writable(out)
    if options.is_resumed and (old := _finished(out, RunCard(facts))) is not None:
        say(f"{out} is finished, nothing is trained; --no-resume trains it again")
        return old
    (out / CARD).unlink(missing_ok=True)
    pairs = draw_pairs(corpora.pairs, options.limit, recipe.seed)
    held_out = corpora.held_out
    began = time.monotonic()
    store = SentenceVectors(sentences, basis.vectors)
    places, vectors = store.read(
        [
            text
            for part in (pairs, *held_out.values())
            for pair in part
            for text in (pair.premise, pair.hypothesis)
        ],
        lambda done, total: say(f"{basis.encoder}: {done:,} of {total:,} sentences read"),
    )
    facts |= {
        "pairs": len(pairs),
        "sentences": len(places),
        "seconds of reading": round(time.monotonic() - began, 1),
    }
    labels = begun.labels if begun else NLI_LABELS
    rows = place_rows(pairs, places, labels)
    dev_rows = {name: place_rows(part, places, labels) for name, part in held_out.items()}

    def judge(head: Head) -> float:
        rights = [right_rows(head, vectors, part) for part in dev_rows.values()]
        return float(np.concatenate(rights).mean())

    head = begun or new_head(settle_reference(basis.encoder), revision, vectors, rows, recipe)
    epochs = train_epochs(head, vectors, rows, recipe, options.tick)
    head, kept, scores = _choose_epoch(epochs, recipe, judge if held_out else None, say)
    facts |= {
        "hidden": head.hidden,
        "scaling": head.scaling,
        "steps": recipe.epochs * -(-len(pairs) // recipe.batch_size),
        "seconds": round(time.monotonic() - began, 1),
        "dev accuracy by epoch": scores,
        "kept epoch": kept,
        "train accuracy": float(right_rows(head, vectors, rows).mean()),
        **accuracy_facts(lambda name: right_rows(head, vectors, dev_rows[name]), held_out),
        "majority": {name: _majority(part) for name, part in held_out.items()},
        "processes": 1,
        "device": "cpu",
        "torch": torch.__version__,
        "versions": installed_versions(),
    }
    card = RunCard(facts)
    with staged(out) as stage:
        write_head(head, stage)
    card.write(out)
    say(f"{recipe.name}: done in {card.seconds:.0f} s")
    return card


def _majority(pairs: Sequence[Pair]) -> float:
    """The accuracy of always giving the most frequent label."""
    return max(Counter(p.label for p in pairs).values()) / len(pairs)


def _choose_epoch(
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


def _open_start(start: Path, revision: str, recipe: HeadRecipe, out: Path) -> Head:
    """The head to go on from.

    Raises an error where there is none, or it stands on another encoder or has another size.
    """
    if not has_head(start):
        raise LoadError(
            f"{start} holds no classifier on sentence vectors: it has no {SETTINGS}. "
            f"`{COMMAND}` makes one."
        )
    if out.resolve() == start.resolve():
        raise EvenhandError(
            f"--out {out} is the folder of the head to start from, which would be overwritten; "
            "choose another one"
        )
    head = read_head(start)
    if head.revision != revision:
        raise LoadError(
            f"{start} stands on the encoder '{head.encoder}' at {head.revision}, "
            f"not on the one named now, at {revision}; name the same"
        )
    if recipe.hidden not in (None, head.hidden):
        raise EvenhandError(
            f"{start} has {head.hidden} hidden units and cannot go on with {recipe.hidden}; "
            "leave out --hidden"
        )
    return head


def _finished(out: Path, planned: RunCard) -> RunCard | None:
    """The card of a finished run of the same settings, None where there is none.

    Raises EvenhandError where the folder holds something else.
    """
    has_card = (out / CARD).exists()
    if not has_head(out) and (has_card or (out / "config.json").exists()):
        raise EvenhandError(
            f"{out} holds a model that this command did not make; choose another folder, "
            "or overwrite it with --no-resume"
        )
    return finished_card(out, planned, COMMAND) if has_card else None


def place_rows(pairs: Sequence[Pair], places: Mapping[str, int], labels: Sequence[str]) -> PairRows:
    """Where the vectors of the pairs stand, and their labels as outputs of the head."""
    return PairRows(
        np.asarray([places[p.premise] for p in pairs]),
        np.asarray([places[p.hypothesis] for p in pairs]),
        np.asarray([labels.index(p.label) for p in pairs]),
    )


def new_head(
    encoder: str, revision: str, vectors: Vectors, rows: PairRows, recipe: HeadRecipe
) -> Head:
    """An untrained head, with its inputs scaled."""
    size, hidden = len(PARTS) * vectors.shape[1], recipe.hidden or HIDDEN
    shift, scale = np.zeros(size), np.ones(size)
    if recipe.scaling == "standard":
        shift, scale = _scaling(vectors, rows)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(recipe.seed)
        inner, outer = torch.nn.Linear(size, hidden), torch.nn.Linear(hidden, len(NLI_LABELS))
    empty = np.zeros(0, dtype=np.float32)
    bare = Head(
        encoder=encoder,
        revision=revision,
        labels=NLI_LABELS,
        scaling=recipe.scaling,
        shift=shift.astype(np.float32),
        scale=scale.astype(np.float32),
        inner=empty,
        inner_bias=empty,
        outer=empty,
        outer_bias=empty,
    )
    return _with_layers(bare, inner, outer)


def train_epochs(
    head: Head, vectors: Vectors, rows: PairRows, recipe: HeadRecipe, tick: Tick | None = None
) -> Iterator[Head]:
    """The head after each epoch."""
    known = torch.from_numpy(vectors)
    shift, scale = torch.from_numpy(head.shift), torch.from_numpy(head.scale)
    first, second, labels = (torch.from_numpy(part) for part in rows)
    inner, outer = _layer(head.inner, head.inner_bias), _layer(head.outer, head.outer_bias)
    network = torch.nn.Sequential(
        torch.nn.Dropout(recipe.dropout / 2),
        inner,
        torch.nn.ReLU(),
        torch.nn.Dropout(recipe.dropout),
        outer,
    )
    count = len(labels)
    steps = recipe.epochs * -(-count // recipe.batch_size)
    optimizer = torch.optim.AdamW(
        network.parameters(), recipe.learning_rate, weight_decay=recipe.weight_decay
    )
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: max(0.0, 1 - step / steps))
    loss = torch.nn.CrossEntropyLoss(label_smoothing=recipe.label_smoothing)
    done, random = 0, None
    for _ in range(recipe.epochs):
        # forked, so that the caller's random numbers between two epochs are not affected
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(recipe.seed) if random is None else torch.set_rng_state(random)
            for batch in torch.randperm(count).split(recipe.batch_size):
                u, v = known[first[batch]], known[second[batch]]
                inputs = (torch.cat([u, v, (u - v).abs(), u * v], dim=1) - shift) * scale
                optimizer.zero_grad()
                loss(network(inputs), labels[batch]).backward()
                optimizer.step()
                schedule.step()
                done += 1
                if tick is not None:
                    tick(done, steps, 0)
            random = torch.get_rng_state()
        yield _with_layers(head, inner, outer)


def right_rows(head: Head, vectors: Vectors, rows: PairRows) -> Bools:
    """Which of the pairs the head labels right, asked as it will be asked."""
    answers = [
        head.logits(vectors[rows.first[i : i + CHUNK]], vectors[rows.second[i : i + CHUNK]])
        for i in range(0, len(rows.labels), CHUNK)
    ]
    return np.asarray(np.concatenate(answers).argmax(axis=1) == rows.labels)


def _scaling(vectors: Vectors, rows: PairRows) -> tuple[Floats, Floats]:
    """Shift and scale that give every input of the training pairs mean 0 and deviation 1."""
    total = squares = np.zeros(len(PARTS) * vectors.shape[1])
    for i in range(0, len(rows.labels), CHUNK):
        part = features(*(vectors[side[i : i + CHUNK]].astype(np.float64) for side in rows[:2]))
        total, squares = total + part.sum(axis=0), squares + (part**2).sum(axis=0)
    mean = total / len(rows.labels)
    deviation = np.sqrt(np.maximum(squares / len(rows.labels) - mean**2, 0.0))
    return mean, 1 / np.where(deviation > FLAT, deviation, 1.0)


def _layer(weights: Vectors, bias: Vectors) -> torch.nn.Linear:
    layer = torch.nn.utils.skip_init(torch.nn.Linear, *weights.shape)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.T))
        layer.bias.copy_(torch.from_numpy(bias))
    return layer


def _with_layers(head: Head, inner: torch.nn.Linear, outer: torch.nn.Linear) -> Head:
    parts = (inner.weight.T, inner.bias, outer.weight.T, outer.bias)
    # copies: the layers are trained further
    arrays = [np.array(part.detach().numpy(), order="C") for part in parts]
    return replace(
        head, inner=arrays[0], inner_bias=arrays[1], outer=arrays[2], outer_bias=arrays[3]
    )
