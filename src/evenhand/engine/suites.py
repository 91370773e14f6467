"""Suites by name or from a file, whole or cut to a number of probes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core import catalog
from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.probe import Probe
from evenhand.core.protocols import SuiteOptions
from evenhand.core.suite import Suite, read_suite


def load_suite(
    name: str, lang: str = "en", options: SuiteOptions | None = None, *, limit: int | None = None
) -> Suite:
    """The suite with this name (`nli-coal`, `nli-coal:downsampled`), or of a .jsonl file.

    options: an instance of the suite's own option class; limit: the most probes to keep.
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
    if options.data is not None and not options.data.is_dir():
        reason = "is no folder; --data names the folder that holds the published files"
        raise InputError(options.data, reason)
    return limited(source.build(lang, options), limit, seed)


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


def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
    """The suite cut to at most `limit` probes: twins stay together, strata take turns.

    The probes keep their order, and the same seed keeps the same ones.
    """
    if limit is None or limit >= len(suite.probes):
        return suite
    if limit < 1:
        raise EvenhandError(f"limit is {limit}; give at least 1")
    units: dict[tuple[str, str], list[Probe]] = {}
    for probe in suite.probes:
        units.setdefault((probe.cluster, probe.texts[0]), []).append(probe)
    by_strata: dict[frozenset[str], list[list[Probe]]] = {}
    for unit in units.values():
        by_strata.setdefault(frozenset(p.stratum for p in unit), []).append(unit)
    rng = np.random.default_rng(seed)
    queues = [
        [alike[i] for i in rng.permutation(len(alike))]
        for _, alike in sorted(by_strata.items(), key=lambda item: sorted(item[0]))
    ]
    kept: set[str] = set()
    first = queues[0][-1][0].id
    while len(kept) < limit and any(queues):
        for queue in queues:
            kept |= _ids_that_fit(queue.pop(), limit - len(kept)) if queue else set()
    kept = kept or {first}  # the limit is 1 and every probe has a twin
    probes = tuple(p for p in suite.probes if p.id in kept)
    return Suite(card=suite.card, probes=probes, limit=limit)


def _ids_that_fit(unit: Sequence[Probe], room: int) -> set[str]:
    """The ids of at most `room` probes of a unit, no twin without the other."""
    kept: set[str] = set()
    ids = {p.id for p in unit}
    for probe in unit:
        both = {probe.id, *({probe.twin} & ids if probe.twin else ())} - kept
        if len(kept) + len(both) <= room:
            kept |= both
    return kept
