"""The scores of a study's people so far: of batches that were finished and accepted.

The trial is practice: its answers count in no score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from evenhand.core.errors import EvenhandError, InputError
from evenhand.core.suite import Suite
from evenhand.families.contextualised.published import PEOPLE_PREFIX
from evenhand.people.agreement import final_scores
from evenhand.people.plan import TRIAL
from evenhand.people.quality import PartName, count_flags, flag_answers
from evenhand.people.scores import PeopleScores
from evenhand.people.scoring import Scored, annotator_scores
from evenhand.study.objective import VERDICT
from evenhand.study.store import Store
from evenhand.study.study import SQLITE, Study, open_study
from evenhand.study.tables import PASSED, PartProgress

COUNTS = "a batch counts once it is finished and accepted, the trial is practice"


def accepted(rows: Sequence[Scored], progress: Sequence[PartProgress]) -> list[Scored]:
    """The answers of batches that were finished and passed; none of a trial."""
    passed = {
        (p.part.annotator, p.part.part, p.part.attempt)
        for p in progress
        if p.part.state == PASSED and p.part.part != TRIAL
    }
    return [row for row in rows if (row.annotator, row.part, row.attempt) in passed]


def accepted_answers(store: Store) -> list[Scored]:
    """The latest answer to each question that counts."""
    return accepted(store.scored(), store.progress())


def part_flags(store: Store, suite: Suite) -> dict[PartName, Counter[str]]:
    """Each part -> how many of its answers have each flag; parts without flags are left out."""
    replies = store.replies()
    return count_flags(replies, flag_answers(replies, suite.card.language))


def study_scores(store: Store, study: Study, suite: Suite) -> PeopleScores:
    """What everybody has said so far; people without a batch that counts are left out."""
    scores = annotator_scores(accepted_answers(store))
    answering = {person for person, _ in scores}
    people = [a for a in store.annotators() if a.id in answering]
    rows = {a.id: row for row, a in enumerate(people)}
    columns = {p.id: column for column, p in enumerate(suite.probes)}
    fine = np.full((len(people), len(columns)), np.nan)
    for (person, probe), score in scores.items():
        if probe in columns:
            fine[rows[person], columns[probe]] = score
    identity = f"{PEOPLE_PREFIX}{study.name}"
    return PeopleScores(
        identity=identity,
        suite=suite,
        annotators=tuple(f"{identity}/{a.name}" for a in people),
        fine=fine,
        final=final_scores(fine),
    )


def refuse_verdicts(study: Study) -> None:
    """Raise EvenhandError for a study of objective sentences: verdicts are no scores."""
    if VERDICT in study.types:
        raise EvenhandError(
            f"'{study.name}' judges which sentences are objective and has no scores of people; "
            "see evenhand annotate objective status and export"
        )


def answered_scores(store: Store, study: Study, suite: Suite) -> PeopleScores:
    """The same; EvenhandError where nobody has finished a batch that counts."""
    refuse_verdicts(study)
    people = study_scores(store, study, suite)
    if not people.annotators:
        raise EvenhandError(
            f"nobody has answered anything in '{study.name}' yet that counts: {COUNTS}. "
            "Export again when somebody has"
        )
    return people


def read_scores(path: Path) -> PeopleScores:
    """The scores of the study in a file; InputError where its store is not there yet."""
    study, suite = open_study(path)
    place = study.store.removeprefix(SQLITE)
    if study.store.startswith(SQLITE) and not Path(place).exists():
        raise InputError(
            path,
            f"nobody has answered yet: there is no {place}. "
            f"Start with `evenhand annotate serve {path}`",
        )
    with Store.open(study.store) as store:
        return answered_scores(store, study, suite)
