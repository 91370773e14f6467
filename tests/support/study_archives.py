"""Stores to be archived in tests: a study with everything in it, and empty ones to fill."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from postgres import Server, answer, ask, begin

from evenhand.study import queries
from evenhand.study.archive import TABLES
from evenhand.study.store import Store, Verdict
from evenhand.study.tables import RefusedError

KINDS = ("sqlite", "postgresql")
BOTH = pytest.mark.parametrize("kind", KINDS)
NewUrl = Callable[[str], str]


@pytest.fixture
def new_url(request: pytest.FixtureRequest, tmp_path: Path) -> NewUrl:
    """An empty database of a kind."""

    def make(kind: str) -> str:
        if kind == "sqlite":
            return f"sqlite:///{tmp_path}/{uuid4().hex}.db"
        running: Server = request.getfixturevalue("server")
        return running.create_database()

    return make


def fill(store: Store) -> Store:
    """Four people: not come, not begun, in the middle, failed then passed; links, a log."""
    store.keep_study("small", "suite/1", {"seed": 3})
    store.keep_study("small", "suite/1", {"seed": 4})
    gone, waiting = store.add_annotator(), store.add_annotator()
    store.revoke(store.invite(gone, 5))
    store.invite(waiting, 60)
    store.set_state(waiting, "consented")
    busy = begin(store, 7)
    for i, place in enumerate((0, 1, 0, 2)):
        answer(store, busy, f"{busy}.trial.1.{place}", key=f"k{i}", fine=0.1 + 0.2)
    store.answer_inventory(busy, "mornings", {"1": 4, "2": 1 / 3}, "form")
    store.answer_inventory(busy, "mornings", {"1": 5}, "again")
    done = begin(store, 2)
    for attempt, state, consistency in ((1, "failed", 0.5), (2, "passed", float("nan"))):
        store.begin_part(done, "trial", attempt, ask(done, 2, attempt=attempt))
        for i in range(2):
            answer(store, done, f"{done}.trial.{attempt}.{i}", key=f"{attempt}.{i}")
        store.finish_part(done, "trial", attempt, Verdict(state, 0.8, consistency))
    store.resolve("p0", "male")
    store.resolve("p0", "both")
    store.set_owner("lab", "$argon2id$not-to-be-exported")
    store.log("wait", None, "somebody")
    with pytest.raises(RefusedError):
        store.question(busy, f"{done}.trial.1.0")
    return store


def known(store: Store) -> dict[str, Any]:
    """Everything that a store says about its study."""
    people = store.annotators()
    return {
        "people": people,
        "invitations": store.invitations(),
        "progress": store.progress(),
        "events": store.events(),
        "scored": store.scored(),
        "answers": store.answers_table().rows(),
        "inventories": store.inventory_table().rows(),
        "resolutions": store.resolutions(),
        "next": [store.next_question(p.id) for p in people],
        "parts": [store.parts(p.id) for p in people],
        "study": store.database.read(lambda c: c.execute(sa.select(TABLES["study"])).all()),
    }


def rows(store: Store) -> dict[str, int]:
    """How many rows each table has."""
    return store.database.read(
        lambda c: {name: queries.whole_table(c, table).height for name, table in TABLES.items()}
    )


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/source.db") as store:
        yield fill(store)


@pytest.fixture
def target(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/target.db") as store:
        yield store
