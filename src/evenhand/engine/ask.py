"""Asking a respondent as few times as possible.

Equal probes are asked once, known answers come from the cache, the rest goes out in chunks of
similar length. A chunk is durable before the next one is asked; Ctrl-C or a kill loses at most one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from evenhand.core.answers import Answers, Readings, Replies, Silence, empty_values
from evenhand.core.errors import EvenhandError
from evenhand.core.probe import Floats, Probe
from evenhand.core.protocols import Respondent
from evenhand.core.suite import Suite
from evenhand.engine.cache import AnswerCache, probe_key

CHUNK = 128
Progress = Callable[[int, int, int], None]  # probes done, probes in all, probes from the cache


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a respondent is asked: where its answers are cached, and who is told of the progress."""

    cache: bool | Path = True  # True: in the user's cache folder; a path: in that folder
    progress: Progress | None = None


class _Collected:
    """What is known of each question so far, by the key of the question."""

    def __init__(self, labels: int) -> None:
        self.labels = labels
        self.rows: dict[bytes, Floats] = {}  # (option, label)
        self.silences: dict[bytes, Silence] = {}
        self.readings: dict[bytes, list[tuple[Mapping[str, str], Floats]]] = {}

    def add_known(self, questions: Mapping[bytes, Probe], cache: AnswerCache) -> None:
        """Take over what the cache knows, where it has as many numbers as are asked for."""
        for key, row in cache.get(list(questions.values())).items():
            if len(row) == questions[key].option_count * self.labels:
                self.rows[key] = row.reshape(-1, self.labels)

    def add(self, keys: Sequence[bytes], probes: Sequence[Probe], replies: Replies) -> None:
        """Take over the replies to one chunk."""
        for place, (key, probe) in enumerate(zip(keys, probes, strict=True)):
            self.rows[key] = replies.values[place, : probe.option_count]
            if place in replies.silences:
                self.silences[key] = replies.silences[place]
        if (table := replies.readings) is not None:
            for place, conditions, row in zip(
                table.probe, table.conditions, table.values, strict=True
            ):
                self.readings.setdefault(keys[place], []).append((conditions, row))

    def replies(self, probes: Sequence[Probe]) -> Replies:
        """The replies to all probes, in their order."""
        values = empty_values(probes, self.labels)
        silences = {}
        for place, probe in enumerate(probes):
            key = probe_key(probe)
            values[place, : probe.option_count] = self.rows[key]
            if key in self.silences:
                silences[place] = self.silences[key]
        return Replies(values=values, silences=silences, readings=self._joined_readings(probes))

    def _joined_readings(self, probes: Sequence[Probe]) -> Readings | None:
        if not self.readings:
            return None
        options = max(p.option_count for p in probes)
        rows, conditions, values = [], [], []
        for place, probe in enumerate(probes):
            for condition, row in self.readings.get(probe_key(probe), ()):
                rows.append(place)
                conditions.append(condition)
                values.append(np.full((options, self.labels), np.nan))
                values[-1][: len(row)] = row[:options]
        return Readings(
            probe=np.asarray(rows, dtype=np.intp),
            conditions=tuple(conditions),
            values=np.stack(values),
        )


def ask(
    respondent: Respondent,
    probes: Sequence[Probe],
    *,
    cache: AnswerCache | None = None,
    progress: Progress | None = None,
) -> Replies:
    """The respondent's replies in the order of `probes`.

    The cache holds one row per question: what comes with readings is not kept in it.
    """
    if kinds := {p.kind for p in probes} - respondent.kinds:
        names = " and ".join(sorted(kinds))
        raise EvenhandError(f"{respondent.identity} cannot answer {names} probes")
    labels = len(respondent.labels_for(probes[0].kind)) if probes else 1
    questions = {probe_key(p): p for p in probes}
    collected = _Collected(labels)
    if cache:
        collected.add_known(questions, cache)
    reused = len(collected.rows)
    # longest first: a model that runs out of memory does so at once, and the estimate of the
    # remaining time is never too short
    waiting = sorted(
        (k for k in questions if k not in collected.rows),
        key=lambda k: sum(map(len, questions[k].texts)),
        reverse=True,
    )
    if progress:
        progress(reused, len(questions), reused)
    for start in range(0, len(waiting), CHUNK):
        keys = waiting[start : start + CHUNK]
        asked = [questions[k] for k in keys]
        replies = _checked(respondent, asked, labels)
        collected.add(keys, asked, replies)
        if cache and replies.readings is None:
            cache.put(asked, [collected.rows[k] for k in keys])
        if progress:
            progress(len(collected.rows), len(questions), reused)
    return collected.replies(probes)


def _checked(respondent: Respondent, probes: Sequence[Probe], labels: int) -> Replies:
    """The replies to one chunk. Raises EvenhandError where they have the wrong shape."""
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
    # the traits are part of the key because they hold the label order, which --label-map changes
    traits = (f"{k}:{v}" for k, v in sorted(respondent.traits.items()))
    # what separates the parts cannot stand in one of them
    parts = (part.replace("\\", r"\\").replace("|", r"\|") for part in traits)
    key = "|".join((respondent.identity, *parts))
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
        factors=suite.card.factors,
        within=suite.card.within,
        whole=suite.whole,
    )


def option_names(suite: Suite, count: int) -> tuple[str, ...]:
    """Names for `count` options: those of the suite's card, then `option 3`, `option 4` ..."""
    names = suite.card.options[:count]
    return (*names, *(f"option {i}" for i in range(len(names) + 1, count + 1)))


def answer_names(suite: Suite, respondent: Respondent) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The options and labels that answers of this respondent will have, before it is asked."""
    count = max((p.option_count for p in suite.probes), default=1)
    return option_names(suite, count), respondent.labels_for(suite.kind)
