"""Asking a respondent as few times as possible.

Equal probes are asked once, known answers come from the cache, the rest goes out in chunks of
similar length. A chunk is durable before the next one is asked; Ctrl-C or a kill loses at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.core.answers import Answers, Replies, Silence
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import Respondent
from evenhand.core.suite import Suite
from evenhand.engine.cache import AnswerCache, probe_key

CHUNK = 128
Progress = Callable[[int, int, int], None]  # done, of how many, of which from the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a respondent is asked: whether answers are kept, and who watches."""

    cache: bool | Path = True  # True: in the user's cache folder; a path: in that folder
    progress: Progress | None = None


def ask(
    respondent: Respondent,
    probes: Sequence[Probe],
    *,
    cache: AnswerCache | None = None,
    progress: Progress | None = None,
) -> Replies:
    """The respondent's replies in the order of `probes`."""
    if kinds := {p.kind for p in probes} - respondent.kinds:
        names = " and ".join(sorted(kinds))
        raise EvenhandError(f"{respondent.identity} cannot answer {names} probes")
    labels = len(respondent.labels_for(probes[0].kind)) if probes else 1
    distinct = {probe_key(p): p for p in probes}
    rows: dict[bytes, Floats] = {}
    silences: dict[bytes, Silence] = {}
    if cache:
        for key, row in cache.get(list(distinct.values())).items():
            if len(row) == distinct[key].option_count * labels:
                rows[key] = row.reshape(-1, labels)
    reused = len(rows)
    # longest first: a model that runs out of memory does so at once, and the time left is never
    # underestimated
    waiting = sorted(
        (k for k in distinct if k not in rows),
        key=lambda k: sum(map(len, distinct[k].texts)),
        reverse=True,
    )
    if progress:
        progress(reused, len(distinct), reused)
    for start in range(0, len(waiting), CHUNK):
        keys = waiting[start : start + CHUNK]
        asked = [distinct[k] for k in keys]
        replies = _checked(respondent, asked, labels)
        for place, (key, probe) in enumerate(zip(keys, asked, strict=True)):
            rows[key] = replies.values[place, : probe.option_count]
            if place in replies.silences:
                silences[key] = replies.silences[place]
        if cache:
            cache.put(asked, [rows[k] for k in keys])
        if progress:
            progress(len(rows), len(distinct), reused)
    values = Replies.empty(probes, labels)
    rows_without: dict[int, Silence] = {}
    for place, probe in enumerate(probes):
        key = probe_key(probe)
        values[place, : probe.option_count] = rows[key]
        if key in silences:
            rows_without[place] = silences[key]
    return Replies(values=values, silences=rows_without)


def _checked(respondent: Respondent, probes: Sequence[Probe], labels: int) -> Replies:
    """The replies of one chunk, or an error where their shape is not what was asked for."""
    replies = respondent.answer(probes)
    shape = replies.values.shape
    options = max(p.option_count for p in probes)
    if len(shape) != 3 or shape[0] != len(probes):
        raise EvenhandError(
            f"{respondent.identity} returned {shape[0]} rows for {len(probes)} probes; "
            "give one row for each"
        )
    if shape[1] < options or shape[2] != labels:
        raise EvenhandError(
            f"{respondent.identity} returned values of shape {shape}; "
            f"expected ({len(probes)}, {options}, {labels})"
        )
    return replies


@contextmanager
def _open_cache(respondent: Respondent, wanted: bool | Path) -> Iterator[AnswerCache | None]:
    if wanted is False or not respondent.is_cacheable:
        yield None
        return
    # the traits too: answers come in the order of the labels, and another --label-map is another
    traits = (f"{k}:{v}" for k, v in sorted(respondent.traits.items()))
    key = "|".join((respondent.identity, *traits))
    cache = AnswerCache(key, None if wanted is True else wanted)
    try:
        yield cache
    finally:
        cache.close()


def ask_suite(respondent: Respondent, suite: Suite, asking: Asking | None = None) -> Answers:
    """Ask a respondent every probe of a suite."""
    asking = asking or Asking()
    if respondent.reads_tags:
        replies = respondent.answer(suite.probes)
    else:
        with _open_cache(respondent, asking.cache) as cache:
            replies = ask(respondent, suite.probes, cache=cache, progress=asking.progress)
    return Answers(
        respondent=respondent.identity,
        suite=suite.reference,
        probes=suite.probes,
        options=option_names(suite, replies.values.shape[1]),
        labels=respondent.labels_for(suite.kind),
        values=replies.values,
        traits=dict(respondent.traits),
        silences=replies.silences,
        readings=replies.readings,
    )


def option_names(suite: Suite, count: int) -> tuple[str, ...]:
    """The roles that the suite's card names, and numbers for options beyond them."""
    names = suite.card.options[:count]
    return (*names, *(f"option {i}" for i in range(len(names) + 1, count + 1)))


def option_count(suite: Suite) -> int:
    """The greatest number of options that a probe of the suite has."""
    return max((p.option_count for p in suite.probes), default=1)


def answer_names(suite: Suite, respondent: Respondent) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options and labels that answers of this respondent will have, before it is asked."""
    return option_names(suite, option_count(suite)), respondent.labels_for(suite.kind)


def empty_values(suite: Suite, labels: int) -> Floats:
    """Values without any answer, to be filled from a file."""
    return np.full((len(suite.probes), option_count(suite), labels), np.nan)
