"""Suites by name or from a file, whole or cut to a number of probes."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core import catalog
from evenhand.core.answers import Answers
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import Probe
from evenhand.core.protocols import FileOptions, SuiteOptions
from evenhand.core.suite import Suite, read_suite
from evenhand.core.text import listed

Unit = list[Probe]  # probes that are asked together or not at all


def load_suite(
    name: str, lang: str = "en", options: SuiteOptions | None = None, *, limit: int | None = None
) -> Suite:
    """The suite with this `name` (`nli-coal`, `nli-coal:downsampled`), or of a .jsonl file.

    lang: its language. options: an instance of the suite's own option class; limit: the most
    probes to keep.
    """
    seed = options.seed if options else 0
    if name.endswith(".jsonl"):
        return limited(read_suite(Path(name)), limit, seed)
    stem, _, variant = name.partition(":")
    source = catalog.suite(stem)
    if lang not in source.languages:
        known = ", ".join(source.languages)
        raise EvenhandError(f"suite '{stem}' has no language '{lang}'; it has {known}")
    if variant and variant not in source.variants:
        known = ", ".join(source.variants)
        raise EvenhandError(f"suite '{stem}' has no variant '{variant}'; it has {known}")
    options = _own_options(source.options, options or source.options())
    if variant:
        options = dataclasses.replace(options, variant=variant)
    if options.data is not None:
        _check_data(options.data, may_be_file=isinstance(options, FileOptions))
    return limited(source.build(lang, options), limit, seed)


def _check_data(data: Path, *, may_be_file: bool) -> None:
    """Raise InputError where there is no published data at the path."""
    if data.is_dir() or (may_be_file and data.is_file()):
        return
    what = "is no folder; --data names the folder that holds the published files"
    if may_be_file:
        what = "is neither folder nor file; --data names the folder of the published files, or one"
    raise InputError(data, what)


def _own_options(wanted: type[SuiteOptions], options: SuiteOptions) -> SuiteOptions:
    """The options as an instance of the suite's own class.

    Plain SuiteOptions are converted; raises EvenhandError for the options of another suite.
    """
    if isinstance(options, wanted):
        return options
    if type(options) is not SuiteOptions:
        raise EvenhandError(
            f"options of the class {type(options).__name__} do not fit this suite; "
            f"it takes {wanted.__name__}"
        )
    return wanted(variant=options.variant, seed=options.seed, data=options.data)


def check_suite_of(answers: Answers, name: str | None, lang: str | None) -> None:
    """Raise InputError where answers are to another suite, or in another language, than named.

    name: of a suite or a suite file, None where nothing was named; lang: likewise.
    """
    answered = answers.suite.partition("@")[0]
    languages = sorted({probe.language for probe in answers.probes})
    wrong = ""
    if name is not None and not _is_suite_of(answers, answered, name):
        wrong = f"not {name}; leave --suite out, the answers carry their suite with them"
    elif lang is not None and languages != [lang]:
        wrong = f"in {listed(languages)}, not {lang}; leave --lang out"
    if wrong:
        raise InputError(answers.respondent, f"these are answers to {answers.suite}, {wrong}")


def _is_suite_of(answers: Answers, answered: str, name: str) -> bool:
    """Whether answers to the suite `answered` are answers to the suite or suite file `name`."""
    if name.endswith(".jsonl"):
        texts = {probe.id: probe.texts for probe in read_suite(Path(name)).probes}
        return all(texts.get(probe.id) == probe.texts for probe in answers.probes)
    return _with_variant(name) == _with_variant(answered)


def _with_variant(name: str) -> str:
    """`suite:variant`; of a suite without one, its first variant."""
    stem, _, variant = name.partition(":")
    sources = catalog.entries("suites")
    first = next(iter(sources[stem].variants), "") if stem in sources else ""
    return f"{stem}:{variant or first}"


def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
    """The suite cut to at most `limit` probes, evenly over strata and clusters.

    Twins, and probes with the same texts in several strata, are kept together or not at all. Sets
    of strata take turns. Within them every cluster keeps its share: after any number of turns it
    has given as many as its size demands, give or take one. The probes keep their order, and the
    same seed keeps the same ones. Raises EvenhandError where the limit is lower than the smallest
    whole pair.
    """
    if limit is None or limit >= len(suite.probes):
        return suite
    if limit < 1:
        raise EvenhandError(f"limit is {limit}; give at least 1")
    queues = _queues(suite, limit, np.random.default_rng(seed))
    smallest = min(len(unit) for queue in queues for draw in queue for unit in draw)
    if limit < smallest:
        raise EvenhandError(
            f"limit is {limit}; give at least {smallest}, for a pair of {suite.card.name} is asked "
            "whole or not at all"
        )
    kept: set[str] = set()
    for turn in itertools.zip_longest(*queues, fillvalue=()):
        if limit - len(kept) < smallest:
            break
        for unit in itertools.chain(*turn):
            if len(kept) + len(unit) <= limit:
                kept |= {probe.id for probe in unit}
    probes = tuple(p for p in suite.probes if p.id in kept)
    return Suite(
        card=suite.card, probes=probes, limit=limit, whole=suite.whole or len(suite.probes)
    )


def _queues(suite: Suite, limit: int, rng: np.random.Generator) -> list[list[list[Unit]]]:
    """For each set of strata what is drawn in its turns, one draw after the other."""
    by_strata: dict[tuple[str, ...], dict[str, list[Unit]]] = {}
    for unit in _units(suite.probes):
        strata = tuple(sorted({p.stratum for p in unit}))
        by_strata.setdefault(strata, {}).setdefault(unit[0].cluster, []).append(unit)
    depth = math.isqrt(limit // len(by_strata))
    queues = []
    for _, clusters in sorted(by_strata.items()):
        ranked: list[tuple[float, list[Unit]]] = []
        for _, units in sorted(clusters.items()):
            shuffled = [units[i] for i in rng.permutation(len(units))]
            draws = _draws(shuffled, max(depth, 2))
            start = rng.random()
            ranked += [((place + start) / len(draws), draw) for place, draw in enumerate(draws)]
        queues.append([draw for _, draw in sorted(ranked, key=lambda pair: pair[0])])
    return queues


def _units(probes: Sequence[Probe]) -> list[Unit]:
    """The probes in groups that are asked whole: twins, and the same texts in several strata."""
    units: dict[tuple[str, ...], Unit] = {}
    own = {probe.id: (probe.cluster, *probe.texts) for probe in probes}
    for probe in probes:
        key = own[probe.id]
        if probe.twin in own:
            key = min(key, own[probe.twin])
        units.setdefault(key, []).append(probe)
    return list(units.values())


def _draws(units: Sequence[Unit], depth: int) -> list[list[Unit]]:
    """The units of a cluster in the portions that are drawn at once: one unit each.

    Choices that put one context to several sets of options are drawn `depth` at a time, because
    what a context prefers cannot be told from a single set.
    """
    draws: list[list[Unit]] = []
    open_draw: dict[str, list[Unit]] = {}  # the last portion of each context, while it has room
    for unit in units:
        context = unit[0].texts[0] if unit[0].kind == "choice" else ""
        portion = open_draw.get(context, []) if context else []
        if not portion or len(portion) == depth:
            portion = []
            draws.append(portion)
            open_draw[context] = portion
        portion.append(unit)
    return draws
