"""The state of a study: progress, scores and agreement, and the score of each sentence."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from evenhand.core.errors import EvenhandError, StorageError
from evenhand.core.estimate import Interval
from evenhand.core.settings import Settings
from evenhand.core.suite import Suite
from evenhand.people.agreement import Leaning, agree
from evenhand.people.inventories import score_inventory
from evenhand.people.plan import gold_genders
from evenhand.people.quality import FLAGS
from evenhand.people.scores import PeopleScores
from evenhand.people.scoring import (
    annotator_scores,
    consistency,
    control_accuracy,
    label,
    sentence_scores,
)
from evenhand.people.sources import answered_only
from evenhand.study.scores import (
    COUNTS,
    accepted_answers,
    part_flags,
    refuse_verdicts,
    study_scores,
)
from evenhand.study.store import Store
from evenhand.study.study import Study
from evenhand.study.tables import WITHDRAWN


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorStatus:
    """Somebody who has not begun a part."""

    annotator: str
    id: str
    state: str
    part: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PartStatus(AnnotatorStatus):
    """Somebody's part, and how far it is."""

    attempt: int
    answered: int
    size: int
    changed: int
    accuracy: float | None
    consistency: float | None
    seconds: float
    pace: float | None
    result: str
    last: str | None
    flags: Mapping[str, int]  # how many answers were noticed, by flag


def study_status(store: Store, suite: Suite) -> list[AnnotatorStatus]:
    """One row for each annotator and part."""
    rows: list[AnnotatorStatus] = []
    progress, paces, flags = store.progress(), store.paces(), part_flags(store, suite)
    for person in store.annotators():
        own = [p for p in progress if p.part.annotator == person.id]
        if not own:
            rows.append(AnnotatorStatus(annotator=person.name, id=person.id, state=person.state))
        rows += [
            PartStatus(
                annotator=person.name,
                id=person.id,
                state=person.state,
                part=p.part.part,
                attempt=p.part.attempt,
                answered=p.answered,
                size=p.part.size,
                changed=p.changed,
                accuracy=p.part.accuracy,
                consistency=p.part.consistency,
                seconds=p.seconds,
                pace=paces.get((p.part.annotator, p.part.part, p.part.attempt)),
                result=p.part.state,
                last=p.last,
                flags=flags.get((p.part.annotator, p.part.part, p.part.attempt), {}),
            )
            for p in own
        ]
    return rows


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorScore:
    """What somebody, or everybody together, said of the measuring sentences."""

    name: str
    identity: str  # the same as in exports, `measure` and `compare-people`
    sentences: int
    mean: Interval
    shares: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlphaScore:
    """Krippendorff's alpha of one stratum."""

    value: float
    low: float
    high: float
    sentences: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PearsonScore:
    """Pearson's r of two people on one stratum."""

    first: str
    second: str
    stratum: str
    value: float
    low: float
    high: float
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlShare:
    """A share of control questions, or NaN and why."""

    value: float
    asked: int
    note: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ControlScore:
    """How somebody, or everybody together, answered the control questions of what counts."""

    name: str
    accuracy: ControlShare
    consistency: ControlShare
    flags: Mapping[str, int]  # how many of the answers were noticed, by flag


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyScores:
    """Scores of annotators, agreement, and inventories: name -> annotator -> scale -> mean."""

    study: str
    annotators: tuple[AnnotatorScore, ...] = ()
    controls: tuple[ControlScore, ...] = ()  # everybody together last
    alpha: Mapping[str, AlphaScore] = field(default_factory=dict)
    pearson: tuple[PearsonScore, ...] = ()
    inventories: Mapping[str, Mapping[str, Mapping[str, float]]] = field(default_factory=dict)


def _inventory_scores(study: Study, store: Store) -> dict[str, dict[str, dict[str, float]]]:
    people = [a for a in store.annotators() if a.state != WITHDRAWN]
    scores: dict[str, dict[str, dict[str, float]]] = {}
    for inventory in study.inventories:
        scores[inventory.name] = {}
        for person in people:
            answers = store.inventory_answers(person.id, inventory.name)
            if ratings := {item: int(value) for item, value in answers.items()}:
                scales = score_inventory(inventory, ratings)
                means = {scale: score.value for scale, score in scales.items()}
                scores[inventory.name][person.name] = means
    return scores


