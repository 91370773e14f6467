"""Answers: what a respondent gave to every probe of a suite, raw, with a status per probe."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenhand.core.probe import CLUSTER, Bools, Floats, Probe

LABELS_ONLY = "labels"  # the scale of answers that are labels: 1 for the one given, else 0


class Status(StrEnum):
    """Whether a probe was answered, and if not, why."""

    ANSWERED = "answered"
    REFUSED = "refused"
    UNPARSEABLE = "unparseable"
    TOO_LONG = "too long"
    NOT_ASKED = "not asked"
    NO_ANSWER = "no answer"  # asked, but without a usable number: the reason says why


@dataclass(frozen=True, slots=True, kw_only=True)
class Silence:
    """Why a probe has no answer."""

    status: Status
    reason: str


ANSWERED = Silence(status=Status.ANSWERED, reason="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """The single readings behind answers that were asked several times: a long table.

    A reading is one wording, order or draw; the answer to a probe is the mean of its readings:
    of their probabilities where they are log-probabilities.
    """

    probe: NDArray[np.intp]  # the row of the probe that each reading belongs to
    conditions: tuple[Mapping[str, str], ...]  # e.g. wording, order, draw
    values: Floats  # (reading, option, label)
    replies: tuple[str, ...] = ()  # the raw text of each, where a model wrote one; else empty

    def mean(self, probes: int) -> Floats:
        """The mean over the readings of each probe; NaN where it has none or one is NaN."""
        totals = np.zeros((probes, *self.values.shape[1:]))
        np.add.at(totals, self.probe, self.values)
        counts = np.bincount(self.probe, minlength=probes).astype(np.float64)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(totals / counts[:, None, None])


@dataclass(frozen=True, slots=True, kw_only=True)
class Replies:
    """What a respondent returns for a list of probes.

    values: (probe, option, label), NaN where there is no answer and beyond a probe's own options.
    silences: row -> why it has no answer.
    """

    values: Floats
    silences: Mapping[int, Silence] = field(default_factory=dict)
    readings: Readings | None = None


def empty_values(probes: Sequence[Probe], labels: int) -> Floats:
    """An array of NaN with the shape of the answers to these probes, for a number of labels."""
    options = max((p.option_count for p in probes), default=1)
    return np.full((len(probes), options, labels), np.nan)


def answered_rows(probes: Sequence[Probe], values: Floats) -> Bools:
    """Which probes have a finite number for every label of each of their own options."""
    finite = np.isfinite(values).all(axis=2) if values.size else np.zeros(values.shape[:2], bool)
    counts = np.asarray([p.option_count for p in probes], dtype=np.intp)
    is_own = np.arange(values.shape[1]) < counts[:, None]
    return np.asarray((finite | ~is_own).all(axis=1), dtype=bool)


@dataclass(frozen=True, kw_only=True)
class Answers:
    """What a respondent gave: raw values (logits or log-probabilities) and a status per probe."""

    respondent: str
    suite: str  # the suite's reference: name@version#digest
    probes: tuple[Probe, ...]
    options: tuple[str, ...]  # the roles of the options, as the suite's card names them
    labels: tuple[str, ...]  # what the numbers of an option stand for
    values: Floats  # (probe, option, label)
    scale: str = "logits"
    traits: Mapping[str, str] = field(default_factory=dict)  # what the signature names
    silences: Mapping[int, Silence] = field(default_factory=dict)  # row -> why it has no answer
    readings: Readings | None = None
    factors: tuple[str, ...] = (CLUSTER,)  # as the suite's card names them
    within: str = ""  # as the suite's card names it
    whole: int | None = None  # how many probes the suite has that this one was cut from
    remarks: tuple[str, ...] = ()  # what a report must say about them

    @cached_property
    def is_answered(self) -> Bools:
        """Which probes were answered; nothing else in the program decides this."""
        return answered_rows(self.probes, self.values)

    @property
    def coverage(self) -> float:
        """The share of the probes that was answered; NaN where there are none."""
        return float(self.is_answered.mean()) if self.probes else float("nan")

    @cached_property
    def statuses(self) -> tuple[Status, ...]:
        """The status of every probe."""
        return tuple(
            Status.ANSWERED if is_answered else self.silences.get(row, _UNKNOWN).status
            for row, is_answered in enumerate(self.is_answered)
        )

    @cached_property
    def unanswered(self) -> dict[str, int]:
        """How many probes have no answer, by reason."""
        rows = np.flatnonzero(~self.is_answered)
        return dict(Counter(self.silences.get(int(row), _UNKNOWN).reason for row in rows))

    @property
    def is_classifier(self) -> bool:
        """Whether every option gets one number per label and not a single score."""
        return len(self.labels) > 1

    @property
    def is_labels_only(self) -> bool:
        """Whether only the chosen label is known: there are no probabilities behind it."""
        return self.scale == LABELS_ONLY

    @property
    def columns(self) -> tuple[str, ...]:
        """The name of each number of an answer: label, option, or option:label."""
        if len(self.options) == 1:
            return self.labels
        if len(self.labels) == 1:
            return self.options
        return tuple(f"{option}:{label}" for option in self.options for label in self.labels)

    def select(self, rows: Sequence[int] | NDArray[np.intp]) -> Answers:
        """The answers to some of the probes, in the given order."""
        places = {int(old): new for new, old in enumerate(rows)}
        kept = {places[row]: s for row, s in self.silences.items() if row in places}
        return dataclasses.replace(
            self,
            probes=tuple(self.probes[int(r)] for r in rows),
            values=self.values[np.asarray(rows, dtype=np.intp)],
            silences=kept,
            readings=None,
        )

    def only(self, is_kept: Bools, reason: str) -> Answers:
        """The answers to the kept probes; the others count as not asked, for the given reason."""
        silence = Silence(status=Status.NOT_ASKED, reason=reason)
        lost = np.flatnonzero(~is_kept & self.is_answered)
        return dataclasses.replace(
            self,
            values=np.where(is_kept[:, None, None], self.values, np.nan),
            silences={**self.silences, **{int(row): silence for row in lost}},
        )


_UNKNOWN = Silence(status=Status.NO_ANSWER, reason="no finite number")
