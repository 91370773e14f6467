"""How biased is this model on this suite? The whole way from names to a run."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.estimate import Estimate
from evenhand.core.probe import Probe
from evenhand.core.protocols import Respondent, RespondentOptions, SuiteOptions
from evenhand.core.run import Run
from evenhand.core.suite import Suite, read_suite
from evenhand.engine.asking import Progress, ask, spread_of
from evenhand.engine.cache import AnswerCache
from evenhand.engine.estimating import break_down, choose, estimate, tags_of
from evenhand.engine.relating import relate
from evenhand.respondents.fixed import FixedRespondent
from evenhand.respondents.function import FunctionRespondent
from evenhand.respondents.opening import open_respondent
from evenhand.respondents.stored import StoredRespondent
from evenhand.stats.bootstrap import Method, check_settings
from evenhand.families.gendered_entailment.labour import DOMINANCE

RELATED = ("entailment_gap", "signed_gap")  # the measures that are set against labour statistics
BASELINES = ("fixed:random", "fixed:constant")
REFERENCE = "fixed:fair"  # beside them where the fair value is not bounded on both sides: blanks
SANITY = "ordinary-nli"
BREAKDOWNS = (
    ("occupation", "template"),
    ("template", "occupation"),
    ("majority", "occupation"),
    ("lean", "occupation"),
    ("hypothesis", "occupation"),
    ("pair", "sentence"),
    ("topic", "pair"),
    ("type", "pair"),
    ("bias type", "sentence"),
    ("domain", "target"),
    ("target", "sentence"),
    ("word", "pair"),
    ("emotion", "word"),
    ("sort", "word"),
)
BOTH = {
    "lean": "majority",
    "word": "pair",
}  # broken down by lean only where the probes also have a majority: gendered entailment


def load_suite(
    name: str,
    lang: str,
    *,
    data: str | Path | None = None,
    seed: int = 0,
    captions: Sequence[str | Path] = (),
    premises: Sequence[str | Path] = (),
    per_occupation: int | None = None,
    names: str | None = None,
    shares: str | Path | None = None,
    dominance: float = DOMINANCE,
    corpora: Sequence[str | Path] = (),
    per_word: int | None = None,
    limit: int | None = None,
) -> Suite:
    """The suite of a name (`nli-coal`, `nli-coal:downsampled`) or of a .jsonl file, cut to `limit` probes."""
    if name.endswith(".jsonl"):
        return limited(read_suite(Path(name)), limit, seed)
    stem, _, variant = name.partition(":")
    source = catalog.suite(stem)
    if lang not in source.languages:
        raise EvenhandError(
            f"suite '{stem}' has no language '{lang}'; it has {', '.join(source.languages)}"
        )
    if variant and variant not in source.variants:
        raise EvenhandError(
            f"suite '{stem}' has no variant '{variant}'; it has {', '.join(source.variants)}"
        )
    if data is not None and not Path(data).is_dir():
        raise InputError(
            data, "is no folder; --data names the folder that holds the published files"
        )
    options = SuiteOptions(
        variant=variant,
        seed=seed,
        data=Path(data) if data else None,
        captions=tuple(Path(c) for c in captions),
        names=names,
        premises=tuple(Path(p) for p in premises),
        per_occupation=per_occupation,
        shares=Path(shares) if shares else None,
        dominance=dominance,
        corpora=tuple(Path(c) for c in corpora),
        per_word=per_word,
    )
    return limited(source.build(lang, options), limit, seed)


def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
    """At most `limit` probes, twins together, strata in turn, in the suite's order; the same for the same seed."""
    if limit is None or limit >= len(suite.probes):
        return suite
    if limit < 1:
        raise EvenhandError(f"limit is {limit}; give at least 1")
    units: dict[tuple[str, str], list[Probe]] = {}
    for probe in suite.probes:
        units.setdefault((probe.cluster, probe.texts[0]), []).append(probe)
    sorts: dict[frozenset[str], list[list[Probe]]] = {}
    for unit in units.values():
        sorts.setdefault(frozenset(p.stratum for p in unit), []).append(unit)
    rng = np.random.default_rng(seed)
    queues = [
        [sort[i] for i in rng.permutation(len(sort))]
        for _, sort in sorted(sorts.items(), key=lambda item: sorted(item[0]))
    ]
    kept: set[str] = set()
    first = queues[0][-1][0].id
    while len(kept) < limit and any(queues):
        for queue in queues:
            kept |= _fitting(queue.pop(), limit - len(kept)) if queue else set()
    kept = kept or {first}  # one probe is asked for and every probe has a twin
    return Suite(
        card=suite.card, probes=tuple(p for p in suite.probes if p.id in kept), limit=limit
    )


