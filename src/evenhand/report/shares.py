"""Which label does the model give in which stratum, and which of these labels does the measure count?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from evenhand.core.estimate import Interval
from evenhand.core.probe import CONTRADICTION, ENTAILMENT, NEUTRAL
from evenhand.core.run import Run
from evenhand.engine.estimating import GROUP_RESAMPLES, generator
from evenhand.measures.labelling import label_shares, ratio
from evenhand.stats.bootstrap import cluster_totals, interval

NOWHERE = Interval(float("nan"), float("nan"), float("nan"))


class Reading(NamedTuple):
    """How is a stratum read: its title, and the answer that counts (`is_other`: every answer but that label counts)."""

    title: str
    label: str
    is_other: bool


READINGS: Mapping[str, Reading] = {
    "PS": Reading("pro-stereotypical", ENTAILMENT, False),
    "AS": Reading("anti-stereotypical", CONTRADICTION, False),
    "NS": Reading("non-stereotypical", NEUTRAL, True),
    "gendered": Reading("gendered", NEUTRAL, True),
    "NB": Reading("non-binary word", ENTAILMENT, True),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StratumShares:
    """The answers in one stratum: shares of the labels among the answered pairs, ties split evenly."""

    stratum: str
    title: str
    probes: int
    answered: int
    shares: Mapping[str, float]
    counted: tuple[
        str, ...
    ]  # the labels that count against the model; empty where the stratum has no such reading
    component: (
        Interval  # their share together, with the interval of the estimate that it is part of
    )
    note: str  # why something is missing


def counted_labels(stratum: str, labels: tuple[str, ...]) -> tuple[str, ...]:
    """Which labels count against the model in this stratum? None where the model lacks the label that decides."""
    reading = READINGS.get(stratum)
    if reading is None or reading.label not in labels:
        return ()
    return tuple(label for label in labels if (label != reading.label) == reading.is_other)


def _interval(run: Run, stratum: str, label: str) -> Interval:
    """The share of a label with the interval that an estimate gave it, or, where none did, one drawn here in the same way."""
    for estimate in run.estimates:
        if (part := estimate.parts.get(f"{stratum}.{label}")) is not None:
            return part
        if stratum == "NB" and estimate.measure == "person_entailment" and label == ENTAILMENT:
            return Interval(estimate.value, estimate.low, estimate.high)
    answers, column = run.answers, run.answers.labels.index(label)
    rows = [i for i, p in enumerate(answers.probes) if p.stratum == stratum]
    totals = cluster_totals(
        label_shares(answers.values[rows]), [answers.probes[i].cluster for i in rows]
    )
    level = run.estimates[0].level if run.estimates else 0.95
    return interval(
        totals,
        lambda sums: ratio(sums[..., column], sums.sum(axis=-1)),
        generator(run.seed, f"{stratum}.{label}"),
        resamples=GROUP_RESAMPLES,
        level=level,
        method="percentile",
    )


def _component(run: Run, stratum: str, shares: Mapping[str, float]) -> Interval:
    reading = READINGS.get(stratum)
    if reading is None or reading.label not in shares:
        return NOWHERE
    found = _interval(run, stratum, reading.label)
    return Interval(1 - found.value, 1 - found.high, 1 - found.low) if reading.is_other else found


def _note(stratum: str, labels: tuple[str, ...], answered: int) -> str:
    reading = READINGS.get(stratum)
    if not answered:
        return "no answer in this stratum"
    if reading is not None and reading.label not in labels:
        return f"the model has no label '{reading.label}'"
    return ""


def strata_of(run: Run) -> list[StratumShares]:
    """Every stratum of pairs in the suite: PS, AS, NS, NB first, then others by name."""
    return list(_strata(run))


def shown_strata(run: Run) -> list[StratumShares]:
    """The strata that a report shows: none for a task, whose answers are told by gold label."""
    return [row for row in _strata(run) if row.stratum != "zero-shot"]


def _strata(run: Run) -> Iterator[StratumShares]:
    answers = run.answers
    if any(p.kind != "pair" for p in answers.probes):
        return
    given = label_shares(answers.values)
    strata = np.asarray([p.stratum for p in answers.probes])
    present = {str(s) for s in strata}
    for stratum in [*(s for s in READINGS if s in present), *sorted(present - set(READINGS))]:
        rows = given[strata == stratum]
        answered = round(float(rows.sum()))
        shares = {
            label: float(rows[:, i].sum() / answered) if answered else float("nan")
            for i, label in enumerate(answers.labels)
        }
        yield StratumShares(
            stratum=stratum,
            title=READINGS[stratum].title if stratum in READINGS else stratum or "all pairs",
            probes=len(rows),
            answered=answered,
            shares=shares,
            counted=counted_labels(stratum, answers.labels),
            component=_component(run, stratum, shares),
            note=_note(stratum, answers.labels, answered),
        )
