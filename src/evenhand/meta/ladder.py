"""Is a measure right? Models are trained to have a bias that is known, and every measure in the catalog is set against it.

Each model of a ladder is a folder: its training set, its run card, and its raw answers to every suite. Measures are computed from the answers at the end, so
that a measure that is added later takes part without any training, and a ladder that was stopped goes on with the models that are missing.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from evenhand.core.answer_files import read_answers, suite_of
from evenhand.core.errors import EvenhandError
from evenhand.core.files import read_text, require_writable, write_atomic
from evenhand.core.suite import Suite
from evenhand.engine import local
from evenhand.engine.estimating import choose, estimate
from evenhand.meta.jobs import DONE, Job, answers_path, climb, make_set, settings_of
from evenhand.meta.options import LadderOptions, rungs_of
from evenhand.meta.plan import Plan, make_plan
from evenhand.meta.published import published_plan
from evenhand.meta.records import Ladder, Reading, Rung
from evenhand.meta.suites import suites_of

RESAMPLES = 1000  # of the interval of one reading; what matters is the spread between models


def run_ladder(
    options: LadderOptions,
    out: Path,
    *,
    engine: str = "local",
    processes: int = 1,
    address: str | None = None,
    say: Callable[[str], None] = print,
    tick: Callable[[int, int, int], None] | None = None,
) -> Ladder:
    """Train what is not trained yet, ask what is not asked yet, measure everything."""
    began = time.monotonic()
    if engine not in local.ENGINES:
        raise EvenhandError(f"--engine is '{engine}'; there are {', '.join(local.ENGINES)}")
    plan = (
        published_plan(options.published, options.language)
        if options.published
        else make_plan(options.language, words=options.words, captions=options.captions)
    )
    rungs = rungs_of(options)
    for rung in rungs:  # an error now rather than after the tenth model
        make_set(plan, rung, options)
    suites = suites_of(plan, options.suites, data=options.data, limit=options.limit)
    require_writable(out)
    settings = settings_of(options, plan, suites)
    _require_same(out, settings)
    jobs = [
        Job(rung=rung, plan=plan, options=options, suites=suites, folder=out / "models" / rung.name)
        for rung in {rung.name: rung for rung in rungs}.values()
    ]
    open_jobs = [job for job in jobs if not job.is_done]
    done = len(jobs) - len(open_jobs)
    if done:
        say(f"{done} of {len(jobs)} models are done already")
    if tick:
        tick(done, len(jobs), done)
    for count, (job, said) in enumerate(_spread(open_jobs, engine, processes, address), done + 1):
        say(
            f"{count} of {len(jobs)}: {job.rung.name}, dev accuracy {said['accuracy']:.1%}, {said['seconds']:.0f} s"
        )
        if tick:
            tick(count, len(jobs), done)
    return measure_ladder(
        options, out, plan, suites, rungs, settings, seconds=time.monotonic() - began
    )


def _spread(
    jobs: Sequence[Job], engine: str, processes: int, address: str | None
) -> Iterator[tuple[Job, dict[str, Any]]]:
    if engine == "ray":
        from evenhand.engine import ray

        return ray.spread(climb, jobs, address=address)
    return local.spread(climb, jobs, processes=processes)


def measure_ladder(
    options: LadderOptions,
    out: Path,
    plan: Plan,
    suites: Sequence[Suite],
    rungs: Sequence[Rung],
    settings: dict[str, Any],
    *,
    seconds: float = 0.0,
) -> Ladder:
    """Every measure in the catalog on the answers of every model."""
    readings: list[Reading] = []
    accuracy: dict[str, float] = {}
    spent = 0.0
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for rung in rungs:
        folder = out / "models" / rung.name
        if rung.name not in accuracy:
            card = json.loads(read_text(folder / DONE))
            accuracy[rung.name] = card["accuracy"]
            spent += card["seconds"]
        for suite in suites:
            key = (rung.name, suite.card.name)
            if key not in found:
                found[key] = list(_measure(suite, folder))
            readings += [Reading(rung=rung, suite=suite.card.name, **row) for row in found[key]]
    told = {**settings, "wall seconds of the last call": round(seconds)}
    return Ladder(
        language=options.language,
        encoder=options.encoder,
        words=plan.words,
        settings=told,
        readings=tuple(readings),
        accuracy=accuracy,
        seconds=spent,
    )


def _measure(suite: Suite, folder: Path) -> Iterator[dict[str, Any]]:
    answers = read_answers(answers_path(folder, suite))
    suite = suite_of(answers)
    for measure in choose(suite, answers.labels, None):
        e = estimate(measure, suite, answers, resamples=RESAMPLES, method="percentile")
        yield {
            "measure": e.measure,
            "value": e.value,
            "low": e.low,
            "high": e.high,
            "coverage": e.coverage,
            "note": e.note,
        }


def _require_same(out: Path, settings: dict[str, Any]) -> None:
    """An error where the folder holds another ladder."""
    path = out / "settings.json"
    if not path.exists():
        write_atomic(path, json.dumps(settings, indent=1, ensure_ascii=False) + "\n")
        return
    old = json.loads(read_text(path))
    fixed = ("language", "encoder", "training", "words", "sets")
    if differing := [
        name for name in fixed if old.get(name) != json.loads(json.dumps(settings[name]))
    ]:
        shown = "; ".join(
            f"{name}: {old.get(name)}, now {settings[name]}"[:200] for name in differing
        )
        raise EvenhandError(
            f"{out} holds a ladder with other settings ({shown}); choose another folder with --out"
        )
    write_atomic(path, json.dumps(settings, indent=1, ensure_ascii=False) + "\n")