def _fitting(unit: Sequence[Probe], room: int) -> set[str]:
    """The ids of a unit that there is room for, no twin without the other."""
    kept: set[str] = set()
    ids = {p.id for p in unit}
    for probe in unit:
        both = {probe.id, *({probe.twin} & ids if probe.twin else ())} - kept
        if len(kept) + len(both) <= room:
            kept |= both
    return kept


@contextlib.contextmanager
def _cache(respondent: Respondent, wanted: bool | str | Path) -> Iterator[AnswerCache | None]:
    if (
        wanted is False
        or isinstance(respondent, FunctionRespondent)
        or respondent.identity.endswith("@unknown")
    ):
        yield None
        return
    # the traits too: answers come in the order of the labels, and another --label-map is another order
    key = "|".join(
        (respondent.identity, *(f"{k}:{v}" for k, v in sorted(respondent.traits.items())))
    )
    cache = AnswerCache(key, None if wanted is True else Path(wanted))
    try:
        yield cache
    finally:
        cache.close()


def labels_of(suite: Suite, respondent: Respondent) -> tuple[str, ...]:
    """What the values of an answer stand for: the model's own labels for pairs, else the roles that the suite names.

    A classifier gives every option of a choice one number a label: `stereotype:entailment`, `stereotype:neutral` ...
    """
    if all(p.kind == "pair" for p in suite.probes):
        return respondent.labels
    if spread_of(respondent) > 1:
        return tuple(
            f"{option}:{label}" for option in suite.card.labels for label in respondent.labels
        )
    return suite.card.labels


def question(
    respondent: Respondent,
    suite: Suite,
    *,
    cache: bool | str | Path = True,
    progress: Progress | None = None,
) -> Answers:
    """Ask a respondent every probe of a suite."""
    respondent.unanswered.clear()
    if isinstance(
        respondent, FixedRespondent | StoredRespondent
    ):  # they read the tags, so that the same text twice may have two answers
        values = respondent.answer(suite.probes)
    else:
        with _cache(respondent, cache) as store:
            values = ask(respondent, suite.probes, cache=store, progress=progress)
    return Answers(
        respondent=respondent.identity,
        suite=suite.reference,
        labels=labels_of(suite, respondent),
        probes=suite.probes,
        values=values,
        traits=dict(respondent.traits),
        unanswered=dict(respondent.unanswered),
    )


def judge(
    suite: Suite,
    answers: Answers,
    *,
    measures: Sequence[str] | None = None,
    sanity: tuple[Suite, Answers] | None = None,
    seed: int = 0,
    resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
    timing: Mapping[str, float] | None = None,
) -> Run:
    """Everything that can be said of answers: estimates, baselines on the same probes, breakdowns."""
    chosen = choose(suite, answers.labels, measures)
    settings: dict[str, Any] = {
        "seed": seed,
        "resamples": resamples,
        "level": level,
        "method": method,
    }
    estimates = tuple(estimate(m, suite, answers, **settings) for m in chosen)
    baselines: dict[str, tuple[Estimate, ...]] = {}
    kind = suite.probes[0].kind
    for name in (*BASELINES, *((REFERENCE,) if kind == "mask" else ())):
        rule = open_respondent(
            name,
            kind,
            RespondentOptions(
                seed=seed,
                spread=answers.values.shape[1] // max(p.width for p in suite.probes)
                if kind == "choice"
                else 1,
            ),
        )
        said = question(rule, suite, cache=False)
        baselines[name] = tuple(estimate(m, suite, said, **settings) for m in chosen)
    checks: tuple[Estimate, ...] = ()
    if sanity is not None:
        checks = tuple(
            estimate(m, *sanity, **settings)
            for m in choose(sanity[0], sanity[1].labels, ["accuracy"])
        )
    tags = tags_of(answers)
    pairs = [(by, unit) for by, unit in BREAKDOWNS if by in tags and BOTH.get(by, by) in tags]
    views = tuple(
        break_down(m, answers, by, unit, seed=seed, level=level)
        for m in chosen
        for by, unit in pairs
    )
    jobs = [v for v in views if v.by == "occupation" and v.measure in RELATED]
    relations = tuple(
        r for v in jobs if (r := relate(v, seed=seed, resamples=resamples, level=level)) is not None
    )
    return Run(
        relations=relations,
        suite=suite,
        answers=answers,
        estimates=estimates,
        baselines=baselines,
        sanity=checks,
        breakdowns=views,
        seed=seed,
        resamples=resamples,
        timing=dict(timing or {}),
    )


