"""Replies put together probe by probe: an array (option, label), or why there is none."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.core.answers import Replies, Silence, Status, empty_values
from evenhand.core.probe import Floats, Probe


def no_answer(reason: str) -> Silence:
    """A probe that was asked and has no usable number."""
    return Silence(status=Status.NO_ANSWER, reason=reason)


def too_long(longest: int) -> Silence:
    """A probe that has more tokens than the model takes."""
    return Silence(status=Status.TOO_LONG, reason=f"longer than the model's {longest} tokens")


def collect(probes: Sequence[Probe], labels: int, answers: Sequence[Floats | Silence]) -> Replies:
    """The replies to `probes`; labels: the most labels that an option has."""
    values = empty_values(probes, labels)
    silences = {}
    for row, answer in enumerate(answers):
        if isinstance(answer, Silence):
            silences[row] = answer
        else:
            values[row, : answer.shape[0], : answer.shape[1]] = answer
    return Replies(values=values, silences=silences)
