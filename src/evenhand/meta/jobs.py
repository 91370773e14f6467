"""How is one model of a ladder made and asked? Its set is built, it is trained from the NLI model, and its raw answers are kept."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evenhand.core.answer_files import write_answers
from evenhand.core.files import read_text, staged, write_atomic
from evenhand.core.protocols import RespondentOptions
from evenhand.core.suite import Suite
from evenhand.engine.audit import question
from evenhand.meta import recipes
from evenhand.meta.controlled import PARTS, Controlled, build, save
from evenhand.meta.options import LadderOptions
from evenhand.meta.plan import Plan
from evenhand.meta.published import read_published
from evenhand.meta.records import Rung
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.vector_weights import has_head, read_head
from evenhand.train.recipes import Recipe

DONE = "rung.json"
HEAD_EPOCHS, HEAD_RATE = 40, 1e-3


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One model to make: all that another process, or another machine, must know."""

    rung: Rung
    plan: Plan
    options: LadderOptions
    suites: tuple[Suite, ...]
    folder: Path

    @property
    def is_done(self) -> bool:
        """Is it trained, and are all suites asked as they are now?"""
        if not (self.folder / DONE).exists():
            return False
        asked = json.loads(read_text(self.folder / DONE)).get("suites", {})
        return all(asked.get(s.card.name) == s.reference for s in self.suites)


def answers_path(folder: Path, suite: Suite) -> Path:
    """Where the answers of a model to a suite are kept."""
    return folder / "answers" / f"{suite.card.name.replace(':', '-')}.parquet"


def settings_of(options: LadderOptions, plan: Plan, suites: tuple[Suite, ...]) -> dict[str, Any]:
    """What a reader must know to make the ladder again."""
    if has_head(Path(options.encoder)):
        training: dict[str, Any] = {"recipe": "head on frozen vectors", **head_settings(options)}
    else:
        recipe = recipe_of(options, 0)
        training = {
            "recipe": recipe.name,
            "epochs": recipe.epochs,
            "learning rate": recipe.learning_rate,
            "batch size": recipe.batch_size,
        }
    return {
        "language": options.language,
        "encoder": options.encoder,
        "training": training,
        "words": {lean: list(words) for lean, words in plan.words.items()},
        "sets": {
            "frames": plan.source,
            **(
                {}
                if options.published
                else {"train": options.train, "dev": options.dev, "correct": options.mix}
            ),
        },
        "rates": list(options.rates),
        "errors": list(options.errors),
        "rate of the ladder of errors": options.fixed_rate,
        "seeds": list(options.seeds),
        "seeds of the ladder of errors": list(options.seeds[: options.error_seeds]),
        "suites": {s.card.name: s.reference for s in suites},
    }


def recipe_of(options: LadderOptions, seed: int) -> Recipe:
    """The recipe of a model."""
    told: dict[str, Any] = {"epochs": options.epochs, "learning_rate": options.learning_rate}
    return replace(
        recipes.find(options.recipe),
        seed=seed,
        **{name: value for name, value in told.items() if value is not None},
    )


def head_settings(options: LadderOptions) -> dict[str, Any]:
    """How a classifier on frozen vectors is trained: many epochs, since each takes a second."""
    return {
        "epochs": options.epochs or HEAD_EPOCHS,
        "learning_rate": options.learning_rate or HEAD_RATE,
        "is_best_kept": True,
    }


def make_set(plan: Plan, rung: Rung, options: LadderOptions) -> Controlled:
    """What the model of a rung is trained on."""
    if options.published:
        return read_published(options.published, options.language, rung.rate)
    return build(
        plan,
        rung.rate,
        errors=rung.errors,
        train=options.train,
        dev=options.dev,
        mix=options.mix,
        seed=rung.seed,
    )


def climb(job: Job) -> dict[str, Any]:
    """Build, train, ask, write down; what was reached. What is there already is not made again."""
    began, folder, rung, options = time.monotonic(), job.folder, job.rung, job.options
    save(
        make_set(job.plan, rung, options),
        job.plan,
        folder / "set",
        {"seed": rung.seed, "correct": options.mix},
    )
    accuracy = train(job)
    respondents = {
        kind: open_respondent(
            str(folder / "model"), kind, RespondentOptions(language=options.language)
        )
        for kind in {p.kind for s in job.suites for p in s.probes}
    }
    with staged(folder / "answers") as stage:
        for suite in job.suites:
            write_answers(
                question(respondents[suite.probes[0].kind], suite, cache=False),
                stage / answers_path(folder, suite).name,
            )
    if not options.has_weights:
        shutil.rmtree(folder / "model", ignore_errors=True)
    said = {
        "accuracy": accuracy,
        "seconds": time.monotonic() - began,
        "suites": {s.card.name: s.reference for s in job.suites},
    }
    write_atomic(folder / DONE, json.dumps(said, indent=1, ensure_ascii=False) + "\n")
    return said


def train(job: Job) -> float:
    """Train the model of a job from the encoder, or the classifier on sentence vectors from one; its accuracy on its own dev set."""
    from evenhand.train.corpus import read_corpus

    files = {part: [read_corpus(job.folder / "set" / f"{part}.jsonl")] for part in PARTS}
    out = job.folder / "model"
    if has_head(Path(job.options.encoder)):
        from evenhand.train.head_fitting import HeadRecipe
        from evenhand.train.vector_head import fit_head

        start = Path(job.options.encoder)
        recipe = HeadRecipe(**{**head_settings(job.options), "seed": job.rung.seed})
        card = fit_head(
            read_head(start).encoder,
            files["train"],
            files["dev"],
            recipe,
            out,
            start=start,
            say=lambda _: None,
        )
    else:
        from evenhand.train.tuning import fine_tune

        card = fine_tune(
            job.options.encoder,
            files["train"],
            files["dev"],
            recipe_of(job.options, job.rung.seed),
            out,
            has_onnx=False,
            say=lambda _: None,
        )
    write_atomic(
        job.folder / "training.json", json.dumps(card, indent=1, ensure_ascii=False) + "\n"
    )
    return float(card["accuracy"]["dev"])
