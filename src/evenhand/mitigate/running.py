"""Which method lowers which measure, and what does it cost? Train the model by each of them, ask all of them the same, compare before and after.

What is finished is not done again.
"""

from __future__ import annotations

import importlib.util
import json
import math
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from evenhand import __version__
from evenhand.core.files import write_atomic
from evenhand.core.protocols import Respondent
from evenhand.mitigate.anchors import AnchorPlan
from evenhand.mitigate.asking import Watch, ask_all, compare_sheets
from evenhand.mitigate.preparing import Ready, Wish, open_model, prepare
from evenhand.mitigate.records import BEFORE, NONE, Mitigation, Trained
from evenhand.train.corpus import Corpus, Pair, read_corpus

CORPUS = "corpus.jsonl"
RECORD = "mitigation.json"
Say = Callable[[str], None]


def write_corpus(path: Path, pairs: Sequence[Pair]) -> None:
    """The pairs as .jsonl, twins beside them."""
    rows = []
    for pair in pairs:
        row = {"premise": pair.premise, "hypothesis": pair.hypothesis, "label": pair.label}
        if pair.twin:
            row |= {"twin_premise": pair.twin[0], "twin_hypothesis": pair.twin[1]}
        rows.append(json.dumps(row, ensure_ascii=False))
    write_atomic(path, "\n".join(rows) + "\n")


def train(wish: Wish, ready: Ready, *, say: Say, watch: Watch | None = None) -> list[Trained]:
    """The model of every method, from its own corpus; those that are there already are not trained again."""
    from evenhand.train.tuning import fine_tune

    corpora: list[Corpus] = []
    for method in ready.combinations:
        path = wish.out / method.name / CORPUS
        write_corpus(path, method.apply(ready.pairs, ready.materials))
        corpora.append(read_corpus(path))
        say(
            f"{method.name}: {len(corpora[-1].pairs):,} pairs, {len(corpora[-1].pairs) - len(ready.pairs):,} of them added"
        )
    found: list[Trained] = []
    began, left, done = time.monotonic(), sum(len(c.pairs) for c in corpora), 0
    for place, (method, corpus) in enumerate(zip(ready.combinations, corpora, strict=True), 1):
        folder, start = wish.out / method.name, time.monotonic()
        recipe = replace(
            wish.recipe,
            pairing=wish.pairing if method.is_paired else 0.0,
            seed=wish.recipe.seed + wish.seed,
        )
        say(
            f"training {place} of {len(corpora)}: {method.name}"
            + _time_left(time.monotonic() - began, done, left)
        )
        with watch(f"training {method.name}") if watch else nullcontext() as tick:
            card = fine_tune(
                ready.encoder,
                [corpus],
                ready.dev,
                recipe,
                folder,
                has_onnx=importlib.util.find_spec("onnx") is not None,
                is_resumed=wish.is_resumed,
                say=say,
                tick=tick,
            )
        if (
            time.monotonic() - start > 0.5 * card["seconds"]
        ):  # what was finished before says nothing about the time that the rest takes
            done += len(corpus.pairs)
        else:
            began = time.monotonic()
        left -= len(corpus.pairs)
        found.append(
            Trained(
                method=method.name,
                description="; ".join(part.description for part in method.parts),
                identity="",
                folder=str(folder),
                pairs=len(corpus.pairs),
                added=len(corpus.pairs) - len(ready.pairs),
                twins=sum(p.twin is not None for p in corpus.pairs),
                steps=int(card["steps"]),
                seconds=float(card["seconds"]),
            )
        )
    return found


def _time_left(seconds: float, done: int, left: int) -> str:
    return (
        f", about {math.ceil(seconds / done * left / 60)} min left for all trainings"
        if done
        else ""
    )


def mitigate(wish: Wish, *, say: Say = print, watch: Watch | None = None) -> Mitigation:
    """Train, ask, compare; the record, which is also written to OUT."""
    ready = prepare(wish)
    trained = train(wish, ready, say=say, watch=watch)
    names = [BEFORE, *(t.method for t in trained)]
    opened: dict[str, Respondent] = {}

    def opening(name: str, model: str) -> Respondent:
        opened[name] = open_model(model, wish.language)
        return opened[name]

    places = [(BEFORE, wish.model), *((t.method, t.folder) for t in trained)]
    sheets = ask_all(
        [(name, partial(opening, name, model)) for name, model in places],
        ready.suites,
        ready.materials.plan,
        watch,
        say,
    )
    say(f"comparing {len(trained)} models with the one of before on {len(sheets)} sets of pairs")
    settings: dict[str, Any] = {"seed": wish.seed, "resamples": wish.resamples, "level": wish.level}
    scores, changes, tests = compare_sheets(
        sheets, names, NONE, permutations=wish.permutations, **settings
    )
    found = Mitigation(
        model=wish.model,
        identity=ready.identity,
        language=wish.language,
        level=wish.level,
        tests=tests,
        settings=_settings(wish, ready),
        occupations=_words(ready.materials.plan),
        asked=tuple(sheet.describe() for sheet in sheets),
        trained=tuple(replace(t, identity=opened[t.method].identity) for t in trained),
        scores=tuple(scores),
        changes=tuple(changes),
    )
    write_atomic(
        wish.out / RECORD,
        json.dumps(found.to_json(), ensure_ascii=False, indent=1, allow_nan=False) + "\n",
    )
    return found


def _words(plan: AnchorPlan | None) -> dict[str, tuple[str, ...]]:
    return {} if plan is None else {"anchors": plan.occupations, "unseen": plan.unseen}


def _settings(wish: Wish, ready: Ready) -> dict[str, Any]:
    plan = ready.materials.plan
    return {
        "train": ready.about["train"],
        "dev": ready.about["dev"],
        "pairs": len(ready.pairs),
        "limit": wish.limit,
        "recipe": asdict(wish.recipe),
        "pairing": wish.pairing,
        "anchors": wish.anchors,
        "frames": len(plan.frames) if plan else 0,
        "scope": wish.scope,
        "seed": wish.seed,
        "resamples": wish.resamples,
        "permutations": wish.permutations,
        "evenhand": __version__,
    }
