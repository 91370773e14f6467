"""Replies as tests read them: one row of numbers a probe, and how often each reason is given."""

from __future__ import annotations

from collections import Counter

from evenhand.core.answers import Replies
from evenhand.core.probe import Floats


def flat(replies: Replies) -> Floats:
    """(probe, option x label): the labels of a pair, the scores of options, or all of both."""
    probes, options, labels = replies.values.shape
    return replies.values.reshape(probes, options * labels)


def reasons(replies: Replies) -> dict[str, int]:
    """Why probes have no answer, and how many probes each."""
    return dict(Counter(silence.reason for silence in replies.silences.values()))
