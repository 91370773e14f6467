"""Making a ladder: every model is trained and asked, then every measure is computed.

Each model is a folder: its training set, its run card, and its raw answers to every suite. Measures
are computed from the answers at the end, so that a measure that is added later takes part without
any training, and a ladder that was stopped continues with the models that are missing.
"""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evenhand.core.answer_files import read_answers, suite_of, write_answers
from evenhand.core.errors import EvenhandError
from evenhand.core.estimate import Estimate
from evenhand.core.files import read_text, require_writable, staged, write_atomic
from evenhand.core.plain import to_json
from evenhand.core.protocols import Respondent, RespondentOptions
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.engine import local
from evenhand.engine.ask import Asking, ask_suite
from evenhand.engine.estimate import choose_measures, estimate
from evenhand.meta.controlled import Controlled, build_sets, save_sets
from evenhand.meta.forms import SUITE_FORM
from evenhand.meta.ladder import Ladder, Reading, Rung
from evenhand.meta.options import LadderOptions
from evenhand.meta.plan import Plan, check_suites, make_plan, suites_of
from evenhand.meta.published import published_plan, read_published
from evenhand.respondents.encoder import Reading as Vector
from evenhand.respondents.locate import open_respondent
from evenhand.respondents.location import read_settings
from evenhand.respondents.vector_nli import VectorNliRespondent, has_head, read_head
from evenhand.train import require_packages
from evenhand.train.corpus import read_corpora
from evenhand.train.recipes import RunOptions
from evenhand.train.run_cards import RunCard

DONE = "rung.json"
SETTINGS = "settings.json"
# settings that models share
FIXED = ("language", "form", "encoder", "training", "words", "held-out words", "sets")
# settings for the interval of one reading; what matters is the difference between models
READING = Settings(resamples=1000, method="percentile")
_SHOWN = 200  # letters of a setting that an error shows
_VECTORS: dict[str, dict[str, Vector]] = {}  # of each encoder: what its heads were asked


@dataclass(frozen=True, slots=True, kw_only=True)
class Execution:
    """Where the models of a ladder are trained, and how progress is reported."""

    engine: str = "local"  # or ray
    processes: int = 1  # models side by side, on this machine
    address: str | None = None  # of the Ray cluster
    say: Callable[[str], None] = print
    tick: Callable[[int, int, int], None] | None = None  # models done, of how many, of which before


@dataclass(frozen=True, slots=True, kw_only=True)
class RungCard:
    """The result of training one model; the content of rung.json."""

    accuracy: float  # on its own dev set
    seconds: float
    suites: Mapping[str, str] = field(default_factory=dict)  # name -> reference when it was asked


def read_rung_card(folder: Path) -> RungCard:
    """The card of a model that is done."""
    row = json.loads(read_text(folder / DONE))
    return RungCard(accuracy=row["accuracy"], seconds=row["seconds"], suites=row.get("suites", {}))


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
        """Whether it is trained, and all suites are asked as they are now."""
        if not (self.folder / DONE).exists():
            return False
        asked = read_rung_card(self.folder).suites
        return all(asked.get(s.card.name) == s.reference for s in self.suites)


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation:
    """Everything that is decided before the first model is trained."""

    options: LadderOptions
    plan: Plan
    suites: tuple[Suite, ...]
    checks: tuple[Suite, ...]  # of the form's own pairs: was the bias learnt?
    rungs: tuple[Rung, ...]
    out: Path

    @property
    def jobs(self) -> list[Job]:
        """One job per model; a model that both ladders share has one job."""
        return [
            Job(
                rung=rung,
                plan=self.plan,
                options=self.options,
                suites=(*self.suites, *self.checks),
                folder=folder_of(self.out, rung),
            )
            for rung in {rung.name: rung for rung in self.rungs}.values()
        ]

    def settings(self) -> dict[str, Any]:
        """What a reader needs to reproduce the ladder; the content of settings.json."""
        options = self.options
        sets: dict[str, Any] = {"frames": self.plan.source}
        if not options.published:
            train, dev = options.sizes
            sets |= {"train": train, "dev": dev, "correct": options.mix}
        return {
            "language": options.language,
            "form": options.form,
            "encoder": options.encoder,
            "training": training_settings(options),
            "words": {lean: list(words) for lean, words in self.plan.words.items()},
            "held-out words": {lean: list(ws) for lean, ws in self.plan.held_out.items()},
            "sets": sets,
            "rates": list(options.rates),
            "errors": list(options.errors),
            "rate of the ladder of errors": options.fixed_rate,
            "seeds": list(options.seeds),
            "seeds of the ladder of errors": list(options.seeds[: options.error_seeds]),
            "suites": {s.card.name: s.reference for s in self.suites},
        }


