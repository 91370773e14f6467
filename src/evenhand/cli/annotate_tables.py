"""Tables of a study on the terminal: its progress and its scores."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from evenhand.core.estimate import Interval
from evenhand.core.text import number, percent, with_bounds

if TYPE_CHECKING:
    from rich.console import Console

    from evenhand.study.study import Study
    from evenhand.study.summary import (
        AlphaScore,
        AnnotatorStatus,
        PearsonScore,
        StudyScores,
    )

NONE = "–"
HEADS = "annotator state part try answered accuracy consistency s/answer result".split()
TEXT_HEADS = ("annotator", "state", "part", "result")


# in the order of a line; what each count of answers means
FLAG_WORDS = {
    "fast": "faster than anybody can read",
    "straight": "in a straight line",
    "alternating": "in an alternating pattern",
}


def _control(value: float | None) -> str:
    """A share of control questions, rounded down as on the pages of the study."""
    from evenhand.people.scoring import reached_percent

    return NONE if value is None or math.isnan(value) else f"{reached_percent(value)} %"


def _noticed(flags: Mapping[str, int]) -> str:
    return ", ".join(f"{flags[f]} {words}" for f, words in FLAG_WORDS.items() if flags.get(f))


def print_status(study: Study, rows: Sequence[AnnotatorStatus]) -> None:
    """Print what is asked, and a table of everybody's parts, narrow enough for 80 columns."""
    from rich.console import Console
    from rich.table import Table

    from evenhand.study.objective import VERDICT
    from evenhand.study.summary import PartStatus

    console = Console(highlight=False, markup=False)
    trial = f"a trial of {study.trial} questions, then " if study.trial else ""
    console.print(
        f"{study.name}: {trial}batches of up to {study.batch} questions about {study.suite} "
        f"({study.suite_language})",
        soft_wrap=True,
    )
    if not rows:
        console.print(
            f"nobody has been invited yet: evenhand annotate invite {study.source or 'STUDY.toml'}",
            soft_wrap=True,
        )
        return
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in HEADS:
        table.add_column(name, no_wrap=True, justify="left" if name in TEXT_HEADS else "right")
    for row in rows:
        if not isinstance(row, PartStatus):
            table.add_row(row.annotator, row.state)
            continue
        table.add_row(
            row.annotator,
            row.state,
            row.part,
            str(row.attempt),
            f"{row.answered}/{row.size}",
            _control(row.accuracy),
            _control(row.consistency),
            NONE if row.pace is None else f"{row.pace:.1f}",
            row.result,
        )
    console.print(table)
    needed = (
        f"needed: {_control(study.least_accuracy)} accuracy (questions with a right answer), in "
        f"batches also {_control(study.least_consistency)} consistency (sentences asked in both "
        "types); s/answer is a median"
    )
    if VERDICT in study.types:
        needed = f"how far raters agree: evenhand annotate objective status {study.source}"
    console.print(needed, soft_wrap=True)
    for row in rows:
        if isinstance(row, PartStatus) and row.flags:
            console.print(
                f"noticed, {row.annotator}, {row.part} ({row.attempt}): {_noticed(row.flags)}",
                soft_wrap=True,
            )


def _text(score: AlphaScore | PearsonScore) -> str:
    return with_bounds(Interval(score.value, score.low, score.high))


def _print_controls(console: Console, scores: StudyScores) -> None:
    """Print how everybody answered the control questions, and what was noticed."""
    for row in scores.controls:
        parts = [
            f"accuracy {_control(row.accuracy.value)} of {row.accuracy.asked}",
            f"consistency {_control(row.consistency.value)} of {row.consistency.asked}",
        ]
        if row.flags:
            parts.append(f"noticed {_noticed(row.flags)}")
        console.print(f"controls, {row.name}: {', '.join(parts)}", soft_wrap=True)


def print_scores(scores: StudyScores) -> None:
    """Print annotators, alpha, pairs of people and inventories, one line each."""
    from rich.console import Console
    from rich.table import Table

    console, table = Console(highlight=False, markup=False), Table(box=None, pad_edge=False)
    sides = ("male", "neutral", "female")
    for name in ("annotator", "sentences", "mean fine score", *sides):
        table.add_column(name, justify="left" if name == "annotator" else "right")
    for row in scores.annotators:
        shares = (percent(row.shares[side], 1) for side in sides)
        table.add_row(row.name, str(row.sentences), with_bounds(row.mean), *shares)
    if scores.annotators:
        console.print(table)
        console.print(
            "fine score: -1.5 female to 1.5 male; shares by its sign; in brackets 95 % intervals, "
            "word pairs drawn again; MS measuring, OS objective sentences; only batches that are "
            "finished and accepted count",
            soft_wrap=True,
        )
    _print_controls(console, scores)
    for stratum, alpha in scores.alpha.items():
        note = "; " + alpha.note if alpha.note else ""
        console.print(
            f"alpha {stratum}: {_text(alpha)} over {alpha.sentences} sentences{note}",
            soft_wrap=True,
        )
    for pair in scores.pearson:
        note = f" ({pair.note})" if pair.note else ""
        console.print(
            f"Pearson {pair.stratum}, {pair.first} and {pair.second}: {_text(pair)}{note}",
            soft_wrap=True,
        )
    for inventory, people in scores.inventories.items():
        for name, scales in people.items():
            values = (
                f"{scale} {NONE if math.isnan(value) else number(value)}"
                for scale, value in scales.items()
            )
            console.print(f"{inventory}, {name}: {', '.join(values)}", soft_wrap=True)
