"""How do a study's progress and scores look on the terminal, as JSON and as a table of sentences?"""

from __future__ import annotations

import csv
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenhand.study.store import Store
    from evenhand.study.study import Study
    from evenhand.core.estimate import Interval
    from evenhand.core.suite import Suite


def status_rows(store: Store) -> list[dict[str, Any]]:
    """One entry an annotator and part."""
    rows: list[dict[str, Any]] = []
    progress, paces = store.progress(), store.paces()
    for person in store.annotators():
        head = {"annotator": f"annotator-{person.number}", "id": person.id, "state": person.state}
        parts = [p for p in progress if p.part.annotator == person.id]
        if not parts:
            rows.append({**head, "part": None})
        rows += [
            {
                **head,
                "part": p.part.part,
                "attempt": p.part.attempt,
                "answered": p.answered,
                "size": p.part.size,
                "changed": p.changed,
                "accuracy": p.part.accuracy,
                "consistency": p.part.consistency,
                "seconds": round(p.seconds, 1),
                "pace": paces.get((p.part.annotator, p.part.part, p.part.attempt)),
                "result": p.part.state,
                "last": p.last,
            }
            for p in parts
        ]
    return rows


def _share(value: float | None) -> str:
    return "–" if value is None or math.isnan(value) else f"{100 * value:.0f} %"