def folder_of(out: Path, rung: Rung) -> Path:
    """The folder of one model."""
    return out / "models" / rung.name


def answers_path(folder: Path, suite: Suite) -> Path:
    """Where the answers of a model to a suite are kept."""
    return folder / "answers" / f"{re.sub(r'[:, ]+', '-', suite.card.name)}.parquet"


def training_settings(options: LadderOptions) -> dict[str, Any]:
    """How the models are trained, for a reader."""
    if has_head(Path(options.encoder)):
        head = options.head_recipe(0)
        return {
            "recipe": "head on frozen vectors",
            "epochs": head.epochs,
            "learning_rate": head.learning_rate,
            "is_best_kept": head.is_best_kept,
        }
    recipe = options.encoder_recipe(0)
    return {
        "recipe": recipe.name,
        "epochs": recipe.epochs,
        "learning rate": recipe.learning_rate,
        "batch size": recipe.batch_size,
    }


def prepare(options: LadderOptions, out: Path) -> Preparation:
    """Everything that can be known before training.

    Errors are raised now rather than after the tenth model. torch is looked for first, unless
    every model is trained already.
    """
    rungs = tuple(options.rungs())
    training_settings(options)
    if not all((folder_of(out, rung) / DONE).exists() for rung in rungs):
        require_packages()
    if options.published:
        plan = published_plan(options.published, options.language)
    else:
        plan = make_plan(
            options.language, words=options.words, captions=options.captions, form=options.form
        )
    for rung in rungs:
        make_sets(plan, rung, options)
    suites = suites_of(plan, options.suites, data=options.data, limit=options.limit)
    return Preparation(
        options=options,
        plan=plan,
        suites=suites,
        checks=check_suites(plan),
        rungs=rungs,
        out=out,
    )


def make_sets(plan: Plan, rung: Rung, options: LadderOptions) -> Controlled:
    """What the model of a rung is trained on."""
    if options.published:
        return read_published(options.published, options.language, rung.rate)
    return build_sets(plan, rung.rate, options.set_options(rung))


def run_ladder(options: LadderOptions, out: Path, execution: Execution | None = None) -> Ladder:
    """Train what is not trained yet, ask what is not asked yet, measure everything.

    Raises EvenhandError where the ladder cannot be made, before anything is trained.
    """
    execution, began = execution or Execution(), time.monotonic()
    if execution.engine not in local.ENGINES:
        raise EvenhandError(
            f"--engine is '{execution.engine}'; there are {', '.join(local.ENGINES)}"
        )
    prepared = prepare(options, out)
    require_writable(out)
    settings = prepared.settings()
    _require_same(out, settings)
    jobs = prepared.jobs
    waiting = [job for job in jobs if not job.is_done]
    if waiting:
        require_packages()
    done = len(jobs) - len(waiting)
    if done:
        execution.say(f"{done} of {len(jobs)} models are done already")
    if execution.tick:
        execution.tick(done, len(jobs), done)
    for count, (job, card) in enumerate(_make_models(waiting, execution), done + 1):
        execution.say(
            f"{count} of {len(jobs)}: {job.rung.name}, dev accuracy {card.accuracy:.1%}, "
            f"{card.seconds:.0f} s"
        )
        if execution.tick:
            execution.tick(count, len(jobs), done)
    seconds = round(time.monotonic() - began)
    return measure_ladder(prepared, {**settings, "wall seconds of the last call": seconds})


def _make_models(jobs: Sequence[Job], execution: Execution) -> Iterator[tuple[Job, RungCard]]:
    if execution.engine == "ray":
        from evenhand.engine import ray

        return ray.spread(make_model, jobs, address=execution.address)
    return local.spread(make_model, jobs, processes=execution.processes)


def _require_same(out: Path, settings: Mapping[str, Any]) -> None:
    """Write the settings; raises EvenhandError where the folder holds another ladder."""
    path = out / SETTINGS
    if path.exists():
        new = json.loads(to_json(settings))
        # a ladder of an earlier version has one form, and no words that are held out
        old = {"form": SUITE_FORM.name, "held-out words": {}, **json.loads(read_text(path))}
        if differing := [name for name in FIXED if old.get(name) != new[name]]:
            shown = "; ".join(
                f"{name}: {old.get(name)}, now {settings[name]}"[:_SHOWN] for name in differing
            )
            raise EvenhandError(
                f"{out} holds a ladder with other settings ({shown}); "
                "choose another folder with --out"
            )
    write_atomic(path, to_json(settings))


