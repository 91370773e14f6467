"""How is a respondent asked as few times as possible? Equal probes once, known answers from the cache, the rest in chunks of similar length.

A chunk is durable before the next one is asked; Ctrl-C or a kill loses at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import Respondent
from evenhand.engine.cache import AnswerCache, probe_key

CHUNK = 128
Progress = Callable[[int, int, int], None]  # done, of how many, of which from the cache


def spread_of(respondent: Respondent) -> int:
    """How many numbers does it give for each option of a choice? A classifier one a label, everybody else one."""
    return int(getattr(respondent, "spread", 1))


def ask(
    respondent: Respondent,
    probes: Sequence[Probe],
    *,
    cache: AnswerCache | None = None,
    progress: Progress | None = None,
) -> Floats:
    """One row of raw values per probe, in the order of `probes`."""
    kinds = {p.kind for p in probes} - respondent.kinds
    if kinds:
        raise EvenhandError(
            f"{respondent.identity} cannot answer {' and '.join(sorted(kinds))} probes"
        )
    distinct = {probe_key(p): p for p in probes}
    known = cache.get(list(distinct.values())) if cache else {}
    width = (
        len(respondent.labels)
        if all(p.kind == "pair" for p in probes)
        else max((p.width for p in probes), default=0) * spread_of(respondent)
    )
    known = {key: row for key, row in known.items() if len(row) == width}
    reused = len(known)
    open_keys = sorted(
        (k for k in distinct if k not in known),
        key=lambda k: sum(map(len, distinct[k].texts)),
        reverse=True,
    )
    if progress:
        progress(reused, len(distinct), reused)
    # longest first: a model that runs out of memory does so at once, and the time left is never underestimated
    for start in range(0, len(open_keys), CHUNK):
        chunk = open_keys[start : start + CHUNK]
        asked = [distinct[k] for k in chunk]
        values = respondent.answer(asked)
        if len(values) != len(asked):
            raise EvenhandError(
                f"{respondent.identity} returned {len(values)} rows for {len(asked)} probes; give one row for each"
            )
        if cache:
            cache.put(asked, values)
        known.update(zip(chunk, values, strict=True))
        if progress:
            progress(len(known), len(distinct), reused)
    table = np.full((len(probes), width), np.nan)
    for row, probe in zip(table, probes, strict=True):
        row[:] = known[probe_key(probe)][:width]
    return table