def print_status(study: Study, rows: list[dict[str, Any]]) -> None:
    """What everybody is asked, and a table of everybody's parts, narrow enough for 80 columns."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    trial = f"a trial of {study.trial} questions, then " if study.trial else ""
    console.print(
        f"{study.name}: {trial}batches of up to {study.batch} questions about {study.suite} ({study.suite_language})",
        soft_wrap=True,
    )
    if not rows:
        console.print(
            f"nobody has been invited yet: evenhand annotate invite {study.source or 'STUDY.toml'}",
            soft_wrap=True,
        )
        return
    table = Table(box=None, pad_edge=False, collapse_padding=True)
    for name in (
        "annotator",
        "state",
        "part",
        "try",
        "answered",
        "accuracy",
        "consistency",
        "s/answer",
        "result",
    ):
        table.add_column(
            name,
            no_wrap=True,
            justify="left" if name in ("annotator", "state", "part", "result") else "right",
        )
    for row in rows:
        if row["part"] is None:
            table.add_row(row["annotator"], row["state"])
            continue
        pace = "–" if row["pace"] is None else f"{row['pace']:.1f}"
        table.add_row(
            row["annotator"],
            row["state"],
            row["part"],
            str(row["attempt"]),
            f"{row['answered']}/{row['size']}",
            _share(row["accuracy"]),
            _share(row["consistency"]),
            pace,
            row["result"],
        )
    console.print(table)
    console.print(
        f"needed: {_share(study.least_accuracy)} accuracy (questions with a right answer), "
        f"in batches also {_share(study.least_consistency)} consistency (sentences asked in both types); s/answer is a median",
        soft_wrap=True,
    )


def _interval(found: Interval) -> dict[str, float | None]:
    told = {"value": found.value, "low": found.low, "high": found.high}
    return {name: None if math.isnan(value) else round(value, 6) for name, value in told.items()}


def score_study(
    study: Study, suite: Suite, store: Store, *, seed: int, resamples: int
) -> dict[str, Any]:
    """Everything that `score` tells, as plain data."""
    from evenhand.people.agreement import agree
    from evenhand.people.inventories import score_inventory
    from evenhand.study.tables import WITHDRAWN
    from evenhand.study.tally import tally
    from evenhand.core.errors import EvenhandError

    held = tally(store, suite)
    numbers = {a.id: f"annotator-{a.number}" for a in store.annotators() if a.state != WITHDRAWN}
    inventories = {
        inventory.name: {
            name: {
                scale: None if math.isnan(score.value) else score.value
                for scale, score in score_inventory(inventory, given).items()
            }
            for identity, name in numbers.items()
            if (
                given := {
                    i: int(v) for i, v in store.inventory_answers(identity, inventory.name).items()
                }
            )
        }
        for inventory in study.inventories
    }
    if not held.names and not any(inventories.values()):
        raise EvenhandError(
            f"nobody has answered anything in '{study.name}' yet; see evenhand annotate status {study.source or 'STUDY.toml'}"
        )
    found: dict[str, Any] = {
        "study": study.name,
        "annotators": [],
        "alpha": {},
        "pearson": [],
        "inventories": inventories,
    }
    if not held.names:  # whom to take on is decided by the inventories, before anybody begins
        return found
    pairs = {probe.id: probe.cluster for probe in suite.probes}
    report = agree(
        held.fine,
        held.strata,
        held.names,
        clusters=[pairs[probe] for probe in held.probes],
        seed=seed,
        resamples=resamples,
    )
    return found | {
        "annotators": [
            {
                "name": x.name,
                "sentences": x.sentences,
                "mean": _interval(x.mean),
                "shares": {k: None if math.isnan(v) else v for k, v in x.shares.items()},
            }
            for x in (*report.leanings, report.everybody)
        ],
        "alpha": {
            a.stratum: {**_interval(a.interval), "sentences": a.sentences, "note": a.note}
            for a in report.alphas
        },
        "pearson": [
            {
                "first": p.first,
                "second": p.second,
                "stratum": p.stratum,
                **_interval(p.pearson),
                "note": p.note,
            }
            for p in report.pairs
        ],
    }


def print_scores(found: dict[str, Any]) -> None:
    """Annotators, alpha, pairs and inventories, one line each."""
    from rich.console import Console
    from rich.table import Table

    console, table = Console(highlight=False, markup=False), Table(box=None, pad_edge=False)
    for name in ("annotator", "sentences", "mean fine score", "male", "neutral", "female"):
        table.add_column(name, justify="left" if name == "annotator" else "right")
    for row in found["annotators"]:
        table.add_row(
            row["name"],
            str(row["sentences"]),
            _text(row["mean"]),
            *(_share(row["shares"][side]) for side in ("male", "neutral", "female")),
        )
    if found["annotators"]:
        console.print(table)
        console.print(
            "fine score: -1.5 female to 1.5 male; shares by its sign; in brackets 95 % intervals, word pairs drawn again; MS measuring, OS objective sentences",
            soft_wrap=True,
        )
    for stratum, alpha in found["alpha"].items():
        note = "; " + alpha["note"] if alpha["note"] else ""
        console.print(
            f"alpha {stratum}: {_text(alpha)} over {alpha['sentences']} sentences{note}",
            soft_wrap=True,
        )
    for pair in found["pearson"]:
        note = f" ({pair['note']})" if pair["note"] else ""
        console.print(
            f"Pearson {pair['stratum']}, {pair['first']} and {pair['second']}: {_text(pair)}{note}",
            soft_wrap=True,
        )
    for inventory, people in found["inventories"].items():
        for name, scales in people.items():
            told = ", ".join(
                f"{scale} {'–' if value is None else f'{value:.2f}'}"
                for scale, value in scales.items()
            )
            console.print(f"{inventory}, {name}: {told}", soft_wrap=True)


def _text(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return "–"
    return f"{found['value']:.2f}" + (
        f" ({found['low']:.2f} to {found['high']:.2f})" if found["low"] is not None else ""
    )


def write_sentences(suite: Suite, store: Store, out: Path) -> None:
    """Fine and coarse score, label and number of annotators of every sentence that was answered."""
    from evenhand.people.scoring import annotator_scores, label, sentence_scores
    from evenhand.study.tally import accepted
    from evenhand.core.errors import StorageError

    rows = accepted(store.scored(), store.progress())
    fine, coarse = sentence_scores(rows), sentence_scores(rows, "coarse")
    people = Counter(probe for _, probe in annotator_scores(rows))
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(("probe", "stratum", "text", "fine", "coarse", "label", "annotators"))
            for p in suite.probes:
                if p.id in fine:
                    table.writerow(
                        (
                            p.id,
                            p.stratum,
                            p.texts[0],
                            fine[p.id],
                            coarse[p.id],
                            label(fine[p.id]),
                            people[p.id],
                        )
                    )
    except OSError as error:
        raise StorageError(
            f"{out} cannot be written: {error.strerror}; choose another file"
        ) from error