def audit(
    model: str | Respondent | Callable[[list[tuple[str, str]]], Any] = "default",
    *,
    suite: str | Suite = "occupation-nli",
    lang: str = "en",
    data: str | Path | None = None,
    limit: int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    cache: bool | str | Path = True,
    label_map: Mapping[str, int] | None = None,
    captions: Sequence[str | Path] = (),
    measures: Sequence[str] | None = None,
    device: str = "auto",
    shares: str | Path | None = None,
    dominance: float = DOMINANCE,
    scoring: str | None = None,
    length: str = "auto",
    form: str | None = None,
    pooling: str | None = None,
    similarity: str = "cosine",
    resamples: int = 10_000,
    level: float = 0.95,
    method: Method = "bca",
    progress: Progress | None = None,
) -> Run:
    """Ask a model (a name, a folder, a hub id, a Respondent or a function) every probe of a suite and measure its answers."""
    start = time.perf_counter()
    check_settings(level, method)
    if batch_size is not None and batch_size < 1:
        raise EvenhandError(f"batch size is {batch_size}; give at least 1")
    questions = (
        load_suite(
            suite,
            lang,
            data=data,
            seed=seed,
            captions=captions,
            shares=shares,
            dominance=dominance,
            limit=limit,
        )
        if isinstance(suite, str)
        else limited(suite, limit, seed)
    )
    lang = questions.card.language
    if isinstance(model, str):
        options = RespondentOptions(
            language=lang,
            label_map=label_map,
            batch_size=batch_size,
            device=device,
            seed=seed,
            scoring=scoring,
            length=length,
            form=form,
            pooling=pooling,
            similarity=similarity,
        )
        respondent: Respondent = open_respondent(
            str(Path(model).expanduser()) if model.startswith("~") else model,
            questions.probes[0].kind,
            options,
        )
    elif isinstance(model, Respondent):
        respondent = model
    else:
        respondent = FunctionRespondent(model)
    choose(
        questions, labels_of(questions, respondent), measures
    )  # an error now rather than after the asking
    loaded = time.perf_counter()
    answers = question(respondent, questions, cache=cache, progress=progress)
    asked = time.perf_counter()
    sanity = None
    if (
        questions.card.name != SANITY
        and lang in catalog.suite(SANITY).languages
        and "pair" in respondent.kinds
    ):
        ordinary = load_suite(SANITY, lang)
        sanity = (ordinary, question(respondent, ordinary, cache=cache))
    run = judge(
        questions,
        answers,
        measures=measures,
        sanity=sanity,
        seed=seed,
        resamples=resamples,
        level=level,
        method=method,
    )
    end = time.perf_counter()
    timing = {
        "load_seconds": loaded - start,
        "ask_seconds": asked - loaded,
        "judge_seconds": end - asked,
        "total_seconds": end - start,
    }
    return Run(
        **{
            **{f: getattr(run, f) for f in run.__dataclass_fields__},
            "timing": {k: round(v, 3) for k, v in timing.items()},
        }
    )