def _annotator_score(people: PeopleScores, leaning: Leaning) -> AnnotatorScore:
    identities = dict(zip(people.names, people.annotators, strict=True))
    return AnnotatorScore(
        name=leaning.name,
        identity=identities.get(leaning.name, people.identity),
        sentences=leaning.sentences,
        mean=leaning.mean,
        shares=leaning.shares,
    )


def _control_scores(suite: Suite, store: Store) -> tuple[ControlScore, ...]:
    """Accuracy, consistency and flags of everybody's batches that count, then of all together."""
    rows, gold = accepted_answers(store), gold_genders(suite)
    counted = {(row.annotator, row.part, row.attempt) for row in rows}
    flags = {key: f for key, f in part_flags(store, suite).items() if key in counted}

    def score(name: str, identities: frozenset[str]) -> ControlScore:
        own = [row for row in rows if row.annotator in identities]
        noticed: Counter[str] = Counter()
        for (annotator, *_), counts in flags.items():
            noticed.update(counts if annotator in identities else {})
        return ControlScore(
            name=name,
            accuracy=ControlShare(**control_accuracy(own, gold)._asdict()),
            consistency=ControlShare(**consistency(own)._asdict()),
            flags={flag: noticed[flag] for flag in FLAGS if noticed[flag]},
        )

    answering = {annotator for annotator, *_ in counted}
    people = [a for a in store.annotators() if a.id in answering]
    each = (score(a.name, frozenset({a.id})) for a in people)
    return (*each, score("everybody", frozenset(answering)))


def score_study(study: Study, suite: Suite, store: Store, settings: Settings) -> StudyScores:
    """Everything that `annotate score` says.

    Raises EvenhandError where nobody has answered anything, or where there are verdicts only.
    """
    refuse_verdicts(study)
    people = study_scores(store, study, suite)
    inventories = _inventory_scores(study, store)
    if not people.annotators:
        if not any(inventories.values()):
            raise EvenhandError(
                f"nobody has answered anything in '{study.name}' yet that counts: {COUNTS}; "
                f"see evenhand annotate status {study.source or 'STUDY.toml'}"
            )
        # inventories may decide who takes part, before anybody begins
        return StudyScores(study=study.name, inventories=inventories)
    people = answered_only(people)
    report = agree(
        people.fine, people.strata, people.names, clusters=people.clusters, settings=settings
    )
    return StudyScores(
        study=study.name,
        annotators=tuple(_annotator_score(people, x) for x in (*report.leanings, report.everybody)),
        controls=_control_scores(suite, store),
        alpha={
            a.stratum: AlphaScore(**a.interval._asdict(), sentences=a.sentences, note=a.note)
            for a in report.alphas
        },
        pearson=tuple(
            PearsonScore(
                first=p.first,
                second=p.second,
                stratum=p.stratum,
                **p.pearson._asdict(),
                note=p.note,
            )
            for p in report.pairs
        ),
        inventories=inventories,
    )


def write_sentences(suite: Suite, store: Store, out: Path) -> None:
    """Write fine and coarse score, label and annotators of every answered sentence to a .csv."""
    rows = accepted_answers(store)
    fine, coarse = sentence_scores(rows), sentence_scores(rows, "coarse")
    people = Counter(probe for _, probe in annotator_scores(rows))
    try:
        with out.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(("probe", "stratum", "text", "fine", "coarse", "label", "annotators"))
            for p in suite.probes:
                if p.id in fine:
                    score = fine[p.id]
                    cells = (p.id, p.stratum, p.texts[0], score, coarse[p.id], label(score))
                    table.writerow((*cells, people[p.id]))
    except OSError as error:
        raise StorageError(
            f"{out} cannot be written: {error.strerror}; choose another file"
        ) from error