def make_model(job: Job) -> RungCard:
    """Build the sets of one model, train it, ask it and write everything; returns its card."""
    began, folder, rung, options = time.monotonic(), job.folder, job.rung, job.options
    sets = make_sets(job.plan, rung, options)
    save_sets(sets, job.plan, folder / "set", seed=rung.seed, correct=options.mix)
    accuracy = train(job)
    opening = RespondentOptions(
        language=options.language, label_map=trained_labels(folder / "model")
    )
    respondents = {
        kind: _with_shared_vectors(open_respondent(str(folder / "model"), kind, opening))
        for kind in {suite.kind for suite in job.suites}
    }
    with staged(folder / "answers") as stage:
        for suite in job.suites:
            answers = ask_suite(respondents[suite.kind], suite, Asking(cache=False))
            write_answers(answers, stage / answers_path(folder, suite).name)
    if not options.has_weights:
        shutil.rmtree(folder / "model", ignore_errors=True)
    card = RungCard(
        accuracy=accuracy,
        seconds=time.monotonic() - began,
        suites={s.card.name: s.reference for s in job.suites},
    )
    write_atomic(folder / DONE, to_json(card))
    return card


def _with_shared_vectors(respondent: Respondent) -> Respondent:
    """The respondent; a head on frozen vectors reads what another one of its encoder has read."""
    if isinstance(respondent, VectorNliRespondent):
        encoder = respondent.network.encoder
        encoder.known = _VECTORS.setdefault(encoder.identity, encoder.known)
    return respondent


def trained_labels(model: Path) -> dict[str, int]:
    """Which output means which label, as the training wrote it into the model's folder.

    A model of a ladder may be trained on wrong labels: its answers are no test of their order.
    """
    if has_head(model):
        return {label: i for i, label in enumerate(read_head(model).labels)}
    names = read_settings(model / "config.json")["id2label"]
    return {str(label): int(i) for i, label in names.items()}


def train(job: Job) -> float:
    """Train the model of a job from the encoder; returns its accuracy on its own dev set.

    Where the encoder is the folder of a classifier on sentence vectors, that is trained further.
    """
    sets, out = job.folder / "set", job.folder / "model"
    corpora = read_corpora([sets / "train.jsonl"], [sets / "dev.jsonl"])
    start = Path(job.options.encoder)
    silent = RunOptions(has_onnx=False, say=lambda _: None)
    card: RunCard
    if has_head(start):
        from evenhand.train.vector_heads import HeadBasis, fit_head

        basis = HeadBasis(encoder=read_head(start).encoder, start=start)
        card = fit_head(basis, corpora, job.options.head_recipe(job.rung.seed), out, silent)
    else:
        from evenhand.train.fine_tuning import fine_tune

        recipe = job.options.encoder_recipe(job.rung.seed)
        card = fine_tune(job.options.encoder, corpora, recipe, out, silent)
    card.write(job.folder)
    return card.accuracy["dev"]


def measure_ladder(prepared: Preparation, settings: Mapping[str, Any]) -> Ladder:
    """Every measure in the catalog that fits, on the answers of every model."""
    readings: dict[str, list[Reading]] = {"suites": [], "checks": []}
    cards: dict[str, RungCard] = {}
    estimates: dict[tuple[str, str], list[Estimate]] = {}
    for rung in prepared.rungs:
        folder = folder_of(prepared.out, rung)
        if rung.name not in cards:
            cards[rung.name] = read_rung_card(folder)
        for part, suites in (("suites", prepared.suites), ("checks", prepared.checks)):
            for suite in suites:
                key = (rung.name, suite.card.name)
                if key not in estimates:
                    estimates[key] = estimate_answers(answers_path(folder, suite))
                readings[part] += [_reading(rung, suite.card.name, e) for e in estimates[key]]
    return Ladder(
        language=prepared.options.language,
        encoder=prepared.options.encoder,
        words=prepared.plan.words,
        form=prepared.plan.form,
        held_out=prepared.plan.held_out,
        settings=settings,
        readings=tuple(readings["suites"]),
        checks=tuple(readings["checks"]),
        accuracy={name: card.accuracy for name, card in cards.items()},
        seconds=sum(card.seconds for card in cards.values()),
    )


def estimate_answers(path: Path) -> list[Estimate]:
    """Every measure in the catalog that fits the answers in a file."""
    answers = read_answers(path)
    suite = suite_of(answers)
    chosen = choose_measures(suite, answers.options, answers.labels)
    return [estimate(measure, suite, answers, READING) for measure in chosen]


def _reading(rung: Rung, suite: str, score: Estimate) -> Reading:
    return Reading(
        rung=rung,
        suite=suite,
        measure=score.measure,
        value=score.value,
        low=score.low,
        high=score.high,
        coverage=score.coverage,
        note=score.note,
    )
