"""What have the people of a study said so far, as a table? One row an annotator, one column a sentence; parts that were not accepted are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.people.controls import gold_genders
from evenhand.study.rows import Progress
from evenhand.people.scoring import Scored, annotator_scores
from evenhand.study.store import Store
from evenhand.study.tables import FAILED
from evenhand.core.probe import Floats
from evenhand.core.suite import Suite
from evenhand.families.contextualised.mask_probe import MEASURING, OBJECTIVE


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """Fine scores, NaN where somebody was not asked."""

    names: tuple[str, ...]  # annotator-N, in the order of coming
    probes: tuple[str, ...]
    strata: tuple[str, ...]
    fine: Floats

    def of(self, stratum: str) -> Floats:
        """The columns of the measuring or of the objective sentences."""
        return self.fine[:, np.asarray([told == stratum for told in self.strata], dtype=bool)]


def accepted(rows: Sequence[Scored], progress: Sequence[Progress]) -> list[Scored]:
    """The answers of all parts but those that were to be done again."""
    failed = {
        (p.part.annotator, p.part.part, p.part.attempt) for p in progress if p.part.state == FAILED
    }
    return [row for row in rows if (row.annotator, row.part, row.attempt) not in failed]


def tally(store: Store, suite: Suite) -> Tally:
    """Everything that counts so far; people who have not answered anything are left out."""
    scores = annotator_scores(accepted(store.scored(), store.progress()))
    asked = {probe for _, probe in scores}
    gold = gold_genders(suite)
    probes = tuple(p.id for p in suite.probes if p.id in asked)
    answering = {person for person, _ in scores}
    people = [a for a in store.annotators() if a.id in answering]
    rows, columns = (
        {a.id: n for n, a in enumerate(people)},
        {probe: n for n, probe in enumerate(probes)},
    )
    fine = np.full((len(people), len(probes)), np.nan)
    for (person, probe), score in scores.items():
        if probe in columns:
            fine[rows[person], columns[probe]] = score
    strata = tuple(OBJECTIVE if probe in gold else MEASURING for probe in probes)
    return Tally(
        names=tuple(f"annotator-{a.number}" for a in people),
        probes=probes,
        strata=strata,
        fine=fine,
    )
