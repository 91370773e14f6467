"""Suites by name or file: built, or cut to a number of probes."""

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
    """The suite of a name (`nli-coal`, `nli-coal:downsampled`) or of a .jsonl file.

    options: an instance of the suite's own option class; limit: keep so many probes.
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
    """The options as the suite's own class; what every suite knows is taken over from others."""
    if isinstance(options, wanted):
        return options
    if type(options) is not SuiteOptions:
        raise EvenhandError(
            f"options of the class {type(options).__name__} do not fit this suite; "
            f"it takes {wanted.__name__}"
        )
    return wanted(variant=options.variant, seed=options.seed, data=options.data)


def limited(suite: Suite, limit: int | None, seed: int) -> Suite:
    """At most `limit` probes, twins together, strata in turn, in the suite's order.

    The same ones for the same seed.
    """
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
    probes = tuple(p for p in suite.probes if p.id in kept)
    return Suite(card=suite.card, probes=probes, limit=limit)


def _fitting(unit: Sequence[Probe], room: int) -> set[str]:
    """The ids of a unit that there is room for, no twin without the other."""
    kept: set[str] = set()
    ids = {p.id for p in unit}
    for probe in unit:
        both = {probe.id, *({probe.twin} & ids if probe.twin else ())} - kept
        if len(kept) + len(both) <= room:
            kept |= both
    return kept
